"""The likelihood of rates of wrong labels, given audited and labelled cases.

With p the share of actual positives among the cases of a predicted class, an audited case that
is actually positive and labelled 1 has the probability p (1 - fn), one that is actually negative
and labelled 1 has (1 - p) fp, and a case that is not audited and labelled 1 has the sum of both.
Parts of the cases (stretches of time, or values of a segment) share the rates and have each their
own p, as prevalence may differ where rates do not.
"""

from __future__ import annotations

import numpy as np

from monitor.counts import CountArray
from monitor.metrics.ratio import FloatArray

LOWEST, HIGHEST = -14.0, 3.0
"""Logits between which rates are looked for."""

_PRIOR = 0.5
"""Audits added to right and to wrong labels (Jeffreys): a rate is not 0 where none is wrong."""
_LEAST = 1.5e-8
"""The least share of positives, and of negatives, that is looked for."""
_POLISHED = 2
"""Steps of Newton's method behind the formula for a cubic root."""
_POINTS = 9
_ROUNDS = 6
_SHRINK = 0.35


def rates_at(logits: FloatArray) -> FloatArray:
    """Return rates in (0, 1).

    Args:
        logits: of the rates, any shape.
    """
    return np.asarray(1 / (1 + np.exp(-logits)))


def log_likelihood(
    audited: CountArray, labelled: CountArray, first: FloatArray, second: FloatArray
) -> FloatArray:
    """Return the log-likelihood of rates, each share of positives at its most likely value.

    Half an audit is added to right and to wrong labels of each actual class.

    Args:
        audited: (problems, parts, 2, 2, 2), cases by predicted class, label and actual class.
        labelled: (problems, parts, 2, 2), cases by predicted class and label.
        first: logits of the false positive rate, (problems or 1, n).
        second: logits of the false negative rate, (problems or 1, m).

    Returns:
        (problems, n, m), the sum over the parts; -inf where both rates add up to 1 or more.
    """
    a, b = rates_at(first)[:, :, None], rates_at(second)[:, None, :]
    left = 1 - a - b
    possible = left > 0
    left = np.where(possible, left, 1.0)
    seen = audited.sum(axis=(1, 2)).astype(np.float64) + _PRIOR
    right_negative, lost, false, right_positive = (
        seen[:, label, actual, None, None] for label, actual in ((0, 0), (0, 1), (1, 0), (1, 1))
    )
    value = (
        right_negative * np.log1p(-a)
        + false * np.log(a)
        + right_positive * np.log1p(-b)
        + lost * np.log(b)
    )
    actual = audited.sum(axis=-2).astype(np.float64)[..., None, None]
    others = (labelled - audited.sum(axis=-1)).astype(np.float64)[..., None, None]
    negative, positive = actual[:, :, :, 0], actual[:, :, :, 1]
    zero, one = others[:, :, :, 0], others[:, :, :, 1]
    a, left = a[:, None, None], left[:, None, None]
    share = _most_likely_share((positive, negative, one, zero), a, left)
    labelled_one = a + share * left
    of_strata = _times(one, labelled_one) + _times(zero, 1 - labelled_one)
    of_strata += _times(positive, share) + _times(negative, 1 - share)
    return np.where(possible, value + of_strata.sum(axis=(1, 2)), -np.inf)


def greatest_log_likelihood(audited: CountArray, labelled: CountArray) -> FloatArray:
    """Return the greatest log-likelihood of rates that all parts share.

    Args:
        audited: (problems, parts, 2, 2, 2), as in `log_likelihood`.
        labelled: (problems, parts, 2, 2).

    Returns:
        (problems,), to some hundredths.

    >>> audited = np.array([[[250, 0], [197, 53]], [[245, 5], [11, 239]]])
    >>> labelled = np.array([[28_843, 360], [578, 219]])
    >>> alone = greatest_log_likelihood(audited[None, None], labelled[None, None])
    >>> twice = [np.repeat(part[None, None], 2, axis=1) for part in (audited, labelled)]
    >>> both = greatest_log_likelihood(*twice)
    >>> bool(2 * alone[0] - both[0] < 5)
    True
    """
    count = len(audited)
    middle = np.full((count, 2), (LOWEST + HIGHEST) / 2)
    half = (HIGHEST - LOWEST) / 2
    best = np.full(count, -np.inf)
    steps = np.linspace(-1, 1, _POINTS)
    for _ in range(_ROUNDS):
        grid = np.clip(middle[:, :, None] + half * steps, LOWEST, HIGHEST)
        value = log_likelihood(audited, labelled, grid[:, 0], grid[:, 1]).reshape(count, -1)
        at = value.argmax(axis=1)
        found, problem = value[np.arange(count), at], np.arange(count)
        places = np.stack(np.divmod(at, _POINTS), axis=1)
        better = found > best
        middle = np.where(
            better[:, None],
            np.stack([grid[problem, i, places[:, i]] for i in range(2)], axis=1),
            middle,
        )
        best = np.maximum(best, found)
        half *= _SHRINK
    return best


def _times(count: FloatArray, share: FloatArray) -> FloatArray:
    return count * np.log(np.maximum(share, np.finfo(np.float64).tiny))


def _most_likely_share(
    counts: tuple[FloatArray, FloatArray, FloatArray, FloatArray], a: FloatArray, left: FloatArray
) -> FloatArray:
    """Return the share of actual positives where the derivative of its likelihood is 0.

    Times its denominators, the derivative is a cubic with three real roots: one between 0 and 1,
    one on either side. The formula gives the middle one, Newton's method its last digits.

    Args:
        counts: audited cases that are positive, and negative; others labelled 1, and 0.
        a: the false positive rate.
        left: 1 less both rates.
    """
    positive, negative, one, zero = counts
    audits, of_one = positive + negative, one * (1 - a) - zero * a
    constant, slope, square = a * (1 - a), left * (1 - 2 * a), -(left**2)
    steep = left * left * (one + zero)
    cubic = np.maximum(left**2 * audits + steep, np.finfo(np.float64).tiny)
    third = (positive * square - audits * slope - steep - left * of_one) / cubic
    second = (positive * slope - audits * constant + left * of_one) / cubic
    first = positive * constant / cubic
    share = np.clip(_middle_root(third, second, first), _LEAST, 1 - _LEAST)
    for _ in range(_POLISHED):
        value = ((share + third) * share + second) * share + first
        falls = np.minimum((3 * share + 2 * third) * share + second, -_LEAST)
        share = np.clip(share - value / falls, _LEAST, 1 - _LEAST)
    return np.asarray(share)


def _middle_root(square: FloatArray, linear: FloatArray, constant: FloatArray) -> FloatArray:
    """Return the middle one of the three real roots of x³ + square x² + linear x + constant."""
    shift = square / 3
    radius = np.sqrt(np.maximum(shift**2 - linear / 3, 0.0))
    half = shift * (shift**2 - linear / 2) + constant / 2
    turn = np.arccos(np.clip(half / np.maximum(radius**3, np.finfo(np.float64).tiny), -1.0, 1.0))
    return np.asarray(-2 * radius * np.cos((turn - 2 * np.pi) / 3) - shift)
