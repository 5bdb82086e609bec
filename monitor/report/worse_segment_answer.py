"""The segment values in which a model certainly became worse, as a part of JSON answers."""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct, UnsetType

from monitor.diagnosis import Diagnosis
from monitor.drift.worse_values import WorseValue
from monitor.events.columns import Series
from monitor.report.answer_parts import Share
from monitor.report.worse_segment import live_values, values_in
from monitor.snapshot import ModelState, Snapshot


class WorseSegment(Struct, frozen=True, kw_only=True):
    """A segment value in which a rate certainly became worse.

    Attributes:
        segment: the segment key.
        value: the segment value.
        rate: `recall`, which fell, or `false_positive_rate`, which rose.
        before: the rate before.
        after: the rate after.
    """

    segment: str
    value: str
    rate: str
    before: Share
    after: Share


WorseSegments = tuple[WorseSegment, ...]
"""The segment values of a model in which a rate certainly became worse, the surest first."""


def live_worse_segments(snapshot: Snapshot, model: ModelState, deciding: str) -> WorseSegments:
    """Return those of what answers for a model.

    Args:
        snapshot: the state.
        model: one of its models.
        deciding: name of its deciding window.
    """
    return _answers(live_values(snapshot, model, deciding))


def worse_segments_in(diagnosis: Diagnosis) -> WorseSegments:
    """Return those of a diagnosis.

    Args:
        diagnosis: of two periods.
    """
    return _answers(values_in(diagnosis))


def are_named(found: WorseSegments | UnsetType) -> bool:
    """Return whether an answer names segment values that became worse.

    Args:
        found: the part of the answer, which leaves it out where there are none.
    """
    return isinstance(found, tuple) and bool(found)


def _answers(found: Iterable[tuple[Series, WorseValue]]) -> WorseSegments:
    return tuple(
        WorseSegment(
            segment=series.segment or "",
            value=series.value or "",
            rate=worse.rate,
            before=worse.before,
            after=worse.after,
        )
        for series, worse in found
    )
