"""Rows of CSV over several lines: those with a line break in a quoted cell (RFC 4180).

A stray quote must not take the rest of a file with it. So lines make one row only where they
have as many cells as the header, and the row is no longer than a record may be; otherwise each
line is a row of its own.
"""

from __future__ import annotations

import csv
from typing import NamedTuple

import numpy as np

from monitor.feeds.blocks import Block
from monitor.feeds.csv_header import cells_of
from monitor.feeds.decode import MAX_RECORD_BYTES
from monitor.feeds.decode.lines import count_lines

_QUOTE, _NEWLINE = b'"\n'
_NO_BLOCK = Block(b"", 1)


class SplitBlock(NamedTuple):
    """Lines with the rows over several lines apart.

    Attributes:
        block: the lines; those of rows over several lines are blank.
        rows: these rows, without the end of their last line.
        lines: number of the first line of each in the block, from 0 on.
    """

    block: Block
    rows: list[bytes]
    lines: list[int]


class RowsOverLines:
    r"""Takes rows over several lines out of blocks of lines.

    Args:
        columns: number of cells of a row.
        separator: character between cells.

    >>> rows = RowsOverLines(2, ",")
    >>> rows.split(Block(b'1,"a\nb"\n2,c\n', 2))
    SplitBlock(block=Block(data=b'\n\n2,c\n', first_line=2), rows=[b'1,"a\nb"'], lines=[0])
    """

    def __init__(self, columns: int, separator: str) -> None:
        self._columns = columns
        self._separator = separator
        self._held = _NO_BLOCK

    def split(self, block: Block) -> SplitBlock:
        """Return the rows of a block; its last lines wait where a row may go on in the next one.

        Args:
            block: the next lines.
        """
        if self._held.data:
            block = Block(self._held.data + block.data, self._held.first_line)
        return self._split(block, last=False)

    def rest(self) -> SplitBlock:
        """Return the lines that wait, when no others follow."""
        return self._split(self._held, last=True)

    def _split(self, block: Block, *, last: bool) -> SplitBlock:
        self._held = _NO_BLOCK
        data, rows, lines = block.data, list[bytes](), list[int]()
        starts, odd = _lines_of_odd_quotes(data)
        plain, end, place = list[bytes](), 0, 0
        while place < len(odd):
            first, place = odd[place], place + 1
            start = starts[first]
            if self._cells(data[start : starts[first + 1]]) is not None:
                continue  # the quote stands within a cell without quotes
            if place == len(odd):
                if not last and len(data) - start <= MAX_RECORD_BYTES:
                    self._held = Block(data[start:], block.first_line + first)
                    data = data[:start]
                break
            row = data[start : starts[odd[place] + 1]]
            if len(row) <= MAX_RECORD_BYTES and self._cells(row) == self._columns:
                rows.append(_without_end(row))
                lines.append(first)
                plain += [data[end:start], b"\n" * count_lines(row)]
                end, place = start + len(row), place + 1
        return SplitBlock(Block(b"".join([*plain, data[end:]]), block.first_line), rows, lines)

    def _cells(self, row: bytes) -> int | None:
        """Return the number of cells; None where the quotes do not end, or stand amid a cell."""
        try:
            return len(cells_of(_without_end(row).decode(errors="replace"), self._separator))
        except csv.Error:
            return None


def _without_end(row: bytes) -> bytes:
    return row.removesuffix(b"\n").removesuffix(b"\r")


def _lines_of_odd_quotes(data: bytes) -> tuple[list[int], list[int]]:
    """Return where lines start and the last one ends, and which have an odd number of quotes.

    A quoted cell that goes on behind its line begins in such a line, and ends in the next one.
    """
    if b'"' not in data:
        return [], []
    found = np.frombuffer(data, np.uint8)
    ends = np.flatnonzero(found == _NEWLINE) + 1
    quotes = np.searchsorted(ends, np.flatnonzero(found == _QUOTE), side="right")
    odd = np.flatnonzero(np.bincount(quotes) % 2)
    return [0, *ends.tolist(), len(data)] if len(odd) else [], odd.tolist()
