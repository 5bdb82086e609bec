"""ASGI app of an HTTP feed.

A request passes these steps: authenticate and admit the client, read the body, convert
it to lines, decode them, store them, respond.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from concurrent.futures import Future
from dataclasses import replace
from typing import NamedTuple, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from monitor.clock import HOUR_MS, SECOND_MS, Clock
from monitor.errors import MonitorError
from monitor.events.batches import in_own_memory
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection
from monitor.feeds.decode import Decoder, LiveDecoder
from monitor.feeds.http.arrow_bodies import MEDIA_TYPE, arrow_lines
from monitor.feeds.http.bodies import budget_exhausted, read_body
from monitor.feeds.http.cloudevents import CloudEvent, InvalidEvent, read_events, record_lines
from monitor.feeds.http.feed_settings import STATE_HEADER, FeedSettings
from monitor.feeds.http.inference_events import InferenceEvents
from monitor.feeds.http.inference_payloads import PayloadError
from monitor.feeds.http.json_bodies import event_lines, feedback_lines
from monitor.feeds.http.memory_budget import Reservation
from monitor.feeds.http.offload import offload
from monitor.feeds.http.openapi import DOCUMENT
from monitor.feeds.http.rate_limit import RateLimiter
from monitor.feeds.http.receiving import Receiving
from monitor.feeds.http.responses import (
    RefusedError,
    accepted_response,
    error_response,
    json_response,
    retry_later,
)
from monitor.feeds.http.senders import SENDER_HEADER, Senders
from monitor.feeds.mapping.mapped_lines import canonical_lines
from monitor.web.guesses import TooManyGuessesError

AHEAD_MS = HOUR_MS
"""An event further ahead of the clock is rejected as `timestamp_out_of_range`."""

_REJECTION_BYTES = 512
"""Memory that a rejected record takes."""
_STARTING_SECONDS, _FULL_SECONDS = 1, 5


class _Lines(NamedTuple):
    """Records as NDJSON, and details of invalid ones by line number."""

    data: bytes
    faults: Mapping[int, str] = {}

    def with_details(self, batch: EventBatch) -> EventBatch:
        """Return the decoded batch with these details in its rejections."""
        if not self.faults:
            return batch
        rejected = [
            rejection._replace(detail=self.faults.get(_line_of(rejection), rejection.detail))
            for rejection in batch.rejected
        ]
        return replace(batch, rejected=tuple(rejected))


def _line_of(rejection: Rejection) -> int:
    return int(rejection.position.rpartition(":")[2])


_ToLines = Callable[[Request, bytes], Awaitable[_Lines]]


class PostedEvents(NamedTuple):
    """The events of one request.

    Attributes:
        arrival_ms: arrival time of the request, epoch milliseconds.
        lines: its records, NDJSON.
        batch: the decoded records.
        decoder: the decoder that made the batch.
        reservation: memory of the request; to be released once the events are counted, or
            could not be stored.
    """

    arrival_ms: int
    lines: bytes
    batch: EventBatch
    decoder: Decoder
    reservation: Reservation


class Intake(Protocol):
    """Stores posted events durably, and has them counted."""

    @property
    def ready(self) -> bool:
        """True while it accepts events."""
        ...

    @property
    def fault(self) -> str:
        """Why it cannot store events now, for clients; "" where it does not know."""
        ...

    def store(self, posted: PostedEvents) -> Future[None]:
        """Store events.

        Returns:
            A future that completes once the events are on disk; it fails with a
            `MonitorError` if they cannot be stored.
        """
        ...


def create_feed_app(
    intake: Intake, decoder: LiveDecoder, settings: FeedSettings, clock: Clock
) -> ASGIApp:
    """Create the ASGI app of a feed.

    Args:
        intake: stores the events.
        decoder: decodes their records.
        settings: settings of the feed.
        clock: gives arrival times.
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
        self._receiving = Receiving()
        self._senders = Senders()
        self._rate = RateLimiter(settings.max_per_second, clock)
        inference = settings.inference
        self._inference = None if inference is None else InferenceEvents(inference, clock)

    async def events(self, request: Request) -> Response:
        return await _respond(self._process(request, self._events))

    async def feedback(self, request: Request) -> Response:
        return await _respond(self._process(request, self._feedback))

    async def cloudevents(self, request: Request) -> Response:
        return await _respond(self._process(request, self._cloudevents))

    async def _events(self, request: Request, body: bytes) -> _Lines:
        kind = _content_type(request)
        if kind.partition(";")[0].strip().lower() == MEDIA_TYPE:
            most = self._settings.limits.max_bytes
            return _Lines(await offload(len(body), lambda: arrow_lines(body, most)))
        return _Lines(await offload(len(body), lambda: self._own_names(event_lines(body, kind))))

    def _own_names(self, lines: bytes) -> bytes:
        """Lines with the names of fields that events have."""
        mapping = self._settings.mapping
        if mapping is None:
            return lines
        return canonical_lines(lines, mapping, self._decoder)

    async def _feedback(self, request: Request, body: bytes) -> _Lines:
        now = self._clock.now()
        kind = _content_type(request)
        return _Lines(await offload(len(body), lambda: feedback_lines(body, kind, now=now)))

    async def _cloudevents(self, request: Request, body: bytes) -> _Lines:
        events = await offload(len(body), lambda: list(read_events(request.headers, body)))
        for index, event in enumerate(events):
            if isinstance(event, CloudEvent) and event.role == "request":
                try:
                    await self._inference_events().remember(event)
                except PayloadError as error:
                    events[index] = InvalidEvent(event.data, f"inference request: {error}")
        blocks: list[bytes] = []
        faults: dict[int, str] = {}
        number = 1
        for event in events:
            block = await self._lines_of(event)
            if isinstance(block, InvalidEvent):
                faults[number] = block.fault
                block = await offload(len(block.data), block.line)
            blocks.append(block)
            number += block.count(b"\n")
        return _Lines(b"".join(blocks), faults)

    async def _lines_of(self, event: CloudEvent | InvalidEvent) -> bytes | InvalidEvent:
        if isinstance(event, InvalidEvent):
            return event
        if event.role == "request":
            return b""
        if event.role == "response":
            try:
                return await self._inference_events().lines(event, self._clock.now())
            except PayloadError as error:
                return InvalidEvent(event.data, f"inference response: {error}")
        return await offload(len(event.data), lambda: record_lines(event))

    def _inference_events(self) -> InferenceEvents:
        if self._inference is None:
            text = "payloads of inference servers need feeds[].inference in the configuration"
            raise RefusedError(400, text)
        return self._inference

    async def _process(self, request: Request, to_lines: _ToLines) -> Response:
        client = await self._admit(request)
        with self._settings.budget.reservation() as reservation:
            with self._receiving.body(client) as unfinished:
                body = await read_body(request, self._settings.limits, reservation, unfinished)
            arrival_ms = int(self._clock.now() * SECOND_MS)
            converted = await to_lines(request, body)
            lines = converted.data
            if len(lines) > len(body) and not reservation.grow(len(lines) - len(body)):
                raise budget_exhausted()

            def decode() -> PostedEvents:
                source = f"{self._settings.name}{request.url.path}"
                latest = arrival_ms + AHEAD_MS
                decoder = self._decoder.current
                batch = decoder.decode_lines(lines, source=source, latest_ms=latest)
                batch = in_own_memory(converted.with_details(batch)).arrived([(0, arrival_ms)])
                return PostedEvents(arrival_ms, lines, batch, decoder, reservation)

            posted = await offload(len(lines), decode)
            if posted.batch.records:
                await self._store(posted)
            self._rate.spend(client, posted.batch.records)
        return accepted_response(posted.batch, self._settings.headers)

    async def _admit(self, request: Request) -> str:
        """Return the name of the client, or refuse the request."""
        access = self._settings.access
        address = request.client.host if request.client else ""
        try:
            client = await access.client(request.headers.get("authorization"), address)
        except TooManyGuessesError as error:
            raise retry_later(429, str(error), seconds=error.seconds, close=True) from error
        if client is None:
            challenge = {"WWW-Authenticate": access.challenges}
            text = "authentication required; send Authorization: Bearer TOKEN"
            raise RefusedError(401, text, challenge)
        if "origin" in request.headers:
            raise RefusedError(403, "events from web pages are refused")
        if self._senders.is_superseded(request.headers.get(SENDER_HEADER, "")):
            text = "another process sends the counts of this shard: its state directory was copied"
            raise RefusedError(409, text, self._settings.headers)
        if request.headers.get(STATE_HEADER, self._settings.state_id) != self._settings.state_id:
            text = "the state is not the one that the request names"
            raise RefusedError(412, text, self._settings.headers, self._settings.refusal)
        if not self._intake.ready:
            raise retry_later(503, "state is being restored; try again", seconds=_STARTING_SECONDS)
        client = client or address
        self._rate.per_second = self._settings.max_per_second
        wait = self._rate.wait(client)
        if wait:
            text = f"rate limit of {self._rate.per_second:g} records per second exceeded"
            raise retry_later(429, text, seconds=wait)
        return client

    async def _store(self, posted: PostedEvents) -> None:
        if not posted.reservation.grow(_REJECTION_BYTES * len(posted.batch.rejected)):
            raise budget_exhausted()
        posted.reservation.hand_over()
        try:
            await asyncio.wrap_future(self._intake.store(posted))
        except MonitorError as error:
            text = f"{self._intake.fault or 'events cannot be written to disk'}; try again"
            raise retry_later(503, text, seconds=_FULL_SECONDS) from error


def _content_type(request: Request) -> str:
    return request.headers.get("content-type", "")


async def _respond(response: Awaitable[Response]) -> Response:
    try:
        return await response
    except RefusedError as error:
        return error_response(error)


async def _health(_: Request) -> Response:
    return PlainTextResponse("alive\n")


async def _document(_: Request) -> Response:
    return json_response(DOCUMENT)
