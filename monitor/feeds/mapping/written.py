"""A mapping as a person writes it: options of a command, or YAML of a configured feed."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

import yaml

from monitor.config.mapping import FixedValue, MappedRecords
from monitor.config.yaml_text import flow

ASKED = "say which column is which: write "
"""Before the mapping to write, in what is said of a table whose columns make no events."""
TAKEN = "to make this mapping permanent, write "
"""Before the mapping that was guessed."""
_FIELDS = "fields: "
_TIME_OPTIONS = {"zone": "zone", "unit": "unit", "format": "time-format"}
"""Option of each setting of times."""

Written = Callable[[Mapping[str, str]], str]
"""Gives the mapping as a person writes it, by column of each field."""


class Notation(Protocol):
    """How a person writes what completes a mapping."""

    def columns(self, columns: Mapping[str, str]) -> str:
        """Return how to write the column of each field."""

    def constant(self, field: str, value: str) -> str:
        """Return how to write one value of a field for all records.

        Args:
            field: its name.
            value: the value; "" leaves the field out.
        """

    def classes(self, field: str, lists: Mapping[str, Sequence[str]]) -> str:
        """Return how to write which values are of which class.

        Args:
            field: `prediction` or `label`.
            lists: values by `positive`, `negative` and `missing`.
        """

    def time(self, settings: Mapping[str, str]) -> str:
        """Return how to write settings of times.

        Args:
            settings: values of `zone`, `unit` and `format`, by name.
        """

    def threshold(self, value: str) -> str:
        """Return how to write the threshold of the models.

        Args:
            value: as text.
        """


class OptionNotation:
    """A mapping as options of a command, each of which completes the given ones.

    Args:
        command: the command that takes them, where another one reads the records; "" for this.

    >>> options = OptionNotation()
    >>> options.classes("label", {"positive": ["card fraud"], "missing": ["NA"]})
    "--positive 'label=card fraud' --missing label=NA"
    >>> options.constant("type", "")
    '--constant type='
    >>> OptionNotation("reference a.csv").time({"format": "%d.%m.%Y %H:%M", "zone": "UTC"})
    "reference a.csv --time-format '%d.%m.%Y %H:%M' --zone UTC"
    """

    def __init__(self, command: str = "") -> None:
        self._command = f"{command} " if command else ""

    def columns(self, columns: Mapping[str, str]) -> str:
        """Return an option for each field."""
        return self._command + " ".join(_option("field", *pair) for pair in columns.items())

    def constant(self, field: str, value: str) -> str:
        """Return the option for a constant.

        Args:
            field: its name.
            value: the value; "" leaves the field out.
        """
        return self._command + _option("constant", field, value)

    def classes(self, field: str, lists: Mapping[str, Sequence[str]]) -> str:
        """Return an option for each value.

        Args:
            field: `prediction` or `label`.
            lists: values by `positive`, `negative` and `missing`.
        """
        options = (_option(name, field, v) for name, values in lists.items() for v in values)
        return self._command + " ".join(options)

    def time(self, settings: Mapping[str, str]) -> str:
        """Return an option for each setting of times.

        Args:
            settings: values of `zone`, `unit` and `format`, by name.
        """
        options = (f"--{_TIME_OPTIONS[name]} {shlex.quote(v)}" for name, v in settings.items())
        return self._command + " ".join(options)

    def threshold(self, value: str) -> str:
        """Return the option for the threshold.

        Args:
            value: as text.
        """
        return f"{self._command}--threshold {value}"


class YamlNotation:
    """A mapping as YAML of a configured feed: each key whole, with what it already has.

    Args:
        mapping: as configured.

    >>> feed = MappedRecords.model_validate({"fields": {"ts": "at"}, "time": {"unit": "ms"}})
    >>> yaml_of_feed = YamlNotation(feed)
    >>> yaml_of_feed.columns({"id": "claim"})
    'fields: {ts: at, id: claim}'
    >>> yaml_of_feed.classes("label", {"missing": ["NA"]})
    'values: {label: {missing: ["", NA]}}'
    >>> yaml_of_feed.time({"zone": "Europe/Berlin"})
    'time: {unit: ms, zone: Europe/Berlin}'
    """

    def __init__(self, mapping: MappedRecords) -> None:
        self._mapping = mapping

    def columns(self, columns: Mapping[str, str]) -> str:
        """Return the key `fields`."""
        return self._fields(columns)

    def constant(self, field: str, value: str) -> str:
        """Return the key `fields`.

        Args:
            field: its name.
            value: the value; "" leaves the field out.
        """
        return self._fields({field: {"value": value}})

    def classes(self, field: str, lists: Mapping[str, Sequence[str]]) -> str:
        """Return the key `values`; values of the lists follow those that are there.

        Args:
            field: `prediction` or `label`.
            lists: values by `positive`, `negative` and `missing`.
        """
        given = {str(f): v.model_dump(exclude_unset=True) for f, v in self._mapping.values.items()}
        there = given.get(field, {})
        before = {"missing": ("",), **there}
        more = {name: [*before.get(name, ()), *values] for name, values in lists.items()}
        return f"values: {flow({**given, field: {**there, **more}})}"

    def time(self, settings: Mapping[str, str]) -> str:
        """Return the key `time`.

        Args:
            settings: values of `zone`, `unit` and `format`, by name.
        """
        given = self._mapping.time.model_dump(exclude_unset=True)
        return f"time: {flow({**given, **settings})}"

    def threshold(self, value: str) -> str:
        """Return the key of a model.

        Args:
            value: as text.
        """
        return f"`threshold: {value}`"

    def _fields(self, more: Mapping[str, object]) -> str:
        given = {
            field: {"value": source.value} if isinstance(source, FixedValue) else source
            for field, source in self._mapping.fields.items()
        }
        return f"{_FIELDS}{flow({**given, **more})}"


def notation_for(mapping: MappedRecords | None, command: str = "") -> Notation:
    """Return how to write what completes a mapping.

    Args:
        mapping: of a configured feed, which YAML completes; or of options, to which options are
            added. None without one.
        command: the command that takes the options, where another one reads the records; "" for
            this one.
    """
    if mapping is None or not mapping.is_of_feed:
        return OptionNotation(command)
    return YamlNotation(mapping)


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


def _option(name: str, field: str, value: str) -> str:
    return f"--{name} {shlex.quote(f'{field}={value}')}"
