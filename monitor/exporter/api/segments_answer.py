"""The object that `/api/v1/segments` answers."""

from __future__ import annotations

from msgspec import Struct

from monitor.report.answer_parts import Count, MetricIntervals, OutcomeCounts, Share, Time


class SegmentNow(Struct, frozen=True, kw_only=True):
    """One segment value in a window.

    Attributes:
        segment: the segment key.
        value: its value.
        predictions: made in the window, labelled or not.
        predicted_positive_rate: share of them that is predicted positive; null without any.
        outcomes: its outcomes.
        metrics: its metrics.
    """

    segment: str
    value: str
    predictions: Count
    predicted_positive_rate: Share | None
    outcomes: OutcomeCounts
    metrics: MetricIntervals


class SegmentsAnswer(Struct, frozen=True, kw_only=True):
    """The segment values of a model in one window, without a comparison.

    Attributes:
        model: its name.
        window: name of the window.
        open: first moment inside; null before event time began.
        close: first moment after it; null likewise.
        segments: every value with a prediction, by key, the most predictions first.
    """

    model: str
    window: str
    open: Time | None
    close: Time | None
    segments: tuple[SegmentNow, ...]
