"""A batch of counts that is forwarded: sealed once, stored in checkpoints, sent as it is.

The events of a model are in the order of their panes, and each says that event time has come as
far as its own pane; the last one, how far the model has come. So the receiver, which may take a
long batch in several requests, judges no pane before all of its changes are there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import msgspec
import numpy as np

from monitor.distributed.counts_events import counts_event, seconds
from monitor.events.renumbering import State
from monitor.labels.forwarding import PaneCounts

_ARRAYS = ("group", "time", "label_time", "stratum", "cells")


class ForwardedBatch:
    """A numbered batch.

    Args:
        source: name of the monitor that sends it.
        number: of the batch, from 1 on.
        counts: what it adds.
    """

    def __init__(self, source: str, number: int, counts: PaneCounts) -> None:
        self.number = number
        self._counts = counts
        self._last = {counts.groups[group][0]: row for row, group in enumerate(counts.group)}
        self._named = {"source": source, "batch": str(number)}

    def __len__(self) -> int:
        """Events."""
        return len(self._counts.group)

    @property
    def changing(self) -> int:
        """Events up to the last that changes a count; the rest say how far a model has come."""
        changed = np.flatnonzero(self._counts.cells.any(axis=1))
        return int(changed[-1]) + 1 if len(changed) else 0

    @property
    def changes(self) -> int:
        """Sum of the changes, up and down, of all counts."""
        return int(np.abs(self._counts.cells).sum())

    def lines(self, start: int, end: int) -> bytes:
        """Return some of its `counts` events as NDJSON.

        Args:
            start: index of the first event.
            end: index after the last one.
        """
        return msgspec.json.Encoder().encode_lines(self._events(start, end))

    def _events(self, start: int, end: int) -> Iterator[Mapping[str, Any]]:
        counts, part = self._counts, slice(start, end)
        rows = zip(*(getattr(counts, name)[part].tolist() for name in _ARRAYS), strict=True)
        for row, (group, time, label_time, stratum, cells) in enumerate(rows, start):
            model, segment = counts.groups[group]
            event = counts_event(model, segment, (time, label_time), stratum, cells)
            event |= self._named
            if model in counts.watermarks:
                event["watermark"] = seconds(self._watermark(model, row))
            if counts.late and not row:
                event["late"] = counts.late
            yield event

    def _watermark(self, model: str, row: int) -> int:
        reached = self._counts.watermarks[model]
        return reached if row == self._last[model] else min(reached, int(self._counts.time[row]))

    def state(self) -> State:
        """Return the number and what the batch adds."""
        return {"number": self.number, **self._counts._asdict()}

    @classmethod
    def restored(cls, source: str, state: State) -> ForwardedBatch:
        """Return the batch of a `state`.

        Args:
            source: name of the monitor that sends it.
            state: of the batch.
        """
        counts = {name: value for name, value in state.items() if name != "number"}
        counts["groups"] = [(model, segment) for model, segment in counts["groups"]]
        return cls(source, state["number"], PaneCounts(**counts))
