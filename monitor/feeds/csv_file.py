"""Reads CSV: the first line names the columns, each further line is one record.

Before it, a line like `sep=;` may name the separator, as Excel writes it.
An empty cell omits the field, except for `label`, where it is null. Quoted cells may contain
line breaks (RFC 4180).
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

import numpy as np

from monitor.config.mapping import SEGMENT, MappedRecords, TimeForm
from monitor.events.batches import at_rows, concatenate
from monitor.events.columns import MOST_VERSION_NAMES, EventBatch
from monitor.events.reject_reasons import RejectReason
from monitor.feeds import table_fields
from monitor.feeds.blocks import Block, TornError, blocks
from monitor.feeds.csv_header import NAMES, Header, cells_of, declared_separator, header_of
from monitor.feeds.decode import MAX_RECORD_BYTES, Decoder
from monitor.feeds.decode.lines import not_utf8
from monitor.feeds.decode.reasons import Fault, Fields
from monitor.feeds.decode.scanning import RowLayout
from monitor.feeds.mapping.class_texts import ClassTexts
from monitor.feeds.mapping.field_sources import Sources, sources_of_table
from monitor.feeds.mapping.guessing import Say, mapping_for_file, to_stderr
from monitor.feeds.mapping.values import constant_fields, mapped_readers, readers_of_text
from monitor.feeds.mapping.written import notation_for
from monitor.feeds.odd_values import DAYS_OF_SPREADSHEETS, may_be_days
from monitor.feeds.rows_over_lines import RowsOverLines, SplitBlock

UNREADABLE_QUOTES = "has a quoted cell that does not end, or a stray quote"
"""In the detail of a row."""
_LOOKED_AT = 2_000
"""Rows to look at for columns to propose."""
_DAY_IN_DIGITS = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])")
_WHOLE_FLOAT = re.compile(r"\d+\.0")


def read_csv(
    stream: Iterable[bytes],
    name: str,
    decoder: Decoder,
    chunk_bytes: int,
    *,
    separator: str = ",",
    mapping: MappedRecords | None = None,
    say: Say = to_stderr,
) -> Iterator[EventBatch]:
    """Yield the events of a CSV file in batches.

    Args:
        stream: content of the file, in pieces of any size.
        name: name of the file, for the positions of records.
        decoder: converts records to columns.
        chunk_bytes: bytes of lines per batch.
        separator: character between cells, unless the header shows another one.
        mapping: which columns hold the fields; None where they are named like these.
        say: prints which columns are taken for which fields, where that is a guess.

    Raises:
        FeedError: the first line is no valid header, or no column holds the time.
        TornError: the stream is truncated or damaged.
    """
    table: _Rows | None = None
    torn: TornError | None = None
    try:
        for block in blocks(stream, chunk_bytes):
            lines = block
            if table is None:
                header, _, data = lines.data.partition(b"\n")
                if lines.first_line == 1 and (declared := declared_separator(header)):
                    separator, lines = declared, Block(data, 2)
                    if not data:
                        continue
                    header, _, data = data.partition(b"\n")
                table = _Rows(
                    name,
                    header,
                    decoder,
                    separator=separator,
                    mapping=mapping,
                    say=say,
                    first=data,
                )
                for doubt in table.doubts(data.partition(b"\n")[0]):
                    say(f"{name}: {doubt}")
                lines = Block(data, lines.first_line + 1)
            yield table.decode(table.over_lines.split(lines))
    except TornError as error:
        torn = error
    if table is not None and (rest := table.over_lines.rest()).block.data:
        yield table.decode(rest)
    if table is not None and (doubt := table.doubt_of_versions()):
        say(f"warning: {name}: {doubt}")
    if torn is not None:
        raise torn


def rows_of_text(name: str, text: bytes, separator: str, most: int) -> list[dict[str, Any]]:
    r"""Return the first rows of a CSV file by column, for looking at them.

    Args:
        name: of the file, for messages.
        text: the start of the file.
        separator: character between cells.
        most: rows to return at most.

    Raises:
        FeedError: the first line is no valid header.

    >>> rows_of_text("t", b"a; b\n1;2\n", ",", 10)
    [{'a': '1', 'b': '2'}]
    """
    first, _, rest = text.partition(b"\n")
    if not text:
        return []
    if declared := declared_separator(first):
        separator = declared
        first, _, rest = rest.partition(b"\n")
    header = header_of(name, first, separator)
    return _first_rows(header, rest, most)


def _first_rows(header: Header, data: bytes, most: int) -> list[dict[str, Any]]:
    lines = data.decode(errors="replace").splitlines()
    rows = csv.DictReader(lines, header.columns, delimiter=header.separator)
    return [row for row in islice(rows, most) if None not in row]


def _is_plain(mapping: MappedRecords | None) -> bool:
    """Return whether cells are read as without a mapping, which may name other columns."""
    return mapping is None or not (mapping.values or mapping.time != TimeForm())


def _like_floats(cells: str, column: str, cell: str, field: str) -> str:
    """Return that names are written like floats, and what to write.

    >>> _like_floats("cells", "case", "7.0", "id")
    'cells of case are like 7.0, which is another id than 7: if pandas wrote integers so, because \
one is missing, write them with df["case"].astype("Int64")'
    """
    return (
        f"{cells} of {column} are like {cell}, which is another {field} than {cell[:-2]}: "
        "if pandas wrote integers so, because one is missing, write them with "
        f'df["{column}"].astype("Int64")'
    )


class _Rows:
    """Decodes rows under a header.

    Attributes:
        over_lines: takes rows over several lines out of blocks.
    """

    def __init__(
        self,
        name: str,
        header: bytes,
        decoder: Decoder,
        *,
        separator: str,
        mapping: MappedRecords | None,
        say: Say,
        first: bytes,
    ) -> None:
        self._name = name
        self._decoder = decoder
        self._columns, self._separator = header_of(name, header, separator)
        if self._separator != separator:
            names = f"{NAMES[self._separator]}, not {NAMES.get(separator, repr(separator))}"
            say(f"{name}: reads cells separated by {names}, as its first line has them")
        self.over_lines = RowsOverLines(len(self._columns), self._separator)
        header_found = Header(self._columns, self._separator)
        self._notation = notation_for(mapping)
        self._has_format = mapping is not None and mapping.time.format is not None
        mapping = mapping_for_file(
            name, self._columns, mapping, say, lambda: _first_rows(header_found, first, _LOOKED_AT)
        )
        keys = decoder.settings.segment_keys
        sources = sources_of_table(name, self._columns, mapping, keys, nested=False)
        readers = (
            readers_of_text() if mapping is None else mapped_readers(mapping, decoder.class_tally)
        )
        self._class_texts = ClassTexts(decoder.settings, mapping)
        index_of = {column: index for index, column in enumerate(self._columns)}
        self._segments = [(key, index_of[column]) for key, column in sources.segments.items()]
        self._readers = [
            (field, index_of[column], readers[field]) for field, column in sources.columns.items()
        ]
        named = {*sources.fields, *(self._columns if mapping is None else ())}
        self._common: dict[str, Any] = {"type": table_fields.type_of_rows(named)}
        if "label" in sources.fields:
            self._common["label"] = None
        self._common |= constant_fields(sources.constants, readers)
        self._layout = self._layout_of(sources) if _is_plain(mapping) else None
        self._version = next((index for name, index, _ in self._readers if name == "version"), None)
        self._versions: set[str] = set()

    def doubts(self, line: bytes) -> Iterator[str]:
        """Yield what is odd about a row: names with a space or like floats, days in digits.

        Args:
            line: the row.
        """
        try:
            cells = dict(enumerate(self._cells(line)))
        except (UnicodeDecodeError, csv.Error):
            return
        names = {index: field for field, index, _ in self._readers if field in table_fields.TEXTS}
        names |= {index: f"{SEGMENT}{key}" for key, index in self._segments}
        if spaced := [self._columns[i] for i in names if cells.get(i, "").startswith(" ")]:
            yield (
                f"cells of {', '.join(spaced)} begin with a space, which is part of the value; "
                "remove the spaces behind the separators"
            )
        for index, field in names.items():
            cell, column = cells.get(index, ""), self._columns[index]
            if field in ("id", "batch") and _WHOLE_FLOAT.fullmatch(cell):
                yield _like_floats("cells", column, cell, field)
        if not self._has_format:
            yield from self._days_in_digits(cells)

    def doubt_of_versions(self) -> str:
        """Return what is odd about the versions of all rows, names like floats; "" for nothing.

        One name like that in every row is no oddity.
        """
        names = self._versions - {""}
        if self._version is None or len(self._versions) == 1 or not names:
            return ""
        if not all(map(_WHOLE_FLOAT.fullmatch, names)):
            return ""
        column = self._columns[self._version]
        return _like_floats("all cells that are not empty", column, min(names), "version")

    def _days_in_digits(self, cells: Mapping[int, str]) -> Iterator[str]:
        """Yield the columns of times whose cells write a day in digits, which are a number."""
        form = self._notation.time({"format": "%Y%m%d", "zone": "Europe/Berlin"})
        for field, index, _ in self._readers:
            cell = cells.get(index, "").strip()
            if field in table_fields.TIMES and _DAY_IN_DIGITS.fullmatch(cell):
                yield (
                    f"cells of {self._columns[index]} are like {cell}, which is read as a number "
                    f"since 1970: if it is a day, give the format and the zone: {form}"
                )
            elif field in table_fields.TIMES and may_be_days(cell):
                yield (
                    f"cells of {self._columns[index]} are like {cell}, which is read as seconds "
                    f"since 1970; it may be {DAYS_OF_SPREADSHEETS}"
                )

    def _layout_of(self, sources: Sources) -> RowLayout | None:
        """Return where each cell belongs; None where cells are not plain text of fields."""
        if sources.constants or not self._separator.isascii() or self._separator in '"\r\n\0':
            return None
        columns = [""] * len(self._columns)
        for field, index, _ in self._readers:
            columns[index] = field
        known = self._decoder.settings.segment_keys
        for key, index in self._segments:
            columns[index] = f"{SEGMENT}{key}" if key in known else ""
        labelled = "label" in sources.fields
        return RowLayout(tuple(columns), self._separator, self._common["type"], labelled)

    def decode(self, found: SplitBlock) -> EventBatch:
        batch = self._decoded(found)
        if len(self._versions) <= MOST_VERSION_NAMES:
            self._versions.update(group.version for group in batch.groups)
        return batch

    def _decoded(self, found: SplitBlock) -> EventBatch:
        (data, first_line), rows, lines = found
        batch = self._decoder.decode_rows(
            data,
            self._fields_or_fault,
            layout=self._layout,
            source=self._name,
            first_line=first_line,
        )
        if not rows:
            return batch
        over_lines = self._decoder.decode_fields(
            [self._fields_or_fault(row) for row in rows],
            position=lambda row: f"{self._name}:{first_line + lines[row]}",
            record=lambda row: rows[row],
        )
        places = np.array(lines, np.int64)
        return concatenate([batch, at_rows(over_lines, places)], interleaved=True)

    def _fields_or_fault(self, line: bytes) -> Fields | Fault:
        if len(line) > MAX_RECORD_BYTES:
            return Fault(RejectReason.TOO_LARGE, f"row: must be at most {MAX_RECORD_BYTES} bytes")
        try:
            cells = self._cells(line)
        except UnicodeDecodeError as error:
            return Fault(RejectReason.MALFORMED, f"row: {not_utf8(error)}")
        except csv.Error as error:
            return Fault(RejectReason.MALFORMED, f"row: {UNREADABLE_QUOTES}: {error}")
        if len(cells) != len(self._columns):
            detail = f"row: must have {len(self._columns)} cells like the header, got {len(cells)}"
            return Fault(RejectReason.MALFORMED, detail)
        return self._fields(cells)

    def _fields(self, cells: list[str]) -> Fields:
        fields = self._common.copy()
        for name, index, read in self._readers:
            if cells[index] and (value := read(cells[index])) is not None:
                fields[name] = value
        self._class_texts.read(fields)
        if self._segments and isinstance(given := fields.setdefault("segment", {}), dict):
            keyed = {key: cells[index] or None for key, index in self._segments}
            fields["segment"] = given | keyed
        return fields

    def _cells(self, line: bytes) -> list[str]:
        return cells_of(line.decode(), self._separator)
