"""Days before and after a change of the rates of wrong labels are each corrected for their own."""

import numpy as np
import pytest

from monitor.config import ReferenceCounts
from monitor.drift.components import Component
from monitor.drift.day_detector import day_threshold
from monitor.labels.error_ranges import LabelledBlocks, at_corners
from monitor.labels.regime import LabelRegime
from monitor.metrics.label_errors import EarlierErrors, ErrorRates
from monitor.watch.cuts import Cuts
from monitor.watch.day_detection import DayDetection
from monitor.watch.detection import AlarmLimits
from monitor.watch.model_days import LearnedScatter, RecentDays
from monitor.watch.reference import MatureReference
from monitor.watch.skill_trend import trend_of

DAY, DAYS, CHANGED, A_DAY = 86_400_000, 120, 60, 5_000
RECALL, FPR, PREVALENCE = 0.8, 0.02, 0.05
BEFORE, AFTER = ErrorRates(0.01, 0.05), ErrorRates(0.018, 0.05)
REGIME = LabelRegime(errors=AFTER, earlier=(EarlierErrors(CHANGED * DAY, BEFORE),))
AS_IF_ONE = LabelRegime(errors=AFTER)
CUTS = Cuts(0, ())
REFERENCE = MatureReference.given(ReferenceCounts(tp=8_000, fn=2_000, fp=3_800, tn=186_200))


@pytest.fixture(scope="module")
def days():
    """Labels are wrong more often from a day on; the model is as ever."""
    rng = np.random.default_rng(3)
    positive = rng.binomial(A_DAY, PREVALENCE, DAYS)
    rates = np.array([BEFORE if day < CHANGED else AFTER for day in range(DAYS)])
    tp, fp = rng.binomial(positive, RECALL), rng.binomial(A_DAY - positive, FPR)
    fn, tn = positive - tp, A_DAY - positive - fp
    lost = [rng.binomial(one, rates[:, 1]) for one in (tp, fn)]
    false = [rng.binomial(one, rates[:, 0]) for one in (fp, tn)]
    tp, fp = tp - lost[0] + false[0], fp - false[0] + lost[0]
    fn, tn = fn - lost[1] + false[1], tn - false[1] + lost[1]
    cells = np.stack([tp, fp, fn, tn, tp + fp, fn + tn], axis=-1)[:, None]
    return RecentDays(np.arange(DAYS), cells, np.zeros((DAYS, 1, 8), dtype=np.int64))


def learned(regime, days):
    scatter = LearnedScatter(REFERENCE, regime)
    scatter.learn(days)
    return scatter


def test_the_change_is_no_trend(days):
    scatter = learned(REGIME, days).scatter
    assert trend_of(days, CUTS, REGIME, scatter) is None
    assert trend_of(days, CUTS, AS_IF_ONE, scatter) is not None


def test_the_change_is_no_scatter_of_days(days):
    own, as_if_one = (learned(regime, days).scatter.variance for regime in (REGIME, AS_IF_ONE))
    assert own[Component.RECALL] < 0.5 * as_if_one[Component.RECALL]


def test_scatter_is_learned_from_days_at_the_rates_of_their_time(days):
    (stretch,) = learned(REGIME, days).state()["since"]
    for half in np.split(stretch, [CHANGED]):
        tp, _, fn, _ = half.sum(axis=0)
        assert tp / (tp + fn) == pytest.approx(RECALL, abs=0.02)


def test_a_day_before_the_change_is_no_evidence(days):
    """A detector that lags behind the audits steps over days at the rates of their time."""
    scatter = learned(REGIME, days).scatter
    found = []
    for regime in (REGIME, LabelRegime(errors=BEFORE)):
        detection = DayDetection(REFERENCE, regime, CUTS, AlarmLimits(day_threshold(0.25), 0.0))
        alarms = [
            detection.update(days.between(day, day + 1), CUTS, scatter)
            for day in range(CHANGED - 20, CHANGED + 20)
        ]
        found.append(any(alarms))
    assert found == [False, True]


@pytest.mark.parametrize(("before", "combinations"), [((0, 30), 16), ((70, 90), 4)])
def test_ends_of_both_stretches_are_combined(days, before, combinations):
    ranges = [
        ErrorRates.within((rate.false_positive, rate.false_positive + 0.005), (0.03, 0.07))
        for rate in (BEFORE, AFTER)
    ]
    regime = LabelRegime(errors=ranges[1], earlier=(EarlierErrors(CHANGED * DAY, ranges[0]),))
    old, new = (days.between(*stretch) for stretch in (before, (90, 120)))
    found = at_corners(*(LabelledBlocks(regime, one.cells[:, 0], one.opens) for one in (old, new)))
    assert len(found) == combinations
    assert len({tuple(np.round(c.before.sum(axis=-1).cells, 6)) for c in found}) == 4
