"""Names of a model's classes, and the settings that do not fit more than two of them."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import (
    BeforeValidator,
    PlainSerializer,
    TypeAdapter,
    ValidationError,
    ValidatorFunctionWrapHandler,
    WithJsonSchema,
    WrapValidator,
)
from pydantic_core import PydanticCustomError

from monitor.config import quantities as q
from monitor.config.fields import Distinct, Name, Section

MOST_CLASSES = 50
"""Most classes of a model."""
MANY = 3
"""A model of at least this many classes is counted class by class; of two it is binary."""

LEARNED = "learned"
"""In place of the names of classes: a model learns them from its predictions."""
MOST_CLASS_BYTES = 256
"""Longest name of a class, in bytes of UTF-8."""

_BINARY_NAMES = frozenset({"0", "1", "true", "false"})
_ONLY_BINARY: Mapping[str, str] = {
    "threshold": "a threshold decides between two classes",
    "segments": "segments are counted for two classes only",
    "labelling": "only labelling complete is supported for them",
    "label_errors": "label_errors has rates for two classes only",
    "clock": "their windows count by the time of the prediction",
    "class_ratios": "precision at a class ratio is defined for two classes only",
    "objective": "objectives are compared for two classes only",
    "river_detector": "detectors watch two classes only",
}
"""Settings that a model of many classes leaves at their defaults, each with the reason."""


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        raise q.unfit("must be text, and YAML reads it as true or false", "quote it")
    return str(value) if isinstance(value, int) else value


def _fits(name: str) -> str:
    if len(name.encode(errors="replace")) > MOST_CLASS_BYTES:
        raise q.unfit(f"must be at most {MOST_CLASS_BYTES} bytes of UTF-8", "shorten it")
    return name


ClassName = Annotated[
    Annotated[Name, BeforeValidator(_text)],
    BeforeValidator(lambda value: _fits(value) if isinstance(value, str) else value),
    WithJsonSchema({"type": ["string", "integer"], "minLength": 1}),
]
"""Name of a class as events write it; an integer is its text."""
_NAME: TypeAdapter[str] = TypeAdapter(ClassName)


def is_class_name(text: str) -> bool:
    """Return whether a configuration can name a class so.

    Args:
        text: as events write it.

    >>> is_class_name("card"), is_class_name(chr(10))
    (True, False)
    """
    try:
        _NAME.validate_python(text)
    except ValidationError:
        return False
    return True


class LearnedNames(tuple[str, ...]):
    """Names of classes that a model has learned so far, in the order of their first predictions.

    Two such lists are equal only to each other, since a model with names that are listed takes
    no others.

    >>> names = LearnedNames(("card",))
    >>> names == ("card",), names != ("card",), names == LearnedNames(("card",))
    (False, True, True)
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return isinstance(other, LearnedNames) and tuple.__eq__(self, other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((LEARNED, tuple(self)))


def _listed_or_learned(value: Any, listed: ValidatorFunctionWrapHandler) -> tuple[str, ...]:
    if value == LEARNED or isinstance(value, LearnedNames):
        return LearnedNames(() if value == LEARNED else value)
    if isinstance(value, str):
        raise q.unfit(f"must be a list of names, or {LEARNED}", "list the classes of the model")
    names: tuple[str, ...] = listed(value)
    return names


_LIST = {
    "type": "array",
    "items": {"type": ["string", "integer"], "minLength": 1},
    "uniqueItems": True,
}


def _as_written(names: tuple[str, ...]) -> str | tuple[str, ...]:
    return LEARNED if isinstance(names, LearnedNames) else names


ClassNames = Annotated[
    tuple[ClassName, ...],
    Distinct,
    WrapValidator(_listed_or_learned),
    PlainSerializer(_as_written, return_type=str | tuple[str, ...], when_used="json"),
    WithJsonSchema({"oneOf": [{"const": LEARNED}, _LIST]}),
]
"""Names of the classes of a model: listed, or `LearnedNames`."""


def are_named(names: tuple[str, ...]) -> bool:
    """Return whether classes have names, listed or learned, other than 0 and 1."""
    return bool(names) or isinstance(names, LearnedNames)


def are_many(names: tuple[str, ...]) -> bool:
    """Return whether a model with these classes is counted class by class."""
    return len(names) >= MANY or isinstance(names, LearnedNames)


def number_of_classes_fits(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of classes if a model can have them.

    Raises:
        PydanticCustomError: there is one name, or more than `MOST_CLASSES`; two are the same
            text; or two classes have a name that every binary model's classes have.
    """
    if isinstance(names, LearnedNames):
        return names
    if len(names) == 1 or len(names) > MOST_CLASSES:
        raise q.unfit(
            f"must name from 2 to {MOST_CLASSES} classes",
            "name all classes that the model predicts, or leave it out for 0 and 1",
        )
    if len(set(names)) < len(names):
        raise q.unfit("names a class twice, once as a number", "keep one")
    if len(names) < MANY and _BINARY_NAMES.intersection(names):
        hint = "leave it out: events of a model without classes have 0 or 1, and 1 is positive"
        if not _BINARY_NAMES.issuperset(names):
            hint = (
                f"leave it out, and where {names[0]} and {names[1]} are read, say which is "
                f"positive: values: {{label: {{positive: [{names[1]}]}}}} of a feed, or --positive "
                f"label={names[1]}, and the same of prediction"
            )
        raise q.unfit("must not name a class of two 0, 1, true or false", hint)
    return names


def misfit(
    names: tuple[str, ...], given: Mapping[str, Any], defaults: Mapping[str, Any]
) -> PydanticCustomError | None:
    """Return why a model cannot have more than two classes; None if it can.

    Args:
        names: of the classes.
        given: its other settings by name.
        defaults: their defaults, as a file writes them.
    """
    does = (
        "learns its classes" if isinstance(names, LearnedNames) else "names more than two classes"
    )
    for key, why in _ONLY_BINARY.items():
        if key in given and not _is_default(given[key], defaults[key]):
            return q.unfit(
                f"{does}, which does not go with {key}: {why}",
                f"leave out {key}, or send each class as a binary model of its own",
            )
    counts = getattr(given.get("reference"), "counts", None)
    if counts is not None:
        return q.unfit(
            f"{does}, which does not go with reference: counts are of two classes",
            "give a reference of another kind: window, first or trailing",
        )
    return None


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(value, Section) and default is not None:
        return bool(value == type(value)())
    return bool(value == default)
