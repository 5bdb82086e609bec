"""Estimates of a window ahead of its labels, as a part of the status."""

from __future__ import annotations

from monitor.config.quantities import format_time
from monitor.drift.checked_estimate import CheckedEstimate, WindowEstimates
from monitor.exporter.api.window_answer import EstimatedRate, WindowNowcast
from monitor.report.answer_parts import defined
from monitor.report.estimate_words import rests_on


def window_nowcast(found: WindowEstimates) -> WindowNowcast:
    """Return prevalence and precision of a window ahead of its labels.

    Args:
        found: the estimates.
    """
    return WindowNowcast(
        prevalence=_estimated(found.prevalence),
        precision=_estimated(found.precision),
        close=format_time(found.close),
    )


def _estimated(found: CheckedEstimate) -> EstimatedRate:
    return EstimatedRate(
        estimate=defined(found.estimate),
        lower=defined(found.lower),
        upper=defined(found.upper),
        method=found.method,
        weight=found.weight,
        comparisons=found.comparisons,
        days=found.days,
        median_error=defined(found.median_error),
        withheld=found.withheld,
        rests_on=rests_on(found),
    )
