"""The objective of a metric beside its numbers."""

from __future__ import annotations

import htpy as h

from monitor.report.answer_parts import MetricInterval
from monitor.report.vocabulary import METRIC_WORDS


def objective_text(name: str, bound: float | None) -> str:
    """Return the objective of a metric; "" where it has none.

    Args:
        name: of the metric.
        bound: as configured; None for none.
    """
    if bound is None:
        return ""
    return f"Objective: {METRIC_WORDS[name].objective} {bound:g}."


def objective_mark(name: str, metric: MetricInterval, bound: float | None) -> h.Node:
    """Return whether a number meets the objective of its metric; None without one or a number.

    It is certain where the 95 % interval lies on one side of the bound.

    Args:
        name: of the metric.
        metric: the number with its interval.
        bound: as configured; None for none.
    """
    if bound is None or metric.estimate is None:
        return None
    sign = 1 if METRIC_WORDS[name].objective == "at least" else -1
    meets = sign * metric.estimate >= sign * bound
    ends = [end for end in (metric.lower, metric.upper) if end is not None]
    certain = len(ends) == 2 and all((sign * end >= sign * bound) == meets for end in ends)  # noqa: PLR2004  # both limits
    words = "meets the objective" if meets else "misses the objective"
    return h.small({"class": None if meets else "warn"})[
        words if certain else f"{words}, not certainly"
    ]
