"""Changes of counts after a batch: summed, and written as `counts` events."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from monitor.config import Config
from monitor.distributed.counts_events import counts_event, seconds
from monitor.events.columns import Int64Array
from monitor.events.key_order import ordered
from monitor.join.deltas import CELLS
from monitor.join.sampling import NO_STRATUM
from monitor.labels.forwarding import PaneCounts

Segment = dict[str, str]
"""Segment values by key."""

_SHOWN = 20
_PLACE = 4


class Tally(Struct, array_like=True):
    """Changes of the counts by a part of a batch.

    Attributes:
        groups: models and segment values that places refer to.
        places: int64 (4, places) as bytes: index of the group, pane and label time (epoch
            milliseconds), stratum.
        cells: int64 (places, 6) as bytes, see `monitor.join.deltas`.
        watermark: event time that these events have reached, epoch milliseconds; None if unknown.
        records: records read, used or not.
        rejected: rejected records by reason.
        samples: the first few of them, each as (position, reason, detail).
        books: counts of the join, by name.
        lags: how far models are behind the watermark, by name, milliseconds.
    """

    groups: list[tuple[str, Segment]] = msgspec.field(default_factory=list)
    places: bytes = b""
    cells: bytes = b""
    watermark: int | None = None
    records: int = 0
    rejected: dict[str, int] = msgspec.field(default_factory=dict)
    samples: list[tuple[str, str, str]] = msgspec.field(default_factory=list)
    books: dict[str, int] = msgspec.field(default_factory=dict)
    lags: dict[str, int] = msgspec.field(default_factory=dict)


_decoder = msgspec.msgpack.Decoder(Tally)


def packed(tally: Tally) -> bytes:
    """Return a tally as bytes."""
    return msgspec.msgpack.encode(tally)


def unpacked(data: bytes) -> Tally:
    """Return the tally of bytes from `packed`."""
    return _decoder.decode(data)


def tally_of(counts: PaneCounts, **books: Any) -> Tally:
    """Return changes as a tally.

    Args:
        counts: the changes.
        books: other fields of the tally.
    """
    places = np.stack([counts.group, counts.time, counts.label_time, counts.stratum])
    cells = np.ascontiguousarray(counts.cells)
    return Tally(groups=counts.groups, places=places.tobytes(), cells=cells.tobytes(), **books)


def merged(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies, without places whose counts are all 0, in the order of places."""
    whole, groups = Tally(), list[tuple[str, Segment]]()
    numbers: dict[tuple[str, tuple[tuple[str, str], ...]], int] = {}
    places, cells = [_places_of(whole)], [_cells_of(whole)]
    for tally in tallies:
        own = []
        for model, segment in tally.groups:
            own.append(numbers.setdefault((model, tuple(segment.items())), len(numbers)))
            if own[-1] == len(groups):
                groups.append((model, segment))
        theirs = _places_of(tally).copy()
        theirs[0] = np.array(own, dtype=np.int64)[theirs[0]]
        places.append(theirs)
        cells.append(_cells_of(tally))
        _add_books(whole, tally)
    rank = sorted(range(len(groups)), key=[*numbers].__getitem__)
    whole.groups = [groups[number] for number in rank]
    new = np.empty(len(rank), dtype=np.int64)
    new[rank] = np.arange(len(rank))
    found = np.concatenate(places, axis=1)
    found[0] = new[found[0]]
    whole.places, whole.cells = _summed(found, np.concatenate(cells))
    return whole


def events_of(tally: Tally, config: Config, source: str, batch: str) -> Iterator[dict[str, Any]]:
    """Yield a batch as `counts` events, in the order of its places.

    A batch without changes still reports its watermark, in an event of zeros, if the
    configuration names a model.

    Args:
        tally: sum of the batch.
        config: segments of the models.
        source: name of the job.
        batch: name of the batch.
    """
    late = tally.books.get("late", 0)
    named: dict[str, Any] = {"source": source, "batch": batch}
    rows = zip(_places_of(tally).T.tolist(), _cells_of(tally).tolist(), strict=True)
    empty = True
    for (group, pane, labelled, stratum), cells in rows:
        model, segment = tally.groups[group]
        event = counts_event(model, segment, (pane, labelled), stratum, cells) | named
        event |= _reached(tally, model)
        if empty and late:
            event["late"] = late
        empty = False
        yield event
    if empty and config.models and (tally.watermark is not None or late):
        at, model = (tally.watermark or 0) // config.pane * config.pane, next(iter(config.models))
        event = counts_event(model, {}, (at, at), NO_STRATUM, [0] * CELLS)
        yield event | named | _reached(tally, model) | ({"late": late} if late else {})


def _reached(tally: Tally, model: str) -> dict[str, Any]:
    if tally.watermark is None:
        return {}
    return {"watermark": seconds(tally.watermark - tally.lags.get(model, 0))}


def _add_books(whole: Tally, tally: Tally) -> None:
    whole.records += tally.records
    for own, more in ((whole.rejected, tally.rejected), (whole.books, tally.books)):
        for name, count in more.items():
            own[name] = own.get(name, 0) + count
    whole.samples += tally.samples[: _SHOWN - len(whole.samples)]
    for model, lag in tally.lags.items():
        whole.lags[model] = max(lag, whole.lags.get(model, 0))
    if tally.watermark is not None:
        known = whole.watermark
        whole.watermark = tally.watermark if known is None else max(known, tally.watermark)


def _summed(places: Int64Array, cells: Int64Array) -> tuple[bytes, bytes]:
    if not len(cells):
        return b"", b""
    order, first = ordered(places)
    sums = np.add.reduceat(cells[order], first, axis=0)
    changed = np.flatnonzero((sums != 0).any(axis=1))
    return places[:, order[first[changed]]].tobytes(), sums[changed].tobytes()


def _places_of(tally: Tally) -> Int64Array:
    return np.frombuffer(tally.places, dtype=np.int64).reshape(_PLACE, -1)


def _cells_of(tally: Tally) -> Int64Array:
    return np.frombuffer(tally.cells, dtype=np.int64).reshape(-1, CELLS)
