"""The change of a segment value's ROC curve as a part of JSON answers."""

from __future__ import annotations

from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from monitor.diagnosis.segment_curves import SegmentCurve
from monitor.metrics.score_intervals import Interval
from monitor.report.answer_parts import Count, MetricInterval, defined


class CurveChange(Struct, frozen=True, kw_only=True):
    """The area under the ROC curve of one segment value, over the whole days (UTC).

    Attributes:
        before: of the earlier period; null where one class has no labelled score.
        after: of the later one, likewise.
        change: after minus before; its limits are null where those of a side are.
        scores_before: labelled scores of the earlier period.
        scores_after: of the later one.
        p_value: of the change, corrected for looking at all values; null where its limits are,
            and with fewer than 30 scores of a class on a side.
        moved: `fell` or `rose` where the curve certainly did; null for neither.
    """

    before: MetricInterval
    after: MetricInterval
    change: MetricInterval
    scores_before: Count
    scores_after: Count
    p_value: float | None
    moved: Literal["fell", "rose"] | None


def curve_change(found: SegmentCurve | None) -> CurveChange | UnsetType:
    """Return the change as a field of JSON; unset, and so left out, without scores."""
    if found is None:
        return UNSET
    return CurveChange(
        before=_interval(found.before),
        after=_interval(found.after),
        change=_interval(found.change),
        scores_before=found.cases[0],
        scores_after=found.cases[1],
        p_value=defined(found.p_value),
        moved=found.moved,
    )


def _interval(found: Interval) -> MetricInterval:
    estimate, lower, upper = map(defined, found)
    return MetricInterval(estimate=estimate, lower=lower, upper=upper)
