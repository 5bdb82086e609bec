"""A small line without axes: the trend of a metric."""

from __future__ import annotations

from collections.abc import Sequence

import htpy as h

from monitor.exporter.page.drawing import line, n

_WIDTH, _HEIGHT, _ROOM = 120.0, 30.0, 3.0


def sparkline(values: Sequence[float | None], kind: str) -> h.Element | None:
    """Draw a small line; None where fewer than two points are known.

    Args:
        values: one for each step of time.
        kind: class of its colour.
    """
    known = [value for value in values if value is not None]
    if len(known) < 2:  # noqa: PLR2004  # a line has two ends
        return None
    low, high = min(known), max(known)
    span = (high - low) or 1.0
    step = _WIDTH / max(len(values) - 1, 1)

    def y(value: float) -> float:
        return _HEIGHT - _ROOM - (value - low) / span * (_HEIGHT - 2 * _ROOM)

    last = max(i for i, value in enumerate(values) if value is not None)
    end = values[last]
    placed = [(i * step, None if v is None else y(v)) for i, v in enumerate(values)]
    return h.svg(
        ".spark",
        viewBox=f"0 0 {n(_WIDTH + 2 * _ROOM)} {n(_HEIGHT)}",
        width=n(_WIDTH + 2 * _ROOM),
        height=n(_HEIGHT),
        aria_hidden="true",
    )[
        h.path(f".line.{kind}", d=line(placed)),
        h.circle(f".dot.{kind}", cx=n(last * step), cy=n(y(end or 0.0)), r="2.5"),
    ]
