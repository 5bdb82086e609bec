"""State of a task, in pages of bytes, and how the events of a batch change it.

A page has the ids of a range of keys: 24 bytes a prediction, as in the memory of the
columnar join (see `monitor.join.packing`), and 32 a label that waits for its prediction,
both in the order of their keys. Of the pages that a batch touches, each is read once, and
written if it has changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, Protocol

import msgspec
import numpy as np

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
        """Return a page; one without bytes if it is not stored."""
        ...

    def write(self, page: int, data: PageBytes) -> None:
        """Store a page; one without bytes is removed.

        Args:
            page: its number.
            data: its bytes.
        """
        ...


class _Share(NamedTuple):
    """Some pages next to each other, and their events.

    Attributes:
        pages: their numbers, ascending.
        stored: their bytes.
        predictions: of their ids.
        labels: of their ids.
    """

    pages: list[int]
    stored: list[PageBytes]
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
            ids = _ids_of([self._store.read(page)])
            gone = self._ended(ids.rows, watermark)
            unmatched = outcomes_of(ids.rows[gone, WHAT]) == NO_OUTCOME
            stale = ids.held["time"] + self._rules.longest < moment
            dropped, orphaned = dropped + int(unmatched.sum()), orphaned + int(stale.sum())
            left = IdStates(ids.rows[~gone], ids.held[~stale])
            if len(left) < len(ids):
                self._store.write(page, _bytes_of(left))
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
        stored: list[PageBytes] = []
        first = size = 0
        for number, page in enumerate(touched):
            stored.append(self._store.read(page))
            size += len(stored[-1].rows) // (8 * WORDS) + int(ends[0][number] - rows[number])
            size += int(ends[1][number] - label_rows[number])
            if size >= _TOGETHER or number + 1 == len(touched):
                yield _Share(
                    touched[first : number + 1],
                    stored,
                    predictions.take(slice(rows[first], ends[0][number])),
                    labels.take(slice(label_rows[first], ends[1][number])),
                )
                stored, first, size = [], number + 1, 0

    def _take(self, share: _Share, ids: TouchedIds) -> Tally:
        """Apply the events of some pages, and store what has changed."""
        known = _ids_of(share.stored)
        keys = _distinct(share.predictions.key, share.labels.key)
        rows = _rows_of(keys, known.rows[:, KEY])
        held = _is_among(known.held["key"], keys)
        theirs = IdStates(known.rows.take(rows, axis=0), known.held[held])
        then, tally = ids.take(share.predictions, share.labels, theirs)
        waiting = np.concatenate([known.held[~held], then.held])
        changed = IdStates(
            _replaced(known.rows, rows, then.rows),
            waiting[np.argsort(waiting["key"], kind="stable")],
        )
        self._write(share, changed)
        return tally

    def _write(self, share: _Share, ids: IdStates) -> None:
        layout = self._rules.layout
        keys = ids.rows[:, KEY], ids.held["key"]
        cuts = [np.searchsorted(layout.pages_of(key), share.pages[1:]) for key in keys]
        parts = zip(np.split(ids.rows, cuts[0]), np.split(ids.held, cuts[1]), strict=True)
        for page, before, (rows, held) in zip(share.pages, share.stored, parts, strict=True):
            after = _bytes_of(IdStates(rows, held))
            if after != before:
                self._store.write(page, after)

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


def _ids_of(pages: Iterable[PageBytes]) -> IdStates:
    stored = [*pages]
    rows = np.frombuffer(b"".join(page.rows for page in stored), dtype=np.uint64)
    held = np.frombuffer(b"".join(page.held for page in stored), dtype=HELD)
    return IdStates(rows.reshape(-1, WORDS), held)


def _bytes_of(ids: IdStates) -> PageBytes:
    return PageBytes(ids.rows.tobytes(), ids.held.tobytes())


def _distinct(*keys: KeyArray) -> KeyArray:
    """Return distinct keys in order; faster than `np.unique`, which hashes them first."""
    ordered = np.sort(np.concatenate(keys))
    differs: BoolArray = np.append(True, ordered[1:] != ordered[:-1])
    found: KeyArray = ordered[differs[: len(ordered)]]
    return found


def _rows_of(keys: KeyArray, stored: KeyArray) -> Int64Array:
    """Return the rows of those keys that are stored.

    Args:
        keys: distinct, in order.
        stored: keys of the rows, distinct, in order.
    """
    at = np.searchsorted(stored, keys)
    some = np.flatnonzero(at < len(stored))
    found: Int64Array = at[some[stored[at[some]] == keys[some]]]
    return found


def _is_among(keys: KeyArray, some: KeyArray) -> BoolArray:
    """Return which of some keys are among others, which are in order."""
    at = np.minimum(np.searchsorted(some, keys), max(len(some) - 1, 0))
    found: BoolArray = some[at] == keys if len(some) else np.zeros(len(keys), dtype=np.bool_)
    return found


def _replaced(rows: KeyArray, gone: Int64Array, come: KeyArray) -> KeyArray:
    """Return rows in the order of their keys, without some, and with others.

    Args:
        rows: in the order of keys.
        gone: indices of the rows to leave out, in order.
        come: rows to add, in the order of keys.
    """
    stays = np.ones(len(rows), dtype=np.bool_)
    stays[gone] = False
    left = rows.take(np.flatnonzero(stays), axis=0)
    at = np.searchsorted(left[:, KEY], come[:, KEY]) + np.arange(len(come))
    found = np.empty((len(left) + len(come), WORDS), dtype=np.uint64)
    is_old = np.ones(len(found), dtype=np.bool_)
    is_old[at] = False
    found[np.flatnonzero(is_old)] = left
    found[at] = come
    return found
