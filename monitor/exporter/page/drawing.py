"""Parts of all figures: signs of verdicts, coordinates, lines, bands, ticks."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import htpy as h

from monitor.report.verdict_words import BecauseWords, Tone, VerdictWords


def sign(words: VerdictWords | BecauseWords, tone: Tone | None = None) -> h.Element:
    """Draw the sign of a verdict in its colour; hidden from screen readers, its name follows.

    Args:
        words: of the verdict, or of the reason why there is none.
        tone: class of its colour; None for that of the words.
    """
    return h.svg(
        f".sign.{tone or words.tone}",
        viewBox="0 0 16 16",
        width="16",
        height="16",
        aria_hidden="true",
    )[h.path(d=words.icon, fill_rule="evenodd")]


def n(value: float) -> str:
    """Format a coordinate, to a tenth of a unit.

    >>> n(12.34), n(-0.01), n(3.0)
    ('12.3', '0', '3')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def line(points: Iterable[tuple[float, float | None]]) -> str:
    """Return a path through points, broken where a point is not known."""
    parts, pen_up = [], True
    for x, y in points:
        if y is None or not math.isfinite(y):
            pen_up = True
            continue
        parts.append(f"{'M' if pen_up else 'L'}{n(x)} {n(y)}")
        pen_up = False
    return "".join(parts)


def band(xs: Sequence[float], lower: Sequence[float | None], upper: Sequence[float | None]) -> str:
    """Return the path around the area between two lines, a piece for each run that is known.

    Args:
        xs: places along the axis.
        lower: the lower line; None where it is not known.
        upper: the upper line, likewise.
    """
    pieces, run = [], list[tuple[float, float, float]]()
    for x, low, high in [*zip(xs, lower, upper, strict=True), (0.0, None, None)]:
        if low is not None and high is not None:
            run.append((x, low, high))
            continue
        if len(run) > 1:
            there = [(x, high) for x, _, high in run]
            back = [(x, low) for x, low, _ in reversed(run)]
            pieces.append(line([*there, *back]) + "Z")
        run = []
    return "".join(pieces)


def ticks(low: float, high: float, most: int = 5) -> list[float]:
    """Return round numbers within a range.

    Args:
        low: lower end.
        high: upper end.
        most: numbers to aim for.

    >>> ticks(0.03, 0.58)
    [0.2, 0.4]
    """
    if not high > low:
        return [low]
    raw = (high - low) / most
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(m * magnitude for m in (1, 2, 5, 10) if m * magnitude >= raw * (1 - 1e-9))
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [round(i * step, 12) for i in range(first, last + 1)]
