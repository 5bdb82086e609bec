"""Marks on the chart over time: periods, deployments, changes, detections, the cursor."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import htpy as h
from msgspec import UnsetType

from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.api.status_answer import DetectionMark
from monitor.exporter.page.drawing import n
from monitor.exporter.page.formats import moment, time_of
from monitor.report.diagnosis_answer import ComparedSide
from monitor.report.printable import one_line

LEFT, RIGHT, TOP = 44.0, 12.0, 22.0
"""Room beside and above the panels of a chart."""
SIDES = ("before", "after")
_LONGEST_VERSION = 14
_LETTER = 6.5
"""Width of a letter of a name, roughly."""


class ChartFrame(NamedTuple):
    """Size of a chart and the range of its time axis.

    Attributes:
        width: of the whole.
        bottom: lower edge of the lowest panel.
        first: left end of the time axis, epoch seconds.
        last: right end.
    """

    width: float
    bottom: float
    first: float
    last: float

    def x(self, seconds: float) -> float:
        """Return the place of a time, epoch seconds."""
        inside = self.width - LEFT - RIGHT
        return LEFT + inside * (seconds - self.first) / (self.last - self.first)

    def place(self, text: str) -> float | None:
        """Return the place of a time of the API; None where it lies outside."""
        at = time_of(text).timestamp()
        return self.x(at) if self.first <= at <= self.last else None


def chosen_bands(frame: ChartFrame, chosen: Sequence[ComparedSide]) -> Iterator[h.Element]:
    """Yield the band and the name of each period.

    Args:
        frame: of the chart.
        chosen: the periods, before and after.
    """
    for side, kind in zip(chosen, SIDES, strict=False):
        if side.open is None or side.close is None:
            continue
        left, right = (
            frame.x(min(max(time_of(end).timestamp(), frame.first), frame.last))
            for end in (side.open, side.close)
        )
        yield _band(f".chosen.{kind}", frame, left, max(right - left, 1.0))
        yield h.text(f".chosen-name.{kind}", x=n(left), y=n(TOP - 8))[kind]


def brushes(frame: ChartFrame) -> Iterator[h.Element]:
    """Yield the bands that follow the pointer, one for each period; empty at first."""
    for kind in SIDES:
        yield _band(f".brush.{kind}", frame, 0.0, 0.0)


def immature_band(series: SeriesAnswer, frame: ChartFrame) -> h.Node:
    """Return the band of the time whose labels are still to come; None without one.

    Args:
        series: the model over time.
        frame: of the chart.
    """
    if series.mature_until is None:
        return None
    until = min(max(time_of(series.mature_until).timestamp(), frame.first), frame.last)
    left, right = frame.x(until), frame.width - RIGHT
    return None if right - left < 1 else _band(".immature", frame, left, right - left)


def deployments(series: SeriesAnswer, frame: ChartFrame) -> Iterator[h.Element]:
    """Yield a line at the first prediction of each version, except the model's first.

    The first version has one, too, where predictions without a version fill an earlier step of
    the series. Names that would overlap are left out; each line has its name as a title.

    Args:
        series: the model over time.
        frame: of the chart.
    """
    free = LEFT
    marked, second_step = series.versions, series.open[1:2]
    if not second_step or not marked or marked[0].first_prediction < second_step[0]:
        marked = marked[1:]
    for found in marked:
        x = frame.place(found.first_prediction)
        if x is None:
            continue
        name = one_line(found.version)
        yield h.g(".deployment")[
            h.title[f"{moment(found.first_prediction)}: version {name}"],
            h.line(x1=n(x), x2=n(x), y1=n(TOP), y2=n(frame.bottom)),
        ]
        shown = name if len(name) <= _LONGEST_VERSION else f"{name[: _LONGEST_VERSION - 1]}…"
        if x >= free:
            end = x + _LETTER * len(shown) > frame.width
            yield h.text(
                ".deployment-name",
                x=n(x - 4 if end else x + 4),
                y=n(TOP + 12),
                text_anchor="end" if end else "start",
            )[shown]
            free = x + _LETTER * len(shown) + 8


def change(series: SeriesAnswer, frame: ChartFrame) -> h.Node:
    """Return a line where recall or false positives changed; None where nothing says so.

    Args:
        series: the model over time.
        frame: of the chart.
    """
    x = None if series.changed is None else frame.place(series.changed)
    if x is None:
        return None
    return h.g(".change")[
        h.title[f"{moment(series.changed)}: recall or false positives changed"],
        h.line(x1=n(x), x2=n(x), y1=n(TOP), y2=n(frame.bottom)),
    ]


def detections(series: SeriesAnswer, frame: ChartFrame) -> Iterator[h.Element]:
    """Yield a line and a sign at each detection.

    Args:
        series: the model over time.
        frame: of the chart.
    """
    for found in series.detections:
        x, degraded = frame.place(found.at), found.kind == "model_degraded"
        if x is None:
            continue
        kind = "bad" if degraded else "world"
        down = f"M{n(x - 6)} {n(frame.bottom - 12)}h12l-6 10Z"
        diamond = f"M{n(x)} {n(frame.bottom - 13)}l6 6-6 6-6-6Z"
        yield h.line(f".detection.{kind}", x1=n(x), x2=n(x), y1=n(TOP), y2=n(frame.bottom))
        yield h.path(f".detection-sign.{kind}", d=down if degraded else diamond)[
            h.title[f"{moment(found.at)}: {found.kind.replace('_', ' ')}{_of_class(found)}"]
        ]


def _of_class(found: DetectionMark) -> str:
    return "" if isinstance(found.class_, UnsetType) else f" of {one_line(found.class_)}"


def _band(kind: str, frame: ChartFrame, left: float, width: float) -> h.Element:
    return h.rect(kind, x=n(left), y=n(TOP), width=n(width), height=n(frame.bottom - TOP))
