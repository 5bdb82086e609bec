"""The scatter of days, learned from streams whose days scatter by known amounts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.counts import ConfusionCounts
from monitor.drift import judge
from monitor.drift.component_changes import changes
from monitor.drift.components import Component
from monitor.drift.day_levels import at_one_level
from monitor.drift.day_scatter import (
    PRIOR_FREEDOM,
    DayScatter,
    days_behind,
    share_of_mean,
)
from monitor.drift.verdict import DEGRADED, IMPROVED

RECALL, FALSE = 0.8, 0.05


def logit(rate):
    return np.log(rate / (1 - rate))


def deviations(rng, days, sd, rho):
    """Correlated deviations of unconditional standard deviation `sd`."""
    drawn = rng.standard_normal(days) * sd
    for day in range(1, days):
        drawn[day] = rho * drawn[day - 1] + np.sqrt(1 - rho**2) * drawn[day]
    return drawn


def drawn(rng, days, sd, rho=0.0, *, size=2_000, recall=RECALL):
    """Days of a model whose recall and FPR scatter independently of each other."""
    positives = rng.binomial(size, 0.1, days)
    hit = 1 / (1 + np.exp(-logit(recall) - deviations(rng, days, sd, rho)))
    false = 1 / (1 + np.exp(-logit(FALSE) - deviations(rng, days, sd, rho)))
    tp = rng.binomial(positives, hit)
    fp = rng.binomial(size - positives, false)
    return ConfusionCounts(tp=tp, fp=fp, fn=positives - tp, tn=size - positives - fp)


@pytest.mark.parametrize("sd", [0.0, 0.2, 0.5])
@pytest.mark.parametrize("rho", [0.0, 0.6])
def test_many_days_teach_how_they_scatter_and_hang_together(sd, rho):
    rng = np.random.default_rng(5)
    found = DayScatter.learn([drawn(rng, 60, sd, rho) for _ in range(20)])
    recall, false, odds = (
        found.variance[c]
        for c in (Component.RECALL, Component.FALSE_POSITIVE_RATE, Component.ODDS_RATIO)
    )
    assert recall == pytest.approx(sd**2, rel=0.25, abs=0.004)
    assert false == pytest.approx(sd**2, rel=0.25, abs=0.004)
    assert odds == pytest.approx(2 * sd**2, rel=0.25, abs=0.008), "independent of each other"
    if sd:
        assert found.carry_over[Component.ODDS_RATIO] == pytest.approx(rho, abs=0.12)


def test_without_days_the_prior_holds_and_few_days_are_shrunk_toward_it():
    prior = DayScatter.learn([])
    assert prior.freedom.tolist() == [PRIOR_FREEDOM] * len(Component)
    few = DayScatter.learn([drawn(np.random.default_rng(1), 7, 0.0)])
    assert 0 < few.variance[Component.RECALL] < prior.variance[Component.RECALL]
    assert (few.freedom > prior.freedom).all()


def test_the_variance_of_a_windows_days_is_that_of_a_mean_of_correlated_days():
    rng = np.random.default_rng(3)
    means = [deviations(rng, 7, 1.0, 0.5).mean() for _ in range(20_000)]
    assert share_of_mean(np.array(7.0), np.array(0.5)) == pytest.approx(np.var(means), rel=0.03)


@given(st.floats(1, 400), st.floats(0, 0.9))
def test_more_days_know_more_and_never_less_than_independent_ones(days, rho):
    share = float(share_of_mean(np.array(days), np.array(rho)))
    assert 1 / days - 1e-9 <= share <= 1 + 1e-9
    assert share_of_mean(np.array(days + 1), np.array(rho)) <= share + 1e-9


@given(st.lists(st.integers(0, 10_000), min_size=1, max_size=100), st.integers(1, 24))
def test_days_behind_a_window_lie_between_one_and_its_days(blocks, a_day):
    found = days_behind(blocks, a_day)
    assert 1 <= found <= max(1, -(-len(blocks) // a_day)) + 1e-9


cells = st.lists(st.integers(0, 2_000), min_size=4, max_size=4)


@settings(max_examples=200)
@given(st.lists(cells, max_size=40))
def test_any_days_give_a_finite_scatter(days):
    counts = ConfusionCounts.from_cells(np.array(days).reshape(-1, 4))
    found = DayScatter.learn([counts] if days else [])
    assert np.isfinite(found.variance).all()
    assert (found.variance >= 0).all()
    assert ((found.carry_over >= 0) & (found.carry_over <= 0.9)).all()
    assert (found.freedom >= PRIOR_FREEDOM).all()


def test_a_change_of_level_is_no_scatter():
    rng = np.random.default_rng(8)
    before, after = drawn(rng, 14, 0.1), drawn(rng, 14, 0.1, recall=0.5)
    both = ConfusionCounts.from_cells(np.concatenate([before.cells, after.cells]))
    parts = at_one_level(both)
    assert [part.shape[-1] for part in parts] == [14, 14]
    together = DayScatter.learn([both]).variance[Component.RECALL]
    apart = DayScatter.learn(parts).variance[Component.RECALL]
    assert apart < 0.05 < together


def test_an_episode_at_another_level_is_no_scatter():
    rng = np.random.default_rng(8)
    days = [drawn(rng, 6, 0.1), drawn(rng, 14, 0.1, recall=0.5), drawn(rng, 15, 0.1)]
    whole = ConfusionCounts.from_cells(np.concatenate([one.cells for one in days]))
    assert [part.shape[-1] for part in at_one_level(whole)] == [35]
    parts = at_one_level(whole, episodes=True)
    assert [part.shape[-1] for part in parts] == [6, 14, 15]
    together = DayScatter.learn([whole]).variance[Component.RECALL]
    assert DayScatter.learn(parts).variance[Component.RECALL] < 0.05 < together


@pytest.mark.parametrize("episodes", [False, True])
def test_days_of_one_level_are_hardly_ever_divided(episodes):
    rng = np.random.default_rng(9)
    drawings = (drawn(rng, 28, 0.3, 0.5) for _ in range(200))
    divided = [len(at_one_level(days, episodes=episodes)) > 1 for days in drawings]
    assert np.mean(divided) <= 0.1


@pytest.mark.parametrize(
    ("sd", "rho"),
    [
        pytest.param(0.0, 0.0, marks=pytest.mark.slow),
        pytest.param(0.3, 0.0, marks=pytest.mark.slow),
        (0.3, 0.5),
    ],
)
def test_a_model_as_ever_is_seldom_called_worse_or_better(sd, rho):
    rng, wrong = np.random.default_rng(11), []
    for _ in range(150):
        stream = drawn(rng, 28 + 7 * 8, sd, rho)
        reference, weeks = stream[np.arange(28)], stream[np.arange(28, 84)]
        between = DayScatter.learn([reference]).between(28, 7)
        for week in range(8):
            after = weeks[np.arange(7 * week, 7 * week + 7)]
            verdict = judge(reference.sum(), after.sum(), between=between).verdict
            wrong.append(verdict in DEGRADED | IMPROVED)
    assert np.mean(wrong) <= 0.02, "at most 1 % by the rule, and the noise of 1,200 looks"


def test_the_interval_of_a_change_covers_where_days_scatter():
    rng, covered = np.random.default_rng(12), []
    for _ in range(400):
        stream = drawn(rng, 35, 0.3, 0.4)
        reference, after = stream[np.arange(28)], stream[np.arange(28, 35)]
        between = DayScatter.learn([reference]).between(28, 7)
        lower, upper = judge(reference, after, between=between).interval("odds_ratio")
        covered.append(lower <= 0 <= upper)
    assert 0.92 <= np.mean(covered) <= 0.995


def test_a_rate_that_falls_to_zero_is_certain_and_a_rare_one_that_doubles_by_chance_is_not():
    between = DayScatter.learn([]).between(28, 1)
    before = ConfusionCounts(tp=3_200, fn=800, fp=1_800, tn=34_200)
    gone = changes(before, ConfusionCounts(tp=0, fn=20, fp=9, tn=171), between=between)
    assert gone.z[Component.RECALL] < -3.5
    by_chance = changes(before, ConfusionCounts(tp=16, fn=4, fp=10, tn=65), between=between)
    assert by_chance.z[Component.FALSE_POSITIVE_RATE] < 2.9


@pytest.mark.parametrize("outlying", [0, 14, 27])
def test_one_outlying_day_is_scatter_wherever_it_lies(outlying):
    """Only a stretch of five days and more has another level of log r."""
    rng = np.random.default_rng(12)
    positive = rng.binomial(1_000, 0.08, 28)
    positive[outlying] = 260
    tp = positive * 8 // 10
    days = ConfusionCounts(tp=tp, fp=40, fn=positive - tp, tn=960 - positive)
    assert at_one_level(days, of_ratio=True) == [days]


def test_rates_alone_do_not_divide_days_by_their_class_ratio():
    rng = np.random.default_rng(8)
    both = np.concatenate([drawn(rng, 14, 0.1).cells, drawn(rng, 14, 0.1, recall=0.5).cells])
    assert len(at_one_level(ConfusionCounts.from_cells(both), of_ratio=True)) == 1
