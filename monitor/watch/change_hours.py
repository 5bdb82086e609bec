"""The hour in which the rates of a model changed."""

from __future__ import annotations

from monitor.clock import DAY_MS, HOUR_MS
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.change_news import ChangeBegan
from monitor.drift.change_point import change_point
from monitor.drift.dispersion import Dispersion
from monitor.drift.trend import Trend
from monitor.watch.judging import Judge
from monitor.watch.model_watch import ModelWatch
from monitor.windows.history import History


def when_rates_changed(
    history: History, before: ConfusionCounts, hours: tuple[int, int], dispersion: Dispersion
) -> ChangeBegan | None:
    """Return when the rates changed within whole hours.

    Args:
        history: totals of a model by hour.
        before: outcomes from before these hours, a scalar.
        hours: end of `before`, 0 where no time is known of it, and end of the last hour, epoch
            milliseconds.
        dispersion: variance of rows over that of independent ones.

    Returns:
        None without an outcome, and where outcomes without a time are compared with hours that
        may differ from the first one on: no moment of a change is known then.
    """
    opens, cells = history
    outcomes = cells[:, : len(Outcome)]
    judged = (opens >= hours[0]) & (opens + HOUR_MS <= hours[1])
    opens = opens[judged]
    found = change_point(
        ConfusionCounts.from_cells(outcomes[judged]),
        before,
        recall_dispersion=float(dispersion.recall),
        false_positive_dispersion=float(dispersion.false_positive_rate),
    )
    if found is None or not (found.earliest or hours[0]):
        return None
    return ChangeBegan.in_steps(found, opens, HOUR_MS)


def before_change(
    watching: ModelWatch, trend: Trend | None, *, degraded: bool
) -> Judge | ChangeBegan:
    """Return the judge against what came before a change of the rates, or when it began.

    A slope began with the trend. Where the model degraded, the change follows the level; without a
    trend it follows what windows are compared with. A step for the better follows the one of both
    that closed before it: the level is renewed after an improvement. Where neither did, it
    began with the trend.

    Args:
        watching: of the model.
        trend: of its skill; None without a certain one.
        degraded: it pages, or a window says that it became worse.
    """
    if trend is None:
        return watching.level if degraded else watching.judge
    if trend.shape != "slope":
        if degraded:
            return watching.level
        for one in (watching.level, watching.judge):
            if (one.reference.closes or 0) <= round(trend.since) * DAY_MS:
                return one
    days = (round(day) * DAY_MS for day in (trend.since, trend.earliest, trend.latest))
    return ChangeBegan(*days)
