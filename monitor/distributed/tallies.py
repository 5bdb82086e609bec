"""Changes of counts after a batch: summed, and written as `counts` events."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec
import numpy as np
from msgspec import Struct

from monitor.config import Config, WindowClock
from monitor.distributed.counts_events import counts_event, seconds
from monitor.events.columns import LATEST_MS, MISSING_VALUE, Int64Array
from monitor.join.deltas import CELLS, PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.join.sampling import NO_STRATUM
from monitor.labels.delay_bins import FIRST_MS
from monitor.labels.delays import EDGES_SECONDS

Group = tuple[str, tuple[str, ...]]
"""A model and its segment values."""
CountKey = tuple[Group, int, int, int]
"""Group, pane and label time (epoch milliseconds), stratum."""

_SHOWN = 20


class Tally(Struct, array_like=True):
    """Changes of the counts by a part of a batch.

    Attributes:
        places: keys of the counts.
        cells: int64 (places, 6) as bytes, see `monitor.join.deltas`.
        watermark: event time that these events have reached, epoch milliseconds; None if unknown.
        records: records read, used or not.
        rejected: rejected records by reason.
        samples: the first few of them, each as (position, reason, detail).
        books: counts of the join, by name.
    """

    places: list[CountKey] = msgspec.field(default_factory=list)
    cells: bytes = b""
    watermark: int | None = None
    records: int = 0
    rejected: dict[str, int] = msgspec.field(default_factory=dict)
    samples: list[tuple[str, str, str]] = msgspec.field(default_factory=list)
    books: dict[str, int] = msgspec.field(default_factory=dict)


_decoder = msgspec.msgpack.Decoder(Tally)


def packed(tally: Tally) -> bytes:
    """Return a tally as bytes."""
    return msgspec.msgpack.encode(tally)


def unpacked(data: bytes) -> Tally:
    """Return the tally of bytes from `packed`."""
    return _decoder.decode(data)


class Counting:
    """Sums changes of outcomes by pane, group and label time.

    Label times are as fine as the monitor needs them: by the bin of the delay, or
    by pane for models whose windows follow the label time.

    Args:
        config: the pane, and the clocks of the models.
    """

    def __init__(self, config: Config) -> None:
        self._pane = config.pane
        self._config = config
        self._by_label: dict[str, bool] = {}
        self.found: defaultdict[CountKey, list[int]] = defaultdict(lambda: [0] * CELLS)

    def population(self, sign: int, time: int, group: Group, *, positive: bool) -> None:
        """Add or remove a prediction.

        Args:
            sign: 1 or -1.
            time: time of the prediction, epoch milliseconds.
            group: its model and segment values.
            positive: it is a predicted positive.
        """
        pane = time - time % self._pane
        cell = PREDICTED_POSITIVE if positive else PREDICTED_NEGATIVE
        self.found[group, pane, pane, NO_STRATUM][cell] += sign

    def outcome(
        self, sign: int, time: int, group: Group, cell: int, *, label: tuple[int, int]
    ) -> None:
        """Add or remove an outcome.

        Args:
            sign: 1 or -1.
            time: time of the prediction, epoch milliseconds.
            group: its model and segment values.
            cell: its column among the cells.
            label: time (epoch milliseconds) and stratum of the label.
        """
        label_time, stratum = label
        pane = time - time % self._pane
        if self._goes_by_label(group[0]):
            labelled = label_time - label_time % self._pane
        else:
            delay = max(label_time - time, 0)
            labelled = min(pane + _least_of_its_bin(delay), LATEST_MS - 1)
        self.found[group, pane, labelled, stratum][cell] += sign

    def tally(self, **books: Any) -> Tally:
        """Return the sums so far."""
        return _tally(self.found, **books)

    def _goes_by_label(self, model: str) -> bool:
        known = self._by_label.get(model)
        if known is None:
            clock = self._config.model(model).clock
            known = self._by_label[model] = clock is WindowClock.LABEL
        return known


def merged(tallies: Iterable[Tally]) -> Tally:
    """Return the sum of tallies, without keys whose counts are all 0."""
    found: defaultdict[CountKey, Int64Array] = defaultdict(lambda: np.zeros(CELLS, dtype=np.int64))
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
    """Return a batch as `counts` events, sorted by key.

    A batch without changes still reports its watermark, in an event of zeros, if the
    configuration names a model.

    Args:
        tally: sum of the batch.
        config: segments of the models.
        source: name of the job.
        batch: name of the batch.
    """
    rows = sorted(zip(tally.places, _cells_of(tally).tolist(), strict=True))
    late = tally.books.get("late", 0)
    reports = tally.watermark is not None or late
    if not rows and reports and config.models:
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
            event["watermark"] = seconds(tally.watermark)
    return events


def _tally(found: dict[CountKey, Any], **books: Any) -> Tally:
    changed = {place: cells for place, cells in found.items() if any(cells)}
    cells = np.array([*changed.values()], dtype=np.int64).reshape(len(changed), CELLS)
    return Tally(places=[*changed], cells=cells.tobytes(), **books)


def _cells_of(tally: Tally) -> Int64Array:
    return np.frombuffer(tally.cells, dtype=np.int64).reshape(-1, CELLS)


def _event(place: CountKey, cells: Sequence[int], config: Config) -> dict[str, Any]:
    (model, values), pane, labelled, stratum = place
    keys = config.model(model).segments
    segment = {k: v for k, v in zip(keys, values, strict=True) if v != MISSING_VALUE}
    return counts_event(model, segment, (pane, labelled), stratum, cells)


def _least_of_its_bin(delay: int) -> int:
    """Return the shortest delay in the same bin of the monitor, milliseconds.

    >>> [_least_of_its_bin(delay) for delay in (0, 1, 1000, 1001, 1189, 1190)]
    [0, 1, 1, 1001, 1001, 1190]
    """
    return int(FIRST_MS[np.searchsorted(EDGES_SECONDS, delay / 1000)])
