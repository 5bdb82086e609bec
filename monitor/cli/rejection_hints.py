"""What to write where records are rejected, by the reason and the field."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from monitor.cli.rejected_records import RejectedRecords
from monitor.cli.rejected_values import (
    EXAMPLE_THRESHOLD,
    class_hint,
    listed_scores_hint,
    name_hint,
    out_of_range_hint,
    score_hint,
    time_hint,
    unit_hint,
)
from monitor.cli.whole_documents import document_hint
from monitor.config.mapping import NO_FIELD, ClassField, text_of
from monitor.events.reject_reasons import RejectReason
from monitor.feeds import table_fields
from monitor.feeds.csv_file import UNREADABLE_QUOTES
from monitor.feeds.decode import MAX_RECORD_BYTES
from monitor.feeds.decode.class_lists import SCORES_WOULD_DO
from monitor.feeds.decode.lines import CONVERT_LATIN_1, CONVERT_UTF16, NOT_UTF8, is_utf16
from monitor.feeds.decode.settings import NAME_LIMIT
from monitor.feeds.decompression import is_compressed
from monitor.feeds.mapping.written import Notation
from monitor.feeds.odd_values import Values, stands_for_no_class, texts_of

_SHOWN = 3
_COLUMN = "COLUMN"
_WHOLE = ("record", "row")
"""In the place of a field: the fault is one of the record."""

_VALUES = {
    "scores": "write a finite number for each of the model's classes, and for no other name",
    "type": "write one of prediction, label and outcome; counts are of models of two classes",
    "sampling_probability": "write the probability with which the case was drawn, above 0 and at "
    "most 1",
    **dict.fromkeys(table_fields.COUNTS, "write counts as integers"),
    "segment": "write segment as an object, or name the column of each key, {keys}",
    "audit": "write audit: true in labels of a second look, and leave it out of all others",
    **dict.fromkeys(_WHOLE, "write each field once, and finite numbers"),
}
"""Advice where a value does not fit, by field, whatever the value is; `keys` maps a segment key."""

_SCORES = b'"scores"'
CLASSES_OF_SCORES = (
    "for scores of all classes, list these as models.NAME.classes in a configuration, in the order "
    "of the numbers; precision-monitor init FILE writes it where scores have names"
)
"""What to do with scores of classes that are not known."""


def hint(reason: RejectReason, rejected: RejectedRecords) -> str:
    """Return the advice for the most frequent reason.

    Args:
        reason: the most frequent one.
        rejected: all rejected records.
    """
    return _BY_REASON[reason](rejected)


def stand_for_no_class(rejected: RejectedRecords) -> bool:
    """Return whether most values that do not fit are of a class, and write that there is none.

    Args:
        rejected: all rejected records.
    """
    field = rejected.field(RejectReason.BAD_VALUE)
    values = rejected.values(RejectReason.BAD_VALUE, field)
    of_class = field in table_fields.CLASSES and bool(values)
    return of_class and all(stands_for_no_class(text_of(value)) for value in values)


def have_scores_alone(rejected: RejectedRecords) -> bool:
    """Return whether predictions have scores of classes that are not known, and no class.

    Args:
        rejected: all rejected records.
    """
    examples = rejected.examples(RejectReason.MISSING_FIELD, "prediction")
    return bool(examples) and all(_SCORES in one.record for one in examples)


def _missing(rejected: RejectedRecords) -> str:
    field = rejected.field(RejectReason.MISSING_FIELD)
    if of_document := document_hint(rejected.examples(RejectReason.MISSING_FIELD, field)):
        return of_document
    if rejected.asked:
        return rejected.asked
    shown = rejected.fields(RejectReason.MISSING_FIELD)[:_SHOWN]
    if have_scores_alone(rejected):
        return CLASSES_OF_SCORES
    notation = rejected.notation_of(RejectReason.MISSING_FIELD)
    options = notation.columns(dict.fromkeys(shown, _COLUMN))
    instead = _instead(rejected, notation) if "prediction" in shown else ""
    return f"say which column holds {' and '.join(shown)}: {options}{instead}"


def _instead(rejected: RejectedRecords, notation: Notation) -> str:
    """Return what does as well as the predicted class."""
    examples = rejected.examples(RejectReason.MISSING_FIELD, "prediction")
    of_many = all(SCORES_WOULD_DO in one.detail for one in examples)
    if of_many:
        return ", or write the scores of all classes"
    return f", or give the threshold of the scores: {notation.threshold(EXAMPLE_THRESHOLD)}"


def _unknown_type(rejected: RejectedRecords) -> str:
    without = rejected.notation_of(RejectReason.UNKNOWN_TYPE).constant("type", NO_FIELD)
    return (
        f"`type` is here the type of an event; leave a column out that is something else: {without}"
    )


def _unknown_model(rejected: RejectedRecords) -> str:
    mapped = rejected.notation_of(RejectReason.UNKNOWN_MODEL).constant("model", "NAME")
    return f"add the model to the configuration, or map it: {mapped}"


def _bad_value(rejected: RejectedRecords) -> str:
    field = rejected.field(RejectReason.BAD_VALUE)
    notation = rejected.notation_of(RejectReason.BAD_VALUE)
    if field in _VALUES:
        keys = notation.columns({"segment.KEY": _COLUMN})
        return _VALUES[field].format(keys=keys)
    values = rejected.values(RejectReason.BAD_VALUE, field)
    if field in table_fields.CLASSES:
        both = _with_those_of_the_other(rejected, field, values)
        return class_hint(field, both, rejected.allowed(RejectReason.BAD_VALUE, field), notation)
    if rejected.allowed(RejectReason.BAD_VALUE, field) == NAME_LIMIT:
        return f"shorten {field}, as by a hash, to {NAME_LIMIT}"
    column = rejected.columns.get(field, field)
    if field == "score":
        lists = [len(one) for one in _lists(rejected, field)]
        if lists and not values:
            return listed_scores_hint(field, column, max(lists), notation)
        return score_hint(field, values, notation)
    of_time = field in table_fields.TIMES
    return time_hint(field, values, notation) if of_time else name_hint(field, values, column)


def _lists(rejected: RejectedRecords, field: str) -> list[list[Any]]:
    """Return the lists of numbers among the first values that do not fit."""
    examples = rejected.examples(RejectReason.BAD_VALUE, field)
    found = (one.value for one in examples if isinstance(one.value, list))
    return [v for v in found if all(isinstance(number, int | float) for number in v)]


def _with_those_of_the_other(rejected: RejectedRecords, field: str, values: Values) -> Values:
    """Add values of labels to those of predictions, or the reverse, where they name the same."""
    fields = (str(one) for one in ClassField if one != field)
    others = [v for one in fields for v in rejected.values(RejectReason.BAD_VALUE, one)]
    return [*values, *others] if set(texts_of(values)) & set(texts_of(others)) else values


def _other_unit(rejected: RejectedRecords) -> str:
    reason = RejectReason.TIMESTAMP_IN_MILLISECONDS
    field = rejected.field(reason)
    values, unit = rejected.values(reason, field), rejected.unit(reason)
    return unit_hint(field, values, unit, rejected.notation_of(reason))


def _out_of_range(rejected: RejectedRecords) -> str:
    reason = RejectReason.TIMESTAMP_OUT_OF_RANGE
    field = rejected.field(reason)
    values = rejected.values(reason, field)
    return out_of_range_hint(field, values, rejected.notation_of(reason))


def _too_large(rejected: RejectedRecords) -> str:
    field = rejected.field(RejectReason.TOO_LARGE)
    if field in _WHOLE:
        of_document = document_hint(rejected.examples(RejectReason.TOO_LARGE, field))
        return of_document or "check the delimiter of lines, and max_record_bytes"
    return f"shorten {field}, as by a hash, to at most 256 bytes"


def _opens_an_object(record: bytes) -> bool:
    return record.strip() == b"{"


_WHOLE_FILES = (
    (is_utf16, f"this looks like UTF-16: {CONVERT_UTF16}"),
    (is_compressed, "it is compressed twice: decompress it once, as gzip -dc < FILE > NEW_FILE"),
    (
        _opens_an_object,
        "write each JSON object on a line of its own, as jq -c . FILE > NEW.ndjson",
    ),
)
"""Advice for a whole file, by what one of its first records looks like."""


def _malformed(rejected: RejectedRecords) -> str:
    field = rejected.field(RejectReason.MALFORMED)
    examples = rejected.examples(RejectReason.MALFORMED, field)
    for looks_so, advice in _WHOLE_FILES:
        if any(looks_so(one.record) for one in examples):
            return advice
    details = [one.detail for one in examples]
    if any(NOT_UTF8 in detail for detail in details):
        return f"write UTF-8: {CONVERT_LATIN_1}"
    if field != "row":
        return "write one JSON object a line, or end the name in .csv, .json, .parquet or .arrow"
    if any(UNREADABLE_QUOTES in detail for detail in details):
        return (
            "end each quoted cell with a quote, and write a quote within it twice; a row has at "
            f"most {MAX_RECORD_BYTES // 1024} KiB, with the line breaks of its cells"
        )
    return "check the separator (.csv for commas, .tsv for tabs) and the quotes of the rows"


_BY_REASON: dict[RejectReason, Callable[[RejectedRecords], str]] = {
    RejectReason.MALFORMED: _malformed,
    RejectReason.UNKNOWN_TYPE: _unknown_type,
    RejectReason.UNKNOWN_MODEL: _unknown_model,
    RejectReason.MISSING_FIELD: _missing,
    RejectReason.BAD_VALUE: _bad_value,
    RejectReason.TOO_LARGE: _too_large,
    RejectReason.TIMESTAMP_OUT_OF_RANGE: _out_of_range,
    RejectReason.TIMESTAMP_IN_MILLISECONDS: _other_unit,
}
"""Advice by reason."""
