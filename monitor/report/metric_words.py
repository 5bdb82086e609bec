"""The words for every metric, and the object with a value for each; see `vocabulary`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Literal, NamedTuple, TypeVar

from msgspec import Struct


def titled(words: str) -> str:
    """Return words with a capital letter."""
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

    @property
    def title(self) -> str:
        """Its full name with a capital letter."""
        return titled(self.words)

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
    ),
)
"""By name, in the order of `monitor.snapshot.METRIC_NAMES`."""

Value = TypeVar("Value")


class MetricValues(Struct, Generic[Value], frozen=True, kw_only=True):
    """A value for each metric of the JSON of `replay`, `diagnose` and the API.

    Attributes:
        precision: share of the predicted positives that are positive.
        balanced_precision: precision at as many positives as negatives.
        recall: share of the positives that are predicted positive.
        false_positive_rate: share of the negatives that are predicted positive.
        prevalence: share of positives.
        class_ratio: positives per negative.
    """

    precision: Value
    balanced_precision: Value
    recall: Value
    false_positive_rate: Value
    prevalence: Value
    class_ratio: Value

    def metric(self, name: str) -> Value:
        """Return the value of a metric by its name."""
        found: Value = getattr(self, name)
        return found


JSON_METRICS = MetricValues.__struct_fields__
"""Names of the metrics in JSON objects, in their order there."""

TEXT_METRICS = tuple(row for row in METRIC_WORDS.values() if row.place is not None)
"""Metrics in the tables of `replay` and `diagnose`, in their order there."""

PAGE_METRICS = tuple(sorted(TEXT_METRICS, key=lambda row: row.place or 0))
"""Metrics in the tables of the page and of `top`, in their order there."""
