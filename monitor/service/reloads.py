"""Reloads of the configuration file while the service runs: as a whole, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import Future
from queue import Empty, SimpleQueue

from monitor.clock import Clock
from monitor.config import Config
from monitor.errors import MonitorError
from monitor.prometheus.process_series import (
    CONFIG_LAST_RELOAD_SUCCESS,
    CONFIG_LAST_RELOAD_SUCCESSFUL,
    NumberByLabels,
    SeriesDescription,
)

Reconfigure = Callable[[Config], None]
"""Applies a configuration, or raises a `MonitorError` and changes nothing."""


class Reloads:
    """Requests for a reload from any thread, carried out by the service loop.

    Args:
        load: reads and checks the file; its `ConfigError` lists the faults.
        clock: wall time.
        say: prints a one-line message for the operator.
    """

    def __init__(
        self, load: Callable[[], Config], *, clock: Clock, say: Callable[[str], None]
    ) -> None:
        self._load = load
        self._clock = clock
        self._say = say
        self._asked: SimpleQueue[Future[None]] = SimpleQueue()
        self._successful = True
        self._succeeded = clock.now()

    def ask(self) -> Future[None]:
        """Request a reload; safe in a signal handler.

        Returns:
            Done once the new configuration is in force; fails with the `MonitorError`
            that prevented it.
        """
        done: Future[None] = Future()
        self._asked.put(done)
        return done

    def run(self, reconfigure: Reconfigure) -> None:
        """Reload once if any request is pending; called by the service loop."""
        waiting = self._waiting()
        if not waiting:
            return
        error = self._error(reconfigure)
        self._successful = error is None
        if error is None:
            self._succeeded = self._clock.now()
            self._say("configuration reloaded")
        else:
            self._say(f"configuration not reloaded, the previous one stays in force:\n{error}")
        for done in waiting:
            if error is None:
                done.set_result(None)
            else:
                done.set_exception(error)

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """Series of reloads, and how each is read."""
        return {
            CONFIG_LAST_RELOAD_SUCCESSFUL: lambda: {(): float(self._successful)},
            CONFIG_LAST_RELOAD_SUCCESS: lambda: {(): self._succeeded},
        }

    def _waiting(self) -> list[Future[None]]:
        waiting = []
        try:
            while True:
                waiting.append(self._asked.get_nowait())
        except Empty:
            return [done for done in waiting if done.set_running_or_notify_cancel()]

    def _error(self, reconfigure: Reconfigure) -> MonitorError | None:
        try:
            reconfigure(self._load())
        except MonitorError as error:
            return error
        return None
