"""State of a task, in pages of bytes, and how the events of a batch change it.

A page has the ids of a range of keys: 24 bytes a prediction, as in the memory of the
columnar join (see `monitor.join.packing`), and 32 a label that waits for its prediction,
both in the order of their keys. A batch reads the pages that it touches; one that searches for
expired states reads all of them. Each is read once.

What a batch changes on a page is stored beside it, and the page is written whole only now and
then: once its changes have taken as many bytes as the page has, each time counted that they
were written. So a batch that touches a hundredth of each page writes a seventh of their bytes,
and one that touches a tenth writes half. A page that is hardly larger than its changes is
always written whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import NamedTuple

import msgspec
import numpy as np

from monitor.distributed.changed_ids import ChangedIds, distinct
from monitor.distributed.group_codes import TaskGroups, catalogue_of
from monitor.distributed.model_clocks import Reached, TaskClock, clocks_after
from monitor.distributed.packets import Packet, events_in, opened
from monitor.distributed.page_rules import PageRules
from monitor.distributed.stored_pages import (
    PageBytes,
    PageStore,
    StoredPage,
    bytes_of,
    changed_ids,
    size_of,
)
from monitor.distributed.tallies import Tally, merged, unpacked
from monitor.distributed.touched_ids import KEY, WHAT, WHEN, WORDS, IdStates, TouchedIds
from monitor.events.columns import BoolArray, Int64Array, KeyArray, Labels, Predictions
from monitor.join import packing as words
from monitor.join.terms import ModelTerms
from monitor.join.unlabelled import NO_OUTCOME, outcomes_of

_TOGETHER = 1 << 20
"""Events and stored ids that are worked on at once, as far as whole pages allow."""
_CALLS_BYTES = 12_000
"""What changes beside a page cost besides their bytes: reading them is one more call of Spark's."""


class _Share(NamedTuple):
    """Some pages next to each other, and their events.

    Attributes:
        stored: the pages, in the order of their numbers.
        predictions: of their ids.
        labels: of their ids.
    """

    stored: list[StoredPage]
    predictions: Predictions
    labels: Labels


class _Change(NamedTuple):
    """What events change on some pages.

    Attributes:
        before: the ids that events came for, before these.
        then: the same ids after these.
        after: all ids of the pages after these.
    """

    before: IdStates
    then: IdStates
    after: ChangedIds


class Pages:
    """The predictions and labels of one task.

    Args:
        rules: settings of the job.
        store: the pages.
        task: number of the task.
        stored: bytes from `state`; None for a new task.

    Raises:
        MonitorError: the bytes have another layout, number of pages or seed of keys.
    """

    def __init__(
        self, rules: PageRules, store: PageStore, task: int, stored: bytes | None = None
    ) -> None:
        self._rules = rules
        self._store = store
        self._task = task
        self._stored = rules.new() if stored is None else rules.loaded(stored)
        self._codes = TaskGroups(rules.config, self._stored.groups)

    def is_due(self, watermark: int) -> bool:
        """Return whether it is time to search for expired states.

        Args:
            watermark: watermark reached, epoch milliseconds.
        """
        return self._stored.due is not None and self._stored.due <= watermark

    def state(self) -> bytes:
        """Return what the task stores beside its pages."""
        self._stored.groups = self._codes.state()
        return msgspec.msgpack.encode(self._stored)

    def take(self, packets: Iterable[bytes], watermark: int) -> Tally:
        """Apply the events of a batch, and search for expired states where that is due.

        Args:
            packets: packets of this task, in any order.
            watermark: watermark of all earlier batches, epoch milliseconds.

        Returns:
            The changes of the counts.
        """
        parts = [opened(data) for data in packets]
        return self._apply(parts, watermark, searches=self.is_due(watermark))

    def expire(self, watermark: int) -> Tally:
        """Drop states that can no longer change.

        Args:
            watermark: watermark reached, epoch milliseconds.
        """
        return self._apply([], watermark, searches=True)

    def _apply(self, parts: Sequence[Packet], watermark: int, *, searches: bool) -> Tally:
        tallies = [unpacked(packet.tally) for packet in parts if packet.tally]
        events = events_in(parts, self._codes)
        reports = (Reached(packet.reached, packet.reached_by_model) for packet in parts)
        clocks = self._stored.clocks = clocks_after(self._stored.clocks, reports, watermark)
        clock = TaskClock(watermark, {name: one.lag for name, one in clocks.items() if one.lag})
        ids = TouchedIds(self._rules, self._codes, clock)
        used: list[Int64Array] = [np.zeros(0, dtype=np.int64)]
        if searches:
            self._stored.due = self._stored.earliest = None
        for share in self._shares(*events, every=searches):
            change, tally = _taken(share, ids)
            tallies.append(tally)
            if searches:
                left, forgotten = self._forget(share.stored, change, clock)
                tallies.append(forgotten)
                used.append(np.unique(words.groups_of(left.rows[:, WHEN])))
                self._note_earliest(words.times_of(left.rows[:, WHEN]), left.held["time"])
            else:
                self._write_changes(share.stored, change)
                self._note_earliest(share.predictions.time, share.labels.time)
        if searches:
            self._codes.free_but(np.concatenate(used))
        return merged([*tallies, Tally(lags=dict(clock.lags))])

    def next_due(self, watermark: int) -> int | None:
        """Schedule the next search for expired states, unless one is scheduled or not needed.

        Args:
            watermark: watermark reached, epoch milliseconds.

        Returns:
            Its time, epoch milliseconds, or None.
        """
        if self._stored.due is not None or self._stored.earliest is None:
            return None
        self._stored.due = self._rules.due_after(self._stored.earliest, watermark)
        return self._stored.due

    def _shares(self, predictions: Predictions, labels: Labels, *, every: bool) -> Iterator[_Share]:
        """Divide events by pages, and read these; limits the memory that is needed at once.

        Args:
            predictions: in the order of keys.
            labels: in the order of keys.
            every: read the pages without events, too.
        """
        layout = self._rules.layout
        at, label_at = layout.pages_of(predictions.key), layout.pages_of(labels.key)
        all_pages = layout.pages_of_task(self._task)
        touched = [*all_pages] if every else np.union1d(at, label_at).tolist()
        rows, label_rows = np.searchsorted(at, touched), np.searchsorted(label_at, touched)
        ends = np.append(rows[1:], len(at)), np.append(label_rows[1:], len(label_at))
        stored: list[StoredPage] = []
        first = size = 0
        for number, page in enumerate(touched):
            stored.append(self._read(page))
            size += sum(len(part.rows) for part in stored[-1][1:]) // (8 * WORDS)
            size += int(ends[0][number] - rows[number])
            size += int(ends[1][number] - label_rows[number])
            if size >= _TOGETHER or number + 1 == len(touched):
                yield _Share(
                    stored,
                    predictions.take(slice(rows[first], ends[0][number])),
                    labels.take(slice(label_rows[first], ends[1][number])),
                )
                stored, first, size = [], number + 1, 0

    def _forget(
        self, pages: Sequence[StoredPage], change: _Change, clock: TaskClock
    ) -> tuple[IdStates, Tally]:
        """Drop states that can no longer change; write pages that have changed whole.

        Args:
            pages: as they are stored.
            change: by the events of the batch.
            clock: event time of the task.

        Returns:
            The ids that are left, and the changes of the counts.
        """
        ids = change.after.merged()
        gone = self._ended(ids.rows, clock)
        common = clock.over([], self._rules.forgetting).common
        stale = ids.held["time"] + self._rules.longest < common
        left = IdStates(ids.rows[~gone], ids.held[~stale])
        numbers = [stored.page for stored in pages]
        parts = (self._parts(some, numbers) for some in (change.before, change.then, ids, left))
        for page, old, new, all_ids, rest in zip(numbers, *parts, strict=True):
            if len(rest) < len(all_ids) or bytes_of(old) != bytes_of(new):
                self._write_whole(page, rest)
        dropped = int((outcomes_of(ids.rows[gone, WHAT]) == NO_OUTCOME).sum())
        orphaned = int(stale.sum())
        books = {"dropped": dropped, "held": -orphaned, "orphaned": orphaned}
        return left, Tally(books={name: count for name, count in books.items() if count})

    def _write_changes(self, pages: Sequence[StoredPage], change: _Change) -> None:
        """Store pages that have changed.

        Args:
            pages: as they are stored.
            change: by the events of the batch.
        """
        numbers = [stored.page for stored in pages]
        states = (change.before, change.then, change.after.since)
        parts = (self._parts(ids, numbers) for ids in states)
        full: list[StoredPage] = []
        for stored, old, new, more in zip(pages, *parts, strict=True):
            if bytes_of(old) == bytes_of(new):
                continue
            changes = bytes_of(more)
            spent = self._stored.spent.get(stored.page, 0) + _CALLS_BYTES + size_of(changes)
            if spent >= size_of(stored.whole):
                full.append(stored._replace(since=changes))
            else:
                self._store.write(~stored.page, changes)
                self._stored.spent[stored.page] = spent
        whole = self._parts(changed_ids(full).merged(), [stored.page for stored in full])
        for stored, ids in zip(full, whole, strict=True):
            self._write_whole(stored.page, ids)

    def _parts(self, ids: IdStates, pages: Sequence[int]) -> list[IdStates]:
        """Return the ids of each page.

        Args:
            ids: of these pages alone.
            pages: their numbers, ascending.
        """
        columns = (ids.rows, ids.rows[:, KEY]), (ids.held, ids.held["key"])
        parts = (
            np.split(column, np.searchsorted(self._rules.layout.pages_of(keys), pages[1:]))
            for column, keys in columns
        )
        return [*starmap(IdStates, zip(*parts, strict=True))][: len(pages)]

    def _read(self, page: int) -> StoredPage:
        has_changes = page in self._stored.spent
        since = self._store.read(~page) if has_changes else PageBytes()
        return StoredPage(page, self._store.read(page), since)

    def _write_whole(self, page: int, ids: IdStates) -> None:
        self._store.write(page, bytes_of(ids))
        if self._stored.spent.pop(page, 0):
            self._store.write(~page, PageBytes())

    def _ended(self, rows: KeyArray, clock: TaskClock) -> BoolArray:
        """Return which rows can no longer change, or are of a model that is gone."""
        code = words.groups_of(rows[:, WHEN])
        used = np.unique(code)
        catalogue, numbers = catalogue_of(self._rules.config, self._codes.names(used))
        number = numbers[np.searchsorted(used, code)]
        ended = number < 0
        terms = ModelTerms(catalogue)
        terms.learn()
        left = np.flatnonzero(~ended)
        when = words.when_words(words.times_of(rows[left, WHEN]), number[left])
        over = clock.over(catalogue.models, self._rules.forgetting)
        ended[left] = terms.ended(when, rows[left, WHAT], over)
        return ended

    def _note_earliest(self, *times: Int64Array) -> None:
        found = [int(time.min()) for time in times if len(time)]
        if self._stored.earliest is not None:
            found.append(self._stored.earliest)
        self._stored.earliest = min(found, default=None)


def _taken(share: _Share, ids: TouchedIds) -> tuple[_Change, Tally]:
    """Return what the events of some pages change there, and the changes of the counts."""
    keys = distinct(share.predictions.key, share.labels.key)
    known = changed_ids(share.stored)
    before = known.of(keys)
    if not len(keys):
        return _Change(before, before, known), Tally()
    then, tally = ids.take(share.predictions, share.labels, before)
    return _Change(before, then, known.after(keys, then)), tally
