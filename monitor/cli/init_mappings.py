"""Mappings of the files that `init` looks at: of one by its names, of several side by side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from monitor.cli.init_source import Looked
from monitor.cli.output import tell
from monitor.config import Config, FileFeed
from monitor.config.mapping import FixedValue, MappedRecords
from monitor.errors import FeedError
from monitor.feeds import files
from monitor.feeds.files import FirstRows
from monitor.feeds.mapping.field_sources import fields_of
from monitor.feeds.mapping.guessing import mapping_for_table
from monitor.feeds.mapping.linked_tables import Table, completed, lacking, linked_mappings
from monitor.feeds.mapping.proposals import first_values

_COLUMN = "COLUMN"


class MappedFile(NamedTuple):
    """Events to look at, and how to read them.

    Attributes:
        looked: where they are.
        head: the first of them.
        columns: names of their columns.
        mapping: of their columns.
        guessed: fields whose columns were found by what files hold side by side.
    """

    looked: Looked
    head: FirstRows
    columns: Sequence[str]
    mapping: MappedRecords
    guessed: tuple[str, ...] = ()

    @property
    def fields(self) -> frozenset[str]:
        """Fields that its columns hold."""
        return fields_of(self.columns, self.mapping)

    @property
    def has_predictions(self) -> bool:
        """Whether its records hold predictions, or may hold any event."""
        return bool(self.fields & {"prediction", "score", "type", "tp"}) or not self.columns


def mapped_files(looked: Sequence[Looked], given: MappedRecords | None) -> tuple[MappedFile, ...]:
    """Return each file with its mapping; print which columns are taken for which fields.

    Args:
        looked: the files.
        given: the mapping of the options; None without one.

    Raises:
        FeedError: the columns of a file make no events; names what to write.
    """
    heads = [files.first_rows(one.path) for one in looked]
    columns = [files.columns_of(head) for head in heads]
    if len(looked) == 1:
        mapping = _mapping(looked[0].name, heads[0], given)
        return (MappedFile(looked[0], heads[0], columns[0], mapping),)
    tables = [
        Table(names, first_values(head.rows), _of_columns(names, given))
        for head, names in zip(heads, columns, strict=True)
    ]
    found = linked_mappings(tables)
    return tuple(map(_linked, looked, heads, tables, found))


def linked_fields(paths: Sequence[str]) -> dict[str, dict[str, str]]:
    """Return the column of each field that `init` would take, by file; none where files need none.

    Args:
        paths: files that can be read again.

    Returns:
        Nothing where one of the files would still make no events, and where all have the same
        columns.
    """
    heads = [files.first_rows(path) for path in paths]
    columns = [files.columns_of(head) for head in heads]
    tables = [
        Table(names, first_values(head.rows), MappedRecords())
        for head, names in zip(heads, columns, strict=True)
    ]
    found = linked_mappings(tables)
    if all(one == columns[0] for one in columns) or any(
        lacking(table.columns, completed(table.mapping, one))
        for table, one in zip(tables, found, strict=True)
    ):
        return {}
    return dict(zip(paths, found, strict=True))


def with_feeds(config: Config, mapped: Sequence[MappedFile]) -> Config:
    """Return the configuration with a feed of each file.

    Args:
        config: the configuration.
        mapped: the files.
    """
    feeds = tuple(
        FileFeed.model_validate({"type": "file", "path": one.looked.path}).model_copy(
            update={name: getattr(one.mapping, name) for name in MappedRecords.model_fields}
        )
        for one in mapped
    )
    return config.model_copy(update={"feeds": feeds})


def _mapping(name: str, head: FirstRows, given: MappedRecords | None) -> MappedRecords:
    columns, look = files.columns_of(head), head.rows.copy
    found = mapping_for_table(name, columns, given, tell, look=look) if columns else given
    return MappedRecords() if found is None else found


def _of_columns(columns: Sequence[str], given: MappedRecords | None) -> MappedRecords:
    """Return the mapping of the options as far as a file has its columns."""
    if given is None:
        return MappedRecords()
    there = {*columns, *(name.partition(".")[0] for name in columns)}
    fields = {
        field: source
        for field, source in given.fields.items()
        if isinstance(source, FixedValue) or {source, source.partition(".")[0]} & there
    }
    return given.model_copy(update={"fields": fields})


def _linked(looked: Looked, head: FirstRows, table: Table, found: dict[str, str]) -> MappedFile:
    mapping = completed(table.mapping, found)
    there = fields_of(table.columns, mapping)
    values = {field: lists for field, lists in mapping.values.items() if field in there}
    mapping = mapping.model_copy(update={"values": values})
    if table.columns and (missing := lacking(table.columns, mapping)):
        asked = ", ".join(f"{field.partition(' ')[0]}: {_COLUMN}" for field in missing)
        raise FeedError(
            f"{looked.name}: no column alone fits {' and '.join(missing)}, got "
            f"{', '.join(table.columns)}; name its columns with --field, or write a feed for it "
            f"with `fields: {{{asked}}}`"
        )
    if found:
        taken = ", ".join(f"{column} as {field}" for field, column in found.items())
        tell(f"{looked.name}: reads {taken}")
    return MappedFile(looked, head, table.columns, mapping, tuple(found))
