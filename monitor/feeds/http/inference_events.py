"""Requests and responses of inference servers become predictions.

A response is enough for score and class. Ids and segments that stand in the
request are joined by the id that both events share, whichever comes first: a
request is remembered, a response waits a little. A request by itself is no
event, and is kept in memory alone: what a crash loses of it are the segments of
predictions that were being made.
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
from monitor.feeds.http.inference_payloads import Payload, fields_of, requested
from monitor.feeds.http.offload import beside

WAIT_SECONDS = 2.0
"""How long a response waits for its request."""
KEPT_SECONDS = 600.0
"""How long a request is remembered."""
KEPT_BYTES = 16 * 1024 * 1024
"""What is remembered of requests takes at most so much."""
_ROW_BYTES = 200

Rows = Sequence[dict[str, Any]]


class _Request(NamedTuple):
    rows: Rows
    since: float
    size: int


class Inference:
    """Joins the two halves; for one event loop.

    Args:
        config: what is taken out of them.
        clock: measures how long a request is remembered.

    Attributes:
        unpaired: responses whose request did not come, or was forgotten.
    """

    def __init__(self, config: InferenceConfig, clock: Clock) -> None:
        self._config = config
        self._clock = clock
        self._requests: OrderedDict[str, _Request] = OrderedDict()
        self._size = 0
        self._came: dict[str, asyncio.Event] = {}
        self.unpaired = 0

    async def remember(self, event: CloudEvent) -> None:
        """Take a request.

        Raises:
            PayloadError: it cannot be read.
        """
        if not self._config.needs_requests:
            return
        rows = await beside(len(event.data), lambda: self._requested(event.data))
        size = _ROW_BYTES + sum(_ROW_BYTES + len(str(row)) for row in rows)
        self._forget(event.id)
        self._requests[event.id] = _Request(rows, self._clock.monotonic(), size)
        self._size += size
        self._tidy()
        if event.id in self._came:
            self._came[event.id].set()

    async def lines(self, event: CloudEvent, ts: float) -> bytes:
        """The predictions of a response, one a line.

        Args:
            event: the response.
            ts: its time, epoch seconds, where it does not say itself.

        Raises:
            PayloadError: it cannot be read.
        """
        asked = await self._request(event.id) if self._config.needs_requests else []
        return await beside(len(event.data), lambda: self._predictions(event, ts, asked))

    def _requested(self, data: bytes) -> Rows:
        return requested(Payload(data, "instances", "inputs"), self._config)

    def _predictions(self, event: CloudEvent, ts: float, asked: Rows) -> bytes:
        payload = Payload(event.data, "predictions", "outputs")
        rows = fields_of(payload, self._config)
        given = {"type": "prediction", "ts": event.attributes.get("time", ts), **self._model(event)}
        return b"".join(
            msgspec.json.encode({**given, **own, **fields}) + b"\n"
            for own, fields in zip(self._rows(event.id, len(rows), asked), rows, strict=True)
        )

    def _model(self, event: CloudEvent) -> dict[str, str]:
        name = self._config.model or event.attributes.get("inferenceservicename")
        return {} if name is None else {"model": name}

    def _rows(self, name: str, count: int, asked: Rows) -> Rows:
        """What is known of each row besides the response: its id, its segment."""
        ids: Rows = []
        if self._config.id is None:
            ids = [{"id": name if count == 1 else f"{name}/{row}"} for row in range(count)]
        ids = ids or [{} for _ in range(count)]
        if len(asked) != count:
            return ids
        return [{**own, **row} for own, row in zip(ids, asked, strict=True)]

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

    def _tidy(self) -> None:
        """Forget what is too old, and the oldest of what is too much."""
        too_old = self._clock.monotonic() - KEPT_SECONDS
        while self._requests:
            name, oldest = next(iter(self._requests.items()))
            if oldest.since >= too_old and self._size <= KEPT_BYTES:
                return
            self._forget(name)
