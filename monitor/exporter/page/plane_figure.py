"""The plane of precision and recall: the points before, after, and after at the old class ratio.

A change of prevalence alone moves precision straight up or down, because recall does not
depend on the number of positives. The rest of the move, from the point before to the point
after at the old class ratio, is the effect of the model or its threshold.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence

import htpy as h

from monitor.exporter.api.curve_answer import CurveAnswer
from monitor.exporter.api.series_answer import Numbers
from monitor.exporter.page.chart_table import ChartRow, chart_table
from monitor.exporter.page.drawing import line, n
from monitor.exporter.page.formats import ratio
from monitor.exporter.page.iso_curves import IsoCurves
from monitor.exporter.page.unit_square import unit_square, x_of, y_of
from monitor.report.diagnosis_answer import ComparedSide, DiagnosisAnswer

_LEVELS = (0.2, 0.4, 0.6, 0.8)
_STEPS = 60


def plane_figure(
    diagnosis: DiagnosisAnswer, curve: CurveAnswer, iso: IsoCurves
) -> h.Element | None:
    """Return the figure; None where precision or recall of a side is not known.

    Args:
        diagnosis: of the two periods.
        curve: precision against recall of the later one.
        iso: the curves of equal score to draw.
    """
    old, new = _point(diagnosis.before), _point(diagnosis.after)
    if old is None or new is None:
        return None
    stayed = diagnosis.precision_had_prevalence_stayed.estimate
    carried = None if stayed is None else (new[0], stayed)
    return unit_square(
        "plane",
        _title(old, new, carried),
        ("recall", "precision"),
        [
            _isos(iso),
            _curves(curve),
            _cross(diagnosis.before, "before"),
            _cross(diagnosis.after, "after"),
            _moves(old, new, carried),
            _marks(old, new, carried),
        ],
    )


def plane_table(diagnosis: DiagnosisAnswer, curve: CurveAnswer) -> h.Element | None:
    """Return the values of the figure by recall; None where there is none.

    Args:
        diagnosis: of the two periods.
        curve: precision against recall of the later one.
    """
    old, new = _point(diagnosis.before), _point(diagnosis.after)
    if old is None or new is None:
        return None
    stayed = diagnosis.precision_had_prevalence_stayed.estimate
    rows = [
        ChartRow(old[0], f"before, recall {ratio(old[0])}", [ratio(old[1]), ratio(old[1])]),
        ChartRow(new[0], f"after, recall {ratio(new[0])}", [ratio(new[1]), ratio(stayed)]),
        *_thresholds(curve),
    ]
    heads = ["recall", "precision", "at the class ratio of before"]
    rows.sort(key=lambda row: row.at)
    return chart_table("plane", "The plane", heads, rows, "Precision by recall.")


def _thresholds(curve: CurveAnswer) -> Iterator[ChartRow]:
    """Yield the points of the curve, one for each hundredth of recall."""
    before = curve.precision_at_reference or (None,) * len(curve.recall)
    seen = set[int]()
    points = zip(curve.threshold, curve.recall, curve.precision, before, strict=True)
    for threshold, recall, precision, at_reference in points:
        if threshold is None or not recall or (place := round(100 * recall)) in seen:
            continue
        seen.add(place)
        title = f"from a score of {threshold:g}, recall {ratio(recall)}"
        yield ChartRow(recall, title, [ratio(precision), ratio(at_reference)])


def _point(side: ComparedSide) -> tuple[float, float] | None:
    recall, precision = side.recall.estimate, side.precision.estimate
    return None if recall is None or precision is None else (recall, precision)


def _title(
    old: tuple[float, float], new: tuple[float, float], carried: tuple[float, float] | None
) -> str:
    text = (
        f"Precision against recall. Before: precision {ratio(old[1])} at recall {ratio(old[0])}. "
        f"After: precision {ratio(new[1])} at recall {ratio(new[0])}."
    )
    if carried is None:
        return text
    return f"{text} After, at the class ratio of before: precision {ratio(carried[1])}."


def _isos(iso: IsoCurves) -> Iterator[h.Element]:
    for level in _LEVELS:
        shares = [i / _STEPS for i in range(1, _STEPS + 1)]
        found = [(r, iso.precision(level, r)) for r in shares]
        yield h.path(".iso", d=line((x_of(r), None if p is None else y_of(p)) for r, p in found))
        right = [p for r, p in found if r == 1 and p is not None]
        if right:
            yield h.text(".iso-name", x=n(x_of(1) - 3), y=n(y_of(right[0]) - 3), text_anchor="end")[
                f"{iso.name} = {level:g}"
            ]


def _curves(curve: CurveAnswer) -> Iterator[h.Element]:
    if not curve.recall:
        return
    if curve.precision_at_reference is not None:
        yield _curve(curve.recall, curve.precision_at_reference, "before")
    yield _curve(curve.recall, curve.precision, "after")
    choice = curve.choice
    if choice is None or choice.threshold is None:
        return
    if choice.recall.estimate is None or choice.precision.estimate is None:
        return
    x, y = x_of(choice.recall.estimate), y_of(choice.precision.estimate)
    yield h.path(".choice", d=f"M{n(x)} {n(y - 6)}l6 6-6 6-6-6Z")


def _curve(recall: Numbers, precision: Numbers, kind: str) -> h.Element:
    points = zip(recall, precision, strict=True)
    drawn = [(x_of(r), None if p is None else y_of(p)) for r, p in points if r]
    return h.path(f".pr.{kind}", d=line(drawn))


def _cross(side: ComparedSide, kind: str) -> Iterator[h.Element]:
    """Draw the intervals of a point, along both axes."""
    recall, precision = side.recall, side.precision
    point = _point(side)
    if point is None or recall.lower is None or recall.upper is None:
        return
    if precision.lower is None or precision.upper is None:
        return
    x, y = x_of(point[0]), y_of(point[1])
    left, right, lower, upper = (
        n(end)
        for end in (
            x_of(recall.lower),
            x_of(recall.upper),
            y_of(precision.lower),
            y_of(precision.upper),
        )
    )
    yield h.path(f".cross.{kind}", d=f"M{left} {n(y)}H{right}M{n(x)} {lower}V{upper}")


def _moves(
    old: tuple[float, float], new: tuple[float, float], carried: tuple[float, float] | None
) -> Iterator[h.Element]:
    if carried is None:
        return
    for kind, (start, end) in (
        ("prevalence", (carried, new)),
        ("skill", (old, carried)),
    ):
        yield h.path(f".move.{kind}", d=line([(x_of(r), y_of(p)) for r, p in (start, end)]))
        yield from _arrowhead(start, end, kind)


def _arrowhead(
    start: tuple[float, float], end: tuple[float, float], kind: str
) -> Iterator[h.Element]:
    x, y = x_of(end[0]), y_of(end[1])
    dx, dy = x - x_of(start[0]), y - y_of(start[1])
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
            yield draw(x_of(place[0]), y_of(place[1]))
