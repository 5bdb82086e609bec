"""The chart of precision over time, with the class ratio and the share of flagged cases below.

It is drawn twice, for a wide and for a narrow screen, since text in a shrunk picture
cannot be read. Whatever a pointer can select in it, the form below it takes as text.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

import htpy as h

from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.exporter.page.chart_marks import (
    LEFT,
    RIGHT,
    TOP,
    ChartFrame,
    brushes,
    change,
    chosen_bands,
    deployments,
    detections,
    immature_band,
)
from monitor.exporter.page.drawing import band, line, n, ticks
from monitor.exporter.page.formats import moment, time_of
from monitor.report.diagnosis_answer import ComparedSide

_GAP, _BELOW = 30.0, 26.0
_MONTHS_A_LABEL = (1, 2, 3, 6, 12, 24, 60)


class _Size(NamedTuple):
    """Size of the chart: its width, and the heights of its panels from above."""

    width: float
    metrics: float
    ratio: float
    flagged: float


_WIDE, _NARROW = _Size(960.0, 210.0, 110.0, 60.0), _Size(380.0, 180.0, 100.0, 60.0)
_Draw = Callable[[SeriesAnswer, ChartFrame, Sequence[float], float, float], Iterator[h.Node]]
"""Draws one panel: series, frame, places of the steps, upper edge, height."""


class Panel(NamedTuple):
    """One of the two panels and its scale.

    Attributes:
        top: upper edge.
        height: of the panel.
        low: value at the lower edge.
        high: value at the upper edge.
    """

    top: float
    height: float
    low: float
    high: float

    def y(self, value: float | None) -> float | None:
        """Return the place of a value, at the edge where it lies outside; None if not known."""
        if value is None or not math.isfinite(value):
            return None
        share = (value - self.low) / (self.high - self.low)
        return self.top + self.height * (1 - min(max(share, 0.0), 1.0))


def timelines(
    series: SeriesAnswer, chosen: Sequence[ComparedSide], *, pooled: bool = False
) -> h.Node:
    """Return the chart for wide and for narrow screens.

    Args:
        series: the model over time.
        chosen: the periods to mark, before and after; none where nothing is compared.
        pooled: the model has more than two classes: precision over all of them is accuracy.
    """
    if len(series.open) < 2:  # noqa: PLR2004  # a line has two ends
        return h.p(".muted")["There is not enough history for a chart yet."]
    return [
        h.div(".wide")[_drawing("wide", series, chosen, _WIDE, pooled=pooled)],
        h.div(".narrow")[_drawing("narrow", series, chosen, _NARROW, pooled=pooled)],
    ]


def _drawing(
    name: str, series: SeriesAnswer, chosen: Sequence[ComparedSide], size: _Size, *, pooled: bool
) -> h.Element:
    step = series.step_seconds
    starts = [time_of(text).timestamp() for text in series.open]
    panels = [(_metrics, size.metrics)] if pooled else list(_panels(series, size))
    bottom = TOP + sum(height for _, height in panels) + _GAP * (len(panels) - 1)
    frame = ChartFrame(size.width, bottom, starts[0], starts[-1] + step)
    middles = [frame.x(start + step / 2) for start in starts]
    drawn, top = [], TOP
    for draw, height in panels:
        drawn.append(draw(series, frame, middles, top, height))
        top += height + _GAP
    title = f"timeline-title-{name}"
    return h.svg(
        f"#timeline-{name}.timeline.readable",
        {
            "data-table": "timeline",
            "data-from": str(round(frame.first)),
            "data-to": str(round(frame.last)),
            "data-left": n(LEFT),
            "data-right": n(size.width - RIGHT),
            "data-step": str(min(step, 86_400)),
        },
        viewBox=f"0 0 {n(size.width)} {n(bottom + _BELOW)}",
        role="img",
        aria_labelledby=title,
    )[
        h.title(id=title)[
            f"{'Accuracy' if pooled else _title(len(panels))}, {moment(series.open[0])} to "
            f"{moment(series.open[-1])}. "
            "The same numbers are in the table below."
        ],
        chosen_bands(frame, chosen),
        _time_axis(frame),
        drawn,
        immature_band(series, frame),
        deployments(series, frame),
        change(series, frame),
        detections(series, frame),
        brushes(frame),
        h.line(".cursor", x1="0", x2="0", y1=n(TOP), y2=n(bottom), visibility="hidden"),
    ]


def _panels(series: SeriesAnswer, size: _Size) -> Iterator[tuple[_Draw, float]]:
    """Yield the panels for which there are numbers, each with its height, from above."""
    if any(value is not None for value in series.metrics.precision.estimate):
        yield _metrics, size.metrics
    ratios = (*series.metrics.class_ratio.estimate, *series.class_ratio_from_predictions)
    if any(value is not None for value in ratios):
        yield _ratios, size.ratio
    yield _flagged, size.flagged


_WITHOUT_RATIOS = 2
"""Panels where precision alone is known of what needs labels."""


def _title(panels: int) -> str:
    if panels == 1:
        return "The share of flagged cases"
    if panels == _WITHOUT_RATIOS:
        return "Precision above, the share of flagged cases below"
    return (
        "Precision and balanced precision above, the class ratio and the share of flagged cases "
        "below"
    )


def _metrics(
    series: SeriesAnswer, frame: ChartFrame, xs: Sequence[float], top: float, height: float
) -> Iterator[h.Node]:
    metrics = {
        "precision": series.metrics.precision,
        "balanced_precision": series.metrics.balanced_precision,
    }
    known = [v for metric in metrics.values() for v in metric.estimate if v is not None]
    low, high = (min(known), max(known)) if known else (0.0, 1.0)
    room = max((high - low) * 0.15, 0.02)
    panel = Panel(top, height, max(low - room, 0.0), min(high + room, 1.0))
    yield _value_axis(frame, panel, ticks(panel.low, panel.high), "{:g}".format)
    for name, metric in metrics.items():
        lower, upper = ([panel.y(v) for v in ends] for ends in (metric.lower, metric.upper))
        yield h.path(f".band.{name}", d=band(xs, lower, upper))
    for name, metric in metrics.items():
        places = zip(xs, map(panel.y, metric.estimate), strict=True)
        yield h.path(f".line.{name}", d=line(places))


def _flagged(
    series: SeriesAnswer, frame: ChartFrame, xs: Sequence[float], top: float, height: float
) -> Iterator[h.Node]:
    """Draw the share of flagged cases, which needs no labels."""
    pairs = zip(series.predicted_positive, series.predictions, strict=True)
    shares = [positive / made if made > 0 else None for positive, made in pairs]
    high = max((share for share in shares if share is not None), default=0.0)
    panel = Panel(top, height, 0.0, min(1.0, 1.2 * high or 1.0))
    yield _value_axis(frame, panel, ticks(panel.low, panel.high, 3), "{:g}".format)
    yield h.text(".panel-name", x=n(LEFT), y=n(top - 8))["flagged cases, share of the predictions"]
    places = zip(xs, map(panel.y, shares), strict=True)
    yield h.path(".line.flagged", d=line(places))


def _ratios(
    series: SeriesAnswer, frame: ChartFrame, xs: Sequence[float], top: float, height: float
) -> Iterator[h.Node]:
    """Draw the class ratio on a log scale, from labels and from predictions."""
    labelled = [_log(v) for v in series.metrics.class_ratio.estimate]
    estimated = [_log(v) for v in series.class_ratio_from_predictions]
    low, high = _shown(
        [v for v in labelled if v is not None], [v for v in estimated if v is not None]
    )
    estimated = [None if v is None or not low <= v <= high else v for v in estimated]
    room = max((high - low) * 0.25, 0.15)
    panel = Panel(top, height, low - room, high + room)
    yield _value_axis(
        frame, panel, _log_ticks(panel), lambda v: f"{10**v:.3g}".removeprefix("0") or "0"
    )
    yield h.text(".panel-name", x=n(LEFT), y=n(panel.top - 8))[
        "class ratio, positives per negative (log scale)"
    ]
    for values, kind in ((estimated, "estimated"), (labelled, "prevalence")):
        places = zip(xs, map(panel.y, values), strict=True)
        yield h.path(f".line.{kind}", d=line(places))


def _shown(labelled: Sequence[float], estimated: Sequence[float]) -> tuple[float, float]:
    """Return the ends of the log scale: estimates show within a decade of the labelled ratios.

    The line of estimates breaks where they lie farther out.
    """
    if not labelled:
        return (min(estimated), max(estimated)) if estimated else (-1.0, 0.0)
    near = [v for v in estimated if min(labelled) - 1 <= v <= max(labelled) + 1]
    return min([*labelled, *near]), max([*labelled, *near])


def _log(value: float | None) -> float | None:
    return math.log10(value) if value is not None and value > 0 else None


def _log_ticks(panel: Panel) -> list[float]:
    """Return 1, 2 and 5 of each decade, fewer where there are many."""
    decades = range(math.floor(panel.low), math.ceil(panel.high) + 1)
    inside: list[float] = []
    for digits in ((1, 2, 5), (1, 3), (1,)):
        found = [d + math.log10(m) for d in decades for m in digits]
        inside = [value for value in found if panel.low <= value <= panel.high]
        if len(inside) <= 6:  # noqa: PLR2004  # more stand too close
            break
    return inside


def _value_axis(
    frame: ChartFrame, panel: Panel, values: Sequence[float], label: Callable[[float], str]
) -> Iterator[h.Element]:
    for value in values:
        y = n(panel.y(value) or 0.0)
        yield h.line(".grid", x1=n(LEFT), x2=n(frame.width - RIGHT), y1=y, y2=y)
        yield h.text(".tick", x=n(LEFT - 6), y=y, dy="4", text_anchor="end")[label(value)]


def _time_axis(frame: ChartFrame) -> Iterator[h.Element]:
    for at, label in _moments(frame):
        x = frame.x(at)
        yield h.line(".grid", x1=n(x), x2=n(x), y1=n(TOP), y2=n(frame.bottom))
        edge = x > frame.width - RIGHT - 24
        yield h.text(
            ".tick", x=n(x), y=n(frame.bottom + 17), text_anchor="end" if edge else "middle"
        )[label]


def _moments(frame: ChartFrame) -> list[tuple[float, str]]:
    """Return the labels of the time axis: months, days or hours, as space allows."""
    most = max(3, int(frame.width / 95))
    span = frame.last - frame.first
    first, last = (datetime.fromtimestamp(t, UTC) for t in (frame.first, frame.last))
    if span > 62 * 86_400:
        return _months(first, last, most)
    hours = next((s for s in (1, 3, 6, 12, 24, 48, 96, 168, 336) if span / 3600 / s <= most), 336)
    step = hours * 3600
    starts = range(math.ceil(frame.first / step) * step, int(frame.last) + 1, step)
    pattern = "%d %b" if hours >= 24 else "%d %b %H:%M"  # noqa: PLR2004  # a day
    return [(float(t), f"{datetime.fromtimestamp(t, UTC):{pattern}}".lstrip("0")) for t in starts]


def _months(first: datetime, last: datetime, most: int) -> list[tuple[float, str]]:
    months = (last.year - first.year) * 12 + last.month - first.month
    every = next((k for k in _MONTHS_A_LABEL if months / k <= most), 120)
    found = []
    for number in range(first.year * 12, last.year * 12 + 12, every):
        start = datetime(number // 12, number % 12 + 1, 1, tzinfo=UTC)
        if first - timedelta(days=1) <= start <= last:
            label = f"{start:%Y}" if every >= 12 else f"{start:%b}"  # noqa: PLR2004  # a year
            label = f"{start:%b %Y}" if start.month == 1 and every < 12 else label  # noqa: PLR2004
            found.append((max(start, first).timestamp(), label))
    return found
