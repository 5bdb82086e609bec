"""The reference of the first days grows until it has enough outcomes."""

import numpy as np
import pytest

from monitor.clock import DAY_MS
from monitor.watch.first_days import end_of_first_days

LENGTH = 7 * DAY_MS


def a_day(tp, fp):
    """Counts up to each moment of a model with so many outcomes a day."""

    def counts_up_to(moments):
        return np.array([[tp, fp, 0, 0, tp + fp, 0]]) * (np.array(moments) // DAY_MS)[:, None]

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
