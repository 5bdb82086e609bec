"""Power means and G: their limits, their stipulated cases, their stability."""

from fractions import Fraction
from math import exp, log

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from monitor import ConfusionCounts, metrics
from monitor.metrics import means

sampled = settings(max_examples=150, deadline=None, derandomize=True)
share = st.floats(1e-6, 1)


@sampled
@given(share, share, st.floats(0.01, 100), st.floats(-30, 30))
def test_the_mean_is_the_textbook_formula_where_that_holds(
    p: float, r: float, gamma: float, phi: float
) -> None:
    assume(abs(phi) > 0.5)
    textbook = ((gamma * p**phi + r**phi) / (1 + gamma)) ** (1 / phi)
    value = means.weighted_power_mean(p, r, gamma=gamma, phi=phi)
    assert value == pytest.approx(textbook, rel=1e-10)


@sampled
@given(share, share, st.floats(0, 1e6), st.floats(-700, 700))
def test_the_mean_lies_between_precision_and_recall(
    p: float, r: float, beta: float, rho: float
) -> None:
    value = means.g(p, r, beta=beta, rho=rho)
    assert min(p, r) * (1 - 1e-12) <= value <= max(p, r) * (1 + 1e-12)


@sampled
@given(share, share, st.floats(0.1, 10))
def test_rho_minus_2_is_f_beta(p: float, r: float, beta: float) -> None:
    f = (1 + beta**2) * p * r / (beta**2 * p + r)
    assert means.g(p, r, beta=beta, rho=-2) == pytest.approx(f, rel=1e-12)


@pytest.mark.parametrize("step", [1e-3, 1e-6, 1e-9, 1e-12, -1e-3, -1e-6, -1e-9, -1e-12, 1e-15])
def test_near_the_geometric_mean_no_digit_is_lost(step: float) -> None:
    rho = -1 + step
    phi = rho + 1
    log_p, log_r = log(0.5), log(0.8)
    weight = 1 / (1 + 2.0**-rho)
    mean, spread = (
        weight * log_p + (1 - weight) * log_r,
        weight * (1 - weight) * (log_p - log_r) ** 2,
    )
    third = spread * (1 - 2 * weight) * (log_p - log_r)
    series = exp(mean + phi * spread / 2 + phi**2 * third / 6)
    tolerance = 1e-12 + abs(phi) ** 3
    assert means.g(0.5, 0.8, beta=2, rho=rho) == pytest.approx(series, rel=tolerance)


def test_rho_0_is_stipulated_and_the_limit_is_another() -> None:
    stipulated = means.g(0.5, 0.8, beta=2, rho=0)
    assert stipulated == pytest.approx(float(Fraction(2 * 5 + 8, 30)), rel=1e-15)
    assert means.g(0.5, 0.8, beta=2, rho=1e-13) == pytest.approx(0.65, rel=1e-12)


def test_beta_prefers_recall_below_rho_0_and_precision_from_there_on() -> None:
    assert means.g(0.5, 0.8, beta=1e9, rho=[-3, -2, -0.5]) == pytest.approx(0.8, rel=1e-3)
    assert means.g(0.5, 0.8, beta=1e9, rho=[0, 0.5, 3]) == pytest.approx(0.5, rel=1e-3)
    np.testing.assert_array_equal(
        means.g(0.5, 0.8, beta=0, rho=[-2, -1, 0, 1]), [0.5, 0.5, 0.8, 0.8]
    )


@pytest.mark.parametrize(("rho", "limit"), [(-700, 0.5), (700, 0.8)])
def test_at_great_exponents_it_is_the_smaller_or_the_greater(rho: float, limit: float) -> None:
    assert means.g(0.5, 0.8, beta=1, rho=rho) == pytest.approx(limit, rel=2e-3)


def test_a_zero_gives_zero_unless_the_exponent_is_positive() -> None:
    rho = np.array([-5, -2, -1, -0.5, 0, 2])
    for p, r in ((0, 0.8), (0.8, 0)):
        values = means.g(p, r, beta=1, rho=rho)
        assert (values[:3] == 0).all()
        assert (values[3:] > 0).all()
    assert (means.g(0, 0, beta=2, rho=rho) == 0).all()
    assert means.g(0, 0.8, beta=1, rho=-0.5) == pytest.approx(0.2, rel=1e-15)


def test_undefined_in_is_undefined_out() -> None:
    assert np.isnan(means.g([np.nan, 0.5, np.nan], [0.5, np.nan, 0], beta=1, rho=-2)).all()
    nothing_flagged = ConfusionCounts(tp=0, fp=0, fn=3, tn=9)
    assert np.isnan(metrics.g_score(nothing_flagged, beta=1, rho=-2))
    assert metrics.f_beta(nothing_flagged, beta=1) == 0


def test_g_is_the_power_mean_with_gamma_beta_to_the_rho_and_phi_one_more() -> None:
    for beta, rho in ((2, -2), (0.5, 1.5), (3, -0.25)):
        mean = means.weighted_power_mean(0.3, 0.9, gamma=beta**rho, phi=rho + 1)
        assert means.g(0.3, 0.9, beta=beta, rho=rho) == pytest.approx(mean, rel=1e-14)


def test_parameters_out_of_range_are_refused() -> None:
    with pytest.raises(ValueError, match="g: beta: must be finite and at least 0, got -1"):
        means.g(0.5, 0.5, beta=-1, rho=0)
    with pytest.raises(ValueError, match="exponent must be finite"):
        means.g(0.5, 0.5, beta=1, rho=np.inf)
    with pytest.raises(ValueError, match=r"recall must lie in \[0, 1\], got 1.5"):
        means.weighted_power_mean(0.5, 1.5, gamma=1, phi=1)
