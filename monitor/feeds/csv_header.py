"""The first line of a CSV file: the names of its columns, and what separates its cells."""

from __future__ import annotations

import csv
import re
from typing import NamedTuple

from monitor.errors import FeedError
from monitor.feeds.decode.lines import (
    BOM,
    CONVERT_LATIN_1,
    CONVERT_UTF16,
    is_utf16,
    not_utf8,
)

NAMES = {",": "commas", ";": "semicolons", "\t": "tabs", "|": "bars"}
"""Names of the characters that may separate cells."""

_CONVERT_CR = r"convert the file, for example tr '\r' '\n' < FILE > NEW_FILE"
_DECLARED = re.compile(rb'"?sep=([,;\t|])"?', re.IGNORECASE)


class Header(NamedTuple):
    """The first line of a file.

    Attributes:
        columns: names of the columns, without the spaces around them; one without a name has
            that of pandas, such as `Unnamed: 0`, by its place.
        separator: character between cells.
    """

    columns: list[str]
    separator: str


def header_of(name: str, line: bytes, separator: str) -> Header:
    """Return the columns of a CSV file.

    A line of one cell, in which one other character separates the most cells, is read by that
    character: a table of a program whose numbers have decimal commas has semicolons.

    Args:
        name: of the file, for messages.
        line: its first line, as it is in the file.
        separator: character between cells, by the name of the file.

    Raises:
        FeedError: the line is no UTF-8, its quotes do not end, or it holds the whole file.

    >>> header_of("t.csv", b"ts; label", ",")
    Header(columns=['ts', 'label'], separator=';')
    >>> header_of("t.csv", b",ts,label,", ",").columns
    ['Unnamed: 0', 'ts', 'label', 'Unnamed: 3']
    """
    if is_utf16(line):
        raise FeedError(f"{name}: this looks like UTF-16: {CONVERT_UTF16}")
    try:
        text = line.removeprefix(BOM).removesuffix(b"\r").decode()
    except UnicodeDecodeError as error:
        raise FeedError(f"{name}: line 1 {not_utf8(error)}; {CONVERT_LATIN_1}") from error
    if "\r" in text and '"' not in text:
        raise FeedError(f"{name}: its lines end in CR alone: {_CONVERT_CR}")
    found = _separator(text, separator)
    try:
        cells = cells_of(text, found)
    except csv.Error as error:
        raise FeedError(f"{name}: line 1 is not a header: {error}") from error
    return Header(
        [cell.strip() or _unnamed(place, cells) for place, cell in enumerate(cells)], found
    )


def declared_separator(line: bytes) -> str | None:
    """Return the separator that a line before the header names, as Excel writes it; else None.

    Args:
        line: the first one of a file.

    >>> declared_separator(b"sep=;"), declared_separator(b"ts;label")
    (';', None)
    """
    found = _DECLARED.fullmatch(line.removeprefix(BOM).removesuffix(b"\r"))
    return found and found[1].decode()


def cells_of(line: str, separator: str) -> list[str]:
    """Return the cells of a line.

    Args:
        line: without its end.
        separator: character between cells.

    Raises:
        csv.Error: a quoted cell does not end, or goes on behind its quotes.
    """
    if '"' not in line:
        return line.split(separator)
    return next(csv.reader([line], strict=True, delimiter=separator), [])


def _unnamed(place: int, cells: list[str]) -> str:
    """Return the name of a column without one: the index of a frame, or an empty column."""
    name = f"Unnamed: {place}"
    return name if len(cells) > 1 and name not in cells else ""


def _separator(line: str, given: str) -> str:
    if _number(line, given) > 1:
        return given
    numbers = {other: _number(line, other) for other in NAMES}
    most = max(numbers.values())
    best = [other for other, number in numbers.items() if number == most]
    return best[0] if most > 1 and len(best) == 1 else given


def _number(line: str, separator: str) -> int:
    try:
        return len(cells_of(line, separator))
    except csv.Error:
        return 0
