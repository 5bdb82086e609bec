"""The routes of a feed's listener, and what happens to a request on its way.

Who it is, whether events can be taken now, its body, its records; then they are
kept, and only then answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from monitor.clock import Clock
from monitor.config.inference import InferenceConfig
from monitor.errors import MonitorError
from monitor.events.columns import EventBatch, Rejection
from monitor.feeds.decode import Decoder, LiveDecoder
from monitor.feeds.http.arrow_bodies import MEDIA_TYPE, arrow_lines
from monitor.feeds.http.bodies import BodyLimits, no_room, read_body
from monitor.feeds.http.cloudevents import CloudEvent, NoEvent, read_events, record_lines
from monitor.feeds.http.inference_events import Inference
from monitor.feeds.http.inference_payloads import PayloadError
from monitor.feeds.http.json_bodies import event_lines, feedback_lines
from monitor.feeds.http.memory_budget import Room, Share
from monitor.feeds.http.offload import beside
from monitor.feeds.http.openapi import DOCUMENT
from monitor.feeds.http.rate_limit import Rates
from monitor.feeds.http.responses import RefusedError, accepted, answer, later, refused
from monitor.web.access import Access

AHEAD_MS = 3_600_000
"""An event of so much later than now is `timestamp_out_of_range`."""

_REJECTION_BYTES = 512
"""Memory that a record takes which could not be used."""
_STARTING_SECONDS, _FULL_SECONDS = 1, 5


class _Lines(NamedTuple):
    """Records as lines, and what is wrong with those of which more is known here, by number."""

    data: bytes
    faults: Mapping[int, str] = {}

    def told(self, batch: EventBatch) -> EventBatch:
        """The batch, its rejections saying so."""
        if not self.faults:
            return batch
        rejected = [
            one._replace(detail=self.faults.get(_line_of(one), one.detail))
            for one in batch.rejected
        ]
        return replace(batch, rejected=tuple(rejected))


def _line_of(rejection: Rejection) -> int:
    return int(rejection.position.rpartition(":")[2])


_ToLines = Callable[[Request, bytes], Awaitable[_Lines]]


class Arrived(NamedTuple):
    """The events of one request.

    Attributes:
        arrival_ms: when it came, epoch milliseconds.
        lines: its records, NDJSON.
        batch: the same, decoded.
        decoder: that did it.
        share: to be released once they are counted, or could not be kept.
    """

    arrival_ms: int
    lines: bytes
    batch: EventBatch
    decoder: Decoder
    share: Share


class Intake(Protocol):
    """Keeps events, and sees to it that they are counted."""

    @property
    def ready(self) -> bool:
        """Whether it takes any now."""
        ...

    def keep(self, arrived: Arrived) -> Future[None]:
        """Done once the events are on disk; fails with a `MonitorError` if they are not."""
        ...


@dataclass(slots=True, kw_only=True)
class FeedSettings:
    """How a feed behaves; may change while it runs.

    Attributes:
        name: what positions of records begin with.
        access: who may post.
        limits: of a body.
        room: for all that is on its way.
        max_per_second: records that each client may send; None for any number.
        inference: how predictions are taken out of payloads of inference servers; None where
            there are none.
    """

    name: str
    access: Access
    limits: BodyLimits
    room: Room
    max_per_second: float | None = None
    inference: InferenceConfig | None = None

    def become(self, other: FeedSettings) -> None:
        """Behave as another one says from the next request on; what is on its way stays."""
        self.access, self.limits = other.access, other.limits
        self.max_per_second = other.max_per_second
        self.room.resize(other.room.size)


def create_feed_app(
    intake: Intake, decoder: LiveDecoder, settings: FeedSettings, clock: Clock
) -> ASGIApp:
    """The ASGI app of a feed.

    Args:
        intake: takes the events.
        decoder: of their records.
        settings: of the feed.
        clock: what time events arrive.
    """
    feed = _Feed(intake, decoder, settings, clock)
    return Starlette(
        routes=[
            Route("/v1/events", feed.events, methods=["POST"]),
            Route("/v1/feedback", feed.feedback, methods=["POST"]),
            Route("/v1/cloudevents", feed.cloudevents, methods=["POST"]),
            Route("/healthz", _health),
            Route("/openapi.json", _document),
        ]
    )


class _Feed:
    def __init__(
        self, intake: Intake, decoder: LiveDecoder, settings: FeedSettings, clock: Clock
    ) -> None:
        self._intake = intake
        self._decoder = decoder
        self._settings = settings
        self._clock = clock
        self._rates = Rates(settings.max_per_second, clock)
        inference = settings.inference
        self._inference = None if inference is None else Inference(inference, clock)

    async def events(self, request: Request) -> Response:
        return await _answered(self._taken(request, self._events))

    async def feedback(self, request: Request) -> Response:
        return await _answered(self._taken(request, self._feedback))

    async def cloudevents(self, request: Request) -> Response:
        return await _answered(self._taken(request, self._cloudevents))

    async def _events(self, request: Request, body: bytes) -> _Lines:
        kind = _kind(request)
        if kind.partition(";")[0].strip().lower() == MEDIA_TYPE:
            most = self._settings.limits.max_bytes
            return _Lines(await beside(len(body), lambda: arrow_lines(body, most)))
        return _Lines(await beside(len(body), lambda: event_lines(body, kind)))

    async def _feedback(self, request: Request, body: bytes) -> _Lines:
        now = self._clock.now()
        kind = _kind(request)
        return _Lines(await beside(len(body), lambda: feedback_lines(body, kind, now=now)))

    async def _cloudevents(self, request: Request, body: bytes) -> _Lines:
        events = await beside(len(body), lambda: list(read_events(request.headers, body)))
        for place, event in enumerate(events):
            if isinstance(event, CloudEvent) and event.role == "request":
                try:
                    await self._inferred().remember(event)
                except PayloadError as error:
                    events[place] = NoEvent(event.data, f"inference request: {error}")
        parts: list[bytes] = []
        faults: dict[int, str] = {}
        number = 1
        for event in events:
            part = await self._lines_of(event)
            if isinstance(part, NoEvent):
                faults[number] = part.fault
                part = await beside(len(part.data), part.line)
            parts.append(part)
            number += part.count(b"\n")
        return _Lines(b"".join(parts), faults)

    async def _lines_of(self, event: CloudEvent | NoEvent) -> bytes | NoEvent:
        if isinstance(event, NoEvent):
            return event
        if event.role == "request":
            return b""
        if event.role == "response":
            try:
                return await self._inferred().lines(event, self._clock.now())
            except PayloadError as error:
                return NoEvent(event.data, f"inference response: {error}")
        return await beside(len(event.data), lambda: record_lines(event))

    def _inferred(self) -> Inference:
        if self._inference is None:
            text = "payloads of inference servers need feeds[].inference in the configuration"
            raise RefusedError(400, text)
        return self._inference

    async def _taken(self, request: Request, to_lines: _ToLines) -> Response:
        client = await self._admitted(request)
        with self._settings.room.share() as share:
            body = await read_body(request, self._settings.limits, share)
            arrival_ms = int(self._clock.now() * 1000)
            made = await to_lines(request, body)
            lines = made.data
            if len(lines) > len(body) and not share.grow(len(lines) - len(body)):
                raise no_room()

            def decode() -> Arrived:
                source = f"{self._settings.name}{request.url.path}"
                latest = arrival_ms + AHEAD_MS
                decoder = self._decoder.current
                batch = made.told(decoder.decode_lines(lines, source=source, latest_ms=latest))
                return Arrived(arrival_ms, lines, batch, decoder, share)

            arrived = await beside(len(lines), decode)
            if arrived.batch.records:
                await self._kept(arrived)
            self._rates.spend(client, arrived.batch.records)
        return accepted(arrived.batch)

    async def _admitted(self, request: Request) -> str:
        """Who sends it."""
        access = self._settings.access
        client = await access.client(request.headers.get("authorization"))
        if client is None:
            challenge = {"WWW-Authenticate": access.challenges}
            raise RefusedError(401, "send a token: Authorization: Bearer TOKEN", challenge)
        if "origin" in request.headers:
            raise RefusedError(403, "events are not taken from web pages")
        if not self._intake.ready:
            raise later(503, "state is being restored; come again", seconds=_STARTING_SECONDS)
        client = client or (request.client.host if request.client else "")
        self._rates.per_second = self._settings.max_per_second
        wait = self._rates.wait(client)
        if wait:
            raise later(429, f"at most {self._rates.per_second:g} records a second", seconds=wait)
        return client

    async def _kept(self, arrived: Arrived) -> None:
        if not arrived.share.grow(_REJECTION_BYTES * len(arrived.batch.rejected)):
            raise no_room()
        arrived.share.hand_over()
        try:
            await asyncio.wrap_future(self._intake.keep(arrived))
        except MonitorError as error:
            raise later(503, "events cannot be kept now", seconds=_FULL_SECONDS) from error


def _kind(request: Request) -> str:
    return request.headers.get("content-type", "")


async def _answered(taken: Awaitable[Response]) -> Response:
    try:
        return await taken
    except RefusedError as error:
        return refused(error)


async def _health(_: Request) -> Response:
    return PlainTextResponse("alive\n")


async def _document(_: Request) -> Response:
    return answer(DOCUMENT)
