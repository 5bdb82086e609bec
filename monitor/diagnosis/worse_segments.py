"""Segment values of a diagnosis in which the model certainly became worse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from monitor.diagnosis.periods import Errors, Period
from monitor.diagnosis.segments import SegmentPart, dispersion_of, segment_keys, tables_of
from monitor.drift import CAUSES, attribute_segments
from monitor.drift.value_scatter import ValueDays, with_scatter_of_values
from monitor.drift.worse_values import WorseValue, worse_value
from monitor.events.columns import VERSION_KEY, Series

_PARTS = CAUSES[:3]


def worse_segments(
    parts: Sequence[SegmentPart], before: Period, after: Period, errors: Errors
) -> tuple[tuple[Series, WorseValue], ...]:
    """Return the segment values in which a rate certainly became worse, the surest first.

    Args:
        parts: of all segment values.
        before: the period to compare with.
        after: the period to judge.
        errors: what the errors of the change rest on.

    Returns:
        None where labels are a sample or have errors, as of live windows, and no version: versions
        are compared apart.
    """
    if any(one.sample is not None or one.labelled_blocks for one in (before, after)):
        return ()
    moved = [one for one in parts if _worse(one, one.p_values) is not None]
    found = []
    for key in dict.fromkeys(part.series.segment for part in moved):
        if key is not None and key != VERSION_KEY:
            by_own_days = _p_values_within(key, before, after, errors)
            found += [
                (part.series, worse)
                for part in moved
                if part.series.segment == key
                and (worse := _worse(part, by_own_days[part.series])) is not None
            ]
    return tuple(sorted(found, key=lambda one: one[1].p_value))


def _p_values_within(
    key: str, before: Period, after: Period, errors: Errors
) -> dict[Series, dict[str, float]]:
    """Return the p-values of each value of a key, by errors that hold the scatter of their days."""
    values, old, new = tables_of(key, before, after)
    between = errors.between
    if between is not None:
        days = [before.in_days(old[i]) for i in range(len(values))]
        behind = before.days_behind, after.days_behind
        known = [one for one in days if one is not None]
        between = with_scatter_of_values(between, ValueDays(known, behind))
    rows = dispersion_of(values, before, after)
    found = attribute_segments(old, new, rows, between=between)
    p_values = np.minimum(found.p_values * len(segment_keys(before, after)), 1.0)
    return {
        series: dict(zip(_PARTS, p_values[:, i].tolist(), strict=True))
        for i, series in enumerate(values)
    }


def _worse(part: SegmentPart, p_values: Mapping[str, float]) -> WorseValue | None:
    return worse_value(
        part.before,
        part.after,
        recall_p=p_values["recall"],
        false_positives_p=p_values["false_positives"],
    )
