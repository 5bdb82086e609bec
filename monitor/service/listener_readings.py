"""Series of the listeners: requests by status code, open connections."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from monitor.prometheus.process_series import (
    HTTP_CONNECTIONS,
    HTTP_REQUESTS,
    HTTP_REQUESTS_IN_PROGRESS,
    NumberByLabels,
    SeriesDescription,
)
from monitor.web.listener_telemetry import Listener, open_connections


def listener_readings(
    listeners: Sequence[Listener],
) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
    """Return the series of the listeners, and how each is read."""
    return {
        HTTP_REQUESTS: lambda: {
            (listener.address, str(code)): count
            for listener in listeners
            for code, count in dict(listener.requests.answered).items()
        },
        HTTP_REQUESTS_IN_PROGRESS: lambda: {
            (listener.address,): listener.requests.in_progress for listener in listeners
        },
        HTTP_CONNECTIONS: lambda: _connections(listeners),
    }


def _connections(listeners: Sequence[Listener]) -> NumberByLabels:
    counts = open_connections({listener.port for listener in listeners})
    if counts is None:
        return {}
    return {(listener.address,): counts[listener.port] for listener in listeners}
