"""Series of the listeners: requests by status code, open connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from monitor.clock import Clock, SystemClock
from monitor.prometheus.process_series import (
    HTTP_CONNECTIONS,
    HTTP_REQUESTS,
    HTTP_REQUESTS_IN_PROGRESS,
    NumberByLabels,
    SeriesDescription,
)
from monitor.web.listener_telemetry import Listener, open_connections

_RECENT_SECONDS = 1.0


def listener_readings(
    listeners: Sequence[Listener],
    clock: Clock | None = None,
) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
    """Return the series of the listeners, and how each is read.

    Args:
        listeners: the listeners.
        clock: measures the age of the number of connections; the machine's by default.
    """
    connections = _Connections(listeners, clock or SystemClock())
    return {
        HTTP_REQUESTS: lambda: {
            (listener.address, str(code)): count
            for listener in listeners
            for code, count in dict(listener.requests.answered).items()
        },
        HTTP_REQUESTS_IN_PROGRESS: lambda: {
            (listener.address,): listener.requests.in_progress for listener in listeners
        },
        HTTP_CONNECTIONS: connections.read,
    }


class _Connections:
    """Counts open connections at most once a second: the kernel's table is long under attack."""

    def __init__(self, listeners: Sequence[Listener], clock: Clock) -> None:
        self._listeners = listeners
        self._clock = clock
        self._read_at: float | None = None
        self._counts: dict[int, int] | None = None

    def read(self) -> NumberByLabels:
        now = self._clock.monotonic()
        if self._read_at is None or now - self._read_at >= _RECENT_SECONDS:
            self._counts = open_connections({listener.port for listener in self._listeners})
            self._read_at = now
        if self._counts is None:
            return {}
        return {(one.address,): self._counts[one.port] for one in self._listeners}
