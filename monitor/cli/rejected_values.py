"""What to write where a value of a field does not fit, by the values that came."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite

from monitor.config.classes import MOST_CLASSES, is_class_name
from monitor.config.mapping import NO_FIELD, TimeUnit
from monitor.feeds.decode.named_values import NAME_ALLOWED
from monitor.feeds.decode.time_texts import moment_of
from monitor.feeds.decode.time_units import unit_to_give
from monitor.feeds.mapping.proposed_formats import proposed_formats, time_settings
from monitor.feeds.mapping.written import Notation
from monitor.feeds.odd_values import (
    DAYS_OF_SPREADSHEETS,
    Values,
    are_infinite,
    are_lists,
    are_named_classes,
    have_percent_sign,
    look_like_scores,
    may_be_days,
    number_further_classes,
    stands_for_no_class,
    texts_of,
)

_SHOWN = 5
_TWO = 2
_PERCENT = 100
_COLUMN, _VALUE = "COLUMN", "VALUE"
"""What stands for a name or a value that only a person knows."""
EXAMPLE_THRESHOLD = "0.5"
"""A threshold to replace by that of the model."""
MANY_CLASSES = (
    f"for a model of more than two classes, list them, {MOST_CLASSES} at most, as its classes in a "
    "configuration, which precision-monitor init FILE writes"
)
"""What to do with names of more than two classes."""
_FORM = "epoch seconds, or ISO 8601 with its zone (2026-07-01T12:00:00Z)"


def class_hint(field: str, values: Values, allowed: str, notation: Notation) -> str:
    """Return what to write where a prediction or a label is none of its classes.

    Args:
        field: its name.
        values: of it.
        allowed: what its classes are, in words; "" where the values are lists.
        notation: how to complete the mapping.

    >>> from monitor.feeds.mapping.written import OptionNotation
    >>> class_hint("label", ["NA"], "0, 1, true, false or null", OptionNotation())
    "'NA' seems to stand for no class: --missing label=NA"
    >>> class_hint("label", ["a "], "'a', 'b', 'c' or null", OptionNotation())
    "write a class without the spaces around it, got 'a '"
    """
    if not allowed:
        return "for several labels a case, configure a model for each label, and write one class"
    if are_infinite(values):
        return f"{field}s are not finite: write 0 or 1, or nothing where there is none"
    texts = texts_of(values)
    absent = [text for text in texts if stands_for_no_class(text)]
    classes = [text for text in texts if text not in absent]
    if absent and not classes:
        seem = "seems" if len(absent) == 1 else "seem"
        missing = notation.classes(field, {"missing": absent})
        return f"{_listed(absent)} {seem} to stand for no class: {missing}"
    if look_like_scores(classes):
        return _column_of_classes(field, notation)
    if are_named_classes(allowed):
        return _configured_class(field, values, classes, allowed, notation)
    asked, lists = "say which values are of the positive class", {"positive": [_VALUE]}
    if len(classes) != _TWO:
        asked, lists = f"{asked}, which of the negative", {**lists, "negative": [_VALUE]}
    if absent or len(classes) != _TWO:
        asked, lists = f"{asked}, and which of none", {**lists, "missing": absent or [_VALUE]}
    asked += f": {notation.classes(field, lists)}"
    if len(classes) > _TWO or number_further_classes(classes):
        asked = f"{MANY_CLASSES}; for one of two, {asked}"
    return f"{asked}; records have {_listed(classes)}" if classes else asked


def _configured_class(
    field: str, values: Values, classes: Sequence[str], allowed: str, notation: Notation
) -> str:
    """Return what to write where a value is none of the configured classes."""
    if padded := [value for value in values if _is_padded(value, allowed)]:
        return f"write a class without the spaces around it, got {_listed(padded)}"
    if allowed.startswith(NAME_ALLOWED):
        other = notation.columns({field: _COLUMN})
        return f"write {allowed}, as text or a whole number; or name another column: {other}"
    names = [name for name in classes if is_class_name(name)]
    more = f"add {_listed(names)} to `classes` of the model, or " if names else ""
    return (
        f"write one of the configured classes, {allowed}; or {more}name another column: "
        f"{notation.columns({field: _COLUMN})}"
    )


def _is_padded(value: object, allowed: str) -> bool:
    """Return whether a value is one of the classes but for spaces around it."""
    return isinstance(value, str) and value != value.strip() and repr(value.strip()) in allowed


def _column_of_classes(field: str, notation: Notation) -> str:
    """Return what to write where a column has scores in place of classes."""
    seem = f"{field}s between 0 and 1 seem to be scores"
    if field != "prediction":
        return f"{seem}: name the column that holds classes: {notation.columns({field: _COLUMN})}"
    return (
        f"{seem}: name their column {notation.columns({'score': _COLUMN})}, and give their "
        f"threshold: {notation.threshold(EXAMPLE_THRESHOLD)}"
    )


def score_hint(field: str, values: Values, notation: Notation) -> str:
    """Return what to write where a score does not lie from 0 to 1.

    Args:
        field: its name.
        values: of it.
        notation: how to complete the mapping.
    """
    without = notation.constant(field, NO_FIELD)
    return (
        f"{_probability_hint(field, values, notation)}; where each case has its prediction, "
        f"{field}s may be left out: {without}"
    )


def _probability_hint(field: str, values: Values, notation: Notation) -> str:
    column = notation.columns({field: _COLUMN})
    other = f"or name the column that holds probabilities: {column}"
    numbers = [value for value in values if not isinstance(value, str) and isfinite(value)]
    if not numbers:
        return _number_hint(field, values, other)
    lowest, highest = min(numbers), max(numbers)
    outside = f"{field}s lie from 0 to 1, and here some are as {{}} as {{:g}}"
    if lowest < 0:
        return (
            f"{outside.format('low', lowest)}: if they are log odds, write 1 / (1 + exp(-z)) for "
            f"each z, {other}"
        )
    if highest <= _PERCENT:
        return (
            f"{outside.format('high', highest)}: if they are percentages, divide them by 100, "
            f"{other}"
        )
    return f"{outside.format('high', highest)}: scale them to 0 to 1, {other}"


def _number_hint(field: str, values: Values, other: str) -> str:
    """Return what to write where a score is no number."""
    if have_percent_sign(values):
        return f"{field}s lie from 0 to 1: write 0.87 for 87%, {other}"
    if are_lists(values):
        return f"write the {field} of the positive class alone, {other}, got {values[0]!r}"
    return f"{field}s are numbers from 0 to 1, got {_listed(values)}; write those, {other}"


def listed_scores_hint(field: str, column: str, most: int, notation: Notation) -> str:
    """Return what to write where a score is a list.

    Args:
        field: its name.
        column: that holds the lists.
        most: numbers of the longest list.
        notation: how to complete the mapping.

    >>> from monitor.feeds.mapping.written import OptionNotation
    >>> listed_scores_hint("score", "proba", 2, OptionNotation())
    'scores are lists: give the place of the positive class, from 0 on: --field score=proba.1'
    """
    place = notation.columns({field: f"{column}.{max(most - 1, 0)}"})
    return f"{field}s are lists: give the place of the positive class, from 0 on: {place}"


def time_hint(field: str, values: Values, notation: Notation) -> str:
    """Return what to write where a time cannot be read.

    Args:
        field: its name.
        values: of it.
        notation: how to complete the mapping.

    >>> from monitor.feeds.mapping.written import OptionNotation
    >>> time_hint("ts", ["2026-07-01 12:00"], OptionNotation())
    'give the zone of times that name none: --zone Europe/Berlin'
    >>> time_hint("ts", ["31.12.2026"], OptionNotation())
    'give the format and the zone of these times: --time-format %d.%m.%Y --zone Europe/Berlin'
    """
    if values and lacks_zone(values[0]):
        zone = notation.time({"zone": "Europe/Berlin"})
        return f"give the zone of times that name none: {zone}"
    if formats := proposed_formats(values):
        return _format_hint(formats, values, notation)
    if any(isinstance(value, str) and may_be_days(value) for value in values):
        return f"{field} is {DAYS_OF_SPREADSHEETS}"
    got = f", got {values[0]!r}" if values else ""
    column = notation.columns({field: _COLUMN})
    return (
        f"{field} is read as {_FORM}{got}; write it so, or name the column that holds it: {column}"
    )


def out_of_range_hint(field: str, values: Values, notation: Notation) -> str:
    """Return what to write where a time lies in no year that can be.

    Args:
        field: its name.
        values: of it.
        notation: how to complete the mapping.

    >>> from monitor.feeds.mapping.written import OptionNotation
    >>> out_of_range_hint("ts", [20260807100000.0], OptionNotation())
    'give the format and the zone of these times: --time-format %Y%m%d%H%M%S --zone Europe/Berlin'
    """
    if formats := proposed_formats(values):
        return _format_hint(formats, values, notation)
    return f"check which column holds the time: {notation.columns({field: _COLUMN})}"


def _format_hint(formats: Sequence[str], values: Values, notation: Notation) -> str:
    """Return how to write the format of times, and the other one where the days leave a doubt."""
    first, *other = map(time_settings, formats)
    zone = " and the zone" if "zone" in first else ""
    asked = f"give the format{zone} of these times: {notation.time(first)}"
    doubt = f"; the day may come first, or the month, got {values[0]!r}: then "
    return asked + "".join(doubt + notation.time({"format": one["format"]}) for one in other)


def unit_hint(field: str, values: Values, unit: TimeUnit, notation: Notation) -> str:
    """Return the unit to give for times that are numbers.

    Args:
        field: name of the time.
        values: of it, in seconds as the given unit has them.
        unit: as given.
        notation: how to complete the mapping.
    """
    fits = unit_to_give(float(values[0]), unit) if values else None
    if fits is None:
        return out_of_range_hint(field, values, notation)
    return f"give the unit of times: {notation.time({'unit': fits})}"


def name_hint(field: str, values: Values, name: str) -> str:
    """Return what to write where an id, or another name, is neither a text nor an integer.

    Args:
        field: name of the field.
        values: of it.
        name: of its column.
    """
    column = "or name the column that holds it"
    whole = bool(values) and all(isinstance(v, float) and v.is_integer() for v in values)
    if whole:
        as_pandas = f'in pandas df["{name}"].astype("Int64")'
        return f"write {field} as text or an integer, {as_pandas}, {column}"
    return f"write {field} as text or an integer, {column}"


def _listed(values: Sequence[object]) -> str:
    shown = ", ".join(map(repr, values[:_SHOWN]))
    return f"{shown}, …" if len(values) > _SHOWN else shown


def lacks_zone(value: object) -> bool:
    """Return whether a value is a time of ISO 8601 that names no zone.

    Args:
        value: of a time.
    """
    moment = moment_of(value) if isinstance(value, str) else None
    return moment is not None and moment.tzinfo is None
