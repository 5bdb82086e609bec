"""State of a task, in pages of bytes, and how the events of a batch change it.

A page has the ids of a range of keys: 24 bytes a prediction, as in the memory of the
columnar join (see `monitor.join.packing`), and 32 a label that waits for its prediction,
both in the order of their keys. Of the pages that a batch touches, each is read once.

What a batch changes on a page is stored beside it, and the page is written whole only now and
then: once its changes have taken as many bytes as the page has, each time counted that they
were written. So a batch that touches a hundredth of each page writes a seventh of their bytes,
and one that touches a tenth writes half. A page that is hardly larger than its changes is
always written whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import starmap
from typing import NamedTuple, Protocol

import msgspec
import numpy as np

from monitor.distributed.changed_ids import ChangedIds, distinct
from monitor.distributed.group_codes import TaskGroups, catalogue_of
from monitor.distributed.packets import events_in, opened
from monitor.distributed.page_rules import PageRules
from monitor.distributed.tallies import Tally, merged, unpacked
from monitor.distributed.touched_ids import HELD, KEY, WHAT, WHEN, WORDS, IdStates, TouchedIds
from monitor.events.columns import BoolArray, Int64Array, KeyArray, Labels, Predictions
from monitor.join import packing as words
from monitor.join.terms import ModelTerms
from monitor.join.unlabelled import NO_OUTCOME, outcomes_of

_TOGETHER = 1 << 20
"""Events and stored ids that are worked on at once, as far as whole pages allow."""
_CALLS_BYTES = 12_000
"""What changes beside a page cost besides their bytes: reading them is one more call of Spark's."""


class PageBytes(NamedTuple):
    """A page as it is stored.

    Attributes:
        rows: uint64 (predictions, 3) as bytes, see `IdStates`.
        held: rows of `HELD` as bytes.
    """

    rows: bytes = b""
    held: bytes = b""


class PageStore(Protocol):
    """Stores the pages of a task."""

    def read(self, page: int) -> PageBytes:
        """Return a page; one without bytes if it is not stored.

        Args:
            page: its number; `~page` for the changes since it was written whole.
        """
        ...

    def write(self, page: int, data: PageBytes) -> None:
        """Store a page; one without bytes is removed.

        Args:
            page: its number; `~page` for the changes since it was written whole.
            data: its bytes.
        """
        ...


class _Stored(NamedTuple):
    """A page as it is stored.

    Attributes:
        page: its number.
        whole: as it was last written whole.
        since: what has changed since.
    """

    page: int
    whole: PageBytes
    since: PageBytes


class _Share(NamedTuple):
    """Some pages next to each other, and their events.

    Attributes:
        stored: the pages, in the order of their numbers.
        predictions: of their ids.
        labels: of their ids.
    """

    stored: list[_Stored]
    predictions: Predictions
    labels: Labels


class Pages:
    """The predictions and labels of one task.

    Args:
        rules: settings of the job.
        store: the pages.
        stored: bytes from `state`; None for a new task.

    Raises:
        MonitorError: the bytes have another layout, number of pages or seed of keys.
    """

    def __init__(self, rules: PageRules, store: PageStore, stored: bytes | None = None) -> None:
        self._rules = rules
        self._store = store
        self._stored = rules.new() if stored is None else rules.loaded(stored)
        self._codes = TaskGroups(rules.config, self._stored.groups)

    @property
    def due(self) -> int | None:
        """Time of the next search for expired states, epoch milliseconds; None without one."""
        return self._stored.due

    def state(self) -> bytes:
        """Return what the task stores beside its pages."""
        self._stored.groups = self._codes.state()
        return msgspec.msgpack.encode(self._stored)

    def take(self, packets: Iterable[bytes], watermark: int) -> Tally:
        """Apply the events of a batch; return the changes of the counts.

        Args:
            packets: packets of this task, in any order.
            watermark: watermark of all earlier batches, epoch milliseconds.
        """
        parts = [opened(data) for data in packets]
        tallies = [unpacked(packet.tally) for packet in parts if packet.tally]
        ids = TouchedIds(self._rules, self._codes, watermark)
        for share in self._shares(*events_in(parts, self._codes)):
            tallies.append(self._take(share, ids))
            self._note_earliest(share.predictions.time, share.labels.time)
        return merged(tallies)

    def expire(self, watermark: int, task: int) -> Tally:
        """Drop states that can no longer change.

        Args:
            watermark: watermark reached, epoch milliseconds.
            task: number of the task.
        """
        dropped = orphaned = 0
        used: list[Int64Array] = [np.zeros(0, dtype=np.int64)]
        self._stored.due = self._stored.earliest = None
        moment = self._rules.forgetting.moment(watermark)
        for page in self._rules.layout.pages_of_task(task):
            ids = _changed_ids([self._read(page)]).merged()
            gone = self._ended(ids.rows, watermark)
            unmatched = outcomes_of(ids.rows[gone, WHAT]) == NO_OUTCOME
            stale = ids.held["time"] + self._rules.longest < moment
            dropped, orphaned = dropped + int(unmatched.sum()), orphaned + int(stale.sum())
            left = IdStates(ids.rows[~gone], ids.held[~stale])
            if len(left) < len(ids):
                self._write_whole(page, left)
            self._note_earliest(words.times_of(left.rows[:, WHEN]), left.held["time"])
            used.append(np.unique(words.groups_of(left.rows[:, WHEN])))
        self._codes.free_but(np.concatenate(used))
        books = {"dropped": dropped, "held": -orphaned, "orphaned": orphaned}
        return Tally(books={name: count for name, count in books.items() if count})

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

    def _shares(self, predictions: Predictions, labels: Labels) -> Iterator[_Share]:
        """Divide events by pages, and read these; limits the memory that is needed at once.

        Args:
            predictions: in the order of keys.
            labels: in the order of keys.
        """
        layout = self._rules.layout
        at, label_at = layout.pages_of(predictions.key), layout.pages_of(labels.key)
        touched = np.union1d(at, label_at).tolist()
        rows, label_rows = np.searchsorted(at, touched), np.searchsorted(label_at, touched)
        ends = np.append(rows[1:], len(at)), np.append(label_rows[1:], len(label_at))
        stored: list[_Stored] = []
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

    def _take(self, share: _Share, ids: TouchedIds) -> Tally:
        """Apply the events of some pages, and store what has changed."""
        keys = distinct(share.predictions.key, share.labels.key)
        known = _changed_ids(share.stored)
        before = known.of(keys)
        then, tally = ids.take(share.predictions, share.labels, before)
        self._write_changes(share.stored, before, then, known.after(keys, then).since)
        return tally

    def _write_changes(
        self, pages: Sequence[_Stored], before: IdStates, then: IdStates, since: IdStates
    ) -> None:
        """Store pages that have changed.

        Args:
            pages: as they are stored.
            before: the ids that events came for, before these.
            then: the same ids after these.
            since: all ids that have changed since their page was written whole.
        """
        numbers = [stored.page for stored in pages]
        parts = (self._parts(ids, numbers) for ids in (before, then, since))
        full: list[_Stored] = []
        for stored, old, new, more in zip(pages, *parts, strict=True):
            if _bytes_of(old) == _bytes_of(new):
                continue
            changes = _bytes_of(more)
            spent = self._stored.spent.get(stored.page, 0) + _CALLS_BYTES + _size(changes)
            if spent >= _size(stored.whole):
                full.append(stored._replace(since=changes))
            else:
                self._store.write(~stored.page, changes)
                self._stored.spent[stored.page] = spent
        whole = self._parts(_changed_ids(full).merged(), [stored.page for stored in full])
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

    def _read(self, page: int) -> _Stored:
        has_changes = page in self._stored.spent
        since = self._store.read(~page) if has_changes else PageBytes()
        return _Stored(page, self._store.read(page), since)

    def _write_whole(self, page: int, ids: IdStates) -> None:
        self._store.write(page, _bytes_of(ids))
        if self._stored.spent.pop(page, 0):
            self._store.write(~page, PageBytes())

    def _ended(self, rows: KeyArray, watermark: int) -> BoolArray:
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
        times = np.full(len(catalogue.models), watermark)
        over = self._rules.forgetting.over(times, watermark)
        ended[left] = terms.ended(when, rows[left, WHAT], over)
        return ended

    def _note_earliest(self, *times: Int64Array) -> None:
        found = [int(time.min()) for time in times if len(time)]
        if self._stored.earliest is not None:
            found.append(self._stored.earliest)
        self._stored.earliest = min(found, default=None)


def _changed_ids(pages: Sequence[_Stored]) -> ChangedIds:
    return ChangedIds(
        _ids_of([stored.whole for stored in pages]), _ids_of([stored.since for stored in pages])
    )


def _ids_of(pages: Sequence[PageBytes]) -> IdStates:
    rows = np.frombuffer(b"".join(page.rows for page in pages), dtype=np.uint64)
    held = np.frombuffer(b"".join(page.held for page in pages), dtype=HELD)
    return IdStates(rows.reshape(-1, WORDS), held)


def _bytes_of(ids: IdStates) -> PageBytes:
    return PageBytes(ids.rows.tobytes(), ids.held.tobytes())


def _size(page: PageBytes) -> int:
    return len(page.rows) + len(page.held)
