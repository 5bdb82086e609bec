"""From the precision of before to that of after, a step for each cause; a table that draws."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import htpy as h

from monitor.exporter.page.shapes import n
from monitor.exporter.page.words import CAUSES, Json, interval, points, ratio


class _Scale(NamedTuple):
    low: float
    high: float

    def at(self, value: float) -> float:
        """Place of a precision, in percent of the width."""
        return 100 * (value - self.low) / (self.high - self.low)


def waterfall(diagnosis: Json) -> h.Element | None:
    """The steps as rows of a table; None where precision or a cause is not known."""
    before, after = (diagnosis[side]["precision"] for side in ("before", "after"))
    parts = diagnosis["attribution"]
    known = [before["estimate"], after["estimate"], *(parts[c]["points"] for c in CAUSES)]
    if any(value is None for value in known):
        return None
    scale = _scale(diagnosis)
    return h.table(".waterfall")[
        h.caption["What moved precision, in points; bars with their 95 % intervals."],
        h.thead[
            h.tr[
                h.th(scope="col")["Cause"],
                h.th(".figure", scope="col")[h.span(".unseen")["Picture"]],
                h.th(".number", scope="col")["Points"],
                h.th(scope="col")["What is known"],
            ]
        ],
        h.tbody[
            _end("Precision before", before, scale, "before"),
            _steps(diagnosis, scale),
            _end("Precision after", after, scale, "after"),
        ],
    ]


def _scale(diagnosis: Json) -> _Scale:
    """From nothing to a little beyond the farthest that any bar or whisker reaches."""
    start, reached = diagnosis["before"]["precision"]["estimate"], []
    for cause in CAUSES:
        part = diagnosis["attribution"][cause]
        reached += [start + (part[end] or 0.0) for end in ("points", "lower_points")]
        reached += [start + (part["upper_points"] or 0.0), start]
        start += part["points"]
    ends = [diagnosis[side]["precision"][end] for side in ("before", "after") for end in _ENDS]
    reached += [end for end in ends if end is not None]
    return _Scale(min(0.0, *reached), max(reached) * 1.02 or 1.0)


_ENDS = ("estimate", "lower", "upper")


def _end(title: str, metric: Json, scale: _Scale, kind: str) -> h.Element:
    bar = h.rect(f".{kind}", x="0", y="3", width=n(scale.at(metric["estimate"])), height="14")
    return h.tr(f".end.{kind}")[
        h.th(scope="row")[title],
        h.td(".figure")[_svg(bar, _whisker(metric["lower"], metric["upper"], scale))],
        h.td(".number")[h.strong[ratio(metric["estimate"])]],
        h.td[h.small[interval(metric)]],
    ]


def _steps(diagnosis: Json, scale: _Scale) -> Iterator[h.Element]:
    level = diagnosis["before"]["precision"]["estimate"]
    for cause, (title, meaning) in CAUSES.items():
        part = diagnosis["attribution"][cause]
        reached = level + part["points"]
        low, high = sorted((level, reached))
        bar = h.rect(
            f".cause.{cause}",
            x=n(scale.at(low)),
            y="3",
            width=n(max(scale.at(high) - scale.at(low), 0.4)),
            height="14",
        )
        ends = [part["lower_points"], part["upper_points"]]
        low, high = (None if end is None else level + end for end in ends)
        whisker = _whisker(low, high, scale)
        yield h.tr[
            h.th(scope="row")[title, h.small[meaning]],
            h.td(".figure")[_svg(_line(level, scale), bar, whisker)],
            h.td(".number")[
                h.strong[points(part["points"])],
                h.small[f"{points(ends[0])} to {points(ends[1])}" if None not in ends else ""],
            ],
            h.td[part["said"]],
        ]
        level = reached


def _svg(*shapes: h.Node) -> h.Element:
    return h.svg(".bars", viewBox="0 0 100 20", preserveAspectRatio="none", aria_hidden="true")[
        shapes
    ]


def _line(level: float, scale: _Scale) -> h.Element:
    at = n(scale.at(level))
    return h.line(".level", x1=at, x2=at, y1="0", y2="20")


def _whisker(low: float | None, high: float | None, scale: _Scale) -> h.Node:
    if low is None or high is None:
        return None
    return h.path(".whisker", d=f"M{n(scale.at(low))} 10H{n(scale.at(high))}")
