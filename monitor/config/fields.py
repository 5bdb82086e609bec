"""Types of settings: how each is written in a file, stored in Python and described as JSON Schema.

A file has text (`14d`), which is stored as a number (milliseconds) and dumped as text
again. Python code may pass the number.
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
    SecretStr,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import ErrorDetails, InitErrorDetails, PydanticCustomError

from monitor.config import quantities as q


class Section(BaseModel):
    """Base of all sections: immutable, without unknown keys, its defaults validated."""

    model_config = ConfigDict(frozen=True, extra="forbid", validate_default=True, defer_build=True)


def setting(default: Any, description: str, **constraints: Any) -> Any:
    """Declare a setting whose default is written as in a file; the JSON Schema shows it so.

    Args:
        default: the default, as text where the file has text.
        description: one line for the JSON Schema and the table of keys.
        **constraints: further arguments of pydantic's `Field`.
    """
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
        raise q.unfit("must be more than 0", "raise it")
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
"""Milliseconds; written like `5m`, `1h30m` or `14d`."""

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
"""Milliseconds, more than 0; None, written `none` or `endless`, for no limit."""

Size = Annotated[
    int,
    BeforeValidator(_reader(q.parse_size)),
    AfterValidator(_positive),
    PlainSerializer(q.format_size, when_used="json"),
    _finite_schema(q.SIZE_PATTERN, "64MiB"),
]
"""Bytes, more than 0; written like `64MiB`."""

EpochTime = Annotated[
    int,
    BeforeValidator(lambda value: q.parse_time(value) if isinstance(value, str) else value),
    PlainSerializer(q.format_time, when_used="json"),
    WithJsonSchema({"type": "string", "examples": ["2026-11-01T00:00:00Z"]}),
]
"""Epoch milliseconds; written as an RFC 3339 time or a date (midnight UTC)."""


def _address(text: str) -> str:
    q.parse_address(text)
    return text


Listen = Annotated[str, AfterValidator(_address), _finite_schema(q.ADDRESS_PATTERN, "[::1]:9108")]
"""`HOST:PORT` to listen on."""


BaseUrl = Annotated[
    str, AfterValidator(q.parse_base_url), _finite_schema(q.BASE_URL_PATTERN, "https://example.org")
]
"""An http or https URL that paths are added to; stored with its final slash."""


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
        raise q.unfit("contains unprintable characters", "remove them")
    return text


def _segment_key(text: str) -> str:
    if set(text) & set('"\\'):
        raise q.unfit("must not contain quotes or backslashes", "rename the key in the events")
    return _name(text)


def _path(value: Any) -> Any:
    if isinstance(value, str) and _name(value).startswith("~"):
        raise q.unfit("must not begin with ~, which is not expanded", "write ${HOME}")
    return value


FilePath = Annotated[Path, BeforeValidator(_path), WithJsonSchema({"type": "string"})]
"""Path of a file or directory; a relative path starts at the working directory."""

_URL = re.compile(r"[a-z][a-z0-9+.-]*://", re.ASCII)


def is_url(place: str) -> bool:
    """Return whether a place is a URL rather than the path of a file.

    >>> is_url("s3://bucket/events.parquet"), is_url("events.parquet")
    (True, False)
    """
    return bool(_URL.match(place))


def _location(value: Any) -> Any:
    value = _path(value)
    return Path(value) if isinstance(value, str) and not is_url(value) else value


FileLocation = Annotated[Path | str, BeforeValidator(_location), WithJsonSchema({"type": "string"})]
"""Path of a file, or the URL of an object in a store, which stays text."""

Name = Annotated[str, AfterValidator(_name), WithJsonSchema({"type": "string", "minLength": 1})]
"""Name of a model or a topic: printable, not empty."""

_HEADER_NAME = r"[!#$%&'*+.^_`|~0-9A-Za-z-]+"


def _header_name(text: str) -> str:
    if not re.fullmatch(_HEADER_NAME, text):
        raise q.unfit("must be the name of a header", "write it like Authorization", hidden=True)
    return text


def _header_value(value: SecretStr) -> SecretStr:
    if not re.fullmatch(r"[\t\x20-\x7e\xa0-\xff]*", value.get_secret_value()):
        raise q.unfit(
            "must be one line of Latin-1", "take line breaks and other characters out", hidden=True
        )
    return value


HeaderName = Annotated[
    str,
    AfterValidator(_header_name),
    WithJsonSchema({"type": "string", "pattern": f"^{_HEADER_NAME}$"}),
]
"""Name of a header of HTTP requests (RFC 9110, section 5.1)."""
HeaderValue = Annotated[SecretStr, AfterValidator(_header_value)]
"""Value of a header of HTTP requests, hidden where the configuration is shown."""

SegmentKey = Annotated[
    str,
    AfterValidator(_segment_key),
    WithJsonSchema({"type": "string", "minLength": 1, "pattern": r'^[^"\\\\]*$'}),
]
"""Segment key: a name without quotes and backslashes, which JSON would escape."""


def refuse(faults: Iterable[tuple[tuple[int | str, ...], Any, PydanticCustomError]]) -> None:
    """Raise all errors within a value at once; do nothing if there are none.

    Args:
        faults: for each error, its path within the value, the invalid part, and the error.

    Raises:
        ValidationError: there is at least one error.
    """
    errors = [InitErrorDetails(type=error, loc=path, input=value) for path, value, error in faults]
    if errors:
        raise ValidationError.from_exception_data("value", errors)


def distinct(identity: Callable[[Any], Hashable], what: str) -> WrapValidator:
    """Create a validator that requires the elements of a tuple to differ.

    It reports duplicates together with the errors of the elements.

    Args:
        identity: key of an element as written, by which elements are compared; None
            exempts the element.
        what: message for a duplicate.
    """
    error = q.unfit(what, "keep one")

    def check(values: Any, handler: ValidatorFunctionWrapHandler) -> Any:
        keys = [identity(v) for v in values] if isinstance(values, tuple | list) else []
        again = [i for i, key in enumerate(keys) if key is not None and key in keys[:i]]
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
"""Requires the elements of a tuple to differ."""
