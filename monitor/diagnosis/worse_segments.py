"""Segment values of a diagnosis in which the model certainly became worse."""

from __future__ import annotations

from collections.abc import Sequence

from monitor.diagnosis.periods import Period
from monitor.diagnosis.segments import SegmentPart
from monitor.drift.worse_values import WorseValue, worse_value
from monitor.events.columns import VERSION_KEY, Series


def worse_segments(
    parts: Sequence[SegmentPart], before: Period, after: Period
) -> tuple[tuple[Series, WorseValue], ...]:
    """Return the segment values in which a rate certainly became worse, the surest first.

    Args:
        parts: of all segment values.
        before: the period to compare with.
        after: the period to judge.

    Returns:
        None where labels are a sample or have errors, as of live windows, and no version: versions
        are compared apart.
    """
    if any(one.sample is not None or one.labelled_blocks for one in (before, after)):
        return ()
    found = [
        (part.series, worse)
        for part in parts
        if part.series.segment != VERSION_KEY and (worse := _worse(part)) is not None
    ]
    return tuple(sorted(found, key=lambda one: one[1].p_value))


def _worse(part: SegmentPart) -> WorseValue | None:
    return worse_value(
        part.before,
        part.after,
        recall_p=part.p_values["recall"],
        false_positives_p=part.p_values["false_positives"],
    )
