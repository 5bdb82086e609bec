"""Short periods: hours share the weather of their day, which the days of before tell."""

import numpy as np
import pytest

from monitor.diagnosis import Period, diagnose
from monitor.drift import Verdict
from monitor.events.columns import Series

HOUR = 3_600_000
DAY = 24 * HOUR
TOTALS = Series("m")


class Hours:
    """What was counted, by hours: (hours, 4)."""

    def __init__(self, cells):
        self._cells = np.concatenate([cells, cells[:, :2].sum(1, keepdims=True)], axis=1)
        self._cells = np.concatenate([self._cells, cells[:, 2:].sum(1, keepdims=True)], axis=1)

    def series(self, _model):
        return (TOTALS,)

    def blocks(self, _series, _opens, _closes, block_ms):
        starts = np.arange(0, len(self._cells), block_ms // HOUR)
        return np.add.reduceat(self._cells, starts, axis=0)

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


def test_days_that_scatter_are_no_shift_of_prevalence():
    share, found = changes_said(scatter=0.5)
    assert share <= 0.1
    assert any("widened by the scatter of the 14 days of before" in note for note in found.notes)


def test_a_reference_of_few_days_says_that_it_cannot_know():
    share, found = changes_said(scatter=0.5, days=3)
    assert share > 0.2
    assert any("leave out the scatter between days" in note for note in found.notes)


@pytest.mark.parametrize("days", [3, 14])
def test_steady_days_widen_nothing(days):
    cells = stormy(np.random.default_rng(2), days, 0.0)
    period = Period.counted(Hours(cells), "m", 0, days * DAY)
    assert float(period.scatter.class_ratio) == 1.0
    assert period.days_known == (days > 4)
