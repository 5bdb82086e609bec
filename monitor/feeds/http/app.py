"""The routes of a feed's listener, and what happens to a request on its way.

Who it is, whether events can be taken now, its body, its records; then they are
kept, and only then answered.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from monitor.clock import Clock
from monitor.errors import MonitorError
from monitor.events import EventBatch
from monitor.feeds.decode import Decoder
from monitor.feeds.http.answers import RefusedError, accepted, answer, later, refused
from monitor.feeds.http.bodies import BodyLimits, no_room, read_body
from monitor.feeds.http.envelopes import event_lines, feedback_lines
from monitor.feeds.http.openapi import DOCUMENT
from monitor.feeds.http.room import Room, Share
from monitor.web.access import Access

AHEAD_MS = 3_600_000
"""An event of so much later than now is `timestamp_out_of_range`."""

_INLINE_BYTES = 32 * 1024
"""A body up to this size is decoded at once; a larger one in a thread."""
_REJECTION_BYTES = 512
"""Memory that a record takes which could not be used."""
_STARTING_SECONDS, _FULL_SECONDS = 1, 5

_ToLines = Callable[[bytes, str], bytes]


class Arrived(NamedTuple):
    """The events of one request.

    Attributes:
        arrival_ms: when it came, epoch milliseconds.
        lines: its records, NDJSON.
        batch: the same, decoded.
        share: to be released once they are counted, or could not be kept.
    """

    arrival_ms: int
    lines: bytes
    batch: EventBatch
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
    """

    name: str
    access: Access
    limits: BodyLimits
    room: Room

    def become(self, other: FeedSettings) -> None:
        """Behave as another one says from the next request on; what is on its way stays."""
        self.access, self.limits = other.access, other.limits
        self.room.resize(other.room.size)


def create_feed_app(
    intake: Intake, decoder: Decoder, settings: FeedSettings, clock: Clock
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
            Route("/healthz", _health),
            Route("/openapi.json", _document),
        ]
    )


class _Feed:
    def __init__(
        self, intake: Intake, decoder: Decoder, settings: FeedSettings, clock: Clock
    ) -> None:
        self._intake = intake
        self._decoder = decoder
        self._settings = settings
        self._clock = clock

    async def events(self, request: Request) -> Response:
        return await _answered(self._taken(request, event_lines))

    async def feedback(self, request: Request) -> Response:
        now = self._clock.now()
        return await _answered(
            self._taken(request, lambda body, kind: feedback_lines(body, kind, now=now))
        )

    async def _taken(self, request: Request, to_lines: _ToLines) -> Response:
        await self._admit(request)
        with self._settings.room.share() as share:
            body = await read_body(request, self._settings.limits, share)
            arrival_ms = int(self._clock.now() * 1000)

            def decode() -> Arrived:
                lines = to_lines(body, request.headers.get("content-type", ""))
                source = f"{self._settings.name}{request.url.path}"
                latest = arrival_ms + AHEAD_MS
                batch = self._decoder.decode_lines(lines, source=source, latest_ms=latest)
                return Arrived(arrival_ms, lines, batch, share)

            small = len(body) <= _INLINE_BYTES
            arrived = decode() if small else await asyncio.to_thread(decode)
            if arrived.batch.records:
                await self._kept(arrived)
        return accepted(arrived.batch)

    async def _admit(self, request: Request) -> None:
        access = self._settings.access
        if await access.client(request.headers.get("authorization")) is None:
            challenge = {"WWW-Authenticate": access.challenges}
            raise RefusedError(401, "send a token: Authorization: Bearer TOKEN", challenge)
        if "origin" in request.headers:
            raise RefusedError(403, "events are not taken from web pages")
        if not self._intake.ready:
            raise later(503, "state is being restored; come again", seconds=_STARTING_SECONDS)

    async def _kept(self, arrived: Arrived) -> None:
        if not arrived.share.grow(_REJECTION_BYTES * len(arrived.batch.rejected)):
            raise no_room()
        arrived.share.hand_over()
        try:
            await asyncio.wrap_future(self._intake.keep(arrived))
        except MonitorError as error:
            raise later(503, "events cannot be kept now", seconds=_FULL_SECONDS) from error


async def _answered(taken: Awaitable[Response]) -> Response:
    try:
        return await taken
    except RefusedError as error:
        return refused(error)


async def _health(_: Request) -> Response:
    return PlainTextResponse("alive\n")


async def _document(_: Request) -> Response:
    return answer(DOCUMENT)
