"""The precision-recall plane: where the model stood, stands, and would stand at the old ratio.

Precision moves straight up or down when prevalence alone changes: recall does not
know how many positives there are. What is left of the way, from the reference to
today's point at the reference's ratio, is the model's own.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import htpy as h

from monitor.exporter.page.shapes import line, n
from monitor.exporter.page.words import Json, ratio

_SIZE, _LEFT, _RIGHT, _TOP, _BOTTOM = 420.0, 46.0, 14.0, 14.0, 46.0
_SIDE = _SIZE - _LEFT - _RIGHT
_LEVELS = (0.2, 0.4, 0.6, 0.8)
_STEPS = 60


class Iso(NamedTuple):
    """The family of curves along which a score stays the same.

    Attributes:
        beta: what weighs recall against precision.
        rho: -2 for F, -1 for the geometric mean; see `monitor.metrics.means.g`.
    """

    beta: float = 1.0
    rho: float = -2.0

    @property
    def name(self) -> str:
        """What the score is called."""
        if self.rho == -2:  # noqa: PLR2004  # F is that member of the family
            return f"F{self.beta:g}"
        return f"G (beta {self.beta:g}, rho {self.rho:g})"

    def precision(self, score: float, recall: float) -> float | None:
        """The precision that gives a score at a recall; None where none does.

        >>> round(Iso().precision(0.5, 0.5), 9), Iso().precision(0.8, 0.3)
        (0.5, None)
        """
        gamma = self.beta if self.rho == 0 else self.beta**self.rho
        power = self.rho + 1
        try:
            if power == 0:
                found = (score ** (1 + gamma) / recall) ** (1 / gamma)
            else:
                rest = (score**power * (1 + gamma) - recall**power) / gamma
                found = rest ** (1 / power) if rest > 0 else math.nan
        except (OverflowError, ZeroDivisionError):
            return None
        return found if 0 <= found <= 1 else None


def plane(diagnosis: Json, curve: Json | None, iso: Iso) -> h.Element | None:
    """The figure; None where precision or recall of a side is not known."""
    old, new = (_point(diagnosis[side]) for side in ("before", "after"))
    if old is None or new is None:
        return None
    stayed = diagnosis["precision_had_prevalence_stayed"]
    carried = None if stayed["estimate"] is None else (new[0], stayed["estimate"])
    return h.svg(
        ".plane", viewBox=f"0 0 {n(_SIZE)} {n(_SIZE)}", role="img", aria_labelledby="plane-title"
    )[
        h.title(id="plane-title")[_said(old, new, carried)],
        _axes(),
        _isos(iso),
        _curves(curve),
        _cross(diagnosis["before"], "before"),
        _cross(diagnosis["after"], "after"),
        _moves(old, new, carried),
        _marks(old, new, carried),
    ]


def _point(side: Json) -> tuple[float, float] | None:
    recall, precision = side["recall"]["estimate"], side["precision"]["estimate"]
    return None if recall is None or precision is None else (recall, precision)


def _said(
    old: tuple[float, float], new: tuple[float, float], carried: tuple[float, float] | None
) -> str:
    text = (
        f"Precision against recall. Before: precision {ratio(old[1])} at recall {ratio(old[0])}. "
        f"After: precision {ratio(new[1])} at recall {ratio(new[0])}."
    )
    if carried is None:
        return text
    return f"{text} After, at the class ratio of before: precision {ratio(carried[1])}."


def _x(recall: float) -> float:
    return _LEFT + _SIDE * recall


def _y(precision: float) -> float:
    return _TOP + _SIDE * (1 - precision)


def _axes() -> Iterator[h.Element]:
    for i in range(6):
        share = i / 5
        x, y = n(_x(share)), n(_y(share))
        yield h.line(".grid", x1=x, x2=x, y1=n(_y(0)), y2=n(_y(1)))
        yield h.line(".grid", x1=n(_x(0)), x2=n(_x(1)), y1=y, y2=y)
        yield h.text(".tick", x=x, y=n(_y(0) + 17), text_anchor="middle")[f"{share:g}"]
        yield h.text(".tick", x=n(_LEFT - 7), y=y, dy="4", text_anchor="end")[f"{share:g}"]
    yield h.text(".axis", x=n(_x(0.5)), y=n(_SIZE - 8), text_anchor="middle")["recall"]
    middle = n(_y(0.5))
    yield h.text(
        ".axis", x="12", y=middle, text_anchor="middle", transform=f"rotate(-90 12 {middle})"
    )["precision"]


def _isos(iso: Iso) -> Iterator[h.Element]:
    for level in _LEVELS:
        shares = [i / _STEPS for i in range(1, _STEPS + 1)]
        found = [(r, iso.precision(level, r)) for r in shares]
        yield h.path(".iso", d=line((_x(r), None if p is None else _y(p)) for r, p in found))
        right = [p for r, p in found if r == 1 and p is not None]
        if right:
            yield h.text(".iso-name", x=n(_x(1) - 3), y=n(_y(right[0]) - 3), text_anchor="end")[
                f"{iso.name} = {level:g}"
            ]


def _curves(curve: Json | None) -> Iterator[h.Element]:
    if curve is None or not curve["recall"]:
        return
    for name, kind in (("precision_at_reference", "before"), ("precision", "after")):
        if curve[name] is not None:
            places = zip(curve["recall"], curve[name], strict=True)
            drawn = [(_x(r), None if p is None else _y(p)) for r, p in places if r]
            yield h.path(f".pr.{kind}", d=line(drawn))
    choice = curve["choice"]
    if choice is not None and choice["threshold"] is not None:
        x, y = _x(choice["recall"]["estimate"]), _y(choice["precision"]["estimate"])
        yield h.path(".choice", d=f"M{n(x)} {n(y - 6)}l6 6-6 6-6-6Z")


def _cross(side: Json, kind: str) -> Iterator[h.Element]:
    """The intervals of a point, along both axes."""
    recall, precision = side["recall"], side["precision"]
    ends = [recall["lower"], recall["upper"], precision["lower"], precision["upper"]]
    if None in ends:
        return
    x, y = _x(recall["estimate"]), _y(precision["estimate"])
    yield h.path(
        f".cross.{kind}",
        d=f"M{n(_x(ends[0]))} {n(y)}H{n(_x(ends[1]))}M{n(x)} {n(_y(ends[2]))}V{n(_y(ends[3]))}",
    )


def _moves(
    old: tuple[float, float], new: tuple[float, float], carried: tuple[float, float] | None
) -> Iterator[h.Element]:
    if carried is None:
        return
    for kind, (start, end) in (
        ("prevalence", (carried, new)),
        ("skill", (old, carried)),
    ):
        yield h.path(f".move.{kind}", d=line([(_x(r), _y(p)) for r, p in (start, end)]))
        yield from _arrowhead(start, end, kind)


def _arrowhead(
    start: tuple[float, float], end: tuple[float, float], kind: str
) -> Iterator[h.Element]:
    x, y = _x(end[0]), _y(end[1])
    dx, dy = x - _x(start[0]), y - _y(start[1])
    length = math.hypot(dx, dy)
    if length < 18:  # noqa: PLR2004  # too short to show which way
        return
    ux, uy = dx / length, dy / length
    tip = (x - 8 * ux, y - 8 * uy)
    wings = [(tip[0] - 8 * ux - s * 4 * uy, tip[1] - 8 * uy + s * 4 * ux) for s in (1, -1)]
    yield h.path(f".arrow.{kind}", d=line([tip, *wings]) + "Z")


_MARKS: Sequence[tuple[str, Callable[[float, float], h.Element]]] = (
    ("before", lambda x, y: h.circle(".mark.before", cx=n(x), cy=n(y), r="6")),
    (
        "carried",
        lambda x, y: h.circle(".mark.carried", cx=n(x), cy=n(y), r="6"),
    ),
    (
        "after",
        lambda x, y: h.rect(".mark.after", x=n(x - 6), y=n(y - 6), width="12", height="12"),
    ),
)


def _marks(
    old: tuple[float, float], new: tuple[float, float], carried: tuple[float, float] | None
) -> Iterator[h.Element]:
    places = {"before": old, "carried": carried, "after": new}
    for name, draw in _MARKS:
        place = places[name]
        if place is not None:
            yield draw(_x(place[0]), _y(place[1]))
