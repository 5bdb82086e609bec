"""Mappings of files whose columns have names of their own, by what they hold side by side.

A file of predictions and a file of labels name the same cases: the columns whose values meet are
the ids. A guess is made where one column alone fits; a person checks it, as `init` writes it down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date
from itertools import permutations
from typing import Any, NamedTuple

from monitor.config.mapping import MappedRecords, text_of
from monitor.feeds.decode.time_texts import moment_of
from monitor.feeds.mapping.field_sources import fields_of
from monitor.feeds.mapping.guessing import common_columns, lacks_id, suffices
from monitor.feeds.mapping.proposals import FirstValues
from monitor.feeds.mapping.proposed_formats import proposed_formats
from monitor.feeds.mapping.values import share_of_text

_TWO = 2
_FEWEST = 10
"""Values that two columns share at least, where they are ids."""
_DECIDED = ("prediction", "score")


class Table(NamedTuple):
    """The first records of a file.

    Attributes:
        columns: names of its columns, nested ones with dots.
        values: the first ones of each column.
        mapping: as given; fields of columns that it lacks are left out.
    """

    columns: Sequence[str]
    values: FirstValues
    mapping: MappedRecords


def linked_mappings(tables: Sequence[Table]) -> list[dict[str, str]]:
    """Return the column of each further field of some files, as far as one column alone fits.

    Args:
        tables: the files, two at least.

    >>> ids, scores = [f"c{n}" for n in range(20)], [n / 20 for n in range(20)]
    >>> days = [f"2026-07-{n + 1:02d}T00:00Z" for n in range(20)]
    >>> made = {"case_no": ids, "scored_at": days, "p_default": scores}
    >>> came = {"case": ids[::-1], "decided_at": days, "outcome": ["good", "bad"] * 10}
    >>> for found in linked_mappings([Table([*v], v, MappedRecords()) for v in (made, came)]):
    ...     print(found)
    {'ts': 'scored_at', 'score': 'p_default', 'id': 'case_no'}
    {'ts': 'decided_at', 'label': 'outcome', 'id': 'case'}
    """
    files = [_File(table) for table in tables]
    for file in files:
        file.take_named()
    for file in files:
        if not file.has(*_DECIDED, "label"):
            file.take("score", file.scores())
    decided = any(file.has(*_DECIDED) for file in files)
    for file in files:
        if decided and not file.has(*_DECIDED, "label"):
            file.take("label", file.of_two_classes())
    ids = _ids(files)
    for file, columns in zip(files, ids, strict=True):
        if file.lacks_id():
            file.take("id", sorted(columns))
    return [file.found for file in files]


class _File:
    """A file, and the columns that are found for its fields."""

    def __init__(self, table: Table) -> None:
        self._table = table
        self._known = fields_of(table.columns, table.mapping)
        self.found: dict[str, str] = {}

    def has(self, *fields: str) -> bool:
        return bool({*self._known, *self.found} & {*fields})

    def lacks_id(self) -> bool:
        return lacks_id({*self._known, *self.found}) or not self.has("id", *_DECIDED)

    def take(self, field: str, columns: Sequence[str]) -> None:
        """Take a column for a field where it is the only one."""
        if len(columns) == 1:
            self.found[field] = columns[0]

    def take_named(self) -> None:
        """Take the columns that common names leave no doubt about, and the only one of times."""
        for field, columns in common_columns(
            self._table.columns, self._table.mapping, self._known
        ).items():
            self.take(field, columns)
        if not self.has("ts"):
            self.take("ts", self._times())
        if not self.has("ts") and "label_ts" in self.found and not self.has(*_DECIDED):
            self.found["ts"] = self.found.pop("label_ts")

    def free(self) -> dict[str, Sequence[Any]]:
        """Return the values of columns that no field is read from."""
        given = [
            source for source in self._table.mapping.fields.values() if isinstance(source, str)
        ]
        taken = {*given, *self.found.values(), *self._known}
        return {name: column for name, column in self._table.values.items() if name not in taken}

    def _times(self) -> list[str]:
        return [name for name, column in self.free().items() if _are_times(_present(column))]

    def scores(self) -> list[str]:
        return [name for name, column in self.free().items() if _are_scores(_present(column))]

    def of_two_classes(self) -> list[str]:
        columns = ((name, _texts(column)) for name, column in self.free().items())
        return [name for name, texts in columns if len(texts) == _TWO]

    def names(self) -> dict[str, frozenset[str]]:
        """Return the values of columns that may be ids: of the field alone where it is known."""
        if self.has("id"):
            column = self._table.mapping.fields.get("id", "id")
            values = self._table.values.get(self.found.get("id", str(column)), ())
            return {"id": _texts(values)}
        texts = {name: _texts(column) for name, column in self.free().items()}
        rows = max(map(len, self._table.values.values()), default=0)
        return {name: one for name, one in texts.items() if len(one) * _TWO > rows}


def _ids(files: Sequence[_File]) -> list[set[str]]:
    """Return the columns of each file whose values meet those of another file most."""
    found: list[set[str]] = [set() for _ in files]
    names = [file.names() for file in files]
    for (n, mine), (_, others) in permutations(enumerate(names), 2):
        shared = {
            (a, b): len(ours & theirs) for a, ours in mine.items() for b, theirs in others.items()
        }
        most = max(shared.values(), default=0)
        if most >= _FEWEST:
            found[n] |= {a for (a, _), number in shared.items() if number * _TWO > most}
    return found


def completed(mapping: MappedRecords, found: Mapping[str, str]) -> MappedRecords:
    """Return a mapping with further columns.

    Args:
        mapping: as given.
        found: column by field.
    """
    return mapping.model_copy(update={"fields": {**mapping.fields, **found}})


def lacking(columns: Sequence[str], mapping: MappedRecords) -> list[str]:
    """Return the fields that the rows of a file lack to make events; none where they make some.

    Args:
        columns: names of its columns.
        mapping: of the file.
    """
    known = fields_of(columns, mapping)
    if suffices(known):
        return []
    needed = ["id", "ts"]
    if not {*_DECIDED, "label"} & known:
        needed.append("score or prediction or label")
    return [field for field in needed if field not in known]


def _present(column: Sequence[Any]) -> list[Any]:
    return [value for value in column if value not in (None, "")]


def _texts(column: Sequence[Any]) -> frozenset[str]:
    return frozenset(text_of(v) for v in _present(column) if isinstance(v, str | int | float))


def _are_times(values: Sequence[Any]) -> bool:
    if values and all(isinstance(value, date) for value in values):
        return True
    texts = [value for value in values if isinstance(value, str) and not value.isdecimal()]
    if not texts or len(texts) < len(values):
        return False
    return all(moment_of(text) is not None for text in texts) or bool(proposed_formats(texts))


def _are_scores(values: Sequence[Any]) -> bool:
    """Return whether values are numbers from 0 to 1, and not of two classes."""
    read = [share_of_text(value) if isinstance(value, str) else value for value in values]
    numbers = [v for v in read if isinstance(v, int | float) and not isinstance(v, bool)]
    shares = [number for number in numbers if 0 <= number <= 1]
    return len(shares) == len(values) and len({*shares}) > _TWO
