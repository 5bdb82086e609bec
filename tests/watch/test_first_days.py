"""The reference of the first days grows until it has enough outcomes."""

import numpy as np
import pytest

from monitor.clock import DAY_MS
from monitor.watch.first_days import end_of_first_days

LENGTH = 7 * DAY_MS


def a_day(tp, fp, fn=0):
    """Counts up to each moment of a model with so many outcomes a day."""

    def counts_up_to(moments):
        cells = np.array([[tp, fp, fn, 0, tp + fp, fn]])
        return (cells * (np.array(moments) // DAY_MS)[:, None]).astype(np.int64)

    return counts_up_to


@pytest.mark.parametrize(
    ("tp", "fp", "days"),
    [(200, 100, 7), (100, 100, 10), (200, 25, 20), (1, 1, 28)],
)
def test_it_ends_with_the_first_day_that_brings_enough_outcomes(tp, fp, days):
    assert end_of_first_days(0, LENGTH, None, a_day(tp, fp)) == days * DAY_MS


@pytest.mark.parametrize(("until", "found"), [(6, None), (9, None), (10, 10), (40, 10)])
def test_it_waits_for_days_that_are_not_known_yet(until, found):
    closes = end_of_first_days(0, LENGTH, until * DAY_MS, a_day(100, 100))
    assert closes == (None if found is None else found * DAY_MS)


def test_with_few_outcomes_it_waits_for_four_weeks_and_no_longer():
    assert end_of_first_days(0, LENGTH, 28 * DAY_MS - 1, a_day(1, 1)) is None
    assert end_of_first_days(0, LENGTH, 28 * DAY_MS, a_day(1, 1)) == 28 * DAY_MS


def test_a_longer_length_stands_once_it_and_a_week_are_known():
    assert end_of_first_days(0, 28 * DAY_MS, None, a_day(1, 1)) == 28 * DAY_MS
    assert end_of_first_days(0, 28 * DAY_MS, 35 * DAY_MS, a_day(1, 1)) == 28 * DAY_MS
    assert end_of_first_days(0, 28 * DAY_MS, 28 * DAY_MS, a_day(1, 1), spare=0) == 28 * DAY_MS


@pytest.mark.parametrize(
    ("tp", "fp", "until", "days"),
    [(20, 5, 6, None), (20, 5, 8, 7), (20, 5, 34, 7), (10, 5, 9, None), (10, 5, 34, 10)],
)
def test_a_week_or_more_stands_in_for_a_longer_length_until_then(tp, fp, until, days):
    closes = end_of_first_days(0, 28 * DAY_MS, until * DAY_MS, a_day(tp, fp))
    assert closes == (None if days is None else days * DAY_MS)


@pytest.mark.parametrize(
    ("tp", "fp", "fn", "days"),
    [(2, 1, 1, 7), (2, 1, 0.5, 10), (2, 0.4, 1, 13), (0.4, 1, 2, 13), (2, 1, 0, 28), (0, 1, 2, 28)],
)
def test_five_of_each_outcome_are_enough_to_stand_in(tp, fp, fn, days):
    """Without a miss a healthy model would look as if its recall fell."""
    closes = end_of_first_days(0, 28 * DAY_MS, 34 * DAY_MS, a_day(tp, fp, fn))
    assert closes == days * DAY_MS
