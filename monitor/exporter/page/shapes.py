"""The signs of verdicts, and what all figures are drawn with."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import htpy as h

from monitor.exporter.page.words import VERDICTS

_PATHS = {
    "circle": "M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1Z",
    "diamond": "M8 0l8 8-8 8-8-8Z",
    "down": "M0 2h16L8 16Z",
    "up": "M0 14h16L8 0Z",
    "sides": "M5 2L0 8l5 6v-4h6v4l5-6-5-6v4H5Z",
    "square": "M1 1h14v14H1Z",
    "ring": "M8 1a7 7 0 1 0 0 14A7 7 0 1 0 8 1Zm0 3a4 4 0 1 1 0 8 4 4 0 1 1 0-8Z",
}


def sign(verdict: str) -> h.Element:
    """A verdict's shape in its colour; its name stands beside it, so it is hidden from readers."""
    meaning = VERDICTS[verdict]
    return h.svg(
        f".sign.{meaning.tone}",
        viewBox="0 0 16 16",
        width="16",
        height="16",
        aria_hidden="true",
    )[h.path(d=_PATHS[meaning.shape], fill_rule="evenodd")]


def n(value: float) -> str:
    """A coordinate: a tenth of a unit is enough.

    >>> n(12.34), n(-0.01), n(3.0)
    ('12.3', '0', '3')
    """
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def line(points: Iterable[tuple[float, float | None]]) -> str:
    """A path through points, broken where one is not known."""
    parts, pen_up = [], True
    for x, y in points:
        if y is None or not math.isfinite(y):
            pen_up = True
            continue
        parts.append(f"{'M' if pen_up else 'L'}{n(x)} {n(y)}")
        pen_up = False
    return "".join(parts)


def band(xs: Sequence[float], lower: Sequence[float | None], upper: Sequence[float | None]) -> str:
    """The path around what lies between two lines, a piece for each run that is known."""
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
    """Round numbers within a range.

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
