"""Fits over days against the same regression with dense matrices."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.drift.day_regression import DayRate, DaySeries


def dense(days, regressors):
    """The textbook formula for a constant and each regressor, one at a time."""
    apart = np.abs(days.number[:, None] - days.number[None, :])
    between = days.variance * days.carry_over**apart
    covariance = between + np.diag(days.rows)
    inverse = np.linalg.inv(covariance)
    sizes, errors, shares, whitened = [], [], [], []
    root = np.linalg.cholesky(inverse).T
    for column in regressors.T:
        design = np.stack([np.ones(len(column)), column], axis=1)
        solve = np.linalg.inv(design.T @ inverse @ design) @ design.T @ inverse
        sizes.append((solve @ days.deviation)[1])
        errors.append((solve @ covariance @ solve.T)[1, 1])
        shares.append((solve @ between @ solve.T)[1, 1] / errors[-1])
        white, one = root @ column, root @ np.ones(len(column))
        white = white - one * (one @ white) / (one @ one)
        whitened.append(white / np.linalg.norm(white))
    angles = [np.arccos(np.clip(a @ b, -1, 1)) for a, b in pairwise(whitened)]
    return np.array(sizes), np.array(errors), np.array(shares), np.array(angles)


@settings(max_examples=40, deadline=None)
@given(
    seed=st.integers(0, 10_000),
    variance=st.floats(0.001, 2.0),
    carry_over=st.floats(0.0, 0.9),
    gaps=st.integers(1, 4),
)
def test_fits_equal_those_of_dense_matrices(seed, variance, carry_over, gaps):
    rng = np.random.default_rng(seed)
    number = 20_000.0 + np.cumsum(rng.integers(1, gaps + 1, 50))
    days = DaySeries(
        number, rng.standard_normal(50), rng.uniform(0.01, 0.5, 50), variance, carry_over
    )
    bends = number[0] + np.arange(0, 40, 7)
    regressors = np.maximum(number[:, None] - bends, 0)
    sizes, errors, shares, angles = dense(days, regressors)
    found = days.fits(regressors)
    assert found.size == pytest.approx(sizes, rel=1e-4, abs=1e-7)
    assert 1 / found.information == pytest.approx(errors, rel=1e-4)
    assert found.of_days == pytest.approx(shares, abs=1e-4)
    assert found.angle == pytest.approx(angles, abs=1e-4)


def test_days_that_do_not_scatter_are_weighted_by_their_rows_alone():
    rows = np.array([0.1, 0.2, 0.4, 0.1, 0.3])
    days = DaySeries(np.arange(5.0), np.array([1.0, 2, 0, 1, 4]), rows, 0.0, 0.4)
    column = np.array([0.0, 0, 1, 2, 3])
    slope, _ = np.polyfit(column, days.deviation, 1, w=1 / np.sqrt(rows))
    assert days.fits(column[:, None]).size == pytest.approx([slope], rel=1e-5)


def test_a_deviation_is_linear_in_the_rate_of_the_day():
    found = DayRate.of([[80], [60]], [[20], [40]])
    rate = (140 + 0.5) / (200 + 1)
    assert found.deviation * found.slope == pytest.approx([0.8 - rate, 0.6 - rate])
    assert found.variance[0] == pytest.approx(1 / (100 * rate * (1 - rate)))


def test_each_segment_value_deviates_from_its_own_rate():
    hits = np.array([[90, 10], [9, 100], [90, 10]])
    cases = np.array([[100, 100], [10, 1_000], [100, 100]])
    found = DayRate.of(hits, cases - hits)
    assert found.deviation == pytest.approx([0, 0, 0], abs=0.02)
