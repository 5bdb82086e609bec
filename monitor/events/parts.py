"""A batch cut where one after the other matters: the same parts, wherever batches end.

Between two cuts the order of records decides nothing, so that whole columns do what the
records do one by one. A batch is cut where the watermark enters another step, and behind
every so-many-th prediction, where room is given back.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.events.batches import in_parts, in_sequence
from monitor.events.columns import KINDS, EventBatch
from monitor.events.watermark import Watermark


def parts_of(
    batch: EventBatch, watermark: Watermark, step: int, every: tuple[int, int]
) -> Iterator[EventBatch]:
    """The parts of a batch, in order.

    Args:
        batch: its rows in the order of their records.
        watermark: of all that came before.
        step: of event time, milliseconds; a part ends with the record that brings the
            watermark into another one.
        every: predictions that came before, and behind how many of them a part ends.
    """
    order = in_sequence(batch)
    kind = np.repeat(np.arange(len(KINDS)), [len(getattr(batch, name)) for name in KINDS])
    (came, many), predicted = every, kind[order] == KINDS.index("predictions")
    before = came + np.cumsum(predicted) - predicted
    cells = (watermark.along(batch)[order] // step, before // many)
    changes = np.zeros(len(order), dtype=np.int64)
    for cell in cells:
        changes[1:] |= cell[1:] != cell[:-1]
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(changes)
    return in_parts(batch, {name: place[kind == i] for i, name in enumerate(KINDS)})


def in_slices(batch: EventBatch, most: int) -> Iterator[EventBatch]:
    """Cut a batch into slices of consecutive records.

    Args:
        batch: of any size, its rows in the order of their records.
        most: records of a slice, at most.

    Yields:
        The batch itself where it is small enough, else its slices in order; the first
        holds the rejected records.
    """
    sizes = [len(getattr(batch, name)) for name in KINDS]
    if sum(sizes) <= most:
        yield batch
        return
    order = in_sequence(batch)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) // most
    ends = np.cumsum(sizes)[:-1]
    yield from in_parts(batch, dict(zip(KINDS, np.split(place, ends), strict=True)))
