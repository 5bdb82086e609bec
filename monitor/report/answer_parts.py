"""Objects that several JSON answers share, and the functions that make them from a snapshot.

An answer is a tree of frozen Structs. Their docstrings describe the fields in
`openapi.json`. A number is None, and null in JSON, where it is undefined or refused.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import Annotated, Any

from msgspec import Meta, Struct, to_builtins

from monitor.config.quantities import format_time
from monitor.counts import ConfusionCounts
from monitor.drift.degenerate import Degeneracy
from monitor.report.metric_words import JSON_METRICS, MetricValues
from monitor.report.prediction_words import degenerate_text
from monitor.snapshot import Estimate, Window
from monitor.verdicts import DegeneratePredictions, MissingLabels, Watched

Count = Annotated[int, Meta(ge=0)]
Sum = Annotated[float, Meta(ge=0)]
Share = Annotated[float, Meta(ge=0, le=1)]
Time = Annotated[str, Meta(extra_json_schema={"format": "date-time"})]
"""ISO 8601 in UTC."""


class MetricInterval(Struct, frozen=True, kw_only=True):
    """A number with its 95 % interval.

    Attributes:
        estimate: the number; null where it is undefined or refused.
        lower: lower limit; null likewise.
        upper: upper limit; null likewise.
    """

    estimate: float | None
    lower: float | None
    upper: float | None


class MetricIntervals(MetricValues[MetricInterval], frozen=True, kw_only=True):
    """The metrics of a window."""


class OutcomeCounts(Struct, frozen=True, kw_only=True):
    """Labelled predictions by outcome.

    Attributes:
        tp: true positives.
        fp: false positives.
        fn: false negatives.
        tn: true negatives.
    """

    tp: Count
    fp: Count
    fn: Count
    tn: Count

    @property
    def total(self) -> int:
        """All labelled predictions."""
        return self.tp + self.fp + self.fn + self.tn


class OutcomeSums(Struct, frozen=True, kw_only=True):
    """Outcomes, as expected of all predictions where labels are a sample.

    Attributes:
        tp: true positives; a fraction where labels are a sample, as all four.
        fp: false positives.
        fn: false negatives.
        tn: true negatives.
    """

    tp: Sum
    fp: Sum
    fn: Sum
    tn: Sum

    @property
    def total(self) -> float:
        """All outcomes."""
        return self.tp + self.fp + self.fn + self.tn

    def sum_of(self, cells: Iterable[str]) -> float:
        """Return the sum of some of the four."""
        values: Iterable[float] = (getattr(self, cell) for cell in cells)
        return sum(values)


class LabelStatus(StrEnum):
    """How far the labels of a window allow its metrics."""

    MATURE = "mature"
    """All labels have come."""
    CORRECTED = "corrected"
    """Labels are still to come; the metrics, not the counts, allow for them."""
    IMMATURE = "immature"
    """Too few labels have come for any metric."""
    UNTRUSTED = "untrusted"
    """Labels are at fault; what they do not allow is withheld."""


class MissingLabelShare(Struct, frozen=True, kw_only=True):
    """A segment value, or a range of the score, where labels are missing more than elsewhere.

    Attributes:
        segment: the segment key; `score` for a range of the score.
        value: the segment value; `0.1..0.2` for a range.
        share: share of its predictions without a label.
        elsewhere: the same of all others.
        missing: its predictions without a label.
    """

    segment: str
    value: str
    share: Share
    elsewhere: Share
    missing: Count


class PredictionCheck(Struct, frozen=True, kw_only=True):
    """A model's predictions, without labels, against all that is known of them.

    Attributes:
        known: false while the past is too short to know what is usual.
        kind: what is wrong; null where nothing is.
        text: what the model does, such as "flags nothing any more"; null where nothing is wrong.
        since: first moment of the predictions that show it; null where nothing is wrong.
        times: rate of flagged cases over the extreme one of the past, where that is what is
            wrong; else null.
    """

    known: bool
    kind: Degeneracy | None
    text: str | None
    since: Time | None
    times: float | None


def json_text(answer: Struct | Mapping[str, Any], *, indent: int | None = None) -> str:
    """Return an answer as JSON text, ASCII only, so that any name survives.

    Args:
        answer: the object.
        indent: spaces for each level; None for one line without spaces.

    Raises:
        ValueError: a number is NaN or infinite; an answer holds None instead.
    """
    separators = (",", ":") if indent is None else None
    builtins: Any = to_builtins(answer)
    return json.dumps(builtins, indent=indent, separators=separators, allow_nan=False)


def defined(number: float) -> float | None:
    """Return the number; None where it is NaN or infinite."""
    return float(number) if math.isfinite(number) else None


def evidence_ratio(watched: Watched) -> float | None:
    """Return the evidence of a detector over its threshold, to six digits; None where undefined.

    >>> evidence_ratio(Watched(evidence=100.00000000000011))
    100.0
    """
    return defined(float(f"{watched.evidence:.6g}"))


def time_text(milliseconds: int | None) -> str | None:
    """Return epoch milliseconds as ISO 8601 in UTC; None for None."""
    return None if milliseconds is None else format_time(milliseconds)


def metric_interval(estimate: Estimate, row: int) -> MetricInterval:
    """Return a metric of one series with its interval.

    Args:
        estimate: of every series.
        row: of the series.
    """
    return MetricInterval(
        estimate=defined(estimate.estimate[row]),
        lower=defined(estimate.lower[row]),
        upper=defined(estimate.upper[row]),
    )


def metric_intervals(window: Window, row: int) -> MetricIntervals:
    """Return the metrics of one series in a window.

    Args:
        window: of the snapshot.
        row: of the series.
    """
    return MetricIntervals(
        **{name: metric_interval(window.metrics[name], row) for name in JSON_METRICS}
    )


def outcome_counts(window: Window, row: int) -> OutcomeCounts:
    """Return the outcomes of one series in a window.

    Args:
        window: of the snapshot.
        row: of the series.
    """
    tp, fp, fn, tn = window.counts[row].cells.tolist()
    return OutcomeCounts(tp=tp, fp=fp, fn=fn, tn=tn)


def outcome_sums(counts: ConfusionCounts) -> OutcomeSums:
    """Return outcomes, a scalar, as an object."""
    tp, fp, fn, tn = counts.cells.tolist()
    return OutcomeSums(tp=tp, fp=fp, fn=fn, tn=tn)


def label_status(window: Window, row: int) -> LabelStatus | None:
    """Return how far the labels of one series in a window allow its metrics.

    Args:
        window: of the snapshot.
        row: of the series.

    Returns:
        None where the window says nothing of it.
    """
    return LabelStatus(str(window.status[row])) if len(window.status) else None


def prediction_check(found: DegeneratePredictions) -> PredictionCheck:
    """Return what is wrong with a model's predictions, if anything.

    Args:
        found: its predictions against all that is known of them.
    """
    return PredictionCheck(
        known=found.known,
        kind=found.kind,
        text=degenerate_text(found) or None,
        since=time_text(found.since),
        times=defined(found.times),
    )


def missing_label_shares(found: tuple[MissingLabels, ...]) -> tuple[MissingLabelShare, ...]:
    """Return where labels are missing, the worst first."""
    return tuple(MissingLabelShare(**missing._asdict()) for missing in found)
