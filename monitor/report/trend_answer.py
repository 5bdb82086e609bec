"""A trend over weeks in JSON answers, and in one sentence."""

from __future__ import annotations

from msgspec import Struct

from monitor.clock import DAY_MS
from monitor.config.quantities import format_time
from monitor.drift.trend import Shape, Trend, Weekly
from monitor.report.answer_parts import MetricInterval, Share, Time
from monitor.report.points import in_points


class TrendAnswer(Struct, frozen=True, kw_only=True):
    """A certain trend of the model's skill over weeks.

    Attributes:
        since: the day from which on it slides, or of the step.
        earliest: lower limit of its 95 % interval.
        latest: upper limit of its 95 % interval.
        shape: `slope`, or `step` at one moment; `unknown` where the days fit both.
        log_odds_ratio_per_week: change of the log odds ratio of recall and false-positive rate.
        recall_per_week: change of recall, a fraction of 1.
        false_positive_rate_per_week: change of the false-positive rate, a fraction of 1.
        p_value: of no trend, the search over days allowed for.
        text: the same in a sentence.
    """

    since: Time
    earliest: Time
    latest: Time
    shape: Shape
    log_odds_ratio_per_week: MetricInterval
    recall_per_week: MetricInterval
    false_positive_rate_per_week: MetricInterval
    p_value: Share
    text: str


def trend_answer(trend: Trend | None) -> TrendAnswer | None:
    """Return a trend as an object; None for none."""
    if trend is None:
        return None
    return TrendAnswer(
        since=_moment(trend.since),
        earliest=_moment(trend.earliest),
        latest=_moment(trend.latest),
        shape=trend.shape,
        log_odds_ratio_per_week=_interval(trend.odds_ratio),
        recall_per_week=_interval(trend.recall),
        false_positive_rate_per_week=_interval(trend.false_positive_rate),
        p_value=trend.p_value,
        text=trend_text(trend),
    )


def trend_text(trend: Trend) -> str:
    """Return a trend in a sentence, with the speed unless it was a step.

    Args:
        trend: a certain one.
    """
    days = [_day(day) for day in (trend.since, trend.earliest, trend.latest)]
    when = f"about {days[0]}" + (f" ({days[1]} to {days[2]})" if days[1] != days[2] else "")
    how = "worse" if trend.change < 0 else "better"
    if trend.shape == "step":
        return f"At one step, {when}, the model came to separate the classes {how}."
    speeds = (
        f"recall {_points(trend.recall)}, false-positive rate {_points(trend.false_positive_rate)}"
    )
    text = f"Since {when} the model separates the classes {how} every week, in points: {speeds}."
    return text if trend.shape == "slope" else f"{text} A step at one moment fits about as well."


def _points(weekly: Weekly) -> str:
    estimate, lower, upper = (f"{in_points(value):+.1f}" for value in weekly)
    return f"{estimate} ({lower} to {upper})"


def _day(number: float) -> str:
    return _moment(number)[: len("2026-10-03")]


def _moment(number: float) -> str:
    return format_time(round(number) * DAY_MS)


def _interval(weekly: Weekly) -> MetricInterval:
    return MetricInterval(estimate=weekly.estimate, lower=weekly.lower, upper=weekly.upper)
