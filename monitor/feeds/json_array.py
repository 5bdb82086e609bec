"""Converts a JSON document to lines: an array of records, or one record over several lines."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from monitor.feeds.decode.lines import BLANK, BOM

_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(msgspec.Raw)
_FLATTENED = bytes.maketrans(b"\r\n", b"  ")


def array_lines(stream: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield a document as lines, one record each, in pieces; lines of JSON stay as they are.

    An array is read into memory whole.

    Args:
        stream: bytes, cut anywhere.

    >>> list(array_lines([b'[{"id": "a"},', b'\n {"id":\n "b"}]']))
    [b'{"id": "a"}\n', b'{"id":  "b"}\n']
    """
    pieces = iter(stream)
    start = b""
    for piece in pieces:
        start += piece
        if start.removeprefix(BOM).strip(BLANK):
            break
    start = start.removeprefix(BOM).lstrip(BLANK)
    if not start.startswith(b"["):
        yield from _one_or_lines(start, pieces)
        return
    whole = b"".join(chain([start], pieces))
    try:
        records = _ARRAY.decode(whole)
    except (msgspec.MsgspecError, RecursionError):
        yield whole.translate(_FLATTENED)  # the decoder says what is wrong with it
        return
    for record in records:
        yield bytes(record).translate(_FLATTENED) + b"\n"


def _one_or_lines(start: bytes, pieces: Iterator[bytes]) -> Iterator[bytes]:
    first = start.partition(b"\n")[0]
    try:
        _ONE.decode(first)
    except (msgspec.MsgspecError, RecursionError):
        whole = b"".join(chain([start], pieces))
        try:
            yield bytes(_ONE.decode(whole)).translate(_FLATTENED)
        except (msgspec.MsgspecError, RecursionError):
            yield whole
        return
    yield from chain([start], pieces)
