"""The columns of fields as a person writes them: options of a command, or YAML of a feed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

import yaml

from monitor.config.mapping import FixedValue, MappedRecords
from monitor.config.yaml_text import flow

ASKED = "say which column is which: write "
"""Before the mapping to write, in what is said of a table whose columns make no events."""
TAKEN = "to make this mapping permanent, write "
"""Before the mapping that was guessed."""
_FIELDS = "fields: "

Written = Callable[[Mapping[str, str]], str]
"""Gives the mapping as a person writes it, by column of each field."""


def written_for(mapping: MappedRecords | None) -> Written:
    """Return how to write columns beside a mapping.

    Args:
        mapping: of a configured feed, whose YAML is then written as a whole; or of options, to
            which options are added. None without one.
    """
    if mapping is None or not mapping.is_of_feed:
        return _options
    given = {
        field: {"value": source.value} if isinstance(source, FixedValue) else source
        for field, source in mapping.fields.items()
    }
    return lambda columns: f"{_FIELDS}{flow({**given, **columns})}"


def taken_columns(text: str) -> dict[str, str]:
    """Return the columns of fields that a line says were guessed; none for another line.

    Args:
        text: the line.

    >>> taken_columns(f"{TAKEN}--field ts=time"), taken_columns(f"{TAKEN}fields: {{ts: time}}")
    ({'ts': 'time'}, {'ts': 'time'})
    """
    _, _, written = text.partition(TAKEN)
    if not written.startswith(_FIELDS):
        pairs = (option.partition("=") for option in shlex.split(written)[1::2])
        return {field: column for field, _, column in pairs}
    fields = yaml.safe_load(written)["fields"]
    return {field: column for field, column in fields.items() if isinstance(column, str)}


def _options(columns: Mapping[str, str]) -> str:
    pairs = (shlex.quote(f"{field}={column}") for field, column in columns.items())
    return " ".join(f"--field {pair}" for pair in pairs)
