"""Reads the body of a request and decompresses it, within limits of time and size."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from monitor.feeds.blocks import TornError, inflated
from monitor.feeds.decompression import unzstd
from monitor.feeds.http.memory_budget import Reservation
from monitor.feeds.http.offload import in_thread
from monitor.feeds.http.receiving import UnfinishedBody
from monitor.feeds.http.responses import RefusedError, retry_later

_GZIP, _ZSTD = ("gzip", "x-gzip"), ("zstd",)
_PIECE = 256 * 1024
MAX_FRAMES = 10_000
"""Maximum number of zstd frames in a body; each costs some 10 µs of CPU, also an empty one."""
_PLAIN = ("", "identity")
_RETRY_SECONDS = 1


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """Limits of a body.

    Attributes:
        max_bytes: maximum size, before and after decompression.
        seconds: maximum time until the body is complete.
    """

    max_bytes: int
    seconds: float


async def read_body(
    request: Request, limits: BodyLimits, reservation: Reservation, unfinished: UnfinishedBody
) -> bytes:
    """Read and decompress the body of a request.

    Args:
        request: the request.
        limits: limits of the body.
        reservation: grows by the memory that the body takes.
        unfinished: the body among those that its client is sending.

    Raises:
        RefusedError: the body is too large (413), too slow (408), in an unsupported
            encoding (415) or damaged (400), the memory budget is exhausted (429), or the
            request does not say how long it is (411).
    """
    if _has_no_length(request):
        raise RefusedError(411, "send the events as the body, with its Content-Length")
    decompress = _decompressor(request.headers.get("content-encoding", "").strip().lower())
    if _declared(request) > limits.max_bytes:
        raise _too_large(limits)
    try:
        async with asyncio.timeout(limits.seconds):
            body = await _received(request, limits, reservation, unfinished)
    except TimeoutError as error:
        text = f"the body did not arrive within {limits.seconds:g} s; send it faster"
        raise RefusedError(408, text, {"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise RefusedError(400, "the client disconnected") from error
    except asyncio.CancelledError as error:  # only the shutdown of the server cancels a request
        raise retry_later(
            503, "the monitor is shutting down; try again", seconds=_RETRY_SECONDS
        ) from error
    return await in_thread(lambda: decompress(body, limits, reservation)) if decompress else body


def budget_exhausted() -> RefusedError:
    """Create the error for a request that the memory budget has no bytes for."""
    text = "too many events are waiting to be counted; try again"
    return retry_later(429, text, seconds=_RETRY_SECONDS)


def _decompressor(encoding: str) -> Callable[[bytes, BodyLimits, Reservation], bytes] | None:
    if encoding in _PLAIN:
        return None
    if encoding in _GZIP:
        return lambda body, limits, reservation: _joined(
            inflated([body], _PIECE), limits, reservation
        )
    if encoding in _ZSTD:
        return lambda body, limits, reservation: _joined(
            unzstd([body], _PIECE, most_frames=MAX_FRAMES), limits, reservation
        )
    text = f"Content-Encoding must be gzip, zstd or none, got {encoding[:80]!r}"
    raise RefusedError(415, text, {"Accept-Encoding": "gzip, zstd"})


def _has_no_length(request: Request) -> bool:
    """Return whether a server cannot know that a body follows: nothing of it arrives then."""
    framed = any(name in request.headers for name in ("content-length", "transfer-encoding"))
    return not framed and request.scope.get("http_version", "1.1").startswith("1")


def _declared(request: Request) -> int:
    length = request.headers.get("content-length", "0")
    return int(length) if length.isdecimal() else 0


async def _received(
    request: Request, limits: BodyLimits, reservation: Reservation, unfinished: UnfinishedBody
) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        if len(body) + len(piece) > limits.max_bytes:
            raise _too_large(limits)
        if not unfinished.grow(len(piece), reservation.budget):
            text = "too many bodies of this client are unfinished; finish them, and try again"
            raise retry_later(429, text, seconds=_RETRY_SECONDS, close=True)
        _grow(reservation, len(piece))
        body += piece
    return bytes(body)


def _joined(pieces: Iterable[bytes], limits: BodyLimits, reservation: Reservation) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        for part in pieces:
            size += len(part)
            if size > limits.max_bytes:
                raise _too_large(limits)
            _grow(reservation, len(part))
            parts.append(part)
    except TornError as error:
        raise RefusedError(400, f"the body does not match its Content-Encoding: {error}") from error
    return b"".join(parts)


def _grow(reservation: Reservation, size: int) -> None:
    if not reservation.grow(size):
        raise budget_exhausted()


def _too_large(limits: BodyLimits) -> RefusedError:
    limit = f"{limits.max_bytes} bytes, also after decompression"
    text = f"the body must be at most {limit}; split it into several requests"
    return RefusedError(413, text, {"Connection": "close"})
