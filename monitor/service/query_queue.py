"""Queries of other threads, answered by the service loop between batches."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from monitor.engine import Monitor
from monitor.exporter.api.engine_access import EngineUnavailableError

T = TypeVar("T")

MAX_WAITING = 64
"""Queries beyond this number are refused at once."""
PATIENCE_SECONDS = 10.0
"""Maximum wait for an answer."""
_PER_TURN = 8


class QueryQueue:
    """A queue of queries; an instance is a `ReadEngine` of `monitor.exporter.api.engine_access`.

    >>> queries = QueryQueue()
    >>> asking = threading.Thread(target=lambda: print(queries(lambda monitor: monitor.models)))
    >>> asking.start()
    >>> while asking.is_alive():
    ...     _ = queries.answer(Monitor())
    ()
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[Monitor], Any], Future[Any]]] = deque()
        self._lock = threading.Lock()
        self._closed = False

    def __call__(self, read: Callable[[Monitor], T], /) -> T:
        """Return the result of `read`; called from any thread but the one of the loop.

        Raises:
            EngineUnavailableError: the answer takes too long, the queue is full, or the
                monitor stopped.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise EngineUnavailableError("the monitor has stopped")
            if len(self._waiting) >= MAX_WAITING:
                raise EngineUnavailableError("too many queries at once; try again")
            self._waiting.append((read, future))
        try:
            return future.result(PATIENCE_SECONDS)
        except TimeoutError:
            future.cancel()
            raise EngineUnavailableError("the monitor is too busy to answer; try again") from None
        except CancelledError:
            raise EngineUnavailableError("the monitor has stopped") from None

    def answer(self, monitor: Monitor) -> bool:
        """Answer waiting queries, a few at a time.

        Returns:
            True if any query was waiting.
        """
        for answered in range(_PER_TURN):
            with self._lock:
                if not self._waiting:
                    return answered > 0
                read, future = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(read(monitor))
            except Exception as error:  # noqa: BLE001  # raised in the thread that asked
                future.set_exception(error)
        return True

    def close(self) -> None:
        """Refuse further queries, and cancel those that wait."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, deque()
        for _, future in waiting:
            future.cancel()
