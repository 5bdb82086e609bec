"""Error rates of sources: against an independent optimum, and in simulations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import betaincinv, expit
from scipy.stats import binom

from monitor.metrics.source_errors import (
    FEWEST_OF_CLASS,
    FEWEST_SHARED,
    NO_LABEL,
    UNDEFINED,
    dawid_skene,
)

ANAESTHETISTS = """
1111111 3334334 1122122 2223121 2223222 2223322 1222111 3333433 2222223 2322223 4444444 2223343
1111111 2223212 1211111 1112111 1111111 1111111 2222221 2221322 2222222 2222221 2223222 2212222
1111111 1111111 2322222 1111111 1111111 1121121 1111111 3333233 1111111 2222222 2223232 4334343
2212232 2323233 3333432 1111111 1111111 1212111 2322222 1211111 2222222
"""
"""Dawid & Skene 1979, table 1: classes that anaesthetists gave 45 patients; the first three
columns are the first anaesthetist, who looked three times."""


def simulated(seed, cases, prevalence, rates, labelled=None):
    """Ratings by sources with these rates (false positive, false negative), as distinct rows."""
    rng = np.random.default_rng(seed)
    actual = rng.random(cases) < prevalence
    ratings = np.full((cases, len(rates)), NO_LABEL, np.int8)
    for source, (fp, fn) in enumerate(rates):
        label = actual ^ (rng.random(cases) < np.where(actual, fn, fp))
        seen = rng.random(cases) < (1 if labelled is None else labelled[source])
        ratings[seen, source] = label[seen]
    return np.unique(ratings, axis=0, return_counts=True)


def log_likelihood(ratings, cases, parameters):
    """Written out label by label, with half a case added to right and to wrong labels."""
    share, *rates = expit(np.clip(parameters, -25, 25))
    sources = ratings.shape[1]
    false, lost = rates[:sources], rates[sources:]
    total = 0.5 * sum(np.log(one) + np.log(1 - one) for one in (share, *rates))
    for row, count in zip(ratings, cases, strict=True):
        positive, negative = share, 1 - share
        for label, fp, fn in zip(row, false, lost, strict=True):
            if label != NO_LABEL:
                positive *= 1 - fn if label else fn
                negative *= fp if label else 1 - fp
        total += count * np.log(positive + negative)
    return total


def anaesthetists():
    """Whether each gave a patient class 1, every patient ten times."""
    ratings = np.array([[cell == "1" for cell in row] for row in ANAESTHETISTS.split()])
    rows, cases = np.unique(ratings.astype(np.int8), axis=0, return_counts=True)
    return rows, 10 * cases


@pytest.mark.parametrize(
    "found",
    [
        anaesthetists(),
        simulated(1, 3_000, 0.2, [(0.05, 0.1), (0.1, 0.3), (0.02, 0.2)], (1, 0.6, 0.6)),
    ],
    ids=["anaesthetists", "simulated"],
)
def test_rates_and_limits_are_those_of_the_likelihood(found):
    ratings, cases = found
    several = (ratings != NO_LABEL).sum(axis=1) > 1
    ratings, cases, sources = ratings[several], cases[several], ratings.shape[1]
    start = np.concatenate([[-0.5], np.full(2 * sources, -2.0)])

    def lost(values):
        return -log_likelihood(ratings, cases, values)

    best = minimize(lost, start, method="BFGS", options={"gtol": 1e-6}).x
    variance = np.diag(np.linalg.inv(second_derivatives(lost, best)))[1:]
    rate = expit(best[1:])
    known = 1 / (rate * (1 - rate) * variance)
    errors = dawid_skene(ratings, cases)
    ours = [one.false_positive for one in errors] + [one.false_negative for one in errors]
    assert [one.rate for one in ours] == pytest.approx(rate, abs=1e-4)
    for side, quantile in (("lower", 0.025), ("upper", 0.975)):
        limits = betaincinv(rate * known, (1 - rate) * known, quantile)
        assert [getattr(one, side) for one in ours] == pytest.approx(limits, abs=2e-3)


def second_derivatives(function, at, step=1e-3):
    """By differences, of every two arguments."""
    size = len(at)
    unit = step * np.eye(size)
    found = np.empty((size, size))
    for i in range(size):
        for j in range(size):
            signs = [(1, 1), (1, -1), (-1, 1), (-1, -1)]
            values = [a * b * function(at + a * unit[i] + b * unit[j]) for a, b in signs]
            found[i, j] = sum(values) / (4 * step**2)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cases", "prevalence", "rates", "labelled"),
    [
        (2_000, 0.1, [(0.02, 0.1), (0.05, 0.2), (0.01, 0.05)], None),
        (10_000, 0.02, [(0.01, 0.1), (0.02, 0.2), (0.005, 0.05)], (1, 0.5, 0.5)),
        (5_000, 0.3, [(0.05, 0.1), (0.1, 0.2), (0.02, 0.05), (0.2, 0.3)], (1, 0.5, 0.3, 0.3)),
    ],
)
def test_limits_hold_the_true_rates(cases, prevalence, rates, labelled):
    held = tried = 0
    for seed in range(1_000, 1_060):
        found = dawid_skene(*simulated(seed, cases, prevalence, rates, labelled))
        for errors, truth in zip(found, rates, strict=True):
            for one, true in zip(errors[:2], truth, strict=True):
                tried += one.is_defined
                held += one.lower <= true <= one.upper
    assert tried >= 0.95 * 60 * 2 * len(rates)
    assert held >= binom.ppf(1e-4, tried, 0.93)


def test_labels_of_two_sources_do_not_determine_who_is_wrong():
    two = dawid_skene(*simulated(3, 9_000, 0.3, [(0.05, 0.1), (0.05, 0.1)]))
    assert [one.false_positive.is_defined for one in two] == [False, False]
    apart = [(0.05, 0.1)] * 3
    ratings, cases = simulated(4, 9_000, 0.3, apart)
    ratings[:, 2] = np.where(np.arange(len(ratings)) % 2, ratings[:, 2], NO_LABEL)
    ratings[:, 1] = np.where(np.arange(len(ratings)) % 2, NO_LABEL, ratings[:, 1])
    assert all(not one.false_negative.is_defined for one in dawid_skene(ratings, cases))


def test_too_few_cases_leave_rates_undefined():
    rates = [(0.05, 0.1), (0.1, 0.2), (0.02, 0.1)]
    few = dawid_skene(*simulated(5, FEWEST_SHARED - 1, 0.5, rates))
    assert all(not one.false_positive.is_defined for one in few)
    rare = dawid_skene(*simulated(6, 4_000, FEWEST_OF_CLASS / 2 / 4_000, [(0.001, 0.1)] * 3))
    assert [one.false_negative for one in rare] == [UNDEFINED] * 3
    assert all(one.false_positive.is_defined for one in rare)
    assert dawid_skene(np.empty((0, 3), np.int8), np.empty(0, np.int64))[0].cases == 0


def test_a_source_that_labels_at_random_has_no_rates():
    errors = dawid_skene(*simulated(7, 4_000, 0.3, [(0.05, 0.1)] * 3 + [(0.4, 0.6)]))
    assert [one.false_positive.is_defined for one in errors] == [True, True, True, False]


@settings(max_examples=30, deadline=None)
@given(st.permutations(range(4)), st.integers(0, 50))
def test_the_order_of_sources_and_the_names_of_classes_do_not_matter(order, seed):
    rates = [(0.05, 0.1), (0.1, 0.3), (0.02, 0.05), (0.2, 0.2)]
    ratings, cases = simulated(seed, 1_500, 0.4, rates, (1, 0.7, 0.7, 0.5))
    found = dawid_skene(ratings, cases)
    turned = dawid_skene(ratings[:, order], cases)
    for place, source in enumerate(order):
        for one, other in zip(turned[place][:2], found[source][:2], strict=True):
            assert one == pytest.approx(other, abs=1e-5, nan_ok=True)
    flipped = np.where(ratings == NO_LABEL, NO_LABEL, 1 - ratings)
    for one, other in zip(dawid_skene(flipped, cases), found, strict=True):
        assert one.false_positive == pytest.approx(other.false_negative, abs=1e-5, nan_ok=True)
        assert one.cases == other.cases
