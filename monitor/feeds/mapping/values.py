"""Values of any format as the fields of events hold them.

A value that does not fit stays as it is: decoding says what is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime, time
from decimal import Decimal
from math import isnan
from typing import Any
from zoneinfo import ZoneInfo

from monitor.config.mapping import (
    FIELDS,
    NAMES,
    SEGMENT,
    ClassField,
    ClassValues,
    MappedRecords,
    TimeForm,
    text_of,
)
from monitor.config.time_format import moment_in
from monitor.feeds import table_fields
from monitor.feeds.class_tally import ClassTally
from monitor.feeds.decode.time_texts import moment_of
from monitor.feeds.mapping.zones import aware
from monitor.feeds.scalars import plain_name, plain_segment

Reader = Callable[[Any], Any]
"""Returns a value as a field holds it."""

_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_INTEGER = re.compile(r"[+-]?\d{1,20}", re.ASCII)


def number_of_text(value: str) -> float | str:
    """Return the number that a text writes in decimal digits."""
    stripped = value.strip()  # of more characters than `float` skips
    return float(stripped) if _NUMBER.fullmatch(stripped) else value


def share_of_text(value: str) -> float | str:
    """Return the number from 0 to 1 that a text writes, with a decimal point or comma.

    A comma cannot separate thousands in such a number.

    >>> share_of_text("0.25"), share_of_text("0,25"), share_of_text("high")
    (0.25, 0.25, 'high')
    """
    found = number_of_text(value)
    if isinstance(found, float) or value.count(",") != 1:
        return found
    with_point = number_of_text(value.replace(",", "."))
    return with_point if isinstance(with_point, float) else value


def integer_of_text(value: str) -> int | str:
    """Return the integer that a text writes in decimal digits."""
    stripped = value.strip()
    return int(stripped) if _INTEGER.fullmatch(stripped) else value


def object_of_text(value: str) -> Any:
    """Return the JSON value that a text writes, with the values of an object as text."""
    try:
        return plain_segment(json.loads(value))
    except (ValueError, RecursionError):
        return value


class ClassReader:
    """Reads classes that a mapping lists.

    Where it lists only what is missing, other values stay as they are.

    Args:
        field: name of the field.
        values: the listed values.
        tally: notes which values come.
    """

    def __init__(self, field: str, values: ClassValues, tally: ClassTally) -> None:
        tally.expect(field, values.positive, values.negative)
        self._field = field
        self._tally = tally
        self._others_are_negative = bool(values.positive) and not values.negative
        listed: dict[str, int | None] = dict.fromkeys(values.missing)
        listed |= dict.fromkeys(values.negative, 0) | dict.fromkeys(values.positive, 1)
        self._listed = listed

    def __call__(self, value: Any) -> Any:
        """Return 1, 0, None where there is no class, or a value that is not listed."""
        if value is None or (isinstance(value, float) and isnan(value)):
            return None
        text = text_of(value)
        found = self._listed.get(text, 0 if self._others_are_negative else value)
        if found is not None:
            self._tally.note(self._field, text)
        return found


class TimeReader:
    """Reads times: text in a format, numbers in a unit, other text, timestamps.

    Args:
        form: how the mapping says that times are written.
    """

    def __init__(self, form: TimeForm) -> None:
        self.zone = None if form.zone is None else ZoneInfo(form.zone)
        self.per_second = form.unit.per_second
        self.format = form.format

    def __call__(self, value: Any) -> Any:
        """Return epoch seconds."""
        if self.format is not None and isinstance(value, str | int):  # 20261231 is a date, too
            moment = moment_in(str(value), self.format)
            if moment is not None:
                return self._seconds(moment, value)
        if isinstance(value, str):
            value = number_of_text(value)
        if isinstance(value, str):
            return self._of_text(value)
        if isinstance(value, datetime):
            return aware(value, self.zone).timestamp()
        if isinstance(value, date):
            return aware(datetime.combine(value, time()), self.zone).timestamp()
        if isinstance(value, int | float | Decimal) and not isinstance(value, bool):
            return float(value) / self.per_second
        return value

    def _of_text(self, value: str) -> Any:
        """A text with a zone is left to decoding."""
        found = None if self.zone is None else moment_of(value)
        return value if found is None or found.tzinfo is not None else self._seconds(found, value)

    def _seconds(self, moment: datetime, value: Any) -> Any:
        """Return epoch seconds; the value where neither it nor the mapping names a zone."""
        known = moment.tzinfo is not None or self.zone is not None
        return aware(moment, self.zone).timestamp() if known else value


def _as_it_is(value: str) -> str:
    """A class: `ClassTexts` reads it, by the model of the record."""
    return value


_OF_TEXT: Mapping[str, Reader] = {
    **dict.fromkeys(table_fields.TEXTS, str),
    **dict.fromkeys(table_fields.CLASSES, _as_it_is),
    **dict.fromkeys(table_fields.TIMES, number_of_text),
    **dict.fromkeys(table_fields.NUMBERS, share_of_text),
    **dict.fromkeys(table_fields.COUNTS, integer_of_text),
    "segment": object_of_text,
}
"""Meaning of a cell of text, by field."""


def _typed_time(value: Any) -> Any:
    if isinstance(value, datetime):
        return aware(value, None).timestamp()
    return _number(value)


def _number(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _integer(value: Any) -> Any:
    value = _number(value)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _object(value: Any) -> Any:
    """An object out of a struct, of the pairs of a map, or of JSON, with its values as text."""
    try:
        return plain_segment(json.loads(value) if isinstance(value, str) else dict(value))
    except (ValueError, TypeError, RecursionError):
        return value


_OF_TYPED: Mapping[str, Reader] = {
    **dict.fromkeys(NAMES, plain_name),
    **dict.fromkeys(table_fields.TIMES, _typed_time),
    **dict.fromkeys(table_fields.NUMBERS, _number),
    **dict.fromkeys((*table_fields.CLASSES, *table_fields.COUNTS), _integer),
    "segment": _object,
}
"""Meaning of a value that has a type, by field."""


def readers_of_text() -> dict[str, Reader]:
    """Return how a table of text without a mapping is read, by field."""
    return dict(_OF_TEXT)


def readers_of_types() -> dict[str, Reader]:
    """Return how a table with types and without a mapping is read, by field."""
    return dict(_OF_TYPED)


def mapped_readers(mapping: MappedRecords, tally: ClassTally) -> dict[str, Reader]:
    """Return how records with a mapping are read, by field: text or typed alike.

    Args:
        mapping: how it writes classes and times.
        tally: notes which values of classes come.
    """
    typed = {"type": plain_name, **_OF_TYPED}
    readers = {name: _either(_OF_TEXT[name], typed[name]) for name in FIELDS}
    readers |= dict.fromkeys(table_fields.TIMES, TimeReader(mapping.time))
    for field in ClassField:
        if field in mapping.values:
            readers[str(field)] = ClassReader(field, mapping.values[field], tally)
    return readers


def constant_fields(constants: Mapping[str, Any], readers: Mapping[str, Reader]) -> dict[str, Any]:
    """Return the fields that have one value everywhere, each as a cell of a table is read.

    Args:
        constants: their values by field; `segment.K` for the segment key K.
        readers: how cells are read, by field.

    >>> constant_fields({"score": ".3", "segment.shop": 7}, readers_of_text())
    {'score': 0.3, 'segment': {'shop': '7'}}
    """
    keys = {f.removeprefix(SEGMENT): v for f, v in constants.items() if f.startswith(SEGMENT)}
    read = {f: readers[f](v) for f, v in constants.items() if not f.startswith(SEGMENT)}
    given = {field: value for field, value in read.items() if value is not None}
    return given | ({"segment": plain_segment(keys)} if keys else {})


def _either(of_text: Reader, of_typed: Reader) -> Reader:
    return lambda value: of_text(value) if isinstance(value, str) else of_typed(value)
