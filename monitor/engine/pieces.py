"""Cuts a batch where models may be forgotten, series change hands, or models learn classes.

A model is forgotten at its place in the sequence of records, not at the end of the batch that
is being counted: the next record may name it anew, or a model that had no room before. So it
is with the series that a version takes over from one that has ended, and with a class that a
prediction names for the first time: labels that come before it do not have this class.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from monitor.engine.silent_models import cuts, may_forget
from monitor.engine.stages import SLICE_ROWS, Stages
from monitor.events.batches import with_groups_in_use
from monitor.events.columns import KINDS, EventBatch
from monitor.events.model_times import EPOCH_ROWS
from monitor.events.parts import first_row, in_slices, rows_of, split_behind

VERSIONS_AT_ONCE = 2048
"""Records among which a newcomer is searched for at once: each may be another version."""


def pieces(stages: Callable[[], Stages], batch: EventBatch) -> Iterator[EventBatch]:
    """Cut a batch where models may be forgotten, versions take over a series, or classes come.

    Args:
        stages: returns the stages that count now; others after models were forgotten.
        batch: its rows in the order of their records.

    Yields:
        The pieces in order. Count each one, and forget silent models, before asking for the next.
    """
    if not may_forget(stages(), batch):
        yield from _at_newcomers(stages, batch)
        return
    for part in in_slices(batch, SLICE_ROWS):
        for piece in _pieces(stages, part):
            yield from _at_newcomers(stages, piece)


def _at_newcomers(stages: Callable[[], Stages], batch: EventBatch) -> Iterator[EventBatch]:
    """Cut a batch before each version that may take over a series, and before each new class."""
    for part in _at_new_versions(stages, batch):
        yield from _at_new_classes(stages, part)


def _at_new_classes(stages: Callable[[], Stages], rest: EventBatch) -> Iterator[EventBatch]:
    """Cut a batch before each class that a model has yet to learn."""
    found = stages().received.classes.newcomer(rest)
    while found is not None:
        if found > first_row(rest):
            piece, rest = split_behind(rest, found - 1)
            yield piece
        found = stages().received.classes.newcomer(rest, found)
    yield rest


def _at_new_versions(stages: Callable[[], Stages], batch: EventBatch) -> Iterator[EventBatch]:
    """Cut a batch before each version that may take over a series, and let it do so."""
    if stages().ranges or not stages().places.may_change(batch):  # ranges have series of their own
        yield batch
        return
    for part in _by_epoch(stages(), batch):
        for some in in_slices(part, VERSIONS_AT_ONCE):
            yield from _before_each(stages, with_groups_in_use(some))


def _before_each(stages: Callable[[], Stages], rest: EventBatch) -> Iterator[EventBatch]:
    """Cut a batch before each version that may take over a series; no epoch ends in it."""
    found = stages().places.newcomer(rest, stages().times.settled)
    while found is not None:
        if found.row > first_row(rest):
            piece, rest = split_behind(rest, found.row - 1)
            yield piece
        current = stages()  # others, where models were forgotten behind the piece
        moved = current.places.hand_over(found, current.times.settled)
        if moved is not None:
            current.windows.fold(moved.model, moved.row, moved.into)
        found = current.places.newcomer(rest, current.times.settled, found.row)
    yield rest


def _by_epoch(stages: Stages, batch: EventBatch) -> Iterator[EventBatch]:
    """Cut a batch where an epoch of the models' times ends."""
    left = EPOCH_ROWS - stages.received.events.total() % EPOCH_ROWS
    while rows_of(batch) > left:
        accepted, _ = stages.received.foreseen(batch)
        if rows_of(accepted) <= left:
            break
        rows = np.sort(np.concatenate([getattr(accepted, name).row for name in KINDS]))
        piece, batch = split_behind(batch, int(rows[left - 1]))
        yield piece
        left = EPOCH_ROWS
    yield batch


def _pieces(stages: Callable[[], Stages], rest: EventBatch) -> Iterator[EventBatch]:
    while rest.records or rows_of(rest):
        current = stages()
        for row in cuts(current, rest):
            piece, rest = split_behind(rest, row)
            yield piece
            if stages() is not current:
                break
        else:
            yield rest
            return
