"""Quantiles for all looks of 60 days, against months of moving means that are drawn."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import norm, t

from monitor.drift.all_looks import FALSE_CLAIMS, LOOKED_AT_DAYS, Looks, quantile_of_all_looks

MODELS, LOOKS_A_DAY = 12_000, 4


@pytest.fixture(scope="module")
def deepest():
    """How many standard errors means lie below the truth at worst, by model.

    The first: of the stretch since the reference, from six hours to seven days; the second: of
    the seven days that move on after it.
    """
    rng = np.random.default_rng(6)
    length = 7 * LOOKS_A_DAY
    grown = np.sqrt(np.arange(1, length + 1))
    lowest = []
    for _ in range(MODELS):
        sums = np.cumsum(rng.standard_normal(int(LOOKED_AT_DAYS) * LOOKS_A_DAY))
        moved = (sums[length:] - sums[:-length]).min() / math.sqrt(length)
        lowest.append([(sums[:length] / grown).min(), moved])
    return -np.array(lowest)


@pytest.mark.parametrize("freedom", [4, 6, 12, 30, math.inf])
def test_few_models_have_a_look_beyond_it(deepest, freedom):
    rng, errors = np.random.default_rng(7), np.ones((MODELS, 1))
    if math.isfinite(freedom):  # one estimate serves all looks
        errors = np.sqrt(rng.chisquare(freedom, (MODELS, 1)) / freedom)
    limits = [quantile_of_all_looks(Looks(7, grows), freedom) for grows in (True, False)]
    growing, moving = (deepest > np.array(limits) * errors).T
    assert 0.4 * FALSE_CLAIMS < (growing | moving).mean() < FALSE_CLAIMS
    assert 0.002 < growing.mean() < 0.012


def test_a_stretch_that_grows_asks_for_as_much_at_any_length():
    assert quantile_of_all_looks(Looks(0.25, grows=True)) == quantile_of_all_looks(
        Looks(28, grows=True)
    )


@given(st.floats(1, 60), st.floats(1.5, 1e6))
def test_it_lies_between_the_normal_and_students_t_of_a_look_at_a_time(days, freedom):
    normal, found = quantile_of_all_looks(Looks(days)), quantile_of_all_looks(Looks(days), freedom)
    assert normal <= found + 1e-9
    assert found < 1.02 * t.isf(norm.sf(normal), max(freedom * 0.9, 1.0))  # freedom is rounded down


@given(st.floats(1, 60), st.floats(1.5, 300))
def test_shorter_windows_and_fewer_degrees_of_freedom_ask_for_more(days, freedom):
    found = quantile_of_all_looks(Looks(days), freedom)
    assert found >= quantile_of_all_looks(Looks(2 * days), freedom) - 1e-9
    assert found >= quantile_of_all_looks(Looks(days), 2 * freedom) - 1e-9
