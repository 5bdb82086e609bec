"""Types of settings: what a value may look like in a file, in Python, and in the JSON Schema.

A setting is written as text (`14d`), kept as a plain number (milliseconds) and
dumped as text again. Python code may give the number itself.
"""

import re
from collections.abc import Callable, Hashable, Iterable
from pathlib import Path
from typing import Annotated, Any

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from monitor.config import quantities as q


class Section(BaseModel):
    """A mapping of the config file: frozen, no unknown keys, its defaults checked too."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, defer_build=True)


def setting(default: Any, description: str, **constraints: Any) -> Any:
    """A field with a default written as in the file, which the JSON Schema shows as such."""
    extra = constraints.pop("json_schema_extra", None) or {"default": default}
    return Field(default, description=description, json_schema_extra=extra, **constraints)


def _reader(parse: Callable[[str], int]) -> Callable[[Any], Any]:
    def read(value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return value
        return parse(value if isinstance(value, str) else "")

    return read


def _positive(value: int) -> int:
    if value <= 0:
        raise q.unfit("must be more than 0", "give a longer one")
    return value


_ENDLESS = ("none", "endless")


def _read_or_endless(value: Any) -> Any:
    return None if value is None or value in _ENDLESS else _reader(q.parse_duration)(value)


def _finite_schema(pattern: str, example: str) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "pattern": pattern, "examples": [example]})


Duration = Annotated[
    int,
    BeforeValidator(_reader(q.parse_duration)),
    PlainSerializer(q.format_duration, when_used="json"),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": q.DURATION_PATTERN, "examples": ["1h30m"]},
                {"const": 0},
            ]
        }
    ),
]
"""Milliseconds; written like `5m`, `1h30m`, `14d`."""

PositiveDuration = Annotated[
    Duration, AfterValidator(_positive), _finite_schema(q.DURATION_PATTERN, "14d")
]
"""Milliseconds, more than 0."""

EndlessDuration = Annotated[
    Annotated[int, AfterValidator(_positive)] | None,
    BeforeValidator(_read_or_endless),
    PlainSerializer(
        lambda ms: _ENDLESS[0] if ms is None else q.format_duration(ms), when_used="json"
    ),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "pattern": q.DURATION_PATTERN, "examples": ["30d"]},
                {"enum": [*_ENDLESS, None]},
            ]
        }
    ),
]
"""Milliseconds, more than 0; None, written `none` or `endless`, never ends."""

Size = Annotated[
    int,
    BeforeValidator(_reader(q.parse_size)),
    AfterValidator(_positive),
    PlainSerializer(q.format_size, when_used="json"),
    _finite_schema(q.SIZE_PATTERN, "64MiB"),
]
"""Bytes; written like `64MiB`."""

EpochTime = Annotated[
    int,
    BeforeValidator(lambda value: q.parse_time(value) if isinstance(value, str) else value),
    PlainSerializer(q.format_time, when_used="json"),
    WithJsonSchema({"type": "string", "examples": ["2026-11-01T00:00:00Z"]}),
]
"""Epoch milliseconds, UTC; written as RFC 3339, or as a date."""


def _address(text: str) -> str:
    q.parse_address(text)
    return text


Listen = Annotated[str, AfterValidator(_address), _finite_schema(q.ADDRESS_PATTERN, "[::1]:9108")]
"""`HOST:PORT` to listen on."""


def _broker(text: str) -> str:
    if not re.fullmatch(q.ADDRESS_PATTERN, text) or q.parse_address(text).port == 0:
        raise q.unfit("must be an address with a port", "write HOST:PORT like kafka-1:9092")
    return text


Broker = Annotated[str, AfterValidator(_broker), _finite_schema(q.ADDRESS_PATTERN, "kafka-1:9092")]
"""`HOST:PORT` to connect to."""


def _name(text: str) -> str:
    if not text.strip():
        raise q.unfit("must not be empty", "give it a name")
    if not text.isprintable():
        raise q.unfit("holds characters that cannot be printed", "remove them")
    return text


def _segment_key(text: str) -> str:
    if set(text) & set('"\\'):
        raise q.unfit("must hold no quote and no backslash", "rename the key in the events")
    return _name(text)


def _path(value: Any) -> Any:
    if isinstance(value, str) and _name(value).startswith("~"):
        raise q.unfit("begins with ~, which stands for nothing here", "write ${HOME}")
    return value


FilePath = Annotated[Path, BeforeValidator(_path), WithJsonSchema({"type": "string"})]
"""A file or directory; a relative one is looked for from the working directory."""

Name = Annotated[str, AfterValidator(_name), WithJsonSchema({"type": "string", "minLength": 1})]
"""Name of a model, a topic: printable, not empty."""

SegmentKey = Annotated[
    str,
    AfterValidator(_segment_key),
    WithJsonSchema({"type": "string", "minLength": 1, "pattern": r'^[^"\\\\]*$'}),
]
"""Key of a segment: a name without quotes and backslashes, which JSON would escape."""


def refuse(faults: Iterable[tuple[tuple[int | str, ...], Any, PydanticCustomError]]) -> None:
    """Raise all faults inside a value at once.

    Args:
        faults: path inside the value, what stands there, and what is wrong with it.

    Raises:
        ValidationError: there is at least one fault.
    """
    errors = [InitErrorDetails(type=error, loc=path, input=value) for path, value, error in faults]
    if errors:
        raise ValidationError.from_exception_data("value", errors)


def distinct(identity: Callable[[Any], Hashable], what: str) -> WrapValidator:
    """Marks a tuple whose elements must differ; faults of its elements are told along.

    Args:
        identity: what must differ of an element as written; None where it has none.
        what: what is wrong with a second one.
    """
    error = q.unfit(what, "keep one")

    def check(values: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        marks = [identity(v) for v in values] if isinstance(values, tuple | list) else []
        again = [i for i, mark in enumerate(marks) if mark is not None and mark in marks[:i]]
        faults: list[tuple[tuple[int | str, ...], Any, PydanticCustomError]]
        faults = [((i,), values[i], error) for i in again]
        checked = None
        try:
            checked = handler(values)
        except ValidationError as failure:
            faults += [(d["loc"], d["input"], _same(d)) for d in failure.errors()]
        refuse(faults)
        return checked

    return WrapValidator(check)


def _same(detail: ErrorDetails) -> PydanticCustomError:
    return PydanticCustomError(detail["type"], detail["msg"], detail.get("ctx"))


Distinct = distinct(lambda value: value if isinstance(value, Hashable) else None, "is listed twice")
"""Marks a tuple whose elements must differ."""
