"""The words for every metric, cause, verdict, label fault and labelling regime.

One row for each; all that shows one to a person or names its series reads the row, so
that the terminal, the page, the API, alerts and log lines use the same words. A row has no
defaults: a new member without a row, or a row without a word, fails in
`tests/report/test_vocabulary.py`.

Import every row from here. Those of metrics are written in `metric_words`, those of verdicts in
`verdict_words`, those of label faults and regimes in `label_words`, those of predictions without
labels in `prediction_words`.
Reasons why labels do not allow a metric are written in `monitor.labels.refusals`, which the
engine reads; rows give them as `withheld`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from monitor.drift import COMPONENT_OF
from monitor.report.label_words import (
    LABEL_FAULTS,
    LABELLINGS,
    WINDOW_STATUSES,
    LabelFaultWords,
    LabellingWords,
)
from monitor.report.metric_words import (
    JSON_METRICS,
    METRIC_WORDS,
    PAGE_METRICS,
    TEXT_METRICS,
    MetricWords,
    titled,
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
        return titled(self.words)

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
    "trailing": SourceWords(words="the trailing days", short="trailing days"),
    "counts": SourceWords(words="given counts", short="given counts"),
    "level": SourceWords(words="the model's level", short="the model's level"),
    "mature": SourceWords(words="the latest mature data", short="latest mature data"),
}
"""By the `source` of a reference, or of a side of a diagnosis."""

REFERENCE_SOURCES = tuple(source for source in SOURCES if source not in {"level", "mature"})
"""Sources that a reference can have."""
