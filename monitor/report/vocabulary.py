"""The words for every metric, cause, verdict, label fault and labelling regime.

One row for each; all that shows one to a person or names its series reads the row, so
that the terminal, the page, the API, alerts and log lines use the same words. A row has no
defaults: a new member without a row, or a row without a word, fails in
`tests/report/test_vocabulary.py`.

Import every row from here. Those of verdicts are written in `verdict_words`, those of label
faults and regimes in `label_words`, those of predictions without labels in `prediction_words`.
Reasons why labels do not allow a metric are written in `monitor.labels.refusals`, which the
engine reads; rows give them as `withheld`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, NamedTuple

from monitor.drift import COMPONENT_OF
from monitor.report.label_words import (
    LABEL_FAULTS,
    LABELLINGS,
    WINDOW_STATUSES,
    LabelFaultWords,
    LabellingWords,
)
from monitor.report.prediction_words import DEGENERACIES
from monitor.report.verdict_words import (
    BECAUSE,
    VERDICTS,
    BecauseWords,
    Tone,
    VerdictWords,
)

__all__ = [
    "ADDITIVE_CAUSES",
    "BECAUSE",
    "CAUSES",
    "DEGENERACIES",
    "JSON_METRICS",
    "LABELLINGS",
    "LABEL_FAULTS",
    "METRIC_WORDS",
    "PAGE_METRICS",
    "REFERENCE_SOURCES",
    "SOURCES",
    "TEXT_METRICS",
    "VERDICTS",
    "WINDOW_STATUSES",
    "BecauseWords",
    "CauseWords",
    "LabelFaultWords",
    "LabellingWords",
    "MetricWords",
    "SourceWords",
    "Tone",
    "VerdictWords",
]


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

        >>> METRIC_WORDS["recall"].series("lower"), METRIC_WORDS["class_ratio"].series()
        ('classifier_recall_lower_ratio', 'classifier_class_ratio')
        """
        return "_".join(filter(None, (self.stem, bound, self.unit)))


def _by_name(*rows: MetricWords) -> Mapping[str, MetricWords]:
    return {row.name: row for row in rows}


METRIC_WORDS: Mapping[str, MetricWords] = _by_name(
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
        meaning="Precision if half of the cases were positive; prevalence cancels out.",
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
"""By name, in the order of `monitor.snapshot.METRIC_NAMES`."""

JSON_METRICS = tuple(name for name, row in METRIC_WORDS.items() if row.in_json)
"""Names of the metrics in JSON objects, in their order there."""

TEXT_METRICS = tuple(row for row in METRIC_WORDS.values() if row.place is not None)
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
        lowers: what it is called where it lowers precision, in lower case.
        raises: what it is called where it raises precision.
        metric: the metric that shows it.
        share: cells of outcomes that its rate counts, and those that it divides by; both
            empty for skill, which is no single rate.
    """

    name: str
    words: str
    meaning: str
    row: str
    lowers: str
    raises: str
    metric: str
    share: tuple[tuple[str, ...], tuple[str, ...]]

    @property
    def title(self) -> str:
        """Its words with a capital letter."""
        return _title(self.words)

    def effect(self, points: float) -> str:
        """Return what it is called by the sign of its part, in points of precision."""
        return self.lowers if points < 0 else self.raises

    @property
    def component(self) -> str:
        """The component of a `Judgement` that it follows from."""
        return COMPONENT_OF[self.name]


CAUSES: Mapping[str, CauseWords] = {
    row.name: row
    for row in (
        CauseWords(
            name="prevalence",
            words="prevalence",
            meaning="how frequent positives are",
            row="prevalence",
            lowers="rarer positives",
            raises="more frequent positives",
            metric="prevalence",
            share=(("tp", "fn"), ("tp", "fp", "fn", "tn")),
        ),
        CauseWords(
            name="recall",
            words="recall",
            meaning="how many of the positives are flagged",
            row="recall",
            lowers="lower recall",
            raises="higher recall",
            metric="recall",
            share=(("tp",), ("tp", "fn")),
        ),
        CauseWords(
            name="false_positives",
            words="false positives",
            meaning="how many of the negatives are flagged",
            row="false positives",
            lowers="more false positives",
            raises="fewer false positives",
            metric="false_positive_rate",
            share=(("fp",), ("fp", "tn")),
        ),
        CauseWords(
            name="skill",
            words="skill",
            meaning="recall and false positives together",
            row="skill (the two before)",
            lowers="a worse model",
            raises="a better model",
            metric="log_likelihood_ratio",
            share=((), ()),
        ),
    )
}
"""By name, in the order of `monitor.drift.CAUSES`."""

ADDITIVE_CAUSES: Mapping[str, CauseWords] = {
    name: row for name, row in CAUSES.items() if any(row.share)
}
"""The causes that add up to the change of logit(precision), without remainder."""


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
    "mature": SourceWords(words="the latest mature data", short="latest mature data"),
}
"""By the `source` of a reference, or of a side of a diagnosis."""

REFERENCE_SOURCES = tuple(source for source in SOURCES if source != "mature")
"""Sources that a reference can have."""
