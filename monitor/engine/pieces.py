"""Cuts a batch behind the records with which models may have to be forgotten.

A model is forgotten at its place in the sequence of records, not at the end of the batch that
is being counted: the next record may name it anew, or a model that had no room before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from monitor.engine.stages import SLICE_ROWS, Stages
from monitor.events.columns import EventBatch
from monitor.events.parts import in_slices, rows_of, split_behind


def pieces(stages: Callable[[], Stages], batch: EventBatch) -> Iterator[EventBatch]:
    """Cut a batch where models may have to be forgotten.

    Args:
        stages: returns the stages that count now; others after models were forgotten.
        batch: its rows in the order of their records.

    Yields:
        The pieces in order. Count each one, and forget silent models, before asking for the next.
    """
    if not stages().may_forget(batch):
        yield batch
        return
    for part in in_slices(batch, SLICE_ROWS):
        yield from _pieces(stages, part)


def _pieces(stages: Callable[[], Stages], rest: EventBatch) -> Iterator[EventBatch]:
    while rest.records or rows_of(rest):
        current = stages()
        for row in current.cuts(rest):
            piece, rest = split_behind(rest, row)
            yield piece
            if stages() is not current:
                break
        else:
            yield rest
            return
