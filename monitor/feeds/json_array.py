"""Converts a JSON document to lines: an array of records, or one record over several lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import chain

import msgspec

from monitor.feeds.blocks import TornArrayError
from monitor.feeds.decode.lines import BLANK, BOM

_ARRAY = msgspec.json.Decoder(list[msgspec.Raw])
_ONE = msgspec.json.Decoder(msgspec.Raw)
_RECORD = json.JSONDecoder()
"""Finds where a record ends, also one with NaN, which is then judged by itself."""
_SPACE = re.compile(f"[{BLANK.decode()}]*")
_FLATTENED = bytes.maketrans(b"\r\n", b"  ")


def array_lines(stream: Iterable[bytes]) -> Iterator[bytes]:
    r"""Yield a document as lines, one record each, in pieces; lines of JSON stay as they are.

    An array is read into memory whole.

    Args:
        stream: bytes, cut anywhere.

    Raises:
        TornArrayError: an array is cut, or holds something else than JSON; says where. All
            records before were yielded.

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
    records: Iterable[bytes | msgspec.Raw]
    try:
        records = _ARRAY.decode(whole)
    except (msgspec.MsgspecError, RecursionError):
        records = _one_by_one(whole.decode(errors="surrogateescape"))
    for record in records:
        yield bytes(record).translate(_FLATTENED) + b"\n"


def _one_by_one(text: str) -> Iterator[bytes]:
    """Yield the records of an array up to its fault, which `TornArrayError` names."""
    place, number = 1, 0
    while True:
        place = _behind_space(text, place)
        try:
            _, end = _RECORD.raw_decode(text, place)
        except RecursionError as error:
            raise _torn(text, place, number, "is nested too deeply") from error
        except json.JSONDecodeError as error:
            raise _torn(text, place, number, f"is not JSON: {error.msg}") from error
        yield text[place:end].encode(errors="surrogateescape")
        place, number = _behind_space(text, end), number + 1
        if text[place : place + 1] == "]":
            break
        if text[place : place + 1] != ",":
            raise _torn(text, place, number, "is not behind a comma")
        place += 1
    if text[place + 1 :].strip(BLANK.decode()):
        raise _torn(text, place + 1, number, "is behind the end of the array")


def _behind_space(text: str, place: int) -> int:
    found = _SPACE.match(text, place)
    return found.end() if found else place


def _torn(text: str, place: int, before: int, fault: str) -> TornArrayError:
    """Return the fault of the record at a place, of which so many are whole before it."""
    line = text.count("\n", 0, place) + 1
    at = f"line {line:,}, byte {len(text[:place].encode(errors='surrogateescape')) + 1:,}"
    if _is_cut(text[place:]):
        return TornArrayError(f"the array is cut: it ends in record {before + 1:,} ({at})")
    return TornArrayError(f"record {before + 1:,} of the array ({at}) {fault}")


def _is_cut(rest: str) -> bool:
    try:
        _ONE.decode(rest.encode(errors="surrogateescape"))
    except RecursionError:
        return False
    except msgspec.MsgspecError as error:
        return "truncated" in str(error)
    return False


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
