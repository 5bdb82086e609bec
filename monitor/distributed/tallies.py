"""What counts otherwise after a batch: added up wherever it arises, written as `counts` events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from monitor.config import Config, WindowClock
from monitor.counts import Outcome
from monitor.events.columns import LATEST_MS, MISSING_VALUE, Int64Array
from monitor.join.deltas import CELLS, PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.join.sampling import NO_STRATUM
from monitor.labels.delays import EDGES_SECONDS

Group = tuple[str, tuple[str, ...]]
"""A model and its segment values."""
Place = tuple[Group, int, int, int]
"""Group, pane and time of the labels (epoch milliseconds), stratum."""

_SHOWN = 20
_BIN_STARTS_MS = [0, *np.floor(EDGES_SECONDS[:-1] * 1000).astype(np.int64).tolist()]
_PER_OCTAVE = 8


class Tally(Struct, array_like=True):
    """Changes of a part of a batch, and its books.

    Attributes:
        places: what is counted apart.
        cells: int64 (places, 6) as bytes, see `monitor.join.deltas`.
        watermark: event time that these events have come to, epoch milliseconds; None: untold.
        records: read, used or not.
        rejected: records by reason.
        samples: the first few of them, each as (position, reason, detail).
        books: of the join, by name.
    """

    places: list[Place] = msgspec.field(default_factory=list)
    cells: bytes = b""
    watermark: int | None = None
    records: int = 0
    rejected: dict[str, int] = msgspec.field(default_factory=dict)
    samples: list[tuple[str, str, str]] = msgspec.field(default_factory=list)
    books: dict[str, int] = msgspec.field(default_factory=dict)


_decoder = msgspec.msgpack.Decoder(Tally)


def packed(tally: Tally) -> bytes:
    """A tally as bytes."""
    return msgspec.msgpack.encode(tally)


def unpacked(data: bytes) -> Tally:
    """The tally of these bytes."""
    return _decoder.decode(data)


class Counting:
    """Adds up moves of outcomes by pane, group and the age of their labels.

    Labels are told apart as finely as the monitor does: by the bin of their
    delay, or by pane where windows go by the time of the label.

    Args:
        config: of which the pane and the models' clocks decide.
    """

    def __init__(self, config: Config) -> None:
        self._pane = config.pane
        self._config = config
        self._by_label: dict[str, bool] = {}
        self.found: defaultdict[Place, list[int]] = defaultdict(lambda: [0] * CELLS)

    def population(self, sign: int, time: int, group: Group, *, positive: bool) -> None:
        """A prediction counts one more or less."""
        pane = time - time % self._pane
        cell = PREDICTED_POSITIVE if positive else PREDICTED_NEGATIVE
        self.found[group, pane, pane, NO_STRATUM][cell] += sign

    def outcome(
        self, sign: int, time: int, group: Group, cell: int, *, label: tuple[int, int]
    ) -> None:
        """An outcome counts one more or less, by a label of this time and stratum."""
        label_time, stratum = label
        pane = time - time % self._pane
        if self._goes_by_label(group[0]):
            labelled = label_time - label_time % self._pane
        else:
            delay = max(label_time - time, 0)
            labelled = min(pane + _least_of_its_bin(delay), LATEST_MS - 1)
        self.found[group, pane, labelled, stratum][cell] += sign

    def tally(self, **books: Any) -> Tally:
        """What was added up so far."""
        return _tally(self.found, **books)

    def _goes_by_label(self, model: str) -> bool:
        known = self._by_label.get(model)
        if known is None:
            clock = self._config.model(model).clock
            known = self._by_label[model] = clock is WindowClock.LABEL
        return known


def merged(tallies: Iterable[Tally]) -> Tally:
    """All tallies as one; what adds up to nothing is left out."""
    found: defaultdict[Place, Int64Array] = defaultdict(lambda: np.zeros(CELLS, dtype=np.int64))
    whole = Tally()
    for tally in tallies:
        for place, cells in zip(tally.places, _cells_of(tally), strict=True):
            found[place] += cells
        whole.records += tally.records
        for own, more in ((whole.rejected, tally.rejected), (whole.books, tally.books)):
            for name, count in more.items():
                own[name] = own.get(name, 0) + count
        whole.samples += tally.samples[: _SHOWN - len(whole.samples)]
        if tally.watermark is not None:
            known = whole.watermark
            whole.watermark = tally.watermark if known is None else max(known, tally.watermark)
    summed = _tally(found)
    whole.places, whole.cells = summed.places, summed.cells
    return whole


def events_of(tally: Tally, config: Config, source: str, batch: str) -> list[dict[str, Any]]:
    """A batch as `counts` events, in an order of their own.

    A batch in which nothing counts otherwise still says how far it has come, in an event
    of zeros, where the configuration names a model that can carry it.
    """
    rows = sorted(zip(tally.places, _cells_of(tally).tolist(), strict=True))
    late = tally.books.get("late", 0)
    told = tally.watermark is not None or late
    if not rows and told and config.models:
        model = next(iter(config.models))
        at = (tally.watermark or 0) // config.pane * config.pane
        missing = (MISSING_VALUE,) * len(config.model(model).segments)
        rows = [(((model, missing), at, at, NO_STRATUM), [0] * CELLS)]
    named = {"source": source, "batch": batch}
    events = [_event(place, cells, config) | named for place, cells in rows]
    if events and late:
        events[0]["late"] = late
    if tally.watermark is not None:
        for event in events:
            event["watermark"] = _seconds(tally.watermark)
    return events


def _tally(found: dict[Place, Any], **books: Any) -> Tally:
    kept = {place: cells for place, cells in found.items() if any(cells)}
    cells = np.array([*kept.values()], dtype=np.int64).reshape(len(kept), CELLS)
    return Tally(places=[*kept], cells=cells.tobytes(), **books)


def _cells_of(tally: Tally) -> Int64Array:
    return np.frombuffer(tally.cells, dtype=np.int64).reshape(-1, CELLS)


def _event(place: Place, cells: Sequence[int], config: Config) -> dict[str, Any]:
    (model, values), pane, labelled, stratum = place
    keys = config.model(model).segments
    segment = {k: v for k, v in zip(keys, values, strict=True) if v != MISSING_VALUE}
    event: dict[str, Any] = {"type": "counts", "model": model, "ts": _seconds(pane)}
    event |= {cell.name.lower(): cells[cell] for cell in Outcome}
    event["predicted_positive"] = cells[PREDICTED_POSITIVE]
    event["predicted_negative"] = cells[PREDICTED_NEGATIVE]
    if segment:
        event["segment"] = segment
    if labelled != pane:
        event["label_ts"] = _seconds(labelled)
    if stratum != NO_STRATUM:
        event["sampling_probability"] = 2.0 ** (-(stratum - 1) / _PER_OCTAVE)
    return event


def _seconds(milliseconds: int) -> float:
    return milliseconds // 1000 if milliseconds % 1000 == 0 else milliseconds / 1000


def _least_of_its_bin(delay: int) -> int:
    """The shortest delay that the monitor puts into the same bin, milliseconds.

    >>> [_least_of_its_bin(delay) for delay in (0, 1, 1000, 1001, 1189, 1190)]
    [0, 1, 1, 1001, 1001, 1190]
    """
    if delay == 0:
        return 0
    edge = int(np.searchsorted(EDGES_SECONDS, delay / 1000))
    return int(_BIN_STARTS_MS[edge]) + 1
