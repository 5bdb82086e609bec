"""How often each of several sources labels wrong, with no truth at hand.

A case is actually positive with probability p. Given its class, sources label it independently
of each other: source s labels an actual negative 1 with probability fp_s, an actual positive 0
with fn_s. Cases that three sources label then determine all rates (Dawid and Skene 1979): where
two agree and the third does not, the third is mostly the one that is wrong.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv, expit, logit

from monitor.metrics.ratio import FloatArray, ratio

FEWEST_SHARED = 100
"""Cases that two sources must share to count as compared."""
FEWEST_OF_CLASS = 30
"""Cases of an actual class, as estimated, below which a source's rate in it is not stated."""
NO_LABEL = -1
"""In `ratings`, a source that did not label the case."""

_PRIOR = 0.5
"""Cases added to right and to wrong labels of each class: a rate is not 0 where none is wrong."""
_STEPS = 5_000
_CLOSE = 1e-9
_LEAST = 1e-12
_THREE = 3


class SourceRate(NamedTuple):
    """A rate of wrong labels with its 95 % limits; NaN where undefined.

    Attributes:
        rate: the estimate.
        lower: lower limit.
        upper: upper limit.
    """

    rate: float
    lower: float
    upper: float

    @property
    def is_defined(self) -> bool:
        """True where there is an estimate."""
        return not np.isnan(self.rate)


UNDEFINED = SourceRate(np.nan, np.nan, np.nan)


class SourceErrors(NamedTuple):
    """How often a source labels wrong.

    Attributes:
        false_positive: share of actual negatives that it labels 1.
        false_negative: share of actual positives that it labels 0.
        cases: that it labels, and that at least one other compared source labels too.
    """

    false_positive: SourceRate
    false_negative: SourceRate
    cases: int


NO_ERRORS = SourceErrors(UNDEFINED, UNDEFINED, 0)


class _Likely(NamedTuple):
    """Share of positives and rates of wrong labels (sources,) that are most likely."""

    share: float
    false_positive: FloatArray
    false_negative: FloatArray


def dawid_skene(ratings: NDArray[np.int8], cases: NDArray[np.int64]) -> list[SourceErrors]:
    """Return the error rates of sources that label the same cases.

    Args:
        ratings: (rows, sources): 0, 1, or `NO_LABEL`.
        cases: (rows,), cases with these ratings.

    Returns:
        The most likely rates of each source by expectation and maximization from the share of
        positive labels of each case, with half a case added to right and to wrong labels of
        each class; limits on the scale of logits from the information in the cases' scores.
        Undefined

        - for a source that is not among three of which each two share `FEWEST_SHARED` cases: the
          labels of two do not determine who is wrong;
        - in an actual class with under `FEWEST_OF_CLASS` cases, as estimated, of the source;
        - where the limits of both rates allow a sum below and above 1, so that the labels of
          the source may say nothing of the class.

    Source:
        Dawid & Skene 1979, eqs. 2.3 to 2.5; Louis 1982 (information under missing data).

    >>> ratings = np.array([[0, 0, 0], [1, 1, 1], [0, 1, 1], [1, 0, 0], [0, 0, 1]], np.int8)
    >>> first, _, third = dawid_skene(ratings, np.array([880, 80, 20, 10, 10]))
    >>> [round(rate, 3) for rate in first.false_negative]
    [0.204, 0.131, 0.288]
    >>> [round(rate, 3) for rate in third.false_positive]
    [0.012, 0.006, 0.02]
    """
    errors = [NO_ERRORS] * ratings.shape[1]
    compared = _compared(ratings, cases)
    if not len(compared):
        return errors
    chosen = ratings[:, compared]
    several = (chosen != NO_LABEL).sum(axis=1) > 1
    chosen, weight = chosen[several], cases[several].astype(np.float64)
    ones, zeros = (chosen == 1).astype(np.float64), (chosen == 0).astype(np.float64)
    likely, positive = _maximized(ones, zeros, weight)
    effective = _effective(ones, zeros, weight, likely, positive)
    labelled = weight @ (ones + zeros)
    of_positive = (weight * positive) @ (ones + zeros)
    for place, source in enumerate(compared.tolist()):
        rates = [
            _rate(rate[place], known, of_class)
            for rate, known, of_class in zip(
                (likely.false_positive, likely.false_negative),
                effective[:, place],
                (labelled[place] - of_positive[place], of_positive[place]),
                strict=True,
            )
        ]
        if sum(one.lower for one in rates) < 1 <= sum(one.upper for one in rates):
            rates = [UNDEFINED, UNDEFINED]
        errors[source] = SourceErrors(rates[0], rates[1], round(labelled[place]))
    return errors


def _rate(rate: float, known: float, cases: float) -> SourceRate:
    """Return a rate with its limits, those of Jeffreys.

    Args:
        rate: the most likely one.
        known: cases of known class that would tell as much.
        cases: of the actual class, as estimated.
    """
    if cases < FEWEST_OF_CLASS or not known > 0:
        return UNDEFINED
    lower, upper = betaincinv(rate * known, (1 - rate) * known, np.array([0.025, 0.975])).tolist()
    return SourceRate(float(rate), lower, upper)


def _compared(ratings: NDArray[np.int8], cases: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the sources that are among three of which each two share enough cases."""
    given = (ratings != NO_LABEL).astype(np.int64)
    shared = (given * cases[:, None]).T @ given >= FEWEST_SHARED
    np.fill_diagonal(shared, val=False)
    pairs = shared.astype(np.int64)
    return np.flatnonzero(np.diag(pairs @ pairs @ pairs))


def _maximized(
    ones: FloatArray, zeros: FloatArray, weight: FloatArray
) -> tuple[_Likely, FloatArray]:
    """Return the most likely rates, and the probability of each row to be positive."""
    positive = ones.sum(axis=1) / (ones + zeros).sum(axis=1)
    likely = _given(ones, zeros, weight, positive)
    for _ in range(_STEPS):
        before, positive = positive, _positive(ones, zeros, likely)
        likely = _given(ones, zeros, weight, positive)
        if np.abs(positive - before).max() < _CLOSE:
            break
    return likely, positive


def _given(
    ones: FloatArray, zeros: FloatArray, weight: FloatArray, positive: FloatArray
) -> _Likely:
    """Return the most likely rates, given the probability of each row to be positive."""
    of_positive, of_negative = weight * positive, weight * (1 - positive)
    lost, false = of_positive @ zeros + _PRIOR, of_negative @ ones + _PRIOR
    found, right = of_positive @ ones + _PRIOR, of_negative @ zeros + _PRIOR
    share = (of_positive.sum() + _PRIOR) / (weight.sum() + 2 * _PRIOR)
    return _Likely(float(share), false / (false + right), lost / (lost + found))


def _positive(ones: FloatArray, zeros: FloatArray, likely: _Likely) -> FloatArray:
    """Return the probability of each row to be positive, given the rates."""
    false, lost = likely.false_positive, likely.false_negative
    odds = (
        logit(likely.share) + ones @ np.log((1 - lost) / false) + zeros @ np.log(lost / (1 - false))
    )
    positive: FloatArray = expit(odds)
    return positive


def _effective(
    ones: FloatArray, zeros: FloatArray, weight: FloatArray, likely: _Likely, positive: FloatArray
) -> FloatArray:
    """Return how many cases of known class would tell as much of each rate, (2, sources).

    The information on the scale of logits is that of cases whose class is known, less what not
    knowing it takes away; NaN where nothing is left.
    """
    given = ones + zeros
    false, lost = likely.false_positive, likely.false_negative
    rates = np.concatenate([[likely.share], false, lost])
    of_class = [weight * (1 - positive), weight * positive]
    known = np.concatenate([[weight.sum()], *(each @ given for each in of_class)])
    apart = np.concatenate(  # of the scores if positive, and if negative
        [np.ones((len(ones), 1)), false * given - ones, zeros - lost * given], axis=1
    )
    unknown = (apart * (weight * positive * (1 - positive))[:, None]).T @ apart
    scale = np.maximum(rates * (1 - rates), _LEAST)
    information = np.diag(scale * (known + 2 * _PRIOR)) - unknown
    variance = np.diag(np.linalg.pinv(information))
    found = ratio(1, scale * variance)[1:].reshape(2, -1)
    return np.where(found > 0, found, np.nan)
