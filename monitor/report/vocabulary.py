"""The words for every metric, cause, verdict, label fault and labelling regime.

One row for each; all that shows one to a person or names its series reads the row, so
that the terminal, the page, the API, alerts and log lines use the same words. A row has no
defaults: a new member without a row, or a row without a word, fails in
`tests/report/test_vocabulary.py`.

Reasons why labels do not allow a metric belong to `monitor.labels.refusals`, which the
engine reads; rows repeat them under `withheld`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from monitor.config import Labelling
from monitor.drift import Verdict
from monitor.labels.faults import LabelFault
from monitor.labels.refusals import REASONS

Tone = Literal["good", "world", "bad", "better", "open", "unknown"]
"""Class of a colour on the page."""


def _title(words: str) -> str:
    return words[0].upper() + words[1:]


class MetricWords(NamedTuple):
    """A metric of the classifier.

    Attributes:
        name: in `monitor.metrics`, JSON and the configuration.
        words: its full name, in lower case.
        short: for the head of a narrow column.
        phrase: as the subject of a sentence, with its article.
        meaning: one sentence; the HELP text of its series.
        stem: name of its series without bound and unit.
        unit: suffix of its series, "ratio" or none.
        digits: behind the point, in alerts.
        objective: how an objective bounds it; None where it cannot have one.
        place: position in the tables of the page and of `top`; None where these leave it out.
        in_json: part of the JSON of `replay`, `diagnose` and the API.
    """

    name: str
    words: str
    short: str
    phrase: str
    meaning: str
    stem: str
    unit: Literal["ratio", ""]
    digits: int
    objective: Literal["at least", "at most"] | None
    place: int | None
    in_json: bool

    @property
    def title(self) -> str:
        """Its full name with a capital letter."""
        return _title(self.words)

    def series(self, bound: Literal["", "lower", "upper"] = "") -> str:
        """Name of its series by window.

        Args:
            bound: end of the 95 % interval; "" for the estimate.

        >>> METRICS["recall"].series("lower"), METRICS["class_ratio"].series()
        ('classifier_recall_lower_ratio', 'classifier_class_ratio')
        """
        return "_".join(filter(None, (self.stem, bound, self.unit)))


def _by_name(*rows: MetricWords) -> Mapping[str, MetricWords]:
    return {row.name: row for row in rows}


METRICS: Mapping[str, MetricWords] = _by_name(
    MetricWords(
        name="precision",
        words="precision",
        short="precision",
        phrase="precision",
        meaning="Share of predicted positives that are positive.",
        stem="classifier_precision",
        unit="ratio",
        digits=3,
        objective="at least",
        place=1,
        in_json=True,
    ),
    MetricWords(
        name="balanced_precision",
        words="balanced precision",
        short="balanced",
        phrase="balanced precision",
        meaning="Precision if half of the cases were positive: a fall means a worse model.",
        stem="classifier_balanced_precision",
        unit="ratio",
        digits=3,
        objective="at least",
        place=2,
        in_json=True,
    ),
    MetricWords(
        name="recall",
        words="recall",
        short="recall",
        phrase="recall",
        meaning="Share of actual positives that were predicted positive (TPR).",
        stem="classifier_recall",
        unit="ratio",
        digits=3,
        objective="at least",
        place=4,
        in_json=True,
    ),
    MetricWords(
        name="false_positive_rate",
        words="false positive rate",
        short="FPR",
        phrase="the false positive rate",
        meaning="Share of actual negatives that were predicted positive (FPR).",
        stem="classifier_false_positive",
        unit="ratio",
        digits=4,
        objective="at most",
        place=5,
        in_json=True,
    ),
    MetricWords(
        name="prevalence",
        words="prevalence",
        short="prevalence",
        phrase="prevalence",
        meaning="Share of cases that are actually positive.",
        stem="classifier_prevalence",
        unit="ratio",
        digits=3,
        objective=None,
        place=3,
        in_json=True,
    ),
    MetricWords(
        name="class_ratio",
        words="class ratio r = P/N",
        short="class ratio",
        phrase="the class ratio",
        meaning="Actual positives to actual negatives, r = P/N.",
        stem="classifier_class_ratio",
        unit="",
        digits=4,
        objective=None,
        place=None,
        in_json=True,
    ),
    MetricWords(
        name="log_likelihood_ratio",
        words="skill (log LR+)",
        short="log LR+",
        phrase="skill (log LR+)",
        meaning="Skill, log LR+ = log TPR - log FPR: prevalence has cancelled out.",
        stem="classifier_log_likelihood_ratio",
        unit="",
        digits=2,
        objective=None,
        place=None,
        in_json=False,
    ),
)
"""By name, in the order of `monitor.snapshot.METRICS`."""

JSON_METRICS = tuple(name for name, row in METRICS.items() if row.in_json)
"""Names of the metrics in JSON objects, in their order there."""

TEXT_METRICS = tuple(row for row in METRICS.values() if row.place is not None)
"""Metrics in the tables of `replay` and `diagnose`, in their order there."""

PAGE_METRICS = tuple(sorted(TEXT_METRICS, key=lambda row: row.place or 0))
"""Metrics in the tables of the page and of `top`, in their order there."""


class CauseWords(NamedTuple):
    """A cause of a change of precision.

    Attributes:
        name: in `monitor.drift.CAUSES`, JSON and the label `cause` of series.
        words: in lower case.
        meaning: what it covers, in a few words.
        row: at the head of its row in the text of `diagnose`.
        metric: the metric that shows it.
        component: the component of a `Judgement` that it follows from.
        share: cells of outcomes that its rate counts, and those that it divides by; None for
            skill, which is no single rate.
    """

    name: str
    words: str
    meaning: str
    row: str
    metric: str
    component: str
    share: tuple[tuple[str, ...], tuple[str, ...]] | None

    @property
    def title(self) -> str:
        """Its words with a capital letter."""
        return _title(self.words)


CAUSES: Mapping[str, CauseWords] = {
    row.name: row
    for row in (
        CauseWords(
            name="prevalence",
            words="prevalence",
            meaning="how frequent positives are",
            row="prevalence",
            metric="prevalence",
            component="class_ratio",
            share=(("tp", "fn"), ("tp", "fp", "fn", "tn")),
        ),
        CauseWords(
            name="recall",
            words="recall",
            meaning="how many of the positives are flagged",
            row="recall",
            metric="recall",
            component="recall",
            share=(("tp",), ("tp", "fn")),
        ),
        CauseWords(
            name="false_positives",
            words="false positives",
            meaning="how many of the negatives are flagged",
            row="false positives",
            metric="false_positive_rate",
            component="false_positive_rate",
            share=(("fp",), ("fp", "tn")),
        ),
        CauseWords(
            name="skill",
            words="skill",
            meaning="recall and false positives together",
            row="skill (the two before)",
            metric="log_likelihood_ratio",
            component="log_likelihood_ratio",
            share=None,
        ),
    )
}
"""By name, in the order of `monitor.drift.CAUSES`."""

ADDITIVE_CAUSES: Mapping[str, CauseWords] = {
    name: row for name, row in CAUSES.items() if row.share is not None
}
"""The causes that add up to the change of logit(precision), without remainder."""


class VerdictWords(NamedTuple):
    """A verdict.

    Attributes:
        title: its name for people.
        tone: class of its colour on the page.
        icon: path of its sign on the page, in a box of 16 by 16.
        meaning: what it means for whoever is on call, in sentences.
        headline: why precision moved, in a few words; may name `{positives}` (became rarer,
            or more frequent), `{moved}` (both rates) and `{open}` (what is not certain).
        advice: what to do first; None where that depends on the numbers alone
            (see `monitor.report.advice`).
    """

    title: str
    tone: Tone
    icon: str
    meaning: str
    headline: str
    advice: str | None


_CIRCLE = "M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1Z"
_DIAMOND = "M8 0l8 8-8 8-8-8Z"
_TRIANGLE_DOWN = "M0 2h16L8 16Z"
_TRIANGLE_UP = "M0 14h16L8 0Z"
_ARROWS_APART = "M5 2L0 8l5 6v-4h6v4l5-6-5-6v4H5Z"
_SQUARE = "M1 1h14v14H1Z"
_RING = "M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1Zm0 3a4 4 0 1 1 0 8 4 4 0 1 1 0-8Z"

_PAGE_THE_OWNER = (
    "Page the model's owner: look at what was deployed, and at what reaches the model, "
    "between before and after."
)
_NOTE_IT = "Nothing to repair; note what was changed, and renew the reference."

VERDICTS: Mapping[Verdict, VerdictWords] = {
    Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED: VerdictWords(
        title="Prevalence shifted and model degraded",
        tone="bad",
        icon=_TRIANGLE_DOWN,
        meaning="Both: positives became rarer or more frequent, and the model separates the "
        "classes worse.",
        headline="the model got worse, and {positives}.",
        advice=_PAGE_THE_OWNER,
    ),
    Verdict.MODEL_DEGRADED: VerdictWords(
        title="Model degraded",
        tone="bad",
        icon=_TRIANGLE_DOWN,
        meaning="The model separates the classes worse than before.",
        headline="the model got worse; prevalence is not shown to have changed.",
        advice=_PAGE_THE_OWNER,
    ),
    Verdict.LABELS_NOT_TRUSTWORTHY: VerdictWords(
        title="Labels not trustworthy",
        tone="open",
        icon=_SQUARE,
        meaning="The labels that came cannot stand for those that did not.",
        headline="these labels cannot say why. Model's fault? Open.",
        advice=None,
    ),
    Verdict.OPERATING_POINT_MOVED: VerdictWords(
        title="Operating point moved",
        tone="open",
        icon=_ARROWS_APART,
        meaning="Recall and false positives moved together, as when a threshold is changed or "
        "scores slide. That alone is neither better nor worse.",
        headline="{moved}",
        advice=None,
    ),
    Verdict.PREVALENCE_SHIFT: VerdictWords(
        title="Prevalence shifted",
        tone="world",
        icon=_DIAMOND,
        meaning="Positives became rarer or more frequent. The model separates the classes as well "
        "as before.",
        headline="{positives}. The model is not at fault.",
        advice="Do not retrain for this: it does not bring positives back, or take them away.",
    ),
    Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED: VerdictWords(
        title="Prevalence shifted and model improved",
        tone="better",
        icon=_TRIANGLE_UP,
        meaning="Both: positives became rarer or more frequent, and the model separates the "
        "classes better.",
        headline="the model got better, and {positives}.",
        advice=_NOTE_IT,
    ),
    Verdict.MODEL_IMPROVED: VerdictWords(
        title="Model improved",
        tone="better",
        icon=_TRIANGLE_UP,
        meaning="The model separates the classes better than before.",
        headline="the model got better; prevalence is not shown to have changed.",
        advice=_NOTE_IT,
    ),
    Verdict.INSUFFICIENT_EVIDENCE: VerdictWords(
        title="Not enough evidence",
        tone="unknown",
        icon=_RING,
        meaning="What is certain does not suffice to say why. That does not mean that all is well.",
        headline="{open}",
        advice=None,
    ),
    Verdict.NO_CHANGE: VerdictWords(
        title="No change",
        tone="good",
        icon=_CIRCLE,
        meaning="Neither prevalence nor the model changed by more than a little.",
        headline="neither prevalence nor the model changed.",
        advice=None,
    ),
}
"""By verdict; what a person must look at comes first, the order in which models are listed."""


class LabelFaultWords(NamedTuple):
    """Something wrong with the labels.

    Attributes:
        words: its name for people.
        withheld: what is wrong, and which metrics are withheld for it.
    """

    words: str
    withheld: str


LABEL_FAULTS: Mapping[LabelFault, LabelFaultWords] = {
    LabelFault.POSITIVES_MISSING: LabelFaultWords(
        words="positives missing", withheld=REASONS[LabelFault.POSITIVES_MISSING]
    ),
    LabelFault.NEGATIVES_MISSING: LabelFaultWords(
        words="negatives missing", withheld=REASONS[LabelFault.NEGATIVES_MISSING]
    ),
    LabelFault.LABELS_MISSING: LabelFaultWords(
        words="labels missing", withheld=REASONS[LabelFault.LABELS_MISSING]
    ),
    LabelFault.DELAYS_CHANGED: LabelFaultWords(
        words="delays changed", withheld=REASONS[LabelFault.DELAYS_CHANGED]
    ),
    LabelFault.REPORTS_STOPPED: LabelFaultWords(
        words="reports stopped", withheld=REASONS[LabelFault.REPORTS_STOPPED]
    ),
    LabelFault.ONE_SIDE_LABELLED: LabelFaultWords(
        words="one side labelled", withheld=REASONS[LabelFault.ONE_SIDE_LABELLED]
    ),
    LabelFault.FLAGGED_UNLABELLED: LabelFaultWords(
        words="flagged unlabelled", withheld=REASONS[LabelFault.FLAGGED_UNLABELLED]
    ),
}
"""By label fault, in the order of `LabelFault`."""


class LabellingWords(NamedTuple):
    """A labelling regime: how labels come, as configured.

    Attributes:
        meaning: one sentence.
        withheld: what cannot be known under it, and why; None where everything can.
    """

    meaning: str
    withheld: str | None


LABELLINGS: Mapping[Labelling, LabellingWords] = {
    Labelling.COMPLETE: LabellingWords(
        meaning="Every prediction gets a label sooner or later, or misses it at random.",
        withheld=REASONS.get(Labelling.COMPLETE),
    ),
    Labelling.SAMPLED: LabellingWords(
        meaning="Labels are a random sample of the flagged and of the other cases; metrics are "
        "corrected for it (Begg and Greenes).",
        withheld=REASONS.get(Labelling.SAMPLED),
    ),
    Labelling.WEIGHTED: LabellingWords(
        meaning="Labels are weighted by the probability with which they were asked for.",
        withheld=REASONS.get(Labelling.WEIGHTED),
    ),
    Labelling.NEGATIVES_BY_TIMEOUT: LabellingWords(
        meaning="Only positives are reported; silence past the timeout is a negative.",
        withheld=REASONS.get(Labelling.NEGATIVES_BY_TIMEOUT),
    ),
    Labelling.FLAGGED_ONLY: LabellingWords(
        meaning="Only flagged cases are ever labelled.",
        withheld=REASONS.get(Labelling.FLAGGED_ONLY),
    ),
}
"""By labelling regime, in the order of `Labelling`."""

WINDOW_STATUSES: Mapping[str, str] = {
    "mature": "all labels that are to come have come",
    "corrected": "young: its metrics, not its counts, are corrected for labels still to come",
    "immature": "too young: too few of its labels have come for any metric",
    "untrusted": "its labels cannot be trusted: what they do not allow is withheld, see below",
}
"""What a window's metrics rest on, by `Window.status`."""


class SourceWords(NamedTuple):
    """Where a period that is compared comes from.

    Attributes:
        words: in a sentence.
        short: for the head of a column.
    """

    words: str
    short: str


SOURCES: Mapping[str, SourceWords] = {
    "first": SourceWords(words="the first days", short="first days"),
    "window": SourceWords(words="the dated window", short="dated window"),
    "trailing": SourceWords(words="the days just before", short="days just before"),
    "counts": SourceWords(words="given counts", short="given counts"),
    "mature": SourceWords(words="the longest window", short="longest window"),
}
"""By the `source` of a reference, or of a side of a diagnosis."""
