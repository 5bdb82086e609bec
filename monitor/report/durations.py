"""Lengths of time in words, roughly."""

from __future__ import annotations

from monitor.config.quantities import count_of


def duration_text(seconds: float) -> str:
    """Return a length of time in its largest unit with at least two.

    Args:
        seconds: 0 or more.

    >>> duration_text(43_200), duration_text(90), duration_text(0.7), duration_text(1_000_000)
    ('12 hours', '90 seconds', '1 second', '11.6 days')
    """
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}".replace(".0 ", " ")
    return count_of(round(seconds), "second")
