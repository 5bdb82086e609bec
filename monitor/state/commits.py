"""Many requests in one fsync."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from queue import Empty, SimpleQueue
from typing import NamedTuple

from monitor.clock import Stopwatch
from monitor.state.errors import StateError, StateFullError
from monitor.state.faults import StateFault, StateFaults
from monitor.state.journal import Journal, Place
from monitor.state.segment import Body

GROUP_BYTES = 8 * 1024 * 1024
"""Bytes after which a group is written, though more are waiting."""


class _Entry(NamedTuple):
    body: Body
    kept: Callable[[Place], None]
    done: Future[None]


class Commits:
    """Appends to a journal in a thread of its own; what waits meanwhile shares the next fsync.

    Args:
        journal: appended to by nobody else from now on.
        say: told when the journal can no longer be written, and when it can again.
        failing: runs in between.
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
        self._waiting: SimpleQueue[_Entry | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="journal", daemon=True)
        self._thread.start()

    def submit(self, body: Body, kept: Callable[[Place], None]) -> Future[None]:
        """Ask for a body to be made durable.

        Args:
            body: what came.
            kept: called once it is durable, with the place behind it, by one thread, in the
                order of the journal.

        Returns:
            Done after that. Fails with `StateFullError` if the body was not kept.
        """
        done: Future[None] = Future()
        done.set_running_or_notify_cancel()  # who no longer waits does not stop it
        with self._lock:
            if self._closed:
                done.set_exception(StateFullError("the journal is closed: the program stops"))
            else:
                self._waiting.put(_Entry(body, kept, done))
        return done

    def close(self) -> None:
        """Keep what is waiting, then end the thread."""
        with self._lock:
            if not self._closed:
                self._closed = True
                self._waiting.put(None)
        self._thread.join()

    def _run(self) -> None:
        while entry := self._waiting.get():
            group, last = self._group(entry)
            self._keep(group)
            if last:
                return

    def _group(self, first: _Entry) -> tuple[list[_Entry], bool]:
        """What is waiting, up to a size, and whether nothing will come after it."""
        group, size = [first], len(first.body.lines)
        while size < GROUP_BYTES:
            try:
                entry = self._waiting.get_nowait()
            except Empty:
                break
            if entry is None:
                return group, True
            group.append(entry)
            size += len(entry.body.lines)
        return group, False

    def _keep(self, group: list[_Entry]) -> None:
        try:
            places = self._journal.append([entry.body for entry in group])
        except StateError as error:
            self._note(error)
            if self._faults is not None:
                self._faults.note(StateFault.JOURNAL_FAILED)
            for entry in group:
                entry.done.set_exception(error)
            return
        self._note(None)
        for entry, place in zip(group, places, strict=True):
            entry.kept(place)
            entry.done.set_result(None)

    def _note(self, error: StateError | None) -> None:
        """Say it when it begins to fail, and when it has gone by."""
        if error is not None and not self._failing:
            self._say(f"{error}; nothing is accepted until then")
        if error is None and self._failing:
            self._say("the journal can be written again")
        self._failing = error is not None
        if self._failing_for is not None:
            (self._failing_for.begin if self._failing else self._failing_for.end)()
