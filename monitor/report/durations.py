"""Lengths of time in words, roughly."""

from __future__ import annotations


def duration_text(seconds: float) -> str:
    """Return a length of time in its largest unit with at least two.

    Args:
        seconds: 0 or more.

    >>> duration_text(43_200), duration_text(7_200), duration_text(90), duration_text(1_000_000)
    ('12 hours', '2 hours', '90 seconds', '11.6 days')
    """
    for size, unit in ((86_400, "days"), (3_600, "hours"), (60, "minutes")):
        if seconds >= 2 * size:
            return f"{seconds / size:.1f} {unit}".replace(".0 ", " ")
    return f"{seconds:.0f} seconds"
