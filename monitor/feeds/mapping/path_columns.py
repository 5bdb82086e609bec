"""Columns that the directories of a path name, as Hive and Spark write them: `day=2026-01-01/`.

Such a column has one value in all records of a file, so it is read as a constant.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from urllib.parse import unquote

from monitor.config.mapping import FixedValue, MappedRecords

_DIRECTORY = re.compile(r"([^=]+)=(.+)")
_NO_VALUE = "__HIVE_DEFAULT_PARTITION__"
"""What Hive and Spark write for null."""
_UNASKED = ("ts", "model", "version")
"""Fields that are read from a directory of their name without a mapping."""


def columns_of_path(path: str) -> dict[str, str]:
    """Return the values of the columns that directories of a path name, by column.

    Args:
        path: of a file, or its URL.

    >>> columns_of_path("out/day=2026-01-01/shop=a%2Fb/part-0.parquet")
    {'day': '2026-01-01', 'shop': 'a/b'}
    """
    named = (_DIRECTORY.fullmatch(part) for part in path.split("/")[:-1])
    found = {unquote(pair[1]): unquote(pair[2]) for pair in named if pair}
    return {column: value for column, value in found.items() if value != _NO_VALUE}


def with_path_columns(
    path: str, columns: Collection[str], mapping: MappedRecords | None
) -> MappedRecords | None:
    """Return a mapping that has the columns of a path as constants.

    These are the columns that the mapping names, and those named `ts`, `model` and `version`. A
    column of the file itself comes first.

    Args:
        path: of the file, or its URL.
        columns: names of the columns in the file; nested ones with dots.
        mapping: as given; None without one.
    """
    there = {c: FixedValue(v) for c, v in columns_of_path(path).items() if c not in columns}
    given = MappedRecords() if mapping is None else mapping
    own = {f: there[f] for f in _UNASKED if f in there and f not in given.fields}
    named = {f: there[s] for f, s in given.fields.items() if isinstance(s, str) and s in there}
    if not (own or named):
        return mapping
    return given.model_copy(update={"fields": {**given.fields, **own, **named}})
