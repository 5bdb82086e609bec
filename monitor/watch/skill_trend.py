"""The trend of one model since its level was set."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
from scipy.special import ndtri

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.component_changes import changes
from monitor.drift.components import Component
from monitor.drift.day_scatter import DayScatter
from monitor.drift.odds_ratio_within import log_odds_ratio_within
from monitor.drift.skill import Skill, skill, statuses
from monitor.drift.trend import CERTAIN, Trend, Weekly, find_trend
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.watch.cuts import Cuts
from monitor.watch.day_detection import places_by_key
from monitor.watch.model_days import RecentDays

MOST_DAYS = 364
"""Longest record that a trend is looked for in, days."""
_RECENT_DAYS, _LAST_DAYS = 28, 7
_LASTS = 0.5
"""Least share of the change of the recent days that the last of them show."""
_WEEKLY = ("odds_ratio", "recall", "false_positive_rate")


def trend_of(
    days: RecentDays,
    cuts: Cuts,
    regime: LabelRegime,
    scatter: DayScatter,
    *,
    certain: float = CERTAIN,
) -> Trend | None:
    """Return the trend of all outcomes, where it is certain within each segment key as well.

    Args:
        days: of the model since its level opened.
        cuts: its series by segment key, in the order of the days' series.
        regime: how labels come, and how often they are wrong.
        scatter: how days scatter.
        certain: p-value that a certain trend is below; less where several series of one model
            are looked at.

    Returns:
        None where no trend is certain, or a change of the mix by some key explains it.
    """
    if not len(days.numbers):
        return None
    cells, sampling = expected(regime, days.cells, days.weights, days.opens)
    outcomes: CountArray = cells

    def among(places: Int64Array) -> Trend | None:
        counts = ConfusionCounts.from_cells(outcomes[:, places])
        return find_trend(days.numbers, counts, scatter, sampling or 1.0, certain=certain)

    whole = among(np.array([0]))
    if whole is None:
        return None
    least = float(-ndtri(certain / 2))
    if not _is_in_odds_ratio(whole, days.numbers, outcomes[:, 0], scatter, least):
        return None
    if not cuts.segments:
        return whole
    within = [among(places) for places in places_by_key(cuts)]
    agree = all(one is not None and one.change * whole.change > 0 for one in within)
    return whole if agree else None


def _is_in_odds_ratio(
    trend: Trend, numbers: Int64Array, outcomes: CountArray, scatter: DayScatter, least: float
) -> bool:
    """Return whether the odds ratio itself certainly moved as the trend says, by `least` errors.

    A trend is fitted to deviations that are linear in the counts. Where a rate changes several
    times over, as after another threshold, these add up to a change that the odds ratio does
    not have. The last 28 days, or those since the change point, are compared with all before
    it, at least the first 28 days; both by the odds ratio within days, since a threshold that
    changes among them lowers that of their sum. Where the two rates say that the operating
    point moved along the curve, there is no trend of skill. There is none either where the last 7
    days show less than half of the change, by a standard error: the model fell and has recovered.
    """
    before = numbers < max(trend.since, numbers[0] + _RECENT_DAYS)
    recent = ~before & (numbers > numbers[-1] - _RECENT_DAYS)
    if not before.any() or not recent.any():
        return False
    last = recent & (numbers > numbers[-1] - _LAST_DAYS)
    days = [ConfusionCounts.from_cells(outcomes[part]) for part in (before, recent, last)]
    between = scatter.between(float(before.sum()), float(recent.sum()))
    found = changes(days[0].sum(), days[1].sum(), between=between)
    old, new, now = (log_odds_ratio_within(one) for one in days)
    found = found.within_days(float(new - old))
    latest = changes(days[0].sum(), days[2].sum(), between=between)
    error = latest.standard_error[Component.ODDS_RATIO]
    recovered = (now - old) * np.sign(trend.change) + error < _LASTS * abs(new - old)
    certain = found.z[Component.ODDS_RATIO] * np.sign(trend.change) > least
    return bool(certain and not recovered and skill(found, statuses(found)) != Skill.MOVED)


def trend_state(trend: Trend) -> State:
    """Return a trend as plain values."""
    state: State = asdict(trend)
    return {**state, **{name: list(state[name]) for name in _WEEKLY}}


def restored_trend(state: State | None) -> Trend | None:
    """Return the trend that `trend_state` returned as these values; None for None."""
    if state is None:
        return None
    weekly = {name: Weekly(*state[name]) for name in _WEEKLY}
    return Trend(**{**state, **weekly})
