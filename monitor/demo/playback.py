"""Replays recorded events at a given speed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

import numpy as np

from monitor.clock import DAY_MS, Clock
from monitor.events.columns import EventBatch, Labels, Predictions

_TICK_SECONDS = 0.1

_Timed = TypeVar("_Timed", Predictions, Labels)


def playback(events: EventBatch, *, seconds: float, clock: Clock) -> Iterator[EventBatch]:
    """Yield the events in small batches, each when it is due.

    Args:
        events: predictions and labels, each in order of time.
        seconds: wall time for all of them; 0 for no waiting.
        clock: the wall time.
    """
    first, last = _span(events)
    began, done = clock.monotonic(), first
    while done <= last:
        if seconds:
            clock.sleep(_TICK_SECONDS)
            share = min(1.0, (clock.monotonic() - began) / seconds)
            due = first + int(share * (last + 1 - first))
        else:
            due = done + DAY_MS
        yield _between(events, done, due)
        done = due


def _span(events: EventBatch) -> tuple[int, int]:
    times = (events.predictions.time, events.labels.time)
    return min(int(t[0]) for t in times), max(int(t[-1]) for t in times)


def _between(events: EventBatch, since: int, before: int) -> EventBatch:
    """Return the events in [since, before), epoch milliseconds."""
    predictions = _rows(events.predictions, since, before)
    labels = _rows(events.labels, since, before)
    return replace(
        events, predictions=predictions, labels=labels, records=len(predictions) + len(labels)
    )


def _rows(columns: _Timed, since: int, before: int) -> _Timed:
    first, end = np.searchsorted(columns.time, [since, before])
    return columns.take(np.arange(first, end))
