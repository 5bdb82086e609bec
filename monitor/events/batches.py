"""Operations on batches: concatenate, order, cut and renumber."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from monitor.counts import named
from monitor.events.columns import KINDS, EventBatch, Group, Int64Array

GROUPED = ("predictions", "outcomes", "counts")
"""The kinds of columns that have groups."""
_NO_ROW = 1 << 62


def concatenate(batches: Sequence[EventBatch], *, interleaved: bool = False) -> EventBatch:
    """Return one batch with the rows of all, groups renumbered; empty batches cost nothing.

    Args:
        batches: in the order of their records.
        interleaved: their `row` columns are positions in one batch already, and are not changed.
    """
    batches = [
        batch
        for batch in batches
        if batch.groups or len(batch.labels) or batch.records or batch.rejected
    ]
    if len(batches) == 1:
        return batches[0]
    if not batches:
        return EventBatch()
    codes: dict[Group, int] = {}
    for batch in batches:
        for group in batch.groups:
            codes.setdefault(group, len(codes))
    moved = [0] * len(batches) if interleaved else _moved(batches)

    def merged(name: str) -> Any:
        parts = [
            _regrouped(getattr(batch, name), batch.groups, codes, by)
            for batch, by in zip(batches, moved, strict=True)
        ]
        filled = [part for part in parts if len(part)] or parts[:1]
        if len(filled) == 1 and all(_has_types_of(part, filled[0]) for part in parts):
            return filled[0]
        return type(parts[0]).concatenate(parts)

    found = EventBatch(
        **{name: merged(name) for name in KINDS},
        groups=tuple(codes),
        rejected=tuple(r for batch in batches for r in batch.rejected),
        records=sum(batch.records for batch in batches),
        arrivals=_arrivals(batches, moved),
        class_names=tuple(dict.fromkeys(name for batch in batches for name in batch.class_names)),
    )
    return in_row_order(found) if interleaved else found


def in_own_memory(batch: EventBatch) -> EventBatch:
    """Return the batch without the rest of larger arrays that its columns are parts of."""
    columns = (getattr(batch, name) for name in KINDS)
    return replace(
        batch,
        **{
            name: type(own)(**{each: getattr(own, each).copy() for each in own.names()})
            for name, own in zip(KINDS, columns, strict=True)
        },
    )


def in_row_order(batch: EventBatch) -> EventBatch:
    """Return the batch with each column in the order of its records."""
    unordered = {}
    for name in KINDS:
        columns = getattr(batch, name)
        if len(columns) > 1 and np.count_nonzero(columns.row[1:] < columns.row[:-1]):
            unordered[name] = columns.take(np.argsort(columns.row, kind="stable"))
    return replace(batch, **unordered) if unordered else batch


def in_sequence(batch: EventBatch) -> Int64Array:
    """Return the order of a batch's records, as indices into the rows of all kinds in turn."""
    rows = np.concatenate([getattr(batch, name).row for name in KINDS])
    return np.argsort(rows, kind="stable")


def at_rows(batch: EventBatch, rows: Int64Array) -> EventBatch:
    """Move records to positions in another batch.

    Args:
        batch: of which `row` columns index `rows`.
        rows: new position of each record.
    """
    moved = {}
    for name in KINDS:
        columns = getattr(batch, name)
        if len(columns):
            moved[name] = replace(columns, row=rows[columns.row])
    return replace(batch, **moved)


def in_parts(batch: EventBatch, place: dict[str, Int64Array]) -> Iterator[EventBatch]:
    """Cut a batch into parts of consecutive records.

    Args:
        batch: its rows in the order of their records.
        place: number of the part of each row, by kind; non-decreasing.

    Yields:
        The parts that are not empty, in order; the first holds records and rejections.
    """
    rest: dict[str, Any] = {"rejected": batch.rejected, "records": batch.records}
    names: dict[str, Any] = {"groups": batch.groups, "class_names": batch.class_names}
    for part in np.unique(np.concatenate([*place.values()])).tolist():
        columns: dict[str, Any] = {}
        for name, places in place.items():
            first, end = np.searchsorted(places, [part, part + 1]).tolist()
            columns[name] = getattr(batch, name).take(slice(first, end))
        yield EventBatch(**columns, **names, arrivals=batch.arrivals, **rest)
        rest = {}


def _arrivals(batches: Sequence[EventBatch], moved: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Return the arrivals of batches that follow each other; each begins with its first row."""
    found = []
    for batch, by in zip(batches, moved, strict=True):
        rows = [row for name in KINDS if len(row := getattr(batch, name).row)]
        if rows:
            first = min(int(row.min()) for row in rows)
            found += [(max(row, first) + by, arrived) for row, arrived in batch.arrivals]
    return tuple(found)


def _moved(batches: Sequence[EventBatch]) -> list[int]:
    """Return the offset of each batch's rows, so that they follow the rows before."""
    moved, end = [], 0
    for batch in batches:
        rows = [row for name in KINDS if len(row := getattr(batch, name).row)]
        if not rows:
            moved.append(0)
            continue
        moved.append(end - min(int(row.min()) for row in rows))
        end = moved[-1] + max(int(row.max()) for row in rows) + 1
    return moved


def with_groups_in_use(batch: EventBatch) -> EventBatch:
    """Return the batch without unused groups."""
    columns = {name: getattr(batch, name) for name in GROUPED}
    in_use = np.zeros(len(batch.groups), dtype=np.bool_)
    for column in columns.values():
        if len(column) and not in_use.all():
            in_use |= named(column.group, len(in_use))
    if in_use.all():
        return batch
    used = np.flatnonzero(in_use)
    place = np.zeros(len(batch.groups), dtype=np.int64)
    place[used] = np.arange(len(used))
    renumbered = {name: replace(c, group=place[c.group]) for name, c in columns.items() if len(c)}
    return replace(batch, groups=tuple(batch.groups[i] for i in used.tolist()), **renumbered)


def _regrouped(columns: Any, groups: tuple[Group, ...], codes: dict[Group, int], by: int) -> Any:
    """Return columns with the group codes of another batch, and rows moved by an offset."""
    if not len(columns):
        return columns
    changed = {"row": columns.row + by} if by else {}
    if "group" in columns.names():
        numbers = [codes[group] for group in groups]
        if numbers != list(range(len(numbers))):
            changed["group"] = np.array(numbers, np.int64)[columns.group]
    return replace(columns, **changed) if changed else columns


def _has_types_of(columns: Any, other: Any) -> bool:
    """Tell whether columns are of the same type, and so is each array."""
    return type(columns) is type(other) and all(
        getattr(columns, name).dtype == getattr(other, name).dtype for name in other.names()
    )


def first_rows(batch: EventBatch) -> Int64Array:
    """Return the first record of each group, as in the `row` columns; a later one without any.

    Args:
        batch: its rows in the order of their records.
    """
    first = np.full(len(batch.groups), _NO_ROW)
    for name in GROUPED:
        columns = getattr(batch, name)
        own = np.full(len(first), _NO_ROW)
        own[columns.group[::-1]] = columns.row[::-1]
        first = np.minimum(first, own)
    return first


def by_appearance(batch: EventBatch) -> EventBatch:
    """Return the batch with its groups in the order of the first record of each.

    A cap depends on this order of groups. It must not depend on the kinds of records in
    a batch.

    Args:
        batch: its rows in the order of their records.
    """
    order = np.argsort(first_rows(batch), kind="stable")
    if (order[1:] > order[:-1]).all():
        return batch
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    moved = {}
    for name in GROUPED:
        columns = getattr(batch, name)
        moved[name] = replace(columns, group=place[columns.group])
    return replace(batch, groups=tuple(batch.groups[i] for i in order.tolist()), **moved)
