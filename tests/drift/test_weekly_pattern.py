"""The weekly pattern: found where there is one, and no scatter to whole weeks."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import f_oneway

from monitor.counts import ConfusionCounts
from monitor.drift.components import Component
from monitor.drift.day_scatter import DayScatter
from monitor.drift.weekly_pattern import FEWEST_DAYS, divided, share_of_pattern

WEEKDAYS = np.array([0.4, 0.3, 0.1, 0.0, -0.1, -0.7, 0.0])
RECALL = Component.RECALL


def logistic(x):
    return 1 / (1 + np.exp(-x))


def drawn(rng, days, *, pattern=1.0, sd=0.1, size=2_000):
    """Days whose recall depends on the weekday, and scatters besides."""
    level = np.resize(WEEKDAYS, days) * pattern
    positives = rng.binomial(size, 0.1, days)
    tp = rng.binomial(positives, logistic(1.4 + level + sd * rng.standard_normal(days)))
    fp = rng.binomial(size - positives, logistic(-3 + sd * rng.standard_normal(days)))
    return ConfusionCounts(tp=tp, fp=fp, fn=positives - tp, tn=size - positives - fp)


@pytest.mark.parametrize("days", range(1, 8))
def test_the_share_is_that_of_the_mean_of_weekdays_in_any_order(days):
    """All subsets of so many weekdays, each as likely as another."""
    pattern = WEEKDAYS - WEEKDAYS.mean()
    means = [np.mean(some) for some in combinations(pattern, days)]
    assert share_of_pattern(days) * pattern.var() == pytest.approx(np.var(means), abs=1e-12)


@given(st.integers(1, 52))
def test_whole_weeks_hold_none_of_it(weeks):
    assert share_of_pattern(7 * weeks) == 0


def test_the_test_is_the_analysis_of_variance():
    """For one rate and one stretch, `divided` acts as SciPy's one-way analysis says."""
    rng = np.random.default_rng(2)
    number = np.arange(56)
    taken = []
    for size in np.linspace(0, 1.5, 40):
        days = rng.standard_normal(56) + np.resize(WEEKDAYS, 56) * size
        days -= days.mean()
        (found,) = divided([(days[None], number)])
        p = f_oneway(*(days[number % 7 == weekday] for weekday in range(7))).pvalue
        assert (found.fitted == 7) == (p < 0.01 / 3)
        assert np.allclose(found.rest + found.pattern, days)
        taken.append(found.fitted == 7)
    assert {True, False} == set(taken)


def test_a_pattern_is_hardly_ever_found_where_there_is_none():
    rng = np.random.default_rng(3)
    found = [DayScatter.learn([drawn(rng, 28, pattern=0, sd=0.3)]) for _ in range(300)]
    assert np.mean([one.weekly.any() for one in found]) <= 0.03


def test_four_weeks_are_needed():
    days = drawn(np.random.default_rng(4), FEWEST_DAYS - 1, pattern=3)
    assert not DayScatter.learn([days]).weekly.any()
    assert DayScatter.learn([drawn(np.random.default_rng(4), FEWEST_DAYS, pattern=3)]).weekly.any()


def test_what_is_left_is_the_scatter_within_weekdays():
    rng = np.random.default_rng(5)
    found = DayScatter.learn([drawn(rng, 56, pattern=0.5) for _ in range(12)])
    assert found.variance[RECALL] == pytest.approx(0.1**2, abs=0.006)
    assert found.weekly[RECALL] == pytest.approx(WEEKDAYS.var() / 4, rel=0.25), "first order"
    assert found.weekly[Component.FALSE_POSITIVE_RATE] < 0.002
    blind = DayScatter.learn([drawn(rng, 27, pattern=0.5) for _ in range(24)])
    assert found.of_days(1)[RECALL] == pytest.approx(blind.of_days(1)[RECALL], rel=0.25)
    assert found.of_days(7)[RECALL] < blind.of_days(7)[RECALL] / 2


def test_the_error_of_a_week_is_that_of_weeks():
    """The mean of a week scatters by what the scatter says, days of the pattern and all."""
    rng = np.random.default_rng(6)
    found = DayScatter.learn([drawn(rng, 56, sd=0.2) for _ in range(6)])
    weeks = [drawn(rng, 7, sd=0.2, size=200_000).sum() for _ in range(400)]
    recall = np.array([np.log(float(one.tp) / float(one.fn)) for one in weeks])
    assert recall.var() == pytest.approx(found.of_days(7)[RECALL], rel=0.35)


def test_days_without_outcomes_keep_their_weekday():
    days = drawn(np.random.default_rng(7), 70, pattern=2)
    cells = days.cells.copy()
    cells[[3, 17, 30]] = 0
    found = DayScatter.learn([ConfusionCounts.from_cells(cells)])
    whole = DayScatter.learn([days])
    assert found.weekly[RECALL] == pytest.approx(whole.weekly[RECALL], rel=0.2)
