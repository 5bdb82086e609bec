"""Cuts a batch where the order of records matters; the cuts do not depend on batch sizes.

Between two cuts the order of records has no effect, so that whole columns can be applied
at once. A batch is cut where the watermark enters another step, and after every n-th
prediction, where the join evicts predictions.
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
    """Yield the parts of a batch, in order.

    Args:
        batch: its rows in the order of their records.
        watermark: of all records before the batch.
        step: length of the steps of event time, milliseconds; a part ends with the record
            that moves the watermark into another step.
        every: number of predictions before the batch; and n, where a part ends after
            every n-th prediction.
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
        The batch itself if it is small enough, else its slices in order; the first one
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
