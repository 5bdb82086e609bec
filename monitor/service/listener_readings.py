"""Readings of the listeners for telemetry: requests by code, open connections."""

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
    """What /metrics says of them."""
    return {
        HTTP_REQUESTS: lambda: {
            (one.address, str(code)): count
            for one in listeners
            for code, count in dict(one.requests.answered).items()
        },
        HTTP_REQUESTS_IN_PROGRESS: lambda: {
            (one.address,): one.requests.in_progress for one in listeners
        },
        HTTP_CONNECTIONS: lambda: _connections(listeners),
    }


def _connections(listeners: Sequence[Listener]) -> NumberByLabels:
    counts = open_connections({one.port for one in listeners})
    return {} if counts is None else {(one.address,): counts[one.port] for one in listeners}
