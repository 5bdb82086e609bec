"""Single values of Python and NumPy, as the fields of records hold them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Decimal
from typing import Any
from uuid import UUID

import numpy as np

from monitor.config.mapping import NAMES

_NAMES_OF_NOTHING = ("NAType", "NaTType")
"""Types of pandas whose values stand for nothing."""
Id = str | int | UUID
"""Id of an event; an integer or a UUID stands for its text."""
PredictedClass = bool | str
"""Class of a prediction: true or false, or its name."""
Scores = Mapping[Any, float] | Sequence[float] | np.ndarray[Any, np.dtype[np.floating]]
"""Scores of the classes of a model of many: by name, or in their order."""
Moment = float | str | date | np.datetime64
"""Time of an event; a `datetime` is a `date`, and a number is epoch seconds."""


def plain(value: Any) -> Any:
    """Return a scalar of NumPy or the like as Python's own value, and anything else as it is.

    An array without a dimension is one: of NumPy, and those that JAX and PyTorch compute.

    >>> plain(np.int64(1)), plain(np.str_("web")), plain(np.array(0.5)), plain(None)
    (1, 'web', 0.5, None)
    """
    return value.item() if getattr(value, "shape", None) == () else value


def is_nothing(value: Any) -> bool:
    """Return whether a value is NaN, or one that pandas or NumPy writes where there is none.

    None is not: in an event of its own it retracts a label.

    >>> is_nothing(float("nan")), is_nothing(np.datetime64("NaT")), is_nothing(None)
    (True, True, False)
    """
    if type(value).__name__ in _NAMES_OF_NOTHING:
        return True
    return isinstance(value, float | np.generic) and bool(value != value)  # noqa: PLR0124


def plain_class(value: Any) -> Any:
    """Return a class as an integer where it is 0.0 or 1.0, and anything else as `plain` does.

    >>> plain_class(np.float64(1)), plain_class(np.bool_(True)), plain_class(0.5)
    (1, True, 0.5)
    """
    value = plain(value)
    return int(value) if isinstance(value, float) and value in (0.0, 1.0) else value


def plain_name(value: Any) -> Any:
    """Return a name as text where it is an integer or a UUID, and anything else as it is.

    Names are ids, models, versions and segment values. A float is none: 1.10 is 1.1. A decimal
    that is whole is an integer, since databases and warehouses keep integers as decimals.

    >>> plain_name(17), plain_name(np.uint8(17)), plain_name(UUID(int=17)), plain_name(True)
    ('17', '17', '00000000-0000-0000-0000-000000000011', True)
    >>> plain_name(7.0), plain_name(Decimal("17.00")), plain_name(Decimal("1.10"))
    (7.0, '17', Decimal('1.10'))
    """
    if isinstance(value, str):
        return value
    value = plain(value)
    if isinstance(value, Decimal) and value.is_finite() and value == value.to_integral_value():
        return str(int(value))
    is_name = isinstance(value, int | UUID) and not isinstance(value, bool)
    return str(value) if is_name else value


def prediction_fields(
    identity: Id,
    ts: Moment,
    prediction: PredictedClass | None = None,
    *,
    scores: Scores | None = None,
    segment: Mapping[str, str | int] | None = None,
    **others: Any,
) -> dict[str, Any]:
    """Return the fields of a `prediction` event; those that are None are left out.

    Args:
        identity: its id.
        ts: its time.
        prediction: the class.
        scores: of each class of a model of many.
        segment: segment values by key.
        others: values of other fields, as score and model, by their names.

    >>> prediction_fields(7, 0, True, score=None, version=3)
    {'type': 'prediction', 'id': '7', 'ts': 0, 'prediction': True, 'version': '3'}
    """
    fields = {"type": "prediction", "id": plain_name(identity), "ts": plain_time(ts)}
    if prediction is not None:
        fields["prediction"] = plain_class(prediction)
    if scores is not None:
        fields["scores"] = plain_scores(scores)
    fields |= _given(others)
    if segment is not None:
        fields["segment"] = plain_segment(segment)
    return fields


def label_fields(identity: Id, ts: Moment, label: Any, **others: Any) -> dict[str, Any]:
    """Return the fields of a `label` event; of the others, those that are None are left out.

    Args:
        identity: id of the prediction.
        ts: time of the label.
        label: the actual class; None retracts the label.
        others: values of other fields by their names.

    >>> label_fields(7, 60, True, audit=None)
    {'type': 'label', 'id': '7', 'ts': 60, 'label': True}
    """
    fields = {"type": "label", "id": plain_name(identity), "ts": plain_time(ts)}
    return {**fields, "label": plain_class(label), **_given(others)}


def _given(others: Mapping[str, Any]) -> dict[str, Any]:
    return {
        field: plain_name(value) if field in NAMES else plain(value)
        for field, value in others.items()
        if value is not None
    }


def plain_scores(scores: Any) -> Any:
    """Return scores by the texts of their classes, or as a list; anything else as it is.

    >>> plain_scores({np.int64(0): np.float32(0.25), 1: 0.75}), plain_scores(np.array([0.25, 0.75]))
    ({'0': 0.25, '1': 0.75}, [0.25, 0.75])
    """
    if hasattr(scores, "keys"):  # as a series of pandas has, by the names of the classes
        return {plain_name(name): plain(scores[name]) for name in scores.keys()}  # noqa: SIM118
    if isinstance(scores, np.ndarray):
        return scores.tolist()
    return [*map(plain, scores)] if isinstance(scores, list | tuple) else scores


def plain_segment(segment: Any) -> Any:
    """Return segment values as `plain_name` does, and what is no mapping as it is.

    >>> plain_segment({"shop": 7}), plain_segment(["shop"])
    ({'shop': '7'}, ['shop'])
    """
    if not isinstance(segment, Mapping):
        return segment
    return {key: plain_name(value) for key, value in segment.items()}


def plain_time(value: Any) -> Any:
    """Return a `datetime`, a `date` or a `datetime64` as epoch seconds; without a zone it is UTC.

    Pandas' `Timestamp` is a `datetime`. A text stays as it is: decoding requires that it
    names its zone. So the same times are read in a column of a table.

    >>> plain_time(datetime(1970, 1, 2)), plain_time(np.datetime64("1970-01-02"))
    (86400.0, 86400.0)
    >>> plain_time("1970-01-02T00:00:00")
    '1970-01-02T00:00:00'
    """
    if isinstance(value, np.ndarray):
        value = value[()]  # the scalar of an array without a dimension
    if isinstance(value, date):
        if value != value:  # noqa: PLR0124  # NaT of pandas
            return None
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
        return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).timestamp()
    if isinstance(value, np.datetime64):
        return _seconds(value)
    return plain(value)


def _seconds(value: np.datetime64) -> float | None:
    """Epoch seconds, exact to the microsecond; None for NaT."""
    if np.isnat(value):
        return None
    whole = value.astype("datetime64[s]")
    rest = (value - whole).astype("timedelta64[us]").astype(np.int64)
    return float(whole.astype(np.int64)) + float(rest) / 1e6
