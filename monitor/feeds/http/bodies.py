"""A body is read within its deadline and its size, and unpacked within the same size."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from starlette.requests import ClientDisconnect, Request

from monitor.feeds.blocks import TornError, inflated
from monitor.feeds.http.memory_budget import Share
from monitor.feeds.http.responses import RefusedError, later

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

_GZIP, _ZSTD = ("gzip", "x-gzip"), ("zstd",)
_PIECE = 256 * 1024
_MAX_WINDOW_LOG = 23
"""Memory that a zstd frame may ask for, as RFC 8878 has it: 8 MiB."""
_WINDOW_LOG = zstd.DecompressionParameter.window_log_max
_PLAIN = ("", "identity")
_RETRY_SECONDS = 1


@dataclass(frozen=True, slots=True)
class BodyLimits:
    """What a body may take.

    Attributes:
        max_bytes: of it, as it comes and as it is unpacked.
        seconds: until it is there.
    """

    max_bytes: int
    seconds: float


async def read_body(request: Request, limits: BodyLimits, share: Share) -> bytes:
    """The body, unpacked.

    Args:
        request: whose body it is.
        limits: what is refused.
        share: grows by what is held in memory.

    Raises:
        RefusedError: too large (413), too slow (408), of another encoding (415),
            damaged (400), or there is no room for it now (429).
    """
    unpack = _unpacking(request.headers.get("content-encoding", "").strip().lower())
    if _declared(request) > limits.max_bytes:
        raise _too_large(limits)
    try:
        async with asyncio.timeout(limits.seconds):
            body = await _received(request, limits, share)
    except TimeoutError as error:
        text = f"the body was not there within {limits.seconds:g} s; send it faster"
        raise RefusedError(408, text, {"Connection": "close"}) from error
    except ClientDisconnect as error:
        raise RefusedError(400, "the client went away") from error
    except asyncio.CancelledError as error:  # only the end of the server cancels a request
        raise later(503, "the program stops", seconds=_RETRY_SECONDS) from error
    return await asyncio.to_thread(unpack, body, limits, share) if unpack else body


def no_room() -> RefusedError:
    """The refusal while too much is waiting to be counted."""
    return later(429, "too much is waiting to be counted; send it again", seconds=_RETRY_SECONDS)


def _unpacking(encoding: str) -> Callable[[bytes, BodyLimits, Share], bytes] | None:
    if encoding in _PLAIN:
        return None
    if encoding in _GZIP:
        return lambda body, limits, share: _unpacked(inflated([body], _PIECE), limits, share)
    if encoding in _ZSTD:
        return lambda body, limits, share: _unpacked(_unzstd(body), limits, share)
    text = f"Content-Encoding must be gzip, zstd or none, got {encoding[:80]!r}"
    raise RefusedError(415, text, {"Accept-Encoding": "gzip, zstd"})


def _declared(request: Request) -> int:
    length = request.headers.get("content-length", "0")
    return int(length) if length.isdecimal() else 0


async def _received(request: Request, limits: BodyLimits, share: Share) -> bytes:
    body = bytearray()
    async for piece in request.stream():
        if len(body) + len(piece) > limits.max_bytes:
            raise _too_large(limits)
        _grow(share, len(piece))
        body += piece
    return bytes(body)


def _unzstd(body: bytes) -> Iterator[bytes]:
    """The bytes of zstd frames, some at a time.

    Raises:
        TornError: they end within a frame, or are none.
    """
    while body:
        frame = zstd.ZstdDecompressor(options={_WINDOW_LOG: _MAX_WINDOW_LOG})
        while not frame.eof:
            try:
                data = frame.decompress(body, _PIECE)
            except zstd.ZstdError as error:
                raise TornError(f"zstd is damaged: {error}") from error
            body = b""
            if data:
                yield data
            elif not frame.eof:
                raise TornError("zstd ends too early")
        body = frame.unused_data


def _unpacked(pieces: Iterable[bytes], limits: BodyLimits, share: Share) -> bytes:
    parts: list[bytes] = []
    size = 0
    try:
        for part in pieces:
            size += len(part)
            if size > limits.max_bytes:
                raise _too_large(limits)
            _grow(share, len(part))
            parts.append(part)
    except TornError as error:
        raise RefusedError(400, f"the body is not what its encoding says: {error}") from error
    return b"".join(parts)


def _grow(share: Share, size: int) -> None:
    if not share.grow(size):
        raise no_room()


def _too_large(limits: BodyLimits) -> RefusedError:
    text = f"the body must be at most {limits.max_bytes} bytes, unpacked too; send it in parts"
    return RefusedError(413, text, {"Connection": "close"})
