import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.drift.level_change import find_level_change


def drawn(rng, days, recall, fpr, *, positives=60, negatives=600, sd=0.2):
    def logistic(rate):
        return 1 / (1 + np.exp(-np.log(rate / (1 - rate)) - sd * rng.standard_normal(days)))

    p, n = rng.poisson(positives, days), rng.poisson(negatives, days)
    tp, fp = rng.binomial(p, logistic(recall)), rng.binomial(n, logistic(fpr))
    return np.stack([tp, fp, p - tp, n - fp], axis=1)


@pytest.mark.parametrize(("recall", "fpr"), [(0.5, 0.05), (0.8, 0.12), (0.55, 0.02)])
def test_a_change_of_either_rate_or_of_the_threshold_is_found_on_its_day(recall, fpr):
    rng, found = np.random.default_rng(3), []
    for _ in range(20):
        old, new = drawn(rng, 12, 0.8, 0.05), drawn(rng, 16, recall, fpr)
        found.append(find_level_change(ConfusionCounts.from_cells(np.concatenate([old, new]))))
    days = [one.day for one in found if one is not None]
    assert len(days) >= 18
    assert abs(np.median(days) - 12) <= 1
    first = next(one for one in found if one is not None)
    assert first.recall == pytest.approx((0.8, recall), abs=0.08)
    assert first.false_positive_rate == pytest.approx((0.05, fpr), abs=0.03)


def test_days_that_only_scatter_hold_no_change():
    rng = np.random.default_rng(4)
    drawings = (ConfusionCounts.from_cells(drawn(rng, 28, 0.8, 0.05, sd=0.3)) for _ in range(60))
    assert sum(find_level_change(days) is not None for days in drawings) <= 2


def test_rarer_positives_and_days_without_outcomes_are_no_change_of_the_model():
    rng = np.random.default_rng(5)
    old, new = drawn(rng, 14, 0.8, 0.05), drawn(rng, 14, 0.8, 0.05, positives=10)
    cells = np.concatenate([old, np.zeros((3, 4), np.int64), new])
    assert find_level_change(ConfusionCounts.from_cells(cells)) is None


def test_few_days_are_not_divided():
    days = ConfusionCounts.from_cells(np.array([[80, 50, 20, 850]] * 2 + [[10, 50, 90, 850]] * 5))
    assert find_level_change(days) is None
    assert find_level_change(days[np.array([0, *range(7)])]).day == 3
    assert find_level_change(days[np.arange(5)]) is None
    assert find_level_change(ConfusionCounts.zeros((28,))) is None


def test_a_fall_in_the_middle_of_the_first_week_is_mostly_found_and_days_of_the_week_are_not():
    rng = np.random.default_rng(6)
    weekend = np.array([0.8, 0.8, 0.8, 0.8, 0.8, 0.73, 0.73])
    fallen, weekly = 0, 0
    for _ in range(60):
        fall = np.concatenate([drawn(rng, 3, 0.8, 0.05), drawn(rng, 4, 0.45, 0.05)])
        found = find_level_change(ConfusionCounts.from_cells(fall))
        fallen += found is not None and abs(found.day - 3) <= 1
        week = drawn(rng, 7, np.roll(weekend, rng.integers(7)), 0.05)
        weekly += find_level_change(ConfusionCounts.from_cells(week)) is not None
    assert fallen >= 40
    assert weekly == 0


def test_of_changes_beyond_all_doubt_the_largest_is_named():
    """With so many outcomes the p-values of several days are 0 as floating-point numbers."""
    days = np.array([[80, 50, 20, 850]] * 14 + [[50, 50, 50, 850]] * 14) * 100_000
    assert find_level_change(ConfusionCounts.from_cells(days)).day == 14
