"""The waterfall: from precision before to precision after, a step for each cause."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import htpy as h

from monitor.exporter.page.drawing import n
from monitor.exporter.page.formats import interval, points, ratio
from monitor.report.answer_parts import MetricInterval
from monitor.report.diagnosis_answer import DiagnosisAnswer, JudgedEffect
from monitor.report.vocabulary import ADDITIVE_CAUSES, CauseWords


class _Scale(NamedTuple):
    low: float
    high: float

    def at(self, value: float) -> float:
        """Return the place of a precision, in percent of the width."""
        return 100 * (value - self.low) / (self.high - self.low)


class _Step(NamedTuple):
    """The step of one cause, in precision: where it starts and ends, and the limits of its end."""

    cause: CauseWords
    effect: JudgedEffect
    start: float
    end: float
    lower: float | None
    upper: float | None


def waterfall(diagnosis: DiagnosisAnswer) -> h.Element | None:
    """Return the steps as rows of a table; None where precision or a cause is not known."""
    before, after = diagnosis.before.precision, diagnosis.after.precision
    steps = _steps(diagnosis)
    if steps is None or before.estimate is None or after.estimate is None:
        return None
    scale = _scale(before, after, steps)
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
            _end("Precision before", before, before.estimate, scale, "before"),
            (_row(step, scale) for step in steps),
            _end("Precision after", after, after.estimate, scale, "after"),
        ],
    ]


def _steps(diagnosis: DiagnosisAnswer) -> list[_Step] | None:
    """Return a step for each cause; None where one is not known."""
    start, steps = diagnosis.before.precision.estimate, []
    for cause in ADDITIVE_CAUSES.values():
        effect = diagnosis.attribution.of(cause.name)
        if start is None or effect.points is None:
            return None
        lower, upper = (
            None if limit is None else start + limit
            for limit in (effect.lower_points, effect.upper_points)
        )
        steps.append(_Step(cause, effect, start, start + effect.points, lower, upper))
        start += effect.points
    return steps


def _scale(before: MetricInterval, after: MetricInterval, steps: Sequence[_Step]) -> _Scale:
    """Return a scale from 0 to a little beyond the farthest bar or whisker."""
    ends = [end for m in (before, after) for end in (m.estimate, m.lower, m.upper)]
    ends += [end for step in steps for end in (step.start, step.end, step.lower, step.upper)]
    reached = [end for end in ends if end is not None]
    return _Scale(min(0.0, *reached), max(reached) * 1.02 or 1.0)


def _end(
    title: str, metric: MetricInterval, estimate: float, scale: _Scale, kind: str
) -> h.Element:
    bar = h.rect(f".{kind}", x="0", y="3", width=n(scale.at(estimate)), height="14")
    return h.tr(f".end.{kind}")[
        h.th(scope="row")[title],
        h.td(".figure")[_svg(bar, _whisker(metric.lower, metric.upper, scale))],
        h.td(".number")[h.strong[ratio(estimate)]],
        h.td[h.small[interval(metric)]],
    ]


def _row(step: _Step, scale: _Scale) -> h.Element:
    cause, effect = step.cause, step.effect
    low, high = sorted((step.start, step.end))
    bar = h.rect(
        f".cause.{cause.name}",
        x=n(scale.at(low)),
        y="3",
        width=n(max(scale.at(high) - scale.at(low), 0.4)),
        height="14",
    )
    limits = f"{points(effect.lower_points)} to {points(effect.upper_points)}"
    known = step.lower is not None and step.upper is not None
    return h.tr[
        h.th(scope="row")[cause.title, h.small[cause.meaning]],
        h.td(".figure")[
            _svg(_line(step.start, scale), bar, _whisker(step.lower, step.upper, scale))
        ],
        h.td(".number")[h.strong[points(effect.points)], h.small[limits if known else ""]],
        h.td[effect.said],
    ]


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
