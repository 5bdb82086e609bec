"""Converts logged requests and responses of inference servers to predictions.

Score and class come from the response. Ids and segments may come from the request,
which is joined by the CloudEvent id that both share, in either order: requests are
remembered, and responses wait for a short time. A request is not an event of its own
and stays in memory only; a crash loses the ids and segments of predictions in flight.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Sequence
from typing import Any, NamedTuple

import msgspec

from monitor.clock import Clock
from monitor.config.inference import InferenceConfig
from monitor.feeds.http.cloudevents import CloudEvent
from monitor.feeds.http.inference_payloads import Payload, request_fields, response_fields
from monitor.feeds.http.offload import offload

WAIT_SECONDS = 2.0
"""Seconds that a response waits for its request."""
REQUEST_SECONDS = 600.0
"""Seconds that a request is remembered."""
MAX_REQUEST_BYTES = 16 * 1024 * 1024
"""Maximum memory of all remembered requests."""
_ROW_BYTES = 200

Rows = Sequence[dict[str, Any]]


class _Request(NamedTuple):
    rows: Rows
    since: float
    size: int


class InferenceEvents:
    """Joins requests with responses; bound to one event loop.

    Args:
        config: which values to extract.
        clock: measures how long a request is remembered.

    Attributes:
        unpaired: number of responses whose request did not come or was forgotten.
    """

    def __init__(self, config: InferenceConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._requests: OrderedDict[str, _Request] = OrderedDict()
        self._size = 0
        self._came: dict[str, asyncio.Event] = {}
        self.unpaired = 0

    async def remember(self, event: CloudEvent) -> None:
        """Remember a request for its response.

        Raises:
            PayloadError: the request cannot be read.
        """
        if not self._config.needs_requests:
            return
        rows = await offload(len(event.data), lambda: self._request_rows(event.data))
        size = _ROW_BYTES + sum(_ROW_BYTES + len(str(row)) for row in rows)
        self._forget(event.id)
        self._requests[event.id] = _Request(rows, self._clock.monotonic(), size)
        self._size += size
        self._evict()
        if event.id in self._came:
            self._came[event.id].set()

    async def lines(self, event: CloudEvent, ts: float) -> bytes:
        """Convert a response to predictions, one per line; waits for its request if needed.

        Args:
            event: the response.
            ts: epoch seconds; the time of a response that has none.

        Raises:
            PayloadError: the response cannot be read.
        """
        requested = await self._request(event.id) if self._config.needs_requests else []
        return await offload(len(event.data), lambda: self._predictions(event, ts, requested))

    def _request_rows(self, data: bytes) -> Rows:
        return request_fields(Payload(data, "instances", "inputs"), self._config)

    def _predictions(self, event: CloudEvent, ts: float, requested: Rows) -> bytes:
        payload = Payload(event.data, "predictions", "outputs")
        rows = response_fields(payload, self._config)
        given = {"type": "prediction", "ts": event.attributes.get("time", ts), **self._model(event)}
        return b"".join(
            msgspec.json.encode({**given, **own, **fields}) + b"\n"
            for own, fields in zip(self._ids(event.id, len(rows), requested), rows, strict=True)
        )

    def _model(self, event: CloudEvent) -> dict[str, str]:
        name = self._config.model or event.attributes.get("inferenceservicename")
        return {} if name is None else {"model": name}

    def _ids(self, name: str, count: int, requested: Rows) -> Rows:
        """Fields of each row from the request, with an id from the event where it has none."""
        ids: Rows = []
        if self._config.id is None:
            ids = [{"id": name if count == 1 else f"{name}/{row}"} for row in range(count)]
        ids = ids or [{} for _ in range(count)]
        if len(requested) != count:
            return ids
        return [{**own, **row} for own, row in zip(ids, requested, strict=True)]

    async def _request(self, name: str) -> Rows:
        if name not in self._requests:
            came = self._came.setdefault(name, asyncio.Event())
            try:
                async with asyncio.timeout(WAIT_SECONDS):
                    await came.wait()
            except TimeoutError:
                pass
            finally:
                self._came.pop(name, None)
        found = self._requests.get(name)
        if found is None:
            self.unpaired += 1
        return [] if found is None else found.rows

    def _forget(self, name: str) -> _Request | None:
        found = self._requests.pop(name, None)
        self._size -= 0 if found is None else found.size
        return found

    def _evict(self) -> None:
        """Forget requests that are too old, and the oldest while they take too much memory."""
        too_old = self._clock.monotonic() - REQUEST_SECONDS
        while self._requests:
            name, oldest = next(iter(self._requests.items()))
            if oldest.since >= too_old and self._size <= MAX_REQUEST_BYTES:
                return
            self._forget(name)
