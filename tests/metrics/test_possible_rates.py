"""Rates of wrong labels without those that too few labels of a class exclude."""

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.metrics.label_errors import UNKNOWN_ERRORS, ErrorRates, too_few_labels
from monitor.metrics.possible_rates import (
    limits_at_thresholds,
    none_below_zero,
    possible_at_thresholds,
    possible_for_days,
    possible_rates,
)
from monitor.metrics.sampled import SampledCounts, estimate

LABELLED = ConfusionCounts(tp=800, fp=200, fn=245, tn=48_755)
"""Labels of .5 % of the unflagged cases are 1, and 0 of a fifth of the flagged ones."""


def possible(errors, labelled=LABELLED, dispersion=1.0):
    found = possible_rates(errors, labelled, dispersion)
    return ErrorRates(*found.errors.tolist()), bool(found.fit)


@pytest.mark.parametrize(
    "rates",
    [
        ErrorRates(0.004, 0.1),
        ErrorRates.within((0.001, 0.004), (0.05, 0.15)),
        ErrorRates.within(0.0, (0.0, 0.2)),
    ],
)
def test_rates_that_the_labels_allow_stay_as_they_are(rates):
    assert possible(rates) == (rates, True)
    assert possible_for_days(rates, LABELLED[None]) is rates


def test_a_range_ends_where_no_positive_would_be_left_among_unflagged_cases():
    found, fit = possible(ErrorRates.within((0.001, 0.02), 0.1))
    assert fit
    low, high = found.ranges["false_positive"]
    assert low == 0.001
    assert 0.005 < high < 0.0065
    assert found.false_positive == pytest.approx((0.001 + 0.005) / 2)
    cells = SampledCounts.all_labelled(LABELLED, found)
    assert float(estimate(cells, "recall")) < 0.95


def test_a_range_ends_where_no_negative_would_be_left_among_flagged_cases():
    found, fit = possible(ErrorRates.within(0.0, (0.1, 0.4)))
    assert fit
    assert 0.2 < found.ranges["false_negative"][1] < 0.25
    cells = SampledCounts.all_labelled(LABELLED, found)
    assert float(estimate(cells, "precision")) < 1


def test_a_middle_within_the_limit_but_above_the_share_is_moved_below_it():
    """Its upper end stays: chance allows it."""
    found, fit = possible(ErrorRates.within((0.0049, 0.0058), 0.0))
    assert fit
    assert found.false_positive == pytest.approx((0.0049 + 0.005) / 2)
    assert found.ranges["false_positive"] == (0.0049, 0.0058)


def test_known_rates_are_excluded_beyond_chance_and_never_changed():
    assert possible(ErrorRates(0.0055, 0.0)) == (ErrorRates(0.0055, 0.0), True)
    assert not possible(ErrorRates(0.0075, 0.0))[1]
    assert not possible(ErrorRates(0.0, 0.3))[1]
    assert possible_for_days(ErrorRates(0.0075, 0.0), LABELLED[None]) == UNKNOWN_ERRORS


def test_nothing_is_excluded_without_labels():
    nothing = ConfusionCounts(tp=0, fp=0, fn=0, tn=0)
    wide = ErrorRates.within((0.2, 0.3), 0.1)
    assert possible(wide, nothing) == (wide, True)


def test_each_series_has_its_own_limits():
    labelled = ConfusionCounts(tp=[800, 8], fp=[200, 2], fn=[245, 2], tn=[48_755, 480])
    wide = np.array([ErrorRates(0.0075, 0.0)] * 2)
    assert possible_rates(wide, labelled).fit.tolist() == [False, True]


def test_days_that_scatter_exclude_less():
    missed = np.array([2, 8] * 14)
    calm, wild = (
        ConfusionCounts(tp=np.full(28, 80), fp=np.full(28, 20), fn=fn, tn=1_000 - fn)
        for fn in (np.full(28, 5), missed)
    )
    wide = ErrorRates.within((0.0, 0.05), 0.0)
    narrow, wider = (possible_for_days(wide, days) for days in (calm, wild))
    assert wider.ranges["false_positive"][1] > 1.05 * narrow.ranges["false_positive"][1]


@pytest.mark.parametrize("rate", [0.01, 0.05])
def test_a_true_rate_is_hardly_ever_excluded(rate):
    """Nearly all positives are found, so that the bound is nearly the rate itself."""
    rng = np.random.default_rng(5)
    cases, draws = 20_000, 4_000
    fn = rng.binomial(cases, rate, draws)
    labelled = ConfusionCounts(tp=np.full(draws, 900), fp=np.full(draws, 100), fn=fn, tn=cases - fn)
    errors = np.tile(np.array(ErrorRates(rate, 0.0)), (draws, 1))
    assert (~possible_rates(errors, labelled).fit).mean() < 0.002


def test_scores_exclude_rates_within_ranges_alone():
    """Of the lowest scores no label in a thousand is 1, of the highest hardly one is 0."""
    labelled = ConfusionCounts(
        tp=[100, 99, 50], fp=[9_900, 2_000, 1], fn=[0, 1, 50], tn=[0, 7_900, 9_899]
    )
    wide = ErrorRates.within((0.0, 0.01), (0.0, 0.4))
    found = possible_at_thresholds(wide, labelled)
    assert found.ranges["false_positive"][1] < 0.003
    limits = limits_at_thresholds(labelled)
    ends = [end for _, end in found.ranges.values()]
    assert limits[:2] == pytest.approx(ends)
    assert found.ranges["false_negative"][1] < 0.25
    assert found.false_positive == pytest.approx(found.ranges["false_positive"][1] / 2)
    known = ErrorRates(0.01, 0.4)
    assert possible_at_thresholds(known, labelled) is known
    assert none_below_zero(labelled, known).tolist() == [True, False, False]
    learned = ErrorRates(0.002, 0.1, 0.001, 0.008, 0.05, 0.02)
    kept = possible_at_thresholds(learned, labelled)
    assert kept[1] == 0.1
    assert 0.001 < kept.false_positive < 0.002


def test_too_few_labels_are_those_below_the_lowest_rates():
    wide = ErrorRates.within((0.004, 0.02), (0.1, 0.4))
    assert too_few_labels(LABELLED, wide) == ((), ())
    higher = ErrorRates.within((0.006, 0.02), (0.25, 0.4))
    found = too_few_labels(LABELLED, higher)
    assert found.positive == ("predicted_negative",)
    assert found.negative == ("predicted_positive",)
