"""The column or constant of each field, for one table or one kind of record."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

from monitor.config.mapping import FIELDS, NO_FIELD, SEGMENT, FixedValue, MappedRecords
from monitor.errors import ColumnError
from monitor.feeds import table_fields
from monitor.feeds.mapping.path_columns import columns_of_path
from monitor.feeds.mapping.written import notation_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Sources:
    """Where the fields of events are.

    Attributes:
        columns: column of each field; nested names with dots.
        segments: column of each segment key.
        constants: fields with one value everywhere; `segment.K` for a segment key.
    """

    columns: Mapping[str, str]
    segments: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, Any] = field(default_factory=dict)

    @property
    def fields(self) -> frozenset[str]:
        """Names of the fields that there are, without segment keys."""
        return frozenset(self.columns) | {f for f in self.constants if not f.startswith(SEGMENT)}

    @property
    def used(self) -> frozenset[str]:
        """Columns that are read, by the part of their name before the first dot, and whole."""
        names = [*self.columns.values(), *self.segments.values()]
        return frozenset(names) | {name.partition(".")[0] for name in names}


def fields_of(columns: Collection[str], mapping: MappedRecords | None) -> frozenset[str]:
    """Return the fields that a table has by its mapping and by the names of its columns.

    Args:
        columns: names of its columns.
        mapping: of the table; None without one.
    """
    found = sources_of_records(mapping, ())
    there = {f for f, column in found.columns.items() if _is_there(column, columns)}
    return frozenset(there | found.constants.keys())


def sources_of_table(
    name: str,
    columns: Sequence[str],
    mapping: MappedRecords | None,
    keys: Sequence[str],
    *,
    nested: bool = True,
) -> Sources:
    """Find the fields of events among the columns of a table.

    A field that the mapping does not name is the column of its own name, unless the mapping
    reads that column as another field. Columns `segment.K` of a table of counts are found for
    all keys: rows of one batch of counts may differ by them alone.

    Args:
        name: of the table, or its path, for messages.
        columns: names of its columns.
        mapping: of the table; None without one.
        keys: segment keys to look for.
        nested: a name with dots may stand for a field within the column before its first dot.

    Raises:
        FeedError: a column that the mapping names is not there, no column holds `ts`, or two
            columns have the same name.
    """
    table_fields.check_distinct(name, columns)
    found = sources_of_records(mapping, _keys_to_read(columns, mapping, keys))
    for wanted, column in _named(mapping).items():
        if not (column in columns or (nested and _is_there(column, columns))):
            known = [*columns, *columns_of_path(name)]
            near = get_close_matches(column, known, n=1)
            hint = f"did you mean {near[0]!r}?" if near else f"it has {_some(known)}"
            if wanted in ("model", "version"):
                hint += f"; one {wanted} for all records is {_constant(mapping, wanted, column)}"
            raise ColumnError(f"{name}: {wanted}: there is no column {column!r}; {hint}")
    there = {f: column for f, column in found.columns.items() if _is_there(column, columns)}
    places = {key: _segment(found, key, columns) for key in found.segments}
    segments = {key: place for key, place in places.items() if place is not None}
    if "ts" not in there and "ts" not in found.constants:
        asked = notation_for(mapping).columns({"ts": "COLUMN"})
        table_fields.require_time(name, columns, f", or say which column is which: {asked}")
    return Sources(columns=there, segments=segments, constants=found.constants)


def sources_of_records(mapping: MappedRecords | None, keys: Sequence[str]) -> Sources:
    """Return where records may hold the fields of events; each may lack any of them.

    A field whose constant is empty text is left out, also where a column has its name.

    Args:
        mapping: of the records; None without one.
        keys: segment keys to look for.
    """
    named, fixed = _named(mapping), _fixed(mapping)
    taken = {*named.values()}
    own = {f: f for f in FIELDS if f not in {*named, *fixed} and f not in taken}
    there = [key for key in keys if fixed.get(f"{SEGMENT}{key}") != NO_FIELD]
    segments = {key: named.get(f"{SEGMENT}{key}", f"{SEGMENT}{key}") for key in there}
    fields = {f: column for f, column in named.items() if not f.startswith(SEGMENT)}
    constants = {f: value for f, value in fixed.items() if value != NO_FIELD}
    return Sources(columns={**own, **fields}, segments=segments, constants=constants)


def place_in_list(name: str) -> int | None:
    """Return the place in a list, from 0 on, that a part of a name with dots gives, if it does.

    Args:
        name: the part.

    >>> place_in_list("1"), place_in_list("score"), place_in_list("-1")
    (1, None, None)
    """
    return int(name) if name.isascii() and name.isdecimal() else None


def _keys_to_read(
    columns: Sequence[str], mapping: MappedRecords | None, keys: Sequence[str]
) -> Sequence[str]:
    if "tp" not in fields_of(columns, mapping):
        return keys
    named = [name for name in (*columns, *_named(mapping)) if name.startswith(SEGMENT)]
    return tuple(dict.fromkeys([*keys, *(name.removeprefix(SEGMENT) for name in named)]))


def _named(mapping: MappedRecords | None) -> dict[str, str]:
    sources = {} if mapping is None else mapping.fields
    return {f: source for f, source in sources.items() if isinstance(source, str)}


def _fixed(mapping: MappedRecords | None) -> dict[str, Any]:
    sources = {} if mapping is None else mapping.fields
    return {f: s.value for f, s in sources.items() if isinstance(s, FixedValue)}


def _constant(mapping: MappedRecords | None, field: str, value: str) -> str:
    written = notation_for(mapping).constant(field, value)
    if mapping is not None and mapping.is_of_feed:
        return written
    return f"{{'value': {value!r}}}, on the command line {written}"


def _is_there(column: str, columns: Collection[str]) -> bool:
    return column in columns or column.partition(".")[0] in columns


def _segment(found: Sources, key: str, columns: Sequence[str]) -> str | None:
    if f"{SEGMENT}{key}" in found.constants:
        return None
    column = found.segments[key]
    if column in columns or column != f"{SEGMENT}{key}":
        return column
    return table_fields.segment_columns(columns, [key]).get(key)


def _some(columns: Sequence[str]) -> str:
    most = 8
    shown = ", ".join(columns[:most]) or "none"
    return shown if len(columns) <= most else f"{shown}, …"
