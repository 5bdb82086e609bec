"""Names of a model's classes, and the settings that do not fit more than two of them."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BeforeValidator, WithJsonSchema
from pydantic_core import PydanticCustomError

from monitor.config import quantities as q
from monitor.config.fields import Distinct, Name, Section

MOST_CLASSES = 50
"""Most classes of a model."""
MANY = 3
"""A model of at least this many classes is counted class by class; of two it is binary."""

_MOST_BYTES = 256
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
    if len(name.encode()) > _MOST_BYTES:
        raise q.unfit(f"must be at most {_MOST_BYTES} bytes of UTF-8", "shorten it")
    return name


ClassName = Annotated[
    Annotated[Name, BeforeValidator(_text)],
    BeforeValidator(lambda value: _fits(value) if isinstance(value, str) else value),
    WithJsonSchema({"type": ["string", "integer"], "minLength": 1}),
]
"""Name of a class as events write it; an integer is its text."""

ClassNames = Annotated[tuple[ClassName, ...], Distinct]
"""Names of the classes of a model."""


def number_of_classes_fits(names: tuple[str, ...]) -> tuple[str, ...]:
    """Return the names of classes if a model can have them.

    Raises:
        PydanticCustomError: there is one name, or more than `MOST_CLASSES`; two are the same
            text; or two classes have a name that every binary model's classes have.
    """
    if len(names) == 1 or len(names) > MOST_CLASSES:
        raise q.unfit(
            f"must name from 2 to {MOST_CLASSES} classes",
            "name all classes that the model predicts, or leave it out for 0 and 1",
        )
    if len(set(names)) < len(names):
        raise q.unfit("names a class twice, once as a number", "keep one")
    if len(names) < MANY and _BINARY_NAMES.intersection(names):
        raise q.unfit(
            "must not name a class of two 0, 1, true or false",
            "leave it out: events of a model without classes have 0 or 1, and 1 is positive",
        )
    return names


def misfit(given: Mapping[str, Any], defaults: Mapping[str, Any]) -> PydanticCustomError | None:
    """Return why a model cannot have more than two classes; None if it can.

    Args:
        given: its other settings by name.
        defaults: their defaults, as a file writes them.
    """
    for key, why in _ONLY_BINARY.items():
        if key in given and not _is_default(given[key], defaults[key]):
            return q.unfit(
                f"names more than two classes, which does not go with {key}: {why}",
                f"leave out {key}, or send each class as a binary model of its own",
            )
    counts = getattr(given.get("reference"), "counts", None)
    if counts is not None:
        return q.unfit(
            "names more than two classes, which does not go with reference: counts are of two "
            "classes",
            "give a reference of another kind: window, first or trailing",
        )
    return None


def _is_default(value: Any, default: Any) -> bool:
    if isinstance(value, Section) and default is not None:
        return bool(value == type(value)())
    return bool(value == default)
