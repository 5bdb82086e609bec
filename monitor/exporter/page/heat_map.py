"""Heat maps of confusion matrices: before, after, and the difference, given the actual class."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import htpy as h
import numpy as np

from monitor.events.columns import BoolArray, FloatArray
from monitor.exporter.page.drawing import n
from monitor.report.printable import one_line

_CELL, _SMALL_CELL = 34.0, 11.0
MOST_WITH_NUMBERS = 8
"""Classes up to which each cell has its number, and each column its name."""
MOST_ON_A_PHONE = 16
"""Classes up to which a whole map can be read on a phone; that of more scrolls there."""
_LETTER, _SMALL_LETTER = 6.4, 4.9
_LONGEST = 14
_HEAD = 16.0
_INVERTED = 0.62
_LEAST_SHOWN = 0.005
_LEAST_RANGE = 0.05
_PALE = 0.35


class HeatMap(NamedTuple):
    """One map.

    Attributes:
        title: what it shows.
        tone: class of its colour, `before` or `after`; "" for differences, which have two.
        values: (classes, classes) by actual and predicted class; NaN where there is no case.
        marked: cells with an outline; none if left out.
    """

    title: str
    tone: str
    values: FloatArray
    marked: BoolArray | None = None


def heat_map(names: Sequence[str], shown: HeatMap) -> h.Element:
    """Draw a matrix: a row for each actual class, a column for each predicted class.

    Args:
        names: of the classes.
        shown: the map.

    Returns:
        A figure. Cells of many classes have no numbers; all have a title with both names.
    """
    short = _short(names)
    large = len(names) <= MOST_WITH_NUMBERS
    cell = _CELL if large else _SMALL_CELL
    letter = _LETTER if large else _SMALL_LETTER
    rows = short if large else [f"{name} · {i + 1}" for i, name in enumerate(short)]
    left = max(map(len, rows)) * letter + 6
    upright = large and max(map(len, short)) > int((cell - 3) / letter)
    top = left if upright else _HEAD if large else _SMALL_CELL
    side = cell * len(names)
    scrolls = len(names) > MOST_ON_A_PHONE
    drawn = h.svg(
        ".map" if large else ".map.many" if scrolls else ".map.some",
        viewBox=f"0 0 {n(left + side + 1)} {n(top + side + 1)}",
        role="img",
        aria_label=f"{shown.title}: {len(names)} actual classes by predicted class",
    )[
        (_row_name(text, left, top + cell * (i + 0.5)) for i, text in enumerate(rows)),
        (
            _head(text, left + cell * (i + 0.5), top - 4, upright=upright)
            for i, text in enumerate(short if large else _numbers(len(short)))
        ),
        (
            _cell(shown, names, (i, j), (left + cell * j, top + cell * i), cell)
            for i in range(len(names))
            for j in range(len(names))
        ),
    ]
    if not scrolls:
        return h.figure(".heat")[h.h3[shown.title], drawn]
    return h.figure(".heat.many")[
        h.h3[shown.title],
        h.div(".scroll", tabindex="0", role="region", aria_label=shown.title)[drawn],
    ]


def _numbers(size: int) -> list[str]:
    """Return the numbers of the rows for the columns of many classes, every second one."""
    return [str(i + 1) if i % 2 == 0 else "" for i in range(size)]


def _head(text: str, x: float, y: float, *, upright: bool) -> h.Element:
    """Return the name of a column; upright where one is wider than its column."""
    if not upright:
        return h.text(".axis", x=n(x), y=n(y), text_anchor="middle")[text]
    turn = f"rotate(-90 {n(x)} {n(y)})"
    return h.text(".axis", x=n(x), y=n(y), dy=".35em", transform=turn)[text]


def _row_name(text: str, left: float, y: float) -> h.Element:
    return h.text(".axis", x=n(left - 5), y=n(y), dy=".35em", text_anchor="end")[text]


def _cell(
    shown: HeatMap,
    names: Sequence[str],
    place: tuple[int, int],
    corner: tuple[float, float],
    side: float,
) -> h.Node:
    value = float(shown.values[place])
    if not np.isfinite(value):
        return None
    depth, tone = _depth(shown, place)
    marked = shown.marked is not None and bool(shown.marked[place])
    text, (x, y) = _number(value, signed=not shown.tone), corner
    return h.g[
        h.rect(
            {"class": f"heat-cell {tone}{' certain' if marked else ''}"},
            x=n(x + 0.5),
            y=n(y + 0.5),
            width=n(side - 1),
            height=n(side - 1),
            fill_opacity=f"{depth:.3f}",
        )[h.title[f"{one_line(names[place[0]])} as {one_line(names[place[1]])}: {text} %"]],
        h.text(
            ".heat-number.inverted" if depth > _INVERTED else ".heat-number",
            x=n(x + side / 2),
            y=n(y + side / 2),
            dy=".35em",
            text_anchor="middle",
        )[text]
        if side >= _CELL and abs(value) >= _LEAST_SHOWN
        else None,
    ]


def _depth(shown: HeatMap, place: tuple[int, int]) -> tuple[float, str]:
    """Return how deep the colour of a cell is, in [0, 1], and which.

    The root makes confusions of some per cent visible beside what is right. Differences have
    none, and cells that are not marked are pale, as they may be chance; but for what is right of a
    class of which a cell is marked.
    """
    value = float(shown.values[place])
    if shown.tone:
        return float(np.sqrt(value)), shown.tone
    depth = min(abs(value) / difference_range(shown), 1.0)
    if shown.marked is not None and not shown.marked[place]:
        right_of_marked = place[0] == place[1] and bool(shown.marked[place[0]].any())
        depth *= 1.0 if right_of_marked else _PALE
    worse = (value < 0) == (place[0] == place[1])
    return depth, "worse" if worse else "better"


def difference_range(shown: HeatMap) -> float:
    """Return the difference that has the deepest colour: the largest of the marked cells.

    Args:
        shown: a map of differences; where no cell is marked, all of them count.
    """
    known = np.isfinite(shown.values)
    if shown.marked is not None and shown.marked.any():
        known &= shown.marked
    return max(float(np.abs(shown.values[known]).max(initial=0.0)), _LEAST_RANGE)


_TEN_PER_CENT = 0.0995
"""From here on a share rounds to two digits before the point, and has none behind it."""


def _number(value: float, *, signed: bool) -> str:
    """Return a share in per cent."""
    text = f"{100 * value:+.1f}" if signed else f"{100 * value:.1f}"
    if abs(value) >= _TEN_PER_CENT:
        text = f"{100 * value:+.0f}" if signed else f"{100 * value:.0f}"
    return text.replace("-", "\N{MINUS SIGN}")


def _short(names: Sequence[str]) -> list[str]:
    """Return names cut at the end, or in the middle where two would be alike."""
    whole = [one_line(name) for name in names]
    cut = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in whole]
    middle = _LONGEST // 2
    return [
        f"{name[: middle - 1]}…{name[-middle:]}"
        if name != short and cut.count(short) > 1
        else short
        for name, short in zip(whole, cut, strict=True)
    ]
