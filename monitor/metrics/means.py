"""Means of precision and recall: weighted power means and the family G.

    M(gamma, phi)  = ((gamma P^phi + R^phi) / (1 + gamma))^(1/phi)
    G(beta, rho)  = M(gamma = beta^rho, phi = rho + 1)

rho = -2 gives F_β and rho = -1 the weighted geometric mean. rho = 0 is defined as
(beta P + R) / (1 + beta), since beta^0 does not depend on beta; G is discontinuous there,
with the limit (P + R) / 2. beta > 1 favours recall for rho < 0 and precision for rho ≥ 0.

The translation printed in the article (beta = gamma^(1/(phi+1)), rho = phi + 1) is an
error: F_β would not be in the family.

The means are computed on logarithms: near phi = 0 by log1p(w·expm1(x)), where the textbook
form loses eight digits, and elsewhere by log-sum-exp, where it over- and underflows.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from monitor.metrics.ratio import at_least_zero

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.metrics.ratio import FloatArray


def weighted_power_mean(
    precision: ArrayLike, recall: ArrayLike, *, gamma: ArrayLike, phi: ArrayLike
) -> FloatArray:
    """Weighted power mean of precision and recall, with gamma times the weight on precision.

    Args:
        precision: P in [0, 1], any shape; NaN where undefined.
        recall: R in [0, 1], broadcasts against it.
        gamma: weight of precision over that of recall, in [0, ∞).
        phi: exponent, finite: 1 gives the arithmetic, 0 the geometric and -1 the harmonic
            mean.

    Returns:
        A number between P and R; NaN where either is NaN. With phi ≤ 0 it is 0 where P or
        R is 0 and has a positive weight.

    Raises:
        ValueError: a parameter is out of range, or P or R is outside [0, 1].

    Source:
        Gandenberger 2019; Bullen 2003, ch. III (weighted power means).

    >>> print(weighted_power_mean(.5, .8, gamma=1, phi=1))
    0.65
    """
    weight = at_least_zero("weighted_power_mean: gamma", gamma)
    return _power_mean(precision, recall, _log(weight), np.asarray(phi, dtype=np.float64))


def g(precision: ArrayLike, recall: ArrayLike, *, beta: ArrayLike, rho: ArrayLike) -> FloatArray:
    """Score of the family G, which includes F_β and the three classical means.

    Args:
        precision: P in [0, 1], any shape; NaN where undefined.
        recall: R in [0, 1], broadcasts against it.
        beta: weight in [0, ∞); above 1 it favours recall for rho < 0 and precision for
            rho ≥ 0. beta = 0 gives precision for rho < 0 and recall for rho ≥ 0.
        rho: exponent, finite: -2 gives F_β, -1 the geometric mean, 0 the arithmetic mean
            by definition.

    Returns:
        A number between P and R; NaN where either is NaN. With rho ≤ -1 it is 0 where P or
        R is 0 and has a positive weight.

    Raises:
        ValueError: a parameter is out of range, or P or R is outside [0, 1].

    Source:
        Gandenberger 2019, with gamma = beta^rho and phi = rho + 1 (see the module).

    >>> print(g(.5, .8, beta=2, rho=-2).round(6), g(.5, .8, beta=2, rho=0).round(6))
    0.714286 0.6
    """
    power = np.asarray(rho, dtype=np.float64)
    log_beta = _log(at_least_zero("g: beta", beta))
    with np.errstate(invalid="ignore"):
        log_gamma = np.where(power == 0, log_beta, power * log_beta)
    return _power_mean(precision, recall, log_gamma, power + 1)


def _power_mean(
    precision: ArrayLike, recall: ArrayLike, log_gamma: FloatArray, phi: FloatArray
) -> FloatArray:
    """The mean on logarithms; every branch is computed, and one is selected."""
    if not np.isfinite(phi).all():
        raise ValueError(f"power mean: the exponent must be finite, got {phi!r}")
    p, r, log_odds, power = np.broadcast_arrays(
        _share("precision", precision), _share("recall", recall), log_gamma, phi
    )
    log_weight_p, log_weight_r = -np.logaddexp(0, -log_odds), -np.logaddexp(0, log_odds)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        inner = _mean_of_positive(_log(p), _log(r), log_weight_p, log_weight_r, power)
        edge = _mean_with_zero(p, r, np.where(p > r, log_weight_p, log_weight_r), power)
    return np.where((p == 0) | (r == 0), edge, inner)[()]


def _mean_of_positive(
    log_p: FloatArray,
    log_r: FloatArray,
    log_weight_p: FloatArray,
    log_weight_r: FloatArray,
    phi: FloatArray,
) -> FloatArray:
    """The mean where both are above 0: the larger of the two terms is factored out."""
    distance = phi * (log_p - log_r)
    p_leads = distance > 0
    leader = np.where(p_leads, log_p, log_r)
    log_lead = np.where(p_leads, log_weight_p, log_weight_r)
    log_rest = np.where(p_leads, log_weight_r, log_weight_p)
    gap = np.abs(distance)
    near = np.log1p(np.exp(log_rest) * np.expm1(-gap)) / phi
    far = np.logaddexp(log_lead, log_rest - gap) / phi
    limit = np.exp(log_rest) * (np.where(p_leads, log_r, log_p) - leader)
    mean: FloatArray = np.exp(leader + np.where(phi == 0, limit, np.where(gap < 1, near, far)))
    return mean


def _mean_with_zero(
    p: FloatArray, r: FloatArray, log_weight: FloatArray, phi: FloatArray
) -> FloatArray:
    """The mean where one is 0: by the weight of the other for phi > 0, else 0."""
    greater = np.maximum(p, r)
    return greater * np.exp(
        np.where(log_weight == 0, 0.0, np.where(phi > 0, log_weight / phi, -np.inf))
    )


def _share(name: str, value: ArrayLike) -> FloatArray:
    share = np.asarray(value, dtype=np.float64)
    if ((share < 0) | (share > 1)).any():
        raise ValueError(f"power mean: {name} must lie in [0, 1], got {value!r}")
    return share


def _log(value: FloatArray) -> FloatArray:
    with np.errstate(divide="ignore"):
        logarithm: FloatArray = np.log(value)
    return logarithm
