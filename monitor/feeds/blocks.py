"""Byte streams cut into blocks of whole lines, for lines of any length."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import BinaryIO, NamedTuple

from monitor.feeds.decode import MAX_RECORD_BYTES
from monitor.feeds.decode.lines import count_lines

GZIP_MAGIC = b"\x1f\x8b"
_TOO_LONG = MAX_RECORD_BYTES + 2
"""Bytes stored of an unfinished line: too long for a record even without a carriage return."""
_PIECE = 256 * 1024
_SLICE = 16 * 1024
"""Bytes that a decompressor gets at a time: it copies what lies behind the end of a member."""
_GZIP_WINDOW = 31
"""zlib's `wbits` for a gzip member with its header."""


class TornError(Exception):
    """A compressed stream is damaged or ends too early; all bytes before were yielded."""


class TornArrayError(TornError):
    """An array is cut or damaged, in the place that the message has; so likewise."""


class Block(NamedTuple):
    """Whole lines.

    Attributes:
        data: the lines; only the last line of a stream may lack its newline. A line
            longer than a record may be is cut, but still too long.
        first_line: number of the first line in its stream, from 1 on.
    """

    data: bytes
    first_line: int


def pieces(stream: BinaryIO, size: int = _PIECE) -> Iterator[bytes]:
    """Read the bytes of a stream in pieces.

    Args:
        stream: open for reading.
        size: most bytes of a piece.
    """
    while piece := stream.read(size):
        yield piece


def sliced(stream: Iterable[bytes]) -> Iterator[bytes]:
    """Cut a stream into short pieces, so that the cost of many short members is linear."""
    for piece in stream:
        view = memoryview(piece)
        for start in range(0, len(view), _SLICE):
            yield bytes(view[start : start + _SLICE])


def inflated(compressed: Iterable[bytes], size: int = 4 * _PIECE) -> Iterator[bytes]:
    """Decompress gzip members, with bounded memory however well they compress.

    Args:
        compressed: bytes, cut anywhere.
        size: most decompressed bytes yielded at a time.

    The time is linear in the bytes, however short the members are.

    Args:
        compressed: bytes of the members, cut anywhere.
        size: maximum size of a piece that is given.

    Raises:
        TornError: the stream ends within a member, or is not gzip from some point on.
            All bytes up to there were yielded.
    """
    member = zlib.decompressobj(_GZIP_WINDOW)
    started, behind = False, False
    for piece in sliced(compressed):
        rest = piece.lstrip(b"\0") if behind else piece
        while rest:
            try:
                data = member.decompress(rest, size)
            except zlib.error as error:
                raise TornError(f"gzip is damaged: {error}") from error
            started, behind = True, False
            if data:
                yield data
            rest = member.unconsumed_tail
            if member.eof:
                rest = member.unused_data.lstrip(b"\0")
                member, started, behind = zlib.decompressobj(_GZIP_WINDOW), False, True
    if started:
        raise TornError("gzip ends too early")


def blocks(stream: Iterable[bytes], size: int) -> Iterator[Block]:
    r"""Yield blocks of whole lines of about `size` bytes, and then the unfinished last line.

    Memory is bounded by `size` and the longest record, not by the longest line.

    Args:
        stream: bytes, cut anywhere.
        size: bytes after which a block ends at the next end of a line.

    Raises:
        TornError: the stream raised it; all whole lines before were yielded. Names the line,
            where the stream names no place itself.

    >>> [tuple(block) for block in blocks([b"a", b"b\nc", b"\nd"], size=1)]
    [(b'ab\n', 1), (b'c\n', 2), (b'd', 3)]
    """
    first_line = 1
    try:
        for data in _whole_lines(stream, size):
            yield Block(data, first_line)
            first_line += count_lines(data)
    except TornArrayError:
        raise
    except TornError as error:
        raise TornError(f"{error}, within line {first_line}") from error


def _whole_lines(stream: Iterable[bytes], size: int) -> Iterator[bytes]:
    held: list[bytes] = []
    unfinished = b""
    torn: TornError | None = None
    try:
        for piece in stream:
            end = piece.rfind(b"\n") + 1
            if end:
                held += [unfinished, piece[:end]]
                unfinished = b""
            unfinished = (unfinished + piece[end:])[:_TOO_LONG]
            if sum(map(len, held)) >= size:
                yield b"".join(held)
                held = []
    except TornError as error:
        torn, unfinished = error, b""
    if rest := b"".join([*held, unfinished]):
        yield rest
    if torn:
        raise torn
