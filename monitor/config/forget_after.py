"""How long a model that only events name may be silent before it is forgotten."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from monitor.clock import DAY_MS
from monitor.config import quantities as q
from monitor.config.labelling import AutoMaturity
from monitor.config.model import ModelConfig
from monitor.config.window_names import auto_windows

_NEVER = "never"
_STEPS_MS = 2 * DAY_MS
"""Predictions are forgotten in steps of event time, at most a day each, two steps late."""


def _read(value: Any) -> Any:
    if value is None or value == _NEVER:
        return None
    if value == "auto" or (isinstance(value, int) and not isinstance(value, bool)):
        return value
    try:
        return q.parse_duration(value if isinstance(value, str) else "")
    except ValueError as error:
        raise q.unfit("must be auto, never or a duration", "write auto, or 90d") from error


def _written(value: int | str | None) -> str:
    if value is None:
        return _NEVER
    return q.format_duration(value) if isinstance(value, int) else value


ForgetAfter = Annotated[
    int | Literal["auto"] | None,
    BeforeValidator(_read),
    PlainSerializer(_written, when_used="json"),
    WithJsonSchema(
        {
            "anyOf": [
                {"enum": ["auto", _NEVER]},
                {"type": "string", "pattern": q.DURATION_PATTERN, "examples": ["90d"]},
            ]
        }
    ),
]
"""Milliseconds, `auto`, or None for never."""


def longest_counted(model: ModelConfig, windows: tuple[str, ...]) -> int | None:
    """Return how long a prediction may still be labelled, revised, or in a window.

    Args:
        model: its settings.
        windows: names of the windows.

    Returns:
        Milliseconds of event time since the prediction; None where predictions are remembered
        without end.

    >>> longest_counted(ModelConfig(), ("1h", "7d")) // DAY_MS
    39
    """
    horizon, timeout, maturity = model.horizon_ms, model.label_timeout, model.maturity
    if horizon is None or timeout is None:
        return None
    latest = maturity.max if isinstance(maturity, AutoMaturity) else maturity
    longest = max(map(q.parse_duration, windows))
    return max(horizon, timeout, latest or 0) + longest + _STEPS_MS


def longest_use(model: ModelConfig, windows: tuple[str, ...]) -> int | None:
    """Return how long after its last event something of a model may still be needed.

    That is until its last predictions are past their horizon, windows have moved over the
    last mature outcome, and the reference stretch before them too.

    Args:
        model: its settings.
        windows: names of the windows.

    Returns:
        Milliseconds; None where predictions are remembered without end.

    >>> longest_use(ModelConfig(), ("1h", "7d")) // DAY_MS
    67
    """
    counted, reference = longest_counted(model, windows), model.reference
    if counted is None:
        return None
    fixed = 0 if reference.window is None else reference.window.length
    return counted + (reference.first or reference.trailing or fixed)


def checked(value: int | str | None, given: Mapping[str, Any]) -> int | str | None:
    """Return the setting if nothing is forgotten while it is needed.

    Args:
        value: the setting.
        given: the settings before it that are valid, by key.

    Raises:
        ValueError: the time is too short.
    """
    if not isinstance(value, int) or not {"defaults", "windows", "pane"} <= given.keys():
        return value
    windows = auto_windows(given["pane"]) if given["windows"] == "auto" else given["windows"]
    least = longest_use(given["defaults"], windows)
    if least is None:
        raise q.unfit("needs a label_timeout and a horizon that end", "write never")
    if value < least:
        needed = q.format_duration(least)
        raise q.unfit(
            f"must be at least what horizon, longest window and reference need ({needed})",
            "raise it, or write auto",
        )
    return value
