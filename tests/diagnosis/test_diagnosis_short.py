"""Short periods: hours share the weather of their day, which the days of before tell."""

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.diagnosis.model_scatter import ModelScatter, ScatterDays
from monitor.diagnosis.periods import Errors
from monitor.drift import Verdict
from monitor.drift.day_scatter import UNDATED_DAYS, DayScatter
from monitor.events.columns import Series

HOUR = 3_600_000
DAY = 24 * HOUR
TOTALS = Series("m")


class Hours:
    """Counts by the hour, (hours, 4)."""

    def __init__(self, cells):
        self._cells = np.concatenate([cells, cells[:, :2].sum(1, keepdims=True)], axis=1)
        self._cells = np.concatenate([self._cells, cells[:, 2:].sum(1, keepdims=True)], axis=1)

    def series(self, _model):
        return (TOTALS,)

    def blocks(self, _series, _opens, _closes, block_ms):
        starts = np.arange(0, len(self._cells), block_ms // HOUR)
        return np.add.reduceat(self._cells, starts, axis=0)

    def starts(self, opens, closes, block_ms):
        return np.arange(opens, closes, block_ms)

    def weights(self, series, opens, closes, block_ms):
        return np.zeros((len(self.blocks(series, opens, closes, block_ms)), 8), dtype=np.int64)


def stormy(rng, days, scatter):
    """Two hundred outcomes an hour; every day has its own prevalence."""
    prevalence = np.repeat(1 / (1 + np.exp(2 - scatter * rng.normal(size=days))), 24)
    positive = rng.binomial(200, prevalence)
    tp, fp = rng.binomial(positive, 0.8), rng.binomial(200 - positive, 0.05)
    return np.stack([tp, fp, positive - tp, 200 - positive - fp], axis=1)


def changes_said(scatter, days=14):
    rng = np.random.default_rng(1)
    reported = []
    for _ in range(40):
        before, after = (
            Period.counted(Hours(stormy(rng, n, scatter)), "m", 0, n * DAY) for n in (days, 3)
        )
        reported.append(diagnose(before, after))
    silent = (Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE)
    return np.mean([found.verdict not in silent for found in reported]), reported[0]


@pytest.mark.parametrize("days", [3, 14])
def test_days_that_scatter_are_no_shift_of_prevalence(days):
    share, found = changes_said(scatter=0.5, days=days)
    assert share <= 0.1
    few = [note for note in found.notes if "mostly assumed" in note]
    assert bool(few) == (days < 5)


def test_hours_carry_the_deviation_of_their_whole_day():
    """Three days of two hundred outcomes an hour know recall no better than three days do."""
    cells = stormy(np.random.default_rng(2), 28, 0.0)
    before = Period.counted(Hours(cells), "m", 0, 28 * DAY)
    after = Period.counted(Hours(cells[:72]), "m", 0, 3 * DAY)
    found = diagnose(before, after)
    day = Errors.of(before, after, None).scatter.variance[1]
    assert found.judgement.standard_error["recall"] ** 2 > day / 3 > 0


def test_scatter_that_a_monitor_has_learned_is_used():
    cells = stormy(np.random.default_rng(2), 14, 0.0)
    period = Period.counted(Hours(cells), "m", 0, 14 * DAY)
    stormy_days = [ConfusionCounts(tp=[90, 60] * 14, fn=[10, 40] * 14, fp=50, tn=850)]
    own, learned = (
        diagnose(period, period, scatter=scatter).judgement.standard_error["recall"]
        for scatter in (None, ModelScatter(DayScatter.learn(stormy_days), ScatterDays("days")))
    )
    assert learned > 1.5 * own


def test_counts_without_a_time_have_no_scatter_of_days():
    given = Period.given(ConfusionCounts(tp=80, fp=45, fn=20, tn=855))
    assert Errors.of(given, given, None).between is None
    assert given.days_behind == UNDATED_DAYS
