"""Names of windows in the configuration: a list of lengths, or `auto`."""

from typing import Annotated, Any, Literal

from pydantic import (
    BeforeValidator,
    Discriminator,
    Field,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)

from monitor.config import quantities as q
from monitor.config.fields import distinct


def _window_name(value: Any, info: ValidationInfo) -> str:
    name = q.format_duration(value) if isinstance(value, int) else str(value)
    length, pane = q.parse_duration(name), info.data.get("pane")
    if pane is None:
        return name
    width = q.format_duration(pane)
    if length < pane:
        raise q.unfit(
            f"must be at least the pane ({width})", "raise it or lower pane", instead=("pane",)
        )
    if length % pane:
        raise q.unfit(
            f"must be a multiple of the pane ({width})", "change it or pane", instead=("pane",)
        )
    return name


def _length(window: Any) -> int | None:
    try:
        return q.parse_duration(str(window))
    except ValueError:
        return None


_WINDOW_NAME_SCHEMA = {"type": "string", "pattern": q.DURATION_PATTERN, "examples": ["7d"]}
_WindowName = Annotated[str, BeforeValidator(_window_name)]


WindowNames = Annotated[
    Annotated[Literal["auto"], Tag("auto")]
    | Annotated[
        tuple[_WindowName, ...],
        Field(min_length=1),
        distinct(_length, "is as long as another window"),
        WithJsonSchema(
            {
                "type": "array",
                "items": _WINDOW_NAME_SCHEMA,
                "minItems": 1,
                "uniqueItems": True,
            }
        ),
        Tag("listed"),
    ],
    Discriminator(lambda value: "auto" if value == "auto" else "listed"),
]
"""Names of windows, or `auto`."""

DEFAULT_WINDOWS = ("1h", "1d", "7d")
"""Windows of every model where the configuration lists none."""

LONGER_WINDOW = "28d"
"""One more of these, for models whose week holds few positives or flagged cases."""

AUTO_WINDOWS = (*DEFAULT_WINDOWS, LONGER_WINDOW)
"""Windows of `auto`; each model uses those that its volume fills."""


def auto_windows(pane: int) -> tuple[str, ...]:
    """Return the windows of `auto` that are multiples of a pane.

    Args:
        pane: milliseconds.

    >>> auto_windows(7_200_000)
    ('1d', '7d', '28d')
    """
    return tuple(name for name in AUTO_WINDOWS if q.parse_duration(name) % pane == 0)
