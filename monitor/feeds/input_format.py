"""What standard input holds, which has no name that says it: lines or an array of JSON, or a table.

Only the first two lines are looked at, so that lines of JSON are read as they come.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import Enum, auto
from itertools import chain

from monitor.errors import FeedError
from monitor.feeds.csv_header import declared_separator, header_of
from monitor.feeds.decode import MAX_RECORD_BYTES
from monitor.feeds.decode.lines import BLANK, BOM

_BINARY = {b"PAR1": "Parquet", b"ARROW1": "Arrow"}
_LOOKED_AT = 2 * MAX_RECORD_BYTES


class InputFormat(Enum):
    """What a stream of bytes holds."""

    LINES = auto()
    ARRAY = auto()
    TABLE = auto()


def input_format(stream: Iterable[bytes]) -> tuple[InputFormat, Iterator[bytes]]:
    r"""Return what a stream holds, and the stream from its start.

    A first line of several cells without braces names the columns of a table, unless a line of JSON
    follows it.

    Args:
        stream: bytes, cut anywhere, decompressed.

    Raises:
        FeedError: it holds Parquet or an Arrow file, which are read from their end.

    >>> input_format([b"ts,la", b"bel\n0,1\n"])[0].name, input_format([b'{"ts": 0}\n'])[0].name
    ('TABLE', 'LINES')
    """
    rest = iter(stream)
    start = b""
    for piece in rest:
        start += piece
        if start.lstrip(BLANK).count(b"\n") > 1 or len(start) > _LOOKED_AT:
            break
    return _format_of(start.removeprefix(BOM).lstrip(BLANK)), chain([start], rest)


def _format_of(start: bytes) -> InputFormat:
    for magic, name in _BINARY.items():
        if start.startswith(magic):
            raise FeedError(f"stdin: holds {name}, which is read from its end; give it as a file")
    if start.startswith(b"["):
        return InputFormat.ARRAY
    first, _, following = start.partition(b"\n")
    if declared_separator(first):
        return InputFormat.TABLE
    if {*b"{}"} & {*first} or following.lstrip(BLANK).startswith(b"{"):
        return InputFormat.LINES
    try:
        return (
            InputFormat.TABLE if len(header_of("", first, ",").columns) > 1 else InputFormat.LINES
        )
    except FeedError:
        return InputFormat.LINES
