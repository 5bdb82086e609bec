"""Group commit: many requests in one fsync."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from queue import Empty, SimpleQueue
from typing import NamedTuple

from monitor.clock import Stopwatch
from monitor.state.journal import Journal
from monitor.state.journal_position import JournalPosition
from monitor.state.segment import Body
from monitor.state.state_errors import StateError, StateFullError
from monitor.state.state_faults import StateFault, StateFaults

GROUP_BYTES = 8 * 1024 * 1024
"""A group of this size is written, even if more requests wait."""


class _Entry(NamedTuple):
    body: Body
    on_durable: Callable[[JournalPosition], None]
    done: Future[None]


class Commits:
    """Appends to a journal in a thread; requests that wait meanwhile share the next fsync.

    The thread runs from `start` on. Until then, `write_waiting` does its work in the caller's.

    Args:
        journal: the journal; nothing else may append to it from now on.
        say: prints a message when the journal cannot be written, and when it can again.
        failing: runs while the journal cannot be written.
        faults: counts the groups that could not be written.
    """

    def __init__(
        self,
        journal: Journal,
        *,
        say: Callable[[str], None],
        failing: Stopwatch | None = None,
        faults: StateFaults | None = None,
    ) -> None:
        self._journal = journal
        self._failing_for = failing
        self._faults = faults
        self._say = say
        self._failing = False
        self._lock = threading.Lock()
        self._closed = False
        self._waiting: SimpleQueue[_Entry | JournalPosition | None] = SimpleQueue()
        self._undeleted: StateError | None = None
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Start the thread."""
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def submit(self, body: Body, on_durable: Callable[[JournalPosition], None]) -> Future[None]:
        """Request that a body be made durable.

        Args:
            body: the body of a request.
            on_durable: called once it is durable, with the position behind it; all calls come from
                one thread, in the order of the journal.

        Returns:
            Done after `on_durable`. Fails with `StateFullError` if the body could not be written.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # a waiter that gives up does not cancel the write
        with self._lock:
            if self._closed:
                done.set_exception(StateFullError("the journal is closed; the program is stopping"))
            else:
                self._waiting.put(_Entry(body, on_durable, done))
        return done

    def delete_before(self, position: JournalPosition) -> None:
        """Have the segments before a position deleted, behind the waiting bodies.

        The caller need not wait for the disk while the thread runs.

        Args:
            position: segments that lie wholly before it are deleted.

        Raises:
            StateError: segments could not be deleted; where the thread does it, this time or
                the time before.
        """
        with self._lock:
            threaded = self._thread is not None and not self._closed
            if threaded:
                self._waiting.put(position)
        if not threaded:
            self._delete(position)
        error, self._undeleted = self._undeleted, None
        if error is not None:
            raise error

    def close(self) -> None:
        """Write the waiting bodies, then stop the thread if it runs."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        if self._thread is None:
            self.write_waiting()
        else:
            self._thread.join()

    def write_waiting(self) -> None:
        """Write all bodies that wait; not for use once the thread runs."""
        with suppress(Empty):
            while entry := self._waiting.get_nowait():
                self._work(entry)

    def _run(self) -> None:
        while entry := self._waiting.get():
            if self._work(entry):
                return

    def _work(self, entry: _Entry | JournalPosition) -> bool:
        """Write or delete; return True if what followed was the end."""
        if isinstance(entry, JournalPosition):
            self._delete(entry)
            return False
        group, ended, position = self._group(entry)
        self._write(group)
        if position is not None:
            self._delete(position)
        return ended

    def _group(self, first: _Entry) -> tuple[list[_Entry], bool, JournalPosition | None]:
        """Return the waiting entries up to a size, and if the end or a position followed."""
        group, size = [first], len(first.body.lines)
        while size < GROUP_BYTES:
            try:
                entry = self._waiting.get_nowait()
            except Empty:
                break
            if not isinstance(entry, _Entry):
                return group, entry is None, entry
            group.append(entry)
            size += len(entry.body.lines)
        return group, False, None

    def _delete(self, position: JournalPosition) -> None:
        try:
            self._journal.delete_before(position)
        except StateError as error:
            self._undeleted = error

    def _write(self, group: list[_Entry]) -> None:
        try:
            positions = self._journal.append([entry.body for entry in group])
        except StateError as error:
            self._note(error)
            if self._faults is not None:
                self._faults.note(StateFault.JOURNAL_FAILED)
            for entry in group:
                entry.done.set_exception(error)
            return
        self._note(None)
        for entry, position in zip(group, positions, strict=True):
            entry.on_durable(position)
            entry.done.set_result(None)

    def _note(self, error: StateError | None) -> None:
        """Report when writes begin to fail, and when they work again."""
        if error is not None and not self._failing:
            self._say(f"{error}; no events are accepted until then")
        if error is None and self._failing:
            self._say("the journal can be written again")
        self._failing = error is not None
        if self._failing_for is not None:
            (self._failing_for.begin if self._failing else self._failing_for.end)()
