"""Tables of Python programs as batches of events: frames, Arrow tables, arrays by name.

Whatever offers Arrow's stream of the PyCapsule interface (pandas, polars, pyarrow, DuckDB)
is read in whole columns where pyarrow is installed. Other tables, and all without pyarrow,
are read row by row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from monitor.config.mapping import SEGMENT, MappedRecords, mapped_records
from monitor.config.quantities import count_of
from monitor.errors import FeedError
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection
from monitor.feeds.arrow.arrow_files import BATCH_ROWS
from monitor.feeds.class_tally import ClassTally
from monitor.feeds.decode import Decoder
from monitor.feeds.mapping.class_texts import ClassTexts
from monitor.feeds.mapping.field_sources import Sources, sources_of_table
from monitor.feeds.mapping.guessing import lacks_id, mapping_for_table, suffices
from monitor.feeds.mapping.record_reader import RecordReader
from monitor.feeds.mapping.values import mapped_readers
from monitor.feeds.table_fields import type_of_rows
from monitor.python.frames import index_hint
from monitor.python.table_columns import check_once, listed, own_names, plain_column, without_nan


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableRead:
    """Numbers of rows of a table that were read, rejected, and not counted again.

    Attributes:
        rows: number of rows read.
        rejected: number of rejected rows by reason.
        duplicates: number of rows whose `id` the monitor already had a prediction of, from
            this table or before it: the earliest counts, and a label in such a row revises. In
            a table of predictions or labels alone, also labels whose `id` already had one: the
            latest is in force. Ids are remembered while a label may still come; rows without
            an id are never duplicates.
        first: the first rejected rows.
        note: columns that were taken for fields by their names, segment keys that no model
            keeps, positive values that no row has, and what to write so that rejected rows are
            read; "" for none of these.
    """

    rows: int
    rejected: Mapping[str, int]
    duplicates: int
    first: tuple[Rejection, ...]
    note: str

    def __repr__(self) -> str:
        reasons = ", ".join(f"{n:,} {reason}" for reason, n in self.rejected.items())
        head = f"{count_of(self.rows, 'row')} read, {sum(self.rejected.values()):,} rejected"
        lines = [f"{head}, {count_of(self.duplicates, 'duplicate')}" if self.duplicates else head]
        lines += [f"  {reasons}"] if reasons else []
        lines += [f"  {r.position}: {r.detail}" for r in self.first]
        return "\n".join([*lines, self.note] if self.note else lines)


def mapping_of(
    columns: Mapping[str, Any],
    values: Mapping[str, Any] | None,
    time: Mapping[str, Any] | None,
) -> MappedRecords:
    """Return the mapping that keyword arguments give.

    Args:
        columns: column of each field, or `{"value": V}`; `segment` has the column of each
            segment key.
        values: values of the classes, as in a configuration file.
        time: zone and unit of times, likewise.

    Raises:
        ValueError: it is invalid; names each field with its fault.
    """
    fields = {name: column for name, column in columns.items() if column is not None}
    segments = fields.pop("segment", {})
    if isinstance(segments, Mapping):
        fields |= {f"{SEGMENT}{key}": column for key, column in segments.items()}
    elif isinstance(segments, str):
        fields["segment"] = segments
    else:
        raise ValueError(  # noqa: TRY004  # as for any value that does not fit
            "segment: must be a column of objects, or the column of each segment key as in "
            f"{{'region': 'COLUMN'}}, got {segments!r}"
        )
    return mapped_records(fields, values or {}, time or {})


class TableReader:
    """Reads one table.

    Args:
        table: a frame, an Arrow table, or arrays by name.
        mapping: which columns hold the fields of events.
        decoder: decodes its rows.

    Attributes:
        columns: the column of each field that it has.
        note: as of `TableRead`; positive values are missed after the last batch.
        contradictions: after the last batch, a line for each field whose values contradict the
            given positive ones.

    Raises:
        ValueError: it is no table, or its columns cannot hold events.
    """

    def __init__(self, table: Any, mapping: MappedRecords, decoder: Decoder) -> None:
        self.note = ""
        self.contradictions: tuple[str, ...] = ()
        self._tally = decoder.class_tally = ClassTally()
        self._table = table
        self._decoder = decoder
        self._own_names = own_names(table)
        names = list(self._own_names)
        keys = decoder.settings.segment_keys
        mapping = self._without_unkept(mapping, keys)
        try:
            found = mapping_for_table("table", names, mapping, self._take_note, keywords)
            self._mapping = mapping if found is None else found
            self._sources = sources_of_table("table", names, self._mapping, keys)
            _check_events(table, names, self._sources)
            self.columns = self._sources.columns
            check_once(table, {**self.columns, **self._sources.segments})
        except FeedError as error:
            raise ValueError(f"{error}{index_hint(table)}") from error
        self._used = [name for name in names if name in self._sources.used]

    def batches(self) -> Iterator[EventBatch]:
        """Yield the events of the table.

        Raises:
            ValueError: a column cannot be read.
        """
        yield from self._batches()
        for fault in self._tally.faults():
            self._take_note(fault)
        self.contradictions = tuple(self._tally.contradictions())

    def _batches(self) -> Iterator[EventBatch]:
        arrow = _pyarrow()
        if arrow is None or self._has_objects():
            return self._by_rows()
        try:
            stream = self._stream(arrow)
        except UnicodeEncodeError:
            return self._by_rows()  # a lone surrogate: its row is rejected
        except (arrow.ArrowException, TypeError, OverflowError) as error:
            if _offers_arrow(self._table) and not _is_pandas(self._table):
                raise ValueError(f"table: a column cannot be read: {error}") from error
            return self._by_rows()  # values of several types in one column, or large integers
        return self._by_columns(stream)

    def _column(self, name: str) -> Any:
        return self._table[self._own_names[name]]

    def _take_note(self, text: str) -> None:
        self.note = "\n".join(filter(None, [self.note, text]))

    def _without_unkept(self, mapping: MappedRecords, keys: Sequence[str]) -> MappedRecords:
        """The mapping without segment keys that no model keeps, and a note of them."""
        given = [f.removeprefix(SEGMENT) for f in mapping.fields if f.startswith(SEGMENT)]
        unkept = [key for key in given if key not in keys]
        if not unkept:
            return mapping
        self._take_note(
            f"segment: no model keeps {', '.join(map(repr, unkept))}; name the keys in the "
            f"configuration: Monitor(Config(defaults={{'segments': {given!r}}}))"
        )
        left_out = {f"{SEGMENT}{key}" for key in unkept}
        fields = {f: source for f, source in mapping.fields.items() if f not in left_out}
        return mapping.model_copy(update={"fields": fields})

    def _has_objects(self) -> bool:
        """Return whether polars would export objects of Python, of which Arrow gets addresses."""
        schema = getattr(self._table, "schema", None)
        kinds = [schema.get(name) for name in self._used] if isinstance(schema, Mapping) else []
        return "Object" in map(str, kinds)

    def _stream(self, arrow: Any) -> Any:
        table: Any = self._table
        if not _offers_arrow(table):
            columns = {name: plain_column(self._column(name)) for name in self._used}
            arrays = {n: arrow.array(column, from_pandas=True) for n, column in columns.items()}
            return arrow.table(arrays).to_reader()
        if _is_pandas(table):  # which converts whatever it exports
            table = table[[self._own_names[name] for name in self._used]]
        return arrow.RecordBatchReader.from_stream(table)

    def _refuse_periods(self, schema: Any) -> None:
        """Raise ValueError for periods of pandas, whose numbers would be read as seconds."""
        for field, column in self.columns.items():
            at = schema.get_field_index(column)
            kind = schema.field(at) if at >= 0 else None
            extension = getattr(getattr(kind, "type", None), "extension_name", "")
            named = (getattr(kind, "metadata", None) or {}).get(b"ARROW:extension:name", b"")
            if "pandas.period" in (extension, named.decode()):
                raise ValueError(
                    f"{field}: is a column of periods, not of times; give it as .dt.to_timestamp()"
                )

    def _by_columns(self, stream: Any) -> Iterator[EventBatch]:
        self._refuse_periods(stream.schema)
        decoding = import_module("monitor.feeds.arrow.decoding")
        used = [at for at, name in enumerate(stream.schema.names) if name in self._used]
        schema = import_module("pyarrow").schema([stream.schema.field(at) for at in used])
        reader = decoding.ArrowDecoder("row", schema, self._decoder, self._mapping)
        first = 1
        for batch in (without_nan(whole.select(used)) for whole in stream):
            for start in range(0, batch.num_rows, BATCH_ROWS):
                part = batch.slice(start, BATCH_ROWS)
                yield reader.decode(part, first)
                first += part.num_rows

    def _by_rows(self) -> Iterator[EventBatch]:
        columns = [listed(name, self._column(name)) for name in self._used]
        if len({len(column) for column in columns}) > 1:
            sizes = {n: len(column) for n, column in zip(self._used, columns, strict=True)}
            raise ValueError(f"table: columns must be equally long, got {sizes}")
        reader = RecordReader(
            self._sources,
            mapped_readers(self._mapping, self._tally),
            type_of_rows(self._sources.fields),
            class_texts=ClassTexts(self._decoder.settings, self._mapping),
        )
        rows = list(zip(*columns, strict=True))
        for first in range(0, len(rows), BATCH_ROWS):
            yield self._decoded(rows[first : first + BATCH_ROWS], first, reader)

    def _decoded(
        self, rows: Sequence[tuple[Any, ...]], first: int, reader: RecordReader
    ) -> EventBatch:
        return self._decoder.decode_fields(
            [reader.fields(dict(zip(self._used, row, strict=True))) for row in rows],
            position=lambda row: f"row:{first + row + 1}",
            record=lambda row: repr(rows[row]).encode(errors="replace"),
        )


def _check_events(table: Any, names: Sequence[str], sources: Sources) -> None:
    if not suffices(sources.fields):
        lacks = [f for f in ("ts", "id", "prediction", "label") if f not in sources.fields]
        asked = f"which of {', '.join(lacks)}, as in {lacks[-1]}='COLUMN'"
        if lacks_id(sources.fields):
            asked = f"id, id='COLUMN', or {lacks[-1]}, where a row has both and needs no id"
        raise ValueError(
            f"table: its columns make no events, got {', '.join(names) or 'none'}; say which "
            f"column is {asked}{index_hint(table)}"
        )


def _offers_arrow(table: Any) -> bool:
    return hasattr(table, "__arrow_c_stream__")


def _is_pandas(table: Any) -> bool:
    return hasattr(table, "iloc")


def _pyarrow() -> Any:
    """The module pyarrow; None where it is not installed."""
    try:
        return import_module("pyarrow")
    except ImportError:
        return None


def keywords(fields: Mapping[str, str]) -> str:
    """Return a mapping as keyword arguments.

    Args:
        fields: column of each field.

    >>> keywords({"ts": "time", "label": "fraud"})
    "ts='time', label='fraud'"
    """
    return ", ".join(f"{field}={column!r}" for field, column in fields.items())
