"""The change of a metric of scores: its limits hold, and its test keeps its level."""

import math

import numpy as np
import pytest
import sklearn.metrics
from drawn_scores import BIN, by_day, counted, drawn, stacked
from scipy.special import ndtr

from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.score_changes import score_change
from monitor.metrics.score_intervals import ScoredDays, interval
from monitor.metrics.score_statistics import AREA_UNDER_ROC

ONE_CLASS = stacked([ScoreHistogram.from_scores(negative=[0.1, 0.2]) for _ in range(3)])


def change(before, after):
    return score_change(before, after, AREA_UNDER_ROC)


def days(rng, gap, count=14, cases=200, scatter=0.0):
    """Days of normal scores; the gap between the classes scatters from day to day."""
    parts = []
    for _ in range(count):
        truth = rng.random(cases) < 0.2
        shift = gap + scatter * rng.normal()
        parts.append(counted(truth, ndtr(rng.normal(size=cases) + shift * truth - 1)))
    return stacked(parts)


def test_both_sides_are_the_metric_with_its_interval_and_its_scikit_learn():
    sides = [drawn(4, cases=6000), drawn(5, cases=6000, sharpness=0.7)]
    found = change(*(by_day(*side, 6) for side in sides))
    for own, (truth, score) in zip((found.before, found.after), sides, strict=True):
        assert own == interval(ScoredDays.of(by_day(truth, score, 6)), AREA_UNDER_ROC)
        assert own.estimate == pytest.approx(sklearn.metrics.roc_auc_score(truth, score), abs=BIN)
    assert found.change.estimate == found.after.estimate - found.before.estimate


def test_a_side_without_a_class_is_undefined_and_not_zero():
    rng = np.random.default_rng(1)
    for one in (None, ONE_CLASS):
        for sides in ((one, days(rng, 1.0)), (days(rng, 1.0), one)):
            found = change(*sides)
            assert all(map(math.isnan, (*found.change, found.p_value)))
            assert math.isnan((found.before if sides[0] is one else found.after).estimate)
            assert math.isfinite((found.after if sides[0] is one else found.before).estimate)


def test_one_day_or_a_perfect_curve_has_a_change_without_limits():
    rng = np.random.default_rng(2)
    perfect = stacked(
        [ScoreHistogram.from_scores(positive=[0.9] * 40, negative=[0.1] * 40) for _ in range(5)]
    )
    for before in (days(rng, 1.0, count=1), perfect):
        found = change(before, days(rng, 1.0))
        assert math.isfinite(found.change.estimate)
        assert all(map(math.isnan, (found.change.lower, found.change.upper, found.p_value)))


@pytest.mark.parametrize("scatter", [pytest.param(0.0, marks=pytest.mark.slow), 0.5])
def test_limits_hold_and_the_test_keeps_its_level_where_days_scatter(scatter):
    rng = np.random.default_rng(7)
    runs = [
        change(days(rng, 1.5, scatter=scatter), days(rng, 1.5, scatter=scatter)) for _ in range(300)
    ]
    holds = np.mean([one.change.lower <= 0 <= one.change.upper for one in runs])
    assert holds >= 0.93
    assert np.mean([one.p_value < 0.05 for one in runs]) <= 0.07
    assert np.mean([one.p_value < 0.01 for one in runs]) <= 0.02


def test_a_worse_curve_is_found_with_the_sign_of_its_change():
    rng = np.random.default_rng(8)
    fell = [change(days(rng, 2.0), days(rng, 1.2)) for _ in range(20)]
    assert all(one.p_value < 1e-3 and one.change.upper < 0 for one in fell)
    truth = float(ndtr(1.2 / math.sqrt(2)) - ndtr(2.0 / math.sqrt(2)))
    assert np.mean([one.change.lower <= truth <= one.change.upper for one in fell]) >= 0.9
    rose = change(days(rng, 1.2), days(rng, 2.0))
    assert rose.change.lower > 0
