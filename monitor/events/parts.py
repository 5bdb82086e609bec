"""Cuts a batch where the order of records matters; the cuts do not depend on batch sizes.

Between two cuts the order of records decides nothing, so that whole columns do what the
records do one by one. A batch is cut behind the record with which the time that models share
enters another step, behind every so-many-th row, and behind every so-many-th prediction,
where memory is freed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from operator import add, attrgetter

import numpy as np

from monitor.events.batches import in_parts, in_sequence
from monitor.events.columns import KINDS, BoolArray, EventBatch

_COLUMNS = attrgetter(*KINDS)


def rows_of(batch: EventBatch) -> int:
    """Return how many rows a batch has, of all kinds."""
    return sum(map(len, _COLUMNS(batch)))


def first_row(batch: EventBatch) -> int:
    """Return the first record that has rows, as in the `row` columns; the batch has some."""
    return min(int(getattr(batch, n).row.min()) for n in KINDS if len(getattr(batch, n)))


def last_row(batch: EventBatch) -> int:
    """Return the last record that has rows, as in the `row` columns; the batch has some."""
    return max(int(getattr(batch, n).row.max()) for n in KINDS if len(getattr(batch, n)))


def parts_of(
    batch: EventBatch, steps: Sequence[int], rows: tuple[int, int], predictions: tuple[int, int]
) -> Iterator[EventBatch]:
    """Yield the parts of a batch, in order.

    Args:
        batch: its rows in the order of their records.
        steps: places in the sequence of its rows behind which a part ends.
        rows: how many came before, and behind how many of them a part ends.
        predictions: how many came before, and behind how many of them a part ends.
    """
    order = in_sequence(batch)
    sizes = [*map(len, _COLUMNS(batch))]
    kind = np.repeat(np.arange(len(KINDS)), sizes)
    is_prediction = kind[order] == KINDS.index("predictions")
    ends = _full(rows, np.ones(len(order), dtype=np.bool_)) | _full(predictions, is_prediction)
    ends[np.asarray(steps, dtype=np.int64)] = True
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.cumsum(ends) - ends
    return in_parts(batch, {name: place[kind == i] for i, name in enumerate(KINDS)})


def split_behind(batch: EventBatch, row: int) -> tuple[EventBatch, EventBatch]:
    """Cut a batch behind a record; the first part holds the rejected records.

    Args:
        batch: its rows in the order of their records.
        row: the record, as in the `row` columns.
    """
    place = {name: (getattr(batch, name).row > row).astype(np.int64) for name in KINDS}
    parts = [*in_parts(batch, place)]
    return parts[0], parts[1] if len(parts) > 1 else EventBatch()


def in_plans(
    batch: EventBatch,
    came: tuple[int, int],
    plan: Callable[[EventBatch, int, int], Iterator[EventBatch]],
    is_outdated: Callable[[], bool],
) -> Iterator[EventBatch]:
    """Yield the parts of a batch as planned, and plan the rest anew where the plan is outdated.

    Args:
        batch: its rows in the order of their records.
        came: rows and predictions that came before it.
        plan: returns the parts of a batch in order, by rows and predictions before it.
        is_outdated: returns whether the plan no longer holds; called behind each part.
    """
    rows, predictions = came
    while True:
        done = [0] * len(KINDS)
        for part in plan(batch, rows, predictions):
            yield part
            sizes = [*map(len, _COLUMNS(part))]
            done = [*map(add, done, sizes)]
            rows, predictions = rows + sum(sizes), predictions + len(part.predictions)
            if is_outdated():
                break
        else:
            return
        both = zip(KINDS, _COLUMNS(batch), done, strict=True)
        left = {name: column.take(slice(first, None)) for name, column, first in both}
        batch = replace(batch, **left, rejected=(), records=0)
        if not rows_of(batch):
            return


def _full(every: tuple[int, int], counted: BoolArray) -> BoolArray:
    """Return the rows with which another so-many-th is reached, in the order of the sequence."""
    came, many = every
    after = came + np.cumsum(counted)
    return np.asarray(after // many > (after - counted) // many)


def in_slices(batch: EventBatch, most: int) -> Iterator[EventBatch]:
    """Cut a batch into slices of consecutive records.

    Args:
        batch: of any size, its rows in the order of their records.
        most: records of a slice, at most.

    Yields:
        The batch itself if it is small enough, else its slices in order; the first one
        holds the rejected records.
    """
    sizes = [*map(len, _COLUMNS(batch))]
    if sum(sizes) <= most:
        yield batch
        return
    order = in_sequence(batch)
    place = np.empty(len(order), dtype=np.int64)
    place[order] = np.arange(len(order)) // most
    ends = np.cumsum(sizes)[:-1]
    yield from in_parts(batch, dict(zip(KINDS, np.split(place, ends), strict=True)))
