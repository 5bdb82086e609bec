"""The mapping of a table whose columns have common names, where these leave no doubt.

Names are compared in lower case. A guess is made only where the columns lack what an event
needs, and only where it makes whole events: a time with a prediction and its label, or with
an id and either of them. Otherwise the message says which options to write.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import islice
from typing import Any

import msgspec

from monitor.config.mapping import NO_FIELD, SEGMENT, FixedValue, MappedRecords
from monitor.errors import ColumnError, FeedError
from monitor.feeds.decode.lines import BLANK, BOM
from monitor.feeds.mapping.field_sources import fields_of, place_in_list
from monitor.feeds.mapping.path_columns import columns_of_path, with_path_columns
from monitor.feeds.mapping.proposals import first_values, items_of, last_part, proposed
from monitor.feeds.mapping.written import ASKED, TAKEN, Written, notation_for

Say = Callable[[str], None]
"""Prints one line for a person."""
Look = Callable[[], Iterable[Mapping[str, Any]]]
"""Returns the first rows of a table."""

COMMON_NAMES: dict[str, tuple[str, ...]] = {
    "ts": (
        *("timestamp", "time", "event_time", "event_timestamp", "datetime", "date_time"),
        *("prediction_time", "prediction_timestamp", "predicted_at", "created_at", "scored_at"),
        "inference_time",
    ),
    "id": ("prediction_id", "event_id", "request_id", "inference_id", "uuid"),
    "score": (
        *("proba", "probability", "y_score", "y_proba", "y_prob", "y_pred_proba", "pred_proba"),
        *("predicted_probability", "prediction_score", "model_score"),
    ),
    "prediction": (
        *("y_pred", "y_hat", "pred", "predicted", "predicted_class", "predicted_label"),
        *("pred_class", "pred_label"),
    ),
    "label": (
        *("y_true", "target", "actual", "ground_truth", "true_label", "actual_label", "truth"),
        *("true_class", "actual_class", "correct_class", "correct_label", "observed_class"),
        *("ground_truth_label", "ground_truth_class", "gold_label", "target_class"),
    ),
    "label_ts": ("label_time", "label_timestamp", "labelled_at", "labeled_at"),
    "model": ("model_name", "model_id"),
    "version": ("model_version",),
}
"""Names that columns often have, by field."""

_UNKNOWN = "COLUMN"
_SHOWN = 12
"""Columns that a message names."""
_LOOKED_AT = 2_000
"""Records to look at for columns to propose."""


def mapping_for_table(
    name: str,
    columns: Sequence[str],
    mapping: MappedRecords | None,
    say: Say,
    written: Written | None = None,
    *,
    look: Look = tuple,
) -> MappedRecords | None:
    """Return the mapping to read a table by: the given one, completed where it lacks fields.

    Args:
        name: of the table, for messages; a path may name columns, too (`path_columns`).
        columns: names of its columns.
        mapping: as given, and returned so where it names a column that is not there; None
            without one.
        say: prints which columns are taken for which fields.
        written: gives the mapping as a person writes it; None for YAML where the mapping is of
            a configured feed, else for options of the command line.
        look: gives the first rows, where a column is to be proposed by its values.

    Raises:
        ColumnError: no column is known to hold the time; names the options to write.
    """
    shown_as = written or notation_for(mapping).columns
    mapping = with_path_columns(name, columns, mapping)
    known = fields_of(columns, mapping)
    if suffices(known) or not known >= _given(mapping):
        return mapping
    found = common_columns(columns, mapping, known)
    certain = {field: names[0] for field, names in found.items() if len(names) == 1}
    if len(certain) == len(found) and suffices(known | certain.keys()):
        given = MappedRecords() if mapping is None else mapping
        taken = ", ".join(f"{column} as {field}" for field, column in certain.items())
        say(f"{name}: reads {taken}; {TAKEN}{shown_as(certain)}")
        return given.model_copy(update={"fields": {**given.fields, **certain}})
    if "ts" not in known:
        lacking = _missing_segments(columns, mapping)
        proposals = _proposed(mapping, known, certain, look)
        asked = shown_as({**dict.fromkeys(lacking, _UNKNOWN), **_asked(known, certain, proposals)})
        if not {*known, *certain, *proposals} - {"id", "label"}:
            fields = {field: _UNKNOWN for field in ("id", "ts", "label") if field not in known}
            of_labels = shown_as({**fields, **certain, **proposals})
            asked = f"{asked}, or {of_labels} where it has labels alone"
        absent = (f", and no column {column!r} for {key}" for key, column in lacking.items())
        lack = f"has no column 'ts'{''.join(absent)}"
        there = [*_with_nested(columns, look), *columns_of_path(name)]
        raise ColumnError(_advice(name, lack, there, asked))
    return mapping


def mapping_for_file(
    name: str,
    columns: Sequence[str],
    mapping: MappedRecords | None,
    say: Say,
    look: Look = tuple,
) -> MappedRecords | None:
    """Return the mapping to read a file by; say what to write where no row makes an event.

    None where its columns are named like the fields, and their values written like these.

    Args:
        name: path of the file, which may name columns, too (`path_columns`).
        columns: names of its columns.
        mapping: as given; None without one.
        say: prints which columns are taken for which fields, or what to write.
        look: gives the first rows, where a column is to be proposed by its values.

    Raises:
        FeedError: no column is known to hold the time; names the options to write.
    """
    found = mapping_for_table(name, columns, mapping, say, look=look)
    known = fields_of(columns, found)
    if not suffices(known) and known >= _given(found):
        certain = {f: n[0] for f, n in common_columns(columns, found, known).items() if len(n) == 1}
        proposals, shown_as = _proposed(found, known, certain, look), notation_for(mapping).columns
        asked = shown_as(_asked(known, certain, proposals))
        if lacks_id(known | certain.keys()):
            asked = shown_as(_asked(known, certain, {}))
            by_id = shown_as({"id": proposals.get("id", _UNKNOWN)})
            asked = f"{by_id}, or {asked} where it has both, and needs no id"
        say(_advice(name, "its columns make no events", columns, asked))
    return found if found is not None and found.is_mapped else None


def mapping_for_lines(
    name: str, data: bytes, mapping: MappedRecords | None, say: Say
) -> MappedRecords | None:
    """Return the mapping to read lines of JSON by, judged by the first record.

    Where this makes no event, others may, so that no error is raised: `say` prints it.

    Args:
        name: path of the file, as for `mapping_for_file`.
        data: its first lines.
        mapping: as given; None without one.
        say: prints which columns are taken for which fields, or what to write.
    """
    first = next((line for line in data.removeprefix(BOM).split(b"\n") if line.strip(BLANK)), b"")
    try:
        record = msgspec.json.decode(first)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        return mapping
    if not isinstance(record, dict) or "scores" in record:
        return mapping
    mapping = with_path_columns(name, [*record, *names_of(record)], mapping)
    if near := _near(record, data, mapping):
        lack = f"none of the first records has {' or '.join(repr(c) for c, _ in near.values())}"
        asked = notation_for(mapping).columns(
            {field: column for field, (_, column) in near.items()}
        )
        say(f"{name}: {lack}; {ASKED}{asked}")
        return mapping
    try:
        return mapping_for_file(
            name, list(names_of(record)), mapping, say, lambda: islice(objects_of(data), _LOOKED_AT)
        )
    except FeedError as error:
        say(f"{error}")
        return mapping


def _near(
    record: dict[str, Any], data: bytes, mapping: MappedRecords | None
) -> dict[str, tuple[str, str]]:
    """Return named columns that no record has, and the most similar one there is, by field.

    Args:
        record: the first one.
        data: the first lines; a column that occurs in them is there.
        mapping: as given; None without one.
    """
    found: dict[str, tuple[str, str]] = {}
    for field, column in ({} if mapping is None else mapping.fields).items():
        if isinstance(column, str) and f'"{_last_name(column)}"'.encode() not in data:
            near = get_close_matches(column, list(names_of(record)), n=1)
            found |= {field: (column, near[0])} if near else {}
    return found


def names_of(record: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of a record's values, nested ones with dots.

    Args:
        record: JSON.
    """
    return (name for name, _ in items_of(record))


def _with_nested(columns: Sequence[str], look: Look) -> list[str]:
    """Return the columns, in place of one that has columns within it these, as first seen."""
    first = next(iter(look()), {})
    within = {c: [*names_of({c: first[c]})] for c in columns if isinstance(first.get(c), Mapping)}
    return [name for column in columns for name in within.get(column, [column])]


def to_stderr(text: str) -> None:
    """Print a line to stderr."""
    sys.stderr.write(f"{text}\n")


def _advice(name: str, lack: str, columns: Sequence[str], asked: str) -> str:
    shown = ", ".join(columns[:_SHOWN]) + (", …" if len(columns) > _SHOWN else "")
    return f"{name}: {lack}, got {shown or 'none'}; {ASKED}{asked}"


def common_columns(
    columns: Sequence[str],
    mapping: MappedRecords | None,
    known: Collection[str],
    name: Callable[[str], str] = str,
) -> dict[str, list[str]]:
    """Columns that have a common name of a field that is not known, by field.

    Args:
        columns: names of the columns.
        mapping: as given; None without one.
        known: fields that are known.
        name: gives the part of a column's name to look at.
    """
    taken = set() if mapping is None else {str(source) for source in mapping.fields.values()}
    free = [column for column in columns if column not in taken]
    found = {
        field: [column for column in free if _plain(name(column)) in (field, *names)]
        for field, names in COMMON_NAMES.items()
        if field not in known and (mapping is None or field not in mapping.fields)
    }
    return {field: names for field, names in found.items() if names}


def _given(mapping: MappedRecords | None) -> frozenset[str]:
    """Fields that a mapping names, without segment keys and what it leaves out."""
    given = {} if mapping is None else mapping.fields
    left_out = FixedValue(NO_FIELD)
    return frozenset(f for f, s in given.items() if not f.startswith(SEGMENT) and s != left_out)


def _missing_segments(columns: Collection[str], mapping: MappedRecords | None) -> dict[str, str]:
    """Return the columns of segment keys that are not there, by field."""
    given = {} if mapping is None else mapping.fields
    return {
        field: source
        for field, source in given.items()
        if field.startswith(SEGMENT) and isinstance(source, str)
        if not {source, source.partition(".")[0]} & {*columns}
    }


def _plain(column: str) -> str:
    return column.strip().lower().replace(" ", "_").replace("-", "_")


def suffices(fields: Collection[str]) -> bool:
    """Return True where rows with these fields make whole events.

    Args:
        fields: those that a table has.
    """
    if "ts" not in fields:
        return False
    decided = "prediction" in fields or "score" in fields
    labelled = "label" in fields
    return "type" in fields or "tp" in fields or (decided + labelled + ("id" in fields) >= 2)  # noqa: PLR2004  # two of three


def lacks_id(fields: Collection[str]) -> bool:
    """Return True where rows with these fields make events once they have an id.

    Args:
        fields: those that a table has.
    """
    return "id" not in fields and suffices({*fields, "id"}) and not suffices(fields)


def _asked(
    known: Collection[str], certain: Mapping[str, str], proposals: Mapping[str, str]
) -> dict[str, str]:
    """Return the mapping to complete, with a placeholder where no column is certain.

    A score alone is no decision without a threshold of the model.
    """
    ts = {} if "ts" in known else {"ts": proposals.get("ts", _UNKNOWN)}
    asked = {**ts, **certain}
    asked |= {field: column for field, column in proposals.items() if field not in asked}
    for field in ("prediction", "label"):
        if field not in known:
            asked.setdefault(field, _UNKNOWN)
    return asked


def _proposed(
    mapping: MappedRecords | None, known: Collection[str], certain: Mapping[str, str], look: Look
) -> dict[str, str]:
    """Return columns to propose for fields by the last part of nested names, and first rows."""
    values = first_values(look())
    nested = common_columns(list(values), mapping, {*known, *certain}, last_part)
    proposals = {field: names[0] for field, names in nested.items() if len(names) == 1}
    given = {} if mapping is None else mapping.fields
    named = {field: column for field, column in given.items() if isinstance(column, str)}
    fixed = dict.fromkeys(given, "")
    own = {field: field for field in known}
    all_known = {**own, **fixed, **named, **certain, **proposals}
    return proposals | proposed(values, all_known)


def objects_of(lines: bytes) -> Iterator[dict[str, Any]]:
    """Yield the JSON objects of lines; lines that are none are left out.

    Args:
        lines: whole ones, with or without a byte-order mark.
    """
    for line in lines.removeprefix(BOM).splitlines():
        try:
            record = msgspec.json.decode(line)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            continue
        if isinstance(record, dict):
            yield record


def _last_name(column: str) -> str:
    """Return the last part of a name that is no place in a list."""
    parts = column.split(".")
    return next((part for part in reversed(parts) if place_in_list(part) is None), parts[-1])
