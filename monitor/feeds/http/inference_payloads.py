"""Reads the payloads of inference servers, protocols V1 (TensorFlow Serving) and V2.

    V1   {"instances": [ROW, …]}    {"predictions": [ROW, …]}
    V2   {"inputs": [TENSOR, …]}    {"outputs": [TENSOR, …], "model_version": "3"}

A row of V1 is a value, a list of values, or an object of these. A tensor of V2 has a
name, a shape whose first dimension counts the rows, and flat or nested data.

Source: KServe, docs of the data plane (V1 and Open Inference Protocol).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import Any

import msgspec

from monitor.config.inference import InferenceConfig, PredictedClass, ScoresOfClasses, Tensor
from monitor.feeds.scalars import plain_name

MISSING = object()
"""Marks a row that lacks the value."""
MAX_ROWS = 100_000
"""Maximum number of rows in a payload."""
MAX_VALUES = 1_000_000
"""Maximum number of values in a payload, features included."""
_LONGEST_VERSION = 256
_SHOWN, _LONGEST_SHOWN = 5, 40
"""Names in a message, and characters of each."""


class PayloadError(Exception):
    """A payload cannot be read, or has no rows."""


class Payload:
    """Rows of one request or response.

    Args:
        body: the payload, JSON.
        v1: name of the list of rows in protocol V1.
        v2: name of the list of tensors in protocol V2.

    Attributes:
        version: version of the model, as of protocol V2; None if it is not given.

    Raises:
        PayloadError: the body follows neither protocol, or is too large.

    >>> response = Payload(b'{"predictions": [[0.2, 0.8], [0.9, 0.1]]}', "predictions", "outputs")
    >>> response.column(Tensor(index=1))
    [0.8, 0.1]
    >>> response = Payload(
    ...     b'{"outputs": [{"name": "p", "shape": [2, 2], "data": [0.2, 0.8, 0.9, 0.1]}]}',
    ...     "predictions",
    ...     "outputs",
    ... )
    >>> response.column(Tensor(name="p", index=1))
    [0.8, 0.1]
    """

    def __init__(self, body: bytes, v1: str, v2: str) -> None:
        if body.count(b",") > MAX_VALUES or body.count(b"[") + body.count(b"{") > 4 * MAX_ROWS:
            raise PayloadError("has too many values")
        try:
            whole = msgspec.json.decode(body)
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
            raise PayloadError(str(error)) from error
        if not isinstance(whole, dict):
            raise PayloadError("is not an object")
        version = plain_name(whole.get("model_version"))
        usable = isinstance(version, str) and len(version) <= _LONGEST_VERSION
        self.version = version if usable else None
        self._rows = whole[v1] if isinstance(whole.get(v1), list) else None
        self._tensors = _tensors(whole.get(v2))
        if self._rows is None and not self._tensors:
            raise PayloadError(f"has neither {v1} nor {v2}")
        if len(self) > MAX_ROWS:
            raise PayloadError(f"has more than {MAX_ROWS} rows")

    def __len__(self) -> int:
        if self._rows is not None:
            return len(self._rows)
        return max(len(tensor) for tensor in self._tensors.values())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of its tensors, or of the keys of its first row; none where rows have no keys."""
        if self._rows is None:
            return tuple(self._tensors)
        first = next(iter(self._rows), None)
        return tuple(first) if isinstance(first, dict) else ()

    def column(self, location: Tensor) -> list[Any]:
        """Return the value at a location in each row; MISSING where a row lacks it."""
        return [_at(row, location.index) for row in self._values(location.name)]

    def scores(self, location: ScoresOfClasses) -> list[Any]:
        """Return the list of values in each row; MISSING where a row has no list."""
        return [row if isinstance(row, list) else MISSING for row in self._values(location.name)]

    def _values(self, name: str | None) -> list[Any]:
        """Return what a name has in each row; MISSING where a row lacks it."""
        if self._rows is not None:
            return [_named(row, name) for row in self._rows]
        found = self._tensors.get(next(iter(self._tensors)) if name is None else name, [])
        return [*found, *[MISSING] * (len(self) - len(found))]


def response_fields(response: Payload, config: InferenceConfig) -> list[dict[str, Any]]:
    """Extract the fields that a response has of each row: score or scores, prediction, version.

    Args:
        response: the payload.
        config: locations of the fields.

    Raises:
        PayloadError: no row has a score, scores or a class at its location.
    """
    rows: list[dict[str, Any]] = [{} for _ in range(len(response))]
    if config.score is not None:
        _fill(rows, "score", response.column(config.score))
    if config.scores is not None:
        _fill(rows, "scores", response.scores(config.scores))
    if config.prediction is not None:
        classes = [_class(value, config.prediction) for value in response.column(config.prediction)]
        _fill(rows, "prediction", classes)
    if rows and not any(rows):
        places = (config.score, config.scores, config.prediction)
        found = [_absent(place, response.names) for place in places if place is not None]
        raise PayloadError(" and ".join(found))
    if response.version is not None:
        _fill(rows, "version", [response.version] * len(rows))
    return rows


def request_fields(request: Payload, config: InferenceConfig) -> list[dict[str, Any]]:
    """Extract the fields that a request has of each row: id, segment.

    Args:
        request: the payload.
        config: locations of the fields.
    """
    rows: list[dict[str, Any]] = [{} for _ in range(len(request))]
    if config.id is not None:
        _fill(rows, "id", [_text(value) for value in request.column(config.id)])
    for key, location in config.segments.items():
        for row, value in zip(rows, request.column(location), strict=True):
            text = _text(value)
            if text is not MISSING:
                row.setdefault("segment", {})[key] = text
    return rows


def _absent(place: Tensor | ScoresOfClasses, names: Sequence[str]) -> str:
    """Say that no row has a value at a location, and what is there where its name is not."""
    if place.name is None or place.name in names or not names:
        return f"nothing at {_shown(place)}"
    shown = ", ".join(repr(name[:_LONGEST_SHOWN]) for name in names[:_SHOWN])
    return f"no {place.name!r}, only {shown}"


def _shown(place: Tensor | ScoresOfClasses) -> str:
    """A location as a person reads it."""
    name = place.name or "the first tensor"
    index = place.index if isinstance(place, Tensor) else None
    return name if index is None else f"index {index} of {name}"


def _fill(rows: list[dict[str, Any]], name: str, values: Sequence[Any]) -> None:
    for row, value in zip(rows, values, strict=True):
        if value is not MISSING:
            row[name] = value


def _class(value: Any, location: PredictedClass) -> Any:
    if value is MISSING:
        return value
    if location.positive is not None:
        return int(_text(value) == location.positive)
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _text(value: Any) -> Any:
    """Convert a value to text as in a name; MISSING for anything but a single value."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value) if isinstance(value, str | int | float) else MISSING


def _named(row: Any, name: str | None) -> Any:
    if isinstance(row, dict):
        if name is None:
            return next(iter(row.values()), MISSING)
        return row.get(name, MISSING)
    return row


def _at(row: Any, index: int | None) -> Any:
    if not isinstance(row, list):
        return row if index in (None, 0) else MISSING
    if index is None:
        return row[0] if len(row) == 1 else MISSING
    return row[index] if index < len(row) else MISSING


def _tensors(found: Any) -> dict[str, list[Any]]:
    """Rows of each valid tensor by its name."""
    tensors = found if isinstance(found, list) else []
    return {
        tensor["name"]: rows
        for tensor in tensors
        if isinstance(tensor, dict) and isinstance(tensor.get("name"), str)
        if (rows := _tensor_rows(tensor)) is not None
    }


def _tensor_rows(tensor: dict[str, Any]) -> list[Any] | None:
    shape, data = tensor.get("shape"), tensor.get("data")
    if not (isinstance(shape, list) and shape and isinstance(data, list)):
        return None
    if not all(isinstance(size, int) and size >= 0 for size in shape):
        return None
    flat = data
    while flat and isinstance(flat[0], list):
        flat = list(chain.from_iterable(part for part in flat if isinstance(part, list)))
    width = prod(shape[1:])
    if len(flat) != shape[0] * width:
        return None
    return flat if len(shape) == 1 else [flat[i * width : (i + 1) * width] for i in range(shape[0])]
