"""The object that `/api/v1/series` answers."""

from __future__ import annotations

from msgspec import Struct

from monitor.exporter.api.status_answer import DetectionMark, VersionAppeared
from monitor.report.answer_parts import Count, Time
from monitor.report.metric_words import MetricValues

Numbers = tuple[float | None, ...]
"""A number for each step of time; None where it is not known."""
Counts = tuple[Count, ...]


class IntervalSeries(Struct, frozen=True, kw_only=True):
    """A metric with its 95 % interval, a number for each step of time.

    Attributes:
        estimate: the metric; null while labels are still to come, or where it is undefined.
        lower: lower limits.
        upper: upper limits.
    """

    estimate: Numbers
    lower: Numbers
    upper: Numbers


class MetricSeries(MetricValues[IntervalSeries], frozen=True, kw_only=True):
    """The metrics by steps of time."""


class OutcomeSeries(Struct, frozen=True, kw_only=True):
    """Labelled predictions by outcome, a count for each step of time.

    Attributes:
        tp: true positives.
        fp: false positives.
        fn: false negatives.
        tn: true negatives.
    """

    tp: Counts
    fp: Counts
    fn: Counts
    tn: Counts


class SeriesAnswer(Struct, frozen=True, kw_only=True):
    """One model over time.

    Attributes:
        model: its name.
        step_seconds: length of a step.
        mature_until: up to this moment labels have come; null where that is not known.
        open: first moment of each step.
        predictions: made in each step.
        predicted_positive: of them, those called positive.
        outcomes: of each step, mature or not.
        metrics: of each step that is mature.
        class_ratio_from_predictions: from predictions alone, if the model is unchanged; null
            where past estimates of the model do not rest mostly on label shift.
        detections: all there were, in their order.
        versions: every version with the time of its first prediction, in order of time.
        changed: when its recall or false-positive rate changed, as `change_began` of its status
            has it; null where nothing says that they did.
    """

    model: str
    step_seconds: Count
    mature_until: Time | None
    open: tuple[Time, ...]
    predictions: Counts
    predicted_positive: Counts
    outcomes: OutcomeSeries
    metrics: MetricSeries
    class_ratio_from_predictions: Numbers
    detections: tuple[DetectionMark, ...]
    versions: tuple[VersionAppeared, ...]
    changed: Time | None
