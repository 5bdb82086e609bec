"""What values seem to be that do not fit their field."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from math import isinf, nan

from monitor.config.mapping import text_of

Values = Sequence[str | float]
"""Distinct values of a field that do not fit, the most frequent first."""

DAYS_OF_SPREADSHEETS = (
    "a number of days, as spreadsheets keep times: show the cells there as yyyy-mm-dd hh:mm:ss and "
    'export again, or in pandas pd.to_datetime(df["COLUMN"], unit="D", origin="1899-12-30")'
)
"""What to do with times that are days since 1900."""
_DAYS_1982_TO_2119 = (30_000, 80_000)

_STRAY = 100
"""Records of which one with another class is a stray one."""
_NO_CLASS = frozenset(
    (
        *("", "nan", "na", "n/a", "#n/a", "<na>", "nat", "null", "(null)", "\\n", "nil", "none"),
        *("undefined", "missing", "unknown", "pending", "-", "--", "?"),
    )
)
"""Texts, in lower case, that programs and people write where there is no value."""


def stands_for_no_class(text: str) -> bool:
    """Return whether programs and people write this text where there is no value."""
    return text.lower() in _NO_CLASS


def are_named_classes(allowed: str) -> bool:
    """Return whether the classes of a model have names in its configuration.

    Args:
        allowed: what a prediction or a label must be, as of `Rejection.allowed`.

    >>> are_named_classes("0, 1, true, false or null"), are_named_classes("'card' or 'loan'")
    (False, True)
    """
    return not allowed.startswith("0, 1,")


def look_like_scores(values: Values) -> bool:
    """Return whether there are values, all of them numbers between 0 and 1 that are neither.

    Args:
        values: of a prediction or a label.

    >>> look_like_scores([0.873, "0.12"]), look_like_scores(["0.5", "fraud"]), look_like_scores([])
    (True, False, False)
    """
    return bool(values) and all(0 < _number(value) < 1 for value in values)


def are_of_more_classes(values: Values, allowed: str, rejected: int, records: int) -> bool:
    """Return whether predictions that do not fit are of classes that the model does not have.

    These are whole numbers beside 0 and 1, and any names beside those of configured classes. What
    else comes is no sample then: it lacks the cases that are predicted as these classes.

    Args:
        values: of these predictions.
        allowed: what a prediction must be, as of `Rejection.allowed`.
        rejected: how many predictions do not fit; fewer than one of 100 records are stray ones.
        records: of all.

    >>> are_of_more_classes([2], "0, 1, true or false", 40, 100)
    True
    >>> are_of_more_classes(["cash"], "'card', 'loan' or 'other'", 1, 200)
    False
    """
    if rejected * _STRAY < records:
        return False
    if not are_named_classes(allowed):
        return number_further_classes(values)
    names = [text for text in texts_of(values) if not stands_for_no_class(text)]
    return bool(names) and not look_like_scores(names)


def number_further_classes(values: Values, taken: Collection[str] = ()) -> bool:
    """Return whether some value is the number of a third class beside 0 and 1.

    That is a whole number above 1, and a negative one where both 0 and 1 came: -1 and 1 alone may
    be two classes.

    Args:
        values: of a prediction or a label.
        taken: which of 0 and 1 came as well.

    >>> number_further_classes(["2"]), number_further_classes([7.0]), number_further_classes(["-1"])
    (True, True, False)
    >>> number_further_classes([-1], ["0", "1"]), number_further_classes([-1], ["1"])
    (True, False)
    """
    texts = texts_of(values)
    if any(text.isdecimal() and text.lstrip("0") not in {"", "1"} for text in texts):
        return True
    return {"0", "1"} <= {*taken} and any(text.removeprefix("-").isdecimal() for text in texts)


def are_infinite(values: Values) -> bool:
    """Return whether there are values, all of them infinite.

    Args:
        values: of a prediction or a label.

    >>> are_infinite(["inf", float("-inf")]), are_infinite([1e9]), are_infinite([])
    (True, False, False)
    """
    return bool(values) and all(isinf(_number(value)) for value in values)


def may_be_days(cell: str) -> bool:
    """Return whether a time in digits may be a number of days since 1900, as of a spreadsheet.

    Args:
        cell: of a table.

    >>> may_be_days("46054.25"), may_be_days("46054,25"), may_be_days("1769904663")
    (True, True, False)
    """
    first, last = _DAYS_1982_TO_2119
    return first <= _number(cell.replace(",", ".")) < last


def have_percent_sign(values: Values) -> bool:
    """Return whether some value is a percentage with its sign.

    Args:
        values: of a score.
    """
    return any(isinstance(value, str) and value.strip().endswith("%") for value in values)


def are_lists(values: Values) -> bool:
    """Return whether there are values, all of them texts of a list, as of `predict_proba`.

    Args:
        values: of a score.

    >>> are_lists(["[0.9, 0.1]", " [.9 .1]"]), are_lists(["[0.9", "high"])
    (True, False)
    """
    texts = [value.strip() for value in values if isinstance(value, str)]
    return bool(texts) and all(text[:1] == "[" and text[-1:] == "]" for text in texts)


def texts_of(values: Values) -> list[str]:
    """Return the distinct texts of classes, as a mapping compares them.

    Args:
        values: of a prediction or a label.
    """
    return list(dict.fromkeys(text_of(value) for value in values))


def _number(value: str | float) -> float:
    """Return the number that a value is or writes; NaN for none."""
    try:
        return float(value)
    except ValueError:
        return nan
