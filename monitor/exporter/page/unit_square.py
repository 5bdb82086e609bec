"""A figure whose axes both run from 0 to 1, read out along the first by pointer and keys."""

from __future__ import annotations

from collections.abc import Iterator

import htpy as h

from monitor.exporter.page.drawing import n

_SIZE, _LEFT, _RIGHT, _TOP = 420.0, 46.0, 14.0, 14.0
_SIDE = _SIZE - _LEFT - _RIGHT


def x_of(share: float) -> float:
    """Return the coordinate of a share along the figure."""
    return _LEFT + _SIDE * share


def y_of(share: float) -> float:
    """Return the coordinate of a share up the figure."""
    return _TOP + _SIDE * (1 - share)


def unit_square(name: str, title: str, axes: tuple[str, str], parts: h.Node) -> h.Element:
    """Return the figure; its values stand in the `chart_table` of the same name.

    Args:
        name: of the figure.
        title: what it shows, in words.
        axes: names of the axis along and of the one up.
        parts: what is drawn over the grid.
    """
    titled = f"{name}-figure-title"
    return h.svg(
        ".plane.readable",
        {
            "data-table": f"{name}-figure",
            "data-left": n(x_of(0)),
            "data-right": n(x_of(1)),
            "data-from": "0",
            "data-to": "1",
        },
        viewBox=f"0 0 {n(_SIZE)} {n(_SIZE)}",
        role="img",
        aria_labelledby=titled,
    )[
        h.title(id=titled)[title],
        _axes(*axes),
        parts,
        h.line(".cursor", x1="0", x2="0", y1=n(y_of(1)), y2=n(y_of(0)), visibility="hidden"),
    ]


def _axes(along: str, up: str) -> Iterator[h.Element]:
    for i in range(6):
        share = i / 5
        x, y = n(x_of(share)), n(y_of(share))
        yield h.line(".grid", x1=x, x2=x, y1=n(y_of(0)), y2=n(y_of(1)))
        yield h.line(".grid", x1=n(x_of(0)), x2=n(x_of(1)), y1=y, y2=y)
        yield h.text(".tick", x=x, y=n(y_of(0) + 17), text_anchor="middle")[f"{share:g}"]
        yield h.text(".tick", x=n(_LEFT - 7), y=y, dy="4", text_anchor="end")[f"{share:g}"]
    yield h.text(".axis", x=n(x_of(0.5)), y=n(_SIZE - 8), text_anchor="middle")[along]
    middle = n(y_of(0.5))
    yield h.text(
        ".axis", x="12", y=middle, text_anchor="middle", transform=f"rotate(-90 12 {middle})"
    )[up]
