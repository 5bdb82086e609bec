import math

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.drift.components import DAY, HOUR
from monitor.drift.dispersion import Dispersion, pearson
from monitor.drift.live_class_ratio import live_class_ratio
from monitor.drift.profile import SeasonalProfile


def hourly(rng: np.random.Generator, logit: np.ndarray, size: int = 5_000) -> ConfusionCounts:
    positive = rng.binomial(size, 1 / (1 + np.exp(-logit)))
    return ConfusionCounts(tp=positive, fp=0, fn=0, tn=size - positive)


def test_a_pane_weighs_half_after_its_half_life() -> None:
    panes = ConfusionCounts(tp=[100, 0, 0, 0], fp=0, fn=0, tn=[100, 0, 0, 100])
    weight = 0.5**1.5
    found = live_class_ratio(panes, half_life=2)
    assert float(found.estimate) == pytest.approx(100 * weight / (100 * weight + 100))


def test_panes_without_outcomes_at_the_end_change_nothing() -> None:
    filled = ConfusionCounts(tp=[8, 3], fp=[5, 4], fn=[2, 1], tn=[85, 90])
    longer = ConfusionCounts.from_cells([*filled.cells, [0, 0, 0, 0], [0, 0, 0, 0]])
    one, other = (live_class_ratio(panes, half_life=3) for panes in (filled, longer))
    for name in ("lower", "estimate", "upper"):
        assert float(getattr(one, name)) == pytest.approx(float(getattr(other, name)))


def test_without_forgetting_it_is_the_class_ratio_of_all() -> None:
    cells = [[[8, 5, 2, 85]] * 10, [[1, 0, 1, 98]] * 10]
    found = live_class_ratio(ConfusionCounts.from_cells(cells), half_life=math.inf)
    assert found.estimate.tolist() == pytest.approx([10 / 90, 2 / 98])


def test_the_interval_contains_the_truth_and_widens_with_dispersion() -> None:
    panes = hourly(np.random.default_rng(0), np.full((2_000, 200), -2.2), size=200)
    found = live_class_ratio(panes, half_life=20)
    wider = live_class_ratio(panes, half_life=20, dispersion=4)
    truth = math.exp(-2.2)
    assert 0.93 < ((found.lower <= truth) & (truth <= found.upper)).mean() < 0.97
    np.testing.assert_allclose(
        np.log(wider.upper / wider.lower), 2 * np.log(found.upper / found.lower), rtol=1e-9
    )


def test_without_negatives_it_is_undefined_and_without_positives_zero() -> None:
    nothing = live_class_ratio(ConfusionCounts.zeros((0,)), half_life=1)
    assert math.isnan(float(nothing.estimate))
    panes = ConfusionCounts(tp=[[0], [5]], fp=[[1], [0]], fn=[[0], [0]], tn=[[9], [0]])
    found = live_class_ratio(panes, half_life=1)
    assert (found.estimate[0], found.lower[0]) == (0, 0)
    assert found.upper[0] > 0
    assert np.isnan([found.estimate[1], found.lower[1], found.upper[1]]).all()
    with pytest.raises(ValueError, match="above 0 panes"):
        live_class_ratio(panes, half_life=0)


def test_a_profile_learns_the_day_and_the_week() -> None:
    rng = np.random.default_rng(1)
    hours = HOUR * np.arange(24 * 56)
    sunday = (np.floor(hours / DAY) + 3) % 7 == 6
    logit = -2.2 + 0.5 * np.sin(2 * np.pi * hours / DAY) + 0.6 * sunday
    profile = SeasonalProfile.learn(hours, hourly(rng, logit))
    later = hours + 56 * DAY
    expected, error = profile.expected(later)
    assert np.abs(expected - logit).max() < 0.12
    assert error.shape == hours.shape
    assert float(profile.scatter) < 0.05


def test_a_short_history_learns_no_week() -> None:
    rng = np.random.default_rng(2)
    hours = HOUR * np.arange(24 * 10)
    profile = SeasonalProfile.learn(hours, hourly(rng, np.full(240, -2.2)))
    assert (profile.weekdays == 0).all()


def test_days_without_a_week_in_them_learn_almost_none() -> None:
    rng = np.random.default_rng(3)
    hours = HOUR * np.arange(24 * 28)
    logit = -2.2 + np.repeat(0.3 * rng.normal(size=28), 24)
    profile = SeasonalProfile.learn(hours, hourly(rng, logit))
    assert np.abs(profile.weekdays).max() < 0.3
    assert 0.2 < float(profile.scatter) < 0.4


def test_profiles_of_many_series_are_learned_at_once() -> None:
    rng = np.random.default_rng(4)
    hours = HOUR * np.arange(24 * 21)
    level = np.array([[-2.0], [-4.0]])
    counts = hourly(rng, level + 0.3 * np.cos(2 * np.pi * hours / DAY))
    together = SeasonalProfile.learn(hours, counts)
    alone = SeasonalProfile.learn(hours, counts[1])
    at = np.array([0.0, 5.5 * HOUR, 100 * DAY])
    np.testing.assert_allclose(together.expected(at)[0][:, 1], alone.expected(at)[0])
    assert together.tolerance.shape == (2,)


def test_hours_without_outcomes_take_their_neighbours_or_the_whole() -> None:
    hours = HOUR * np.arange(8.0, 18.0)
    profile = SeasonalProfile.learn(hours, ConfusionCounts(tp=np.full(10, 20), fp=0, fn=0, tn=80))
    expected, error = profile.expected([12 * HOUR, 0.0])
    assert expected == pytest.approx(np.log([0.25, 0.25]), abs=0.01)
    assert error[1] > 3 * error[0]
    empty = SeasonalProfile.learn([], ConfusionCounts.zeros((0,)))
    assert np.isfinite(empty.expected(0.0)).all()
    with pytest.raises(ValueError, match="must match"):
        SeasonalProfile.learn(hours, ConfusionCounts.zeros((3,)))


def test_dispersion_is_the_largest_over_block_lengths() -> None:
    rng = np.random.default_rng(5)
    weather = np.repeat(rng.normal(size=20), 24)
    positive = rng.binomial(100, 0.2, 480)
    tp = rng.binomial(positive, 1 / (1 + np.exp(-1 - 0.3 * weather)))
    panes = ConfusionCounts(tp=tp, fp=50, fn=positive - tp, tn=850)
    by_pane = Dispersion.estimate(panes)
    by_day = Dispersion.estimate(panes, (1, 24))
    assert float(by_day.recall) > 3 * float(by_pane.recall) >= 3
    assert float(by_day.false_positive_rate) == 1


def test_independent_rows_have_no_dispersion() -> None:
    rng = np.random.default_rng(6)
    positive = rng.binomial(1_000, 0.1, (300, 400))
    tp, fp = rng.binomial(positive, 0.8), rng.binomial(1_000 - positive, 0.05)
    panes = ConfusionCounts(tp=tp, fp=fp, fn=positive - tp, tn=1_000 - positive - fp)
    found = Dispersion.estimate(panes, (1, 4, 80))
    assert found.recall.shape == (300,)
    for factors in (found.class_ratio, found.recall, found.false_positive_rate):
        assert (factors == 1).mean() > 0.94


def test_the_daily_cycle_is_no_dispersion_once_it_is_expected() -> None:
    rng = np.random.default_rng(7)
    hours = HOUR * np.arange(24 * 20)
    logit = -2.2 + 0.7 * np.sin(2 * np.pi * hours / DAY)
    panes = hourly(rng, logit)
    season = 1 / (1 + np.exp(-logit))
    assert float(Dispersion.estimate(panes).class_ratio) > 50
    assert float(Dispersion.estimate(panes, (1, 24), season).class_ratio) < 2


def test_a_constant_stream_has_no_dispersion() -> None:
    assert math.isnan(float(pearson([5, 5], [5, 5])))
    assert math.isnan(float(pearson([], [])))
    nothing = Dispersion.estimate(ConfusionCounts.zeros((0,)), (1, 60))
    assert float(nothing.recall) == 1
