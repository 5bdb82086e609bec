"""Durations above 0, as options and parameters ask for them in text."""

from __future__ import annotations

from monitor.config.quantities import parse_duration
from monitor.errors import UsageError


def asked_duration(option: str, text: str, example: str) -> int:
    """Return a duration in milliseconds.

    Args:
        option: where it was written, for the error.
        text: what was written.
        example: what may be written, for the error.

    Raises:
        UsageError: it is no duration, or not above 0.

    >>> asked_duration("--last", "7d", "3d")
    604800000
    >>> asked_duration("--last", "-3d", "7d")
    Traceback (most recent call last):
        ...
    monitor.errors.UsageError: --last: must be a duration above 0, got '-3d'; write it like 7d
    """
    try:
        length = parse_duration(text)
    except ValueError:
        length = 0
    if not length:
        raise UsageError(
            f"{option}: must be a duration above 0, got {text!r}; write it like {example}"
        )
    return length
