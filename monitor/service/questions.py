"""Questions from other threads, answered by the one that feeds the monitor, between batches."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from typing import Any, TypeVar

from monitor.engine import Monitor
from monitor.exporter.api.engine_access import EngineUnavailableError

T = TypeVar("T")

MOST_WAITING = 64
"""Questions beyond it are refused at once."""
PATIENCE_SECONDS = 10.0
"""How long a question waits for its answer."""
_A_TURN = 8


class Inquiries:
    """A queue of readings; callable, as `monitor.exporter.api.engine_access.ReadEngine` wants it.

    >>> inquiries = Inquiries()
    >>> asking = threading.Thread(target=lambda: print(inquiries(lambda monitor: monitor.models)))
    >>> asking.start()
    >>> while asking.is_alive():
    ...     _ = inquiries.answer(Monitor())
    ()
    """

    def __init__(self) -> None:
        self._waiting: deque[tuple[Callable[[Monitor], Any], Future[Any]]] = deque()
        self._lock = threading.Lock()
        self._closed = False

    def __call__(self, read: Callable[[Monitor], T], /) -> T:
        """What `read` gives; called from any thread but the one that feeds the monitor.

        Raises:
            EngineUnavailableError: it took too long, too many ask, or the monitor has stopped.
        """
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise EngineUnavailableError("the monitor has stopped")
            if len(self._waiting) >= MOST_WAITING:
                raise EngineUnavailableError("too many ask at once; try again")
            self._waiting.append((read, future))
        try:
            return future.result(PATIENCE_SECONDS)
        except TimeoutError:
            future.cancel()
            raise EngineUnavailableError(
                "the monitor is too busy to look back; try again"
            ) from None
        except CancelledError:
            raise EngineUnavailableError("the monitor has stopped") from None

    def answer(self, monitor: Monitor) -> bool:
        """Answer what waits, a few at a time.

        Returns:
            Whether anything was asked.
        """
        for answered in range(_A_TURN):
            with self._lock:
                if not self._waiting:
                    return answered > 0
                read, future = self._waiting.popleft()
            if not future.set_running_or_notify_cancel():
                continue
            try:
                future.set_result(read(monitor))
            except Exception as error:  # noqa: BLE001  # whoever asked gets to know it
                future.set_exception(error)
        return True

    def close(self) -> None:
        """Nothing will be answered any more; those who wait are told."""
        with self._lock:
            self._closed = True
            waiting, self._waiting = self._waiting, deque()
        for _, future in waiting:
            future.cancel()
