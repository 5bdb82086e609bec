"""A batch cut into slices of so many rows, so that counting it can be left and gone on with."""

from __future__ import annotations

from dataclasses import replace

from monitor.events.columns import EventBatch

_KINDS = ("predictions", "labels", "outcomes", "counts")


def in_slices(batch: EventBatch, most: int) -> list[EventBatch]:
    """A batch in slices: predictions first, each kind in its order.

    Args:
        batch: of any size.
        most: rows of a slice, at most.

    Returns:
        The batch itself where it is small enough. Else slices of one kind each; the
        first one has all that was rejected.
    """
    if sum(len(getattr(batch, name)) for name in _KINDS) <= most:
        return [batch]
    slices = []
    part = EventBatch(groups=batch.groups, rejected=batch.rejected, records=batch.records)
    for name in _KINDS:
        columns = getattr(batch, name)
        for start in range(0, len(columns), most):
            slices.append(replace(part, **{name: columns.take(slice(start, start + most))}))
            part = EventBatch(groups=batch.groups)
    return slices
