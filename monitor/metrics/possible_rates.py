"""Rates of wrong labels that labels exclude, because too few of them are positive, or negative.

Even where all cases of a predicted class are actual negatives, the share `false_positive` of their
labels is 1 on average; even where all are actual positives, the share `false_negative` is 0. So the
predicted class with the lowest share of positive labels bounds the first rate, and the one with the
lowest share of negative labels the second. Beyond these bounds corrected cells lie below 0: cut off
there, recall or precision would be 1, whatever the model does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from monitor.counts import ConfusionCounts
from monitor.metrics.label_errors import UNKNOWN_ERRORS, ErrorRates
from monitor.metrics.ratio import FloatArray

_Z = 3.2905267314918945
"""Standard errors beyond which a rate is excluded: p < .0005 on one side."""
_DIGITS = 3
_FEWEST_DAYS = 5


class LabelShares(NamedTuple):
    """The lowest share of labels of one class among predicted positives and negatives.

    Attributes:
        share: of the predicted class with the lowest limit; 1 without labels.
        limit: the highest true share that the labels do not exclude.
    """

    share: FloatArray
    limit: FloatArray


class LabelLimits(NamedTuple):
    """What the labels of some days allow of the rates of wrong ones.

    Attributes:
        false_positive: the highest rate that they do not exclude; 1 without labels.
        false_negative: the same.
        dispersion: that both allow for, see `share_dispersion`.
    """

    false_positive: float = 1.0
    false_negative: float = 1.0
    dispersion: float = 1.0

    @classmethod
    def of(cls, days: ConfusionCounts) -> LabelLimits:
        """Return the limits of outcomes as labelled, by days.

        >>> days = ConfusionCounts(tp=[80] * 9, fp=20, fn=[4, 6] * 4 + [5], tn=995)
        >>> LabelLimits.of(days)
        LabelLimits(false_positive=0.00812, false_negative=0.248, dispersion=1.0)
        """
        dispersion = share_dispersion(days)
        first, second = _lowest_shares(days.sum(axis=-1), dispersion)
        return cls(float(first.limit), float(second.limit), dispersion)


NO_LIMITS = LabelLimits()
"""The limits where no rates are configured, or no labels have come."""


class PossibleRates(NamedTuple):
    """Rates of wrong labels of many series, as far as their labels allow them.

    Attributes:
        errors: (..., 6), in the order of `ErrorRates`: without the excluded part.
        fit: (...), False where labels exclude every rate within a range.
    """

    errors: FloatArray
    fit: NDArray[np.bool_]


def possible_rates(
    errors: ArrayLike, labelled: ConfusionCounts, dispersion: ArrayLike = 1.0
) -> PossibleRates:
    """Return rates of wrong labels without those that labels exclude.

    A rate beyond the highest share of such labels (p < .0005) is excluded. The middle is that of
    the rates up to the share itself, so that it leaves no corrected cell below 0; where the whole
    range is above the share, it is the lowest rate.

    Args:
        errors: (..., 6), in the order of `ErrorRates`; defined.
        labelled: outcomes as labelled, (...).
        dispersion: variance of a share over that of independent labels, at least 1; broadcasts.

    Returns:
        The same rates where nothing is excluded.

    Source:
        Wilson 1927 (limits of a share); Lang and Reiczigel 2014 (where the share of positive
        labels is below the rate of wrong ones).

    >>> wide = ErrorRates.within((0.0, 0.02), 0.05)
    >>> labelled = ConfusionCounts(tp=800, fp=200, fn=245, tn=48_755)
    >>> found = possible_rates(wide, labelled)
    >>> ErrorRates(*found.errors.tolist()).ranges, bool(found.fit)
    ({'false_positive': (0.0, 0.00617)}, True)
    >>> bool(possible_rates(ErrorRates(0.02, 0.05), labelled).fit)
    False
    """
    given = np.asarray(errors, dtype=np.float64)
    parts, fit = [], np.ones(given.shape[:-1], dtype=np.bool_)
    sides = _lowest_shares(labelled, dispersion)
    for shares, (rate, below, above) in zip(sides, _parts(given), strict=True):
        low, high = rate - below, rate + above
        middle_end = np.clip(shares.share, low, high)
        middle = np.where(rate > shares.share, (low + middle_end) / 2, rate)
        end = np.maximum(np.minimum(high, shares.limit), middle)
        is_range, cut = high > low, (middle != rate) | (end < high)
        kept = is_range & cut
        parts.append(
            (
                np.where(kept, middle, rate),
                np.where(kept, middle - low, below),
                np.where(kept, end - middle, above),
            )
        )
        fit &= low <= shares.limit
    (first, below, above), (second, below_second, above_second) = parts
    found = np.stack([first, second, below, above, below_second, above_second], axis=-1)
    return PossibleRates(found, fit)


def possible_for_days(
    errors: ErrorRates, days: ConfusionCounts, dispersion: float = 1.0
) -> ErrorRates:
    """Return the rates of wrong labels of a model without those that its labels exclude.

    Args:
        errors: the rates, defined.
        days: outcomes as labelled, by days.
        dispersion: see `share_dispersion`, of other days; that of these days where it is larger.

    Returns:
        The same where nothing is excluded, `UNKNOWN_ERRORS` where everything is.

    >>> days = ConfusionCounts(tp=[80] * 9, fp=[20] * 9, fn=[4, 6] * 4 + [5], tn=[995] * 9)
    >>> possible_for_days(ErrorRates.within((0.0, 0.02), 0.0), days).ranges
    {'false_positive': (0.0, 0.00812)}
    >>> possible_for_days(ErrorRates(0.05), days).known
    False
    """
    whole = days.sum(axis=-1)
    found = possible_rates(errors, whole, max(dispersion, share_dispersion(days)))
    if not bool(found.fit):
        return UNKNOWN_ERRORS
    if np.array_equal(found.errors, np.asarray(errors)):
        return errors
    return ErrorRates(*found.errors.tolist())


def limits_at_thresholds(labelled: ConfusionCounts) -> LabelLimits:
    """Return what labels above and below some thresholds allow of the rates of wrong ones.

    That takes labels to be wrong as often at every score.

    Args:
        labelled: outcomes as labelled, at each of many thresholds.

    Returns:
        The lowest of the limits at all thresholds (p < .0005 at each), so that a true rate is
        excluded by chance in up to .6 % of cases where all thresholds lie among actual negatives.

    >>> labelled = ConfusionCounts(tp=[90, 98], fp=[10, 102], fn=[10, 2], tn=[890, 798])
    >>> round(limits_at_thresholds(labelled).false_positive, 3)
    0.018
    """
    first, second = _lowest_shares(labelled, 1.0)
    return LabelLimits(float(first.limit.min()), float(second.limit.min()))


def possible_at_thresholds(errors: ErrorRates, labelled: ConfusionCounts) -> ErrorRates:
    """Return rates within ranges without those that labels above or below a threshold exclude.

    Args:
        errors: the rates, defined.
        labelled: outcomes as labelled, at each of many thresholds; see `limits_at_thresholds`.

    Returns:
        The same where nothing is excluded, and where a rate is known; the lowest rate alone where
        a whole range is excluded. A rate lies as far within what is left of its range as before.

    >>> labelled = ConfusionCounts(tp=[90, 98], fp=[10, 102], fn=[10, 2], tn=[890, 798])
    >>> possible_at_thresholds(ErrorRates.within((0.0, 0.1), 0.0), labelled).ranges
    {'false_positive': (0.0, 0.018)}
    """
    found = errors
    for name, limit in zip(errors.rates, limits_at_thresholds(labelled), strict=False):
        rate, below, above = (getattr(errors, f"{name}{one}") for one in ("", "_below", "_above"))
        left = max(limit - (rate - below), 0.0) / ((below + above) or 1.0)
        if left < 1 and below + above > 0:
            parts = {f"{name}_below": below * left, f"{name}_above": above * left}
            found = found._replace(**{name: rate - below + below * left}, **parts)
    return found


def none_below_zero(labelled: ConfusionCounts, errors: ErrorRates) -> NDArray[np.bool_]:
    """Return where no cell lies below 0, corrected for wrong labels, so that none is cut off there.

    Args:
        labelled: outcomes as labelled, any shape.
        errors: rates of wrong labels; of ranges the middle.

    >>> labelled = ConfusionCounts(tp=[90, 98], fp=[10, 102], fn=[10, 2], tn=[890, 798])
    >>> none_below_zero(labelled, ErrorRates(0.01)).tolist()
    [True, False]
    """
    wrong, missed = errors.false_positive, errors.false_negative
    strata = (labelled.tp, labelled.fp), (labelled.fn, labelled.tn)
    found = [
        (one >= wrong * (one + zero)) & (zero >= missed * (one + zero)) for one, zero in strata
    ]
    return np.asarray(np.all(found, axis=0))


def _parts(errors: FloatArray) -> tuple[tuple[FloatArray, FloatArray, FloatArray], ...]:
    """Return each rate with how much lower and higher it may be."""
    first, second, *margins = np.moveaxis(errors, -1, 0)
    return (first, margins[0], margins[1]), (second, margins[2], margins[3])


def _lowest_shares(
    labelled: ConfusionCounts, dispersion: ArrayLike
) -> tuple[LabelShares, LabelShares]:
    """Return the lowest shares of positive labels, and of negative ones."""
    flagged, passed = labelled.predicted_positive, labelled.predicted_negative
    return (
        _lowest((labelled.tp, flagged), (labelled.fn, passed), dispersion),
        _lowest((labelled.fp, flagged), (labelled.tn, passed), dispersion),
    )


def _lowest(
    first: tuple[ArrayLike, ArrayLike], second: tuple[ArrayLike, ArrayLike], dispersion: ArrayLike
) -> LabelShares:
    (one, one_limit), (other, other_limit) = (_limited(*s, dispersion) for s in (first, second))
    lower = one_limit <= other_limit
    return LabelShares(np.where(lower, one, other), np.where(lower, one_limit, other_limit))


def _limited(part: ArrayLike, cases: ArrayLike, dispersion: ArrayLike) -> LabelShares:
    """Return a share and its upper limit (Wilson), to a few significant digits."""
    number = np.maximum(np.asarray(cases, dtype=np.float64), 1e-9)
    share = np.where(np.asarray(cases) > 0, np.asarray(part) / number, 1.0)
    spread = _Z**2 * np.asarray(dispersion) / number
    half = np.sqrt(spread * share * (1 - share) + spread**2 / 4)
    limit = np.minimum((share + spread / 2 + half) / (1 + spread), 1.0)
    scale = 10.0 ** (np.floor(np.log10(limit)) - _DIGITS + 1)
    return LabelShares(share, np.minimum(np.ceil(limit / scale) * scale, 1.0))


def share_dispersion(days: ConfusionCounts) -> float:
    """Return the variance of the shares of labels between days over that of independent labels.

    Args:
        days: outcomes as labelled, by days.

    Returns:
        At least 1, the larger one of the predicted classes; 1 where fewer than five days have
        labels.

    >>> calm = ConfusionCounts(tp=80, fp=20, fn=[4, 6] * 4 + [5], tn=[995] * 9)
    >>> wild = ConfusionCounts(tp=80, fp=20, fn=[0, 45] + [0] * 7, tn=[995] * 9)
    >>> share_dispersion(calm), round(share_dispersion(wild), 1)
    (1.0, 44.8)
    """
    found = [1.0]
    strata = (days.tp, days.predicted_positive), (days.fn, days.predicted_negative)
    for part, cases in strata:
        held = np.asarray(cases) > 0
        number, positive = np.asarray(cases)[held], np.asarray(part)[held]
        share = positive.sum() / max(number.sum(), 1)
        if held.sum() < _FEWEST_DAYS or not 0 < share < 1:
            continue
        squares = ((positive - share * number) ** 2).sum() * held.sum() / (held.sum() - 1)
        found.append(float(squares / (number.sum() * share * (1 - share))))
    return max(found)
