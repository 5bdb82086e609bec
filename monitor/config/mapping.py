"""Settings of a mapping: where records hold the fields of events, and how values are written."""

from collections.abc import Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from enum import StrEnum
from typing import Annotated, Any, Self
from zoneinfo import ZoneInfo

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ValidationError,
    WithJsonSchema,
    field_validator,
    model_validator,
)
from pydantic_core import ErrorDetails

from monitor.config import quantities as q
from monitor.config.fields import Name, Section, setting
from monitor.config.time_format import is_whole

NAMES = ("id", "model", "version", "source", "batch")
"""Fields whose value is a text, or an integer that stands for its digits."""
FIELDS = (
    *("type", *NAMES),
    *("ts", "label_ts", "watermark"),
    *("prediction", "label", "audit"),
    *("score", "sampling_probability"),
    *("tp", "fp", "fn", "tn", "predicted_positive", "predicted_negative", "late"),
    "segment",
)
"""Names of the fields of events, which are also the columns of tables without a mapping."""
_NEAR = 0.7
"""Likeness from which another field is proposed: `decision` is not near enough to `version`."""
NO_FIELD = ""
"""The constant that leaves its field out."""
SCORES = "scores"
"""Field of events with a score of each class, which no mapping locates."""
SEGMENT = "segment."
"""A mapping names the segment key K as the field `segment.K`."""


def _known_field(name: str) -> str:
    key = name.removeprefix(SEGMENT)
    if name in FIELDS or (name.startswith(SEGMENT) and key and not set(key) & set('"\\')):
        return name
    if name == SCORES:
        raise q.unfit("are not read from columns", "give the class with the highest as prediction")
    near = get_close_matches(name, FIELDS, n=1, cutoff=_NEAR)
    hint = f"did you mean {near[0]!r}?" if near else f"it is one of {', '.join(FIELDS)}, segment.K"
    raise q.unfit("is no field of an event", hint)


def text_of(value: Any) -> str:
    """Return a value as a mapping compares it: 1, 1.0, "1" and "1.0" are the same.

    Args:
        value: a text, a number or a bool.

    >>> text_of(1.0), text_of("1.0"), text_of(True), text_of("True"), text_of(" deny ")
    ('1', '1', 'true', 'true', 'deny')
    """
    text = str(value).strip()
    if text.endswith(".0") and text[:-2].lstrip("-").isdecimal():
        return text[:-2]
    return text.lower() if text.lower() in ("true", "false") else text


def _texts(values: Any) -> Any:
    """Texts of a list, or of a single value; None stays out, it is missing anyway."""
    listed = values if isinstance(values, list | tuple) else [values]
    for value in listed:
        if value is not None and not isinstance(value, str | int | float):
            raise q.unfit("must be a list of single values", "write [A, B]")
    return tuple(text_of(value) for value in listed if value is not None)


Texts = Annotated[
    tuple[str, ...],
    BeforeValidator(_texts),
    WithJsonSchema({"type": "array", "items": {"type": ["string", "number", "boolean", "null"]}}),
]
"""Values of a column, by their texts."""


@dataclass(frozen=True, slots=True)
class FixedValue:
    """A field that has the same value in every record.

    Attributes:
        value: the value.
    """

    value: str | int | float | bool


def _source(value: Any) -> Any:
    if isinstance(value, str):
        return _column(value)
    if isinstance(value, Mapping) and set(value) == {"value"}:
        fixed = value["value"]
        if isinstance(fixed, str | int | float):
            return FixedValue(fixed)
    if isinstance(value, FixedValue):
        return value
    raise q.unfit("must be a column", "write COLUMN, or {value: V} for one value everywhere")


def _column(name: str) -> str:
    if not name:
        raise q.unfit("must not be empty", "write the name of a column")
    return name


Source = Annotated[
    str | FixedValue,
    BeforeValidator(_source),
    WithJsonSchema(
        {
            "anyOf": [
                {"type": "string", "minLength": 1},
                {
                    "type": "object",
                    "properties": {"value": {"type": ["string", "number", "boolean"]}},
                    "required": ["value"],
                    "additionalProperties": False,
                },
            ]
        }
    ),
]
"""A column, or a constant."""

EventField = Annotated[
    str, AfterValidator(_known_field), WithJsonSchema({"type": "string", "minLength": 1})
]
"""Name of a field of events."""


class ClassValues(Section):
    """Values that stand for the two classes, where a column does not hold 0 and 1."""

    positive: Texts = setting(
        (),
        "Values of the positive class. Default, beside `missing` alone: 0, 1, false and true "
        "stand for themselves.",
        json_schema_extra={"default": []},
    )
    negative: Texts = setting(
        (),
        "Values of the negative class. Default: every value that is not positive.",
        json_schema_extra={"default": []},
    )
    missing: Texts = setting(
        ("",),
        "Values that stand for no class: no label yet, or no prediction.",
        json_schema_extra={"default": [""]},
    )

    @model_validator(mode="after")
    def _apart(self) -> Self:
        if not self.positive and (self.negative or "missing" not in self.model_fields_set):
            raise q.unfit("must name values of the positive class", "write positive: [V]")
        lists = (self.positive, self.negative, self.missing)
        for number, values in enumerate(lists):
            for other in lists[number + 1 :]:
                if both := sorted({*values} & {*other}):
                    raise q.unfit(f"lists {both[0]!r} twice", "keep one")
        return self


class ClassField(StrEnum):
    """Fields that hold a class."""

    PREDICTION = "prediction"
    LABEL = "label"


class TimeUnit(StrEnum):
    """Unit of times that are numbers."""

    SECONDS = "s"
    MILLISECONDS = "ms"
    MICROSECONDS = "us"
    NANOSECONDS = "ns"

    @property
    def per_second(self) -> float:
        """How many of it a second has."""
        return 1000.0 ** list(TimeUnit).index(self)


def _zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (KeyError, ValueError, OSError) as error:
        raise q.unfit("is no time zone", "write one like Europe/Berlin, or UTC") from error
    return name


def _time_format(form: str) -> str:
    if not is_whole(form):
        raise q.unfit(
            "is no format of times with year, month and day", 'write one like "%d.%m.%Y %H:%M"'
        )
    return form


class TimeForm(Section):
    """How times are written."""

    zone: Annotated[Name, AfterValidator(_zone)] | None = setting(
        None,
        "Time zone of times that name none. Default: text without a zone is rejected, and "
        "timestamps without a zone (Parquet, Arrow, frames, SQL, Python) are UTC.",
    )
    unit: TimeUnit = setting("s", "Unit of times that are numbers since 1970: s, ms, us or ns.")
    format: Annotated[Name, AfterValidator(_time_format)] | None = setting(
        None,
        'Format of times that are no ISO 8601, by Python\'s strptime: "%d.%m.%Y %H:%M". Times that '
        "name no zone (%z) need the setting zone. Default: ISO 8601 alone.",
    )


class MappedRecords(Section):
    """Where records hold the fields of events, and how their values are written."""

    fields: Mapping[EventField, Source] = setting(
        {},
        "Column of each field, nested names with dots (probabilities.1: the second of a list), or "
        '{value: V} for one value everywhere ("" leaves the field out); segment.K for the segment '
        "key K. Default: columns are named like the fields.",
    )
    values: Mapping[ClassField, ClassValues] = setting(
        {}, "Values of prediction and label, where these are not 0 and 1."
    )
    time: TimeForm = setting({}, "How times are written.")

    @field_validator("fields")
    @classmethod
    def _names_are_text(cls, fields: Mapping[str, Source]) -> Mapping[str, Source]:
        for field, source in fields.items():
            if not isinstance(source, FixedValue):
                continue
            if field == "segment":
                raise q.unfit("has one value for each segment key", "write segment.K: {value: V}")
            named = field in ("type", *NAMES) or field.startswith(SEGMENT)
            if named and isinstance(source.value, float | bool):
                text = f'"{source.value}"'
                raise q.unfit(
                    f"{field} must be text or an integer", f"write {field}: {{value: {text}}}"
                )
        return fields

    @property
    def is_of_feed(self) -> bool:
        """True for a configured feed, whose mapping is YAML; False for one of options."""
        return False

    @property
    def is_mapped(self) -> bool:
        """True where anything differs from the fields of events."""
        return bool(self.fields or self.values) or self.time != TimeForm()

    @property
    def names_classes(self) -> bool:
        """True where it says what stands for the two classes, and not only what stands for none."""
        return any(values.positive for values in self.values.values())


class MappedFeed(MappedRecords):
    """A configured feed of records."""

    @property
    def is_of_feed(self) -> bool:
        """Advice on its records is YAML, as it is."""
        return True


def mapped_records(
    fields: Mapping[str, Any], values: Mapping[str, Any], time: Mapping[str, Any]
) -> MappedRecords:
    """Return a mapping that options or arguments give.

    Args:
        fields: as in a configuration file.
        values: likewise.
        time: likewise.

    Raises:
        ValueError: it is invalid; names each field with its fault.
    """
    try:
        return MappedRecords.model_validate({"fields": fields, "values": values, "time": time})
    except ValidationError as error:
        raise ValueError("; ".join(map(_fault, error.errors(include_url=False)))) from error


def _fault(detail: ErrorDetails) -> str:
    steps = [str(step) for step in detail["loc"] if step != "[key]"]
    context = detail.get("ctx", {})
    name = ".".join(steps[1:] or steps)
    if detail["type"] == "unfit":
        return f"{name}: {context['what']}, got {detail['input']!r}; {context['allowed']}"
    known = context.get("expected")
    if detail["type"] == "extra_forbidden":
        section = TimeForm if detail["loc"][0] == "time" else ClassValues
        known = f"one of {', '.join(section.model_fields)}"
    allowed = f"; it is {known}" if known else ""
    return f"{name}: is not known, got {detail['input']!r}{allowed}"
