"""True shares of positives where labels have errors at known rates.

A label is wrong at a rate that depends on the actual class alone, not on what was predicted.
Of cases with a share p of actual positives, labels then call

    o = p (1 - fn) + (1 - p) fp

positive, and p = (o - fp) / (1 - fp - fn). At 1 % prevalence, one wrong label in a hundred
actual negatives doubles the positives among the labels, which halves recall as stated.
"""

from __future__ import annotations

from math import isnan, nan
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

from monitor.metrics.mover import Proportion

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from monitor.counts import ConfusionCounts, CountArray
    from monitor.metrics.ratio import FloatArray


_DIGITS = 12
"""To which the ends of a range are as they were written."""


class ErrorRates(NamedTuple):
    """Rates at which labels are wrong, in [0, 1); their sum is below 1.

    Attributes:
        false_positive: probability that the label of an actual negative is 1.
        false_negative: probability that the label of an actual positive is 0.
        false_positive_below: by how much the first may be lower; 0 where it is known.
        false_positive_above: by how much it may be higher.
        false_negative_below: by how much the second may be lower.
        false_negative_above: by how much it may be higher.
    """

    false_positive: float = 0.0
    false_negative: float = 0.0
    false_positive_below: float = 0.0
    false_positive_above: float = 0.0
    false_negative_below: float = 0.0
    false_negative_above: float = 0.0

    @classmethod
    def within(
        cls,
        false_positive: float | tuple[float, float],
        false_negative: float | tuple[float, float],
    ) -> Self:
        """Return rates that are known, or lie within ranges.

        Args:
            false_positive: a rate, or the lowest and the highest that it may be.
            false_negative: the same.

        >>> ErrorRates.within((0.0, 0.5), 0.1)
        ErrorRates(false_positive=0.25, false_negative=0.1, false_positive_below=0.25, \
false_positive_above=0.25, false_negative_below=0.0, false_negative_above=0.0)
        """
        ends = [
            one if isinstance(one, tuple) else (one, one)
            for one in (false_positive, false_negative)
        ]
        (first, off), (second, other) = (((a + b) / 2, (b - a) / 2) for a, b in ends)
        return cls(first, second, off, off, other, other)

    @property
    def known(self) -> bool:
        """True unless the rates are undefined, as where too few labels are audited."""
        return not isnan(self.false_positive)

    @property
    def rates(self) -> dict[str, float]:
        """Both rates by name, the middle of their ranges; empty where no label is wrong."""
        if not any(self) or not self.known:
            return {}
        return {"false_positive": self.false_positive, "false_negative": self.false_negative}

    @property
    def ranges(self) -> dict[str, tuple[float, float]]:
        """The lowest and the highest of each rate that is not known exactly, by its name."""
        margins = {
            "false_positive": (
                self.false_positive,
                self.false_positive_below,
                self.false_positive_above,
            ),
            "false_negative": (
                self.false_negative,
                self.false_negative_below,
                self.false_negative_above,
            ),
        }
        return {
            name: (round(rate - below, _DIGITS), round(rate + above, _DIGITS))
            for name, (rate, below, above) in margins.items()
            if below or above
        }

    def excluded(self, possible: ErrorRates) -> dict[str, tuple[float, float]]:
        """Return the part of each range that is not possible, by the name of the rate.

        Args:
            possible: the rates that are left, see `possible_rates`.

        Returns:
            The highest possible and the highest of the range; empty where all of it is possible,
            where the rates left are undefined, and where these rates are zeros.

        >>> wide = ErrorRates.within((0.0, 0.02), 0.05)
        >>> wide.excluded(ErrorRates.within((0.0, 0.006), 0.05))
        {'false_positive': (0.006, 0.02)}
        """
        left = possible.ranges
        found = {
            name: (left.get(name, (0.0, getattr(possible, name)))[1], end)
            for name, (_, end) in self.ranges.items()
        }
        return {name: ends for name, ends in found.items() if ends[0] < ends[1]}

    @property
    def corners(self) -> tuple[ErrorRates, ...]:
        """The rates at the ends of their ranges, each combination; themselves without ranges."""
        ranges = self.ranges
        first = ranges.get("false_positive", (self.false_positive,))
        second = ranges.get("false_negative", (self.false_negative,))
        return tuple(ErrorRates(max(a, 0.0), max(b, 0.0)) for a in first for b in second)

    @property
    def left(self) -> float:
        """1 - fp - fn, by which labels separate the classes; 1 for labels without errors."""
        return 1 - self.false_positive - self.false_negative


class EarlierErrors(NamedTuple):
    """How often labels of earlier predictions are wrong.

    Attributes:
        until: of predictions before this moment, epoch milliseconds.
        errors: rates of wrong labels.
    """

    until: int
    errors: ErrorRates


class ValueErrors(NamedTuple):
    """How often labels of a segment value are wrong.

    Attributes:
        segment: the key.
        value: its value.
        rates: of wrong labels between the changes of the rates of the whole, the oldest first.
    """

    segment: str
    value: str
    rates: tuple[ErrorRates, ...]


NO_ERRORS = ErrorRates()
"""The rates of labels that are taken as they are."""

UNKNOWN_ERRORS = ErrorRates(nan, nan)
"""The rates of labels whose errors are undefined."""


def labelled_cases(
    positive: CountArray, negative: CountArray, errors: ErrorRates
) -> tuple[CountArray, CountArray]:
    """Return how many cases labels call positive, and negative, on average.

    Args:
        positive: numbers of actual positives, any shape.
        negative: of actual negatives, same shape.
        errors: rates of wrong labels; of ranges the middle.

    >>> labelled_cases(np.array(100), np.array(900), ErrorRates(.01, .05))
    (np.float64(104.0), np.float64(896.0))
    """
    if not any(errors):
        return positive, negative
    wrong, missed = errors.false_positive * negative, errors.false_negative * positive
    return positive - missed + wrong, negative - wrong + missed


def true_share(labelled: ArrayLike, false_positive: ArrayLike, left: ArrayLike) -> FloatArray:
    """Return the share of actual positives behind a share of positive labels.

    Args:
        labelled: share of positive labels, any shape.
        false_positive: probability that the label of an actual negative is 1.
        left: 1 less both rates, see `ErrorRates.left`.

    Returns:
        In [0, 1]: 0 where there are fewer positive labels than wrong ones alone would give,
        1 where there are fewer negative ones; NaN where the share is.

    Source:
        Rogan and Gladen 1978.

    >>> float(true_share(0.0194, 0.01, 0.94).round(3)), float(true_share(0.004, 0.01, 0.94))
    (0.01, 0.0)
    """
    wrong = np.asarray(false_positive, dtype=np.float64)
    share = (np.asarray(labelled, dtype=np.float64) - wrong) / np.asarray(left, dtype=np.float64)
    return np.asarray(np.clip(share, 0.0, 1.0), dtype=np.float64)[()]


class TooFewLabels(NamedTuple):
    """Predicted classes whose correction for wrong labels ends at 0 or 1.

    Attributes:
        positive: of `predicted_positive` and `predicted_negative`, those with fewer positive labels
            than wrong ones alone would give, so that none counts as an actual positive.
        negative: the same of negative labels.
    """

    positive: tuple[str, ...] = ()
    negative: tuple[str, ...] = ()


def too_few_labels(labelled: ConfusionCounts, errors: ErrorRates) -> TooFewLabels:
    """Return which predicted classes have too few labels of a class for the lowest rates.

    Args:
        labelled: outcomes as labelled, a scalar.
        errors: rates of wrong labels.

    >>> from monitor.counts import ConfusionCounts
    >>> too_few_labels(ConfusionCounts(tp=99, fp=1, fn=1, tn=199), ErrorRates(0.01, 0.05))
    TooFewLabels(positive=('predicted_negative',), negative=('predicted_positive',))
    """
    wrong = errors.false_positive - errors.false_positive_below
    missed = errors.false_negative - errors.false_negative_below
    strata = {
        "predicted_positive": (labelled.tp, labelled.fp),
        "predicted_negative": (labelled.fn, labelled.tn),
    }
    return TooFewLabels(
        tuple(name for name, (one, zero) in strata.items() if one < wrong * (one + zero)),
        tuple(name for name, (one, zero) in strata.items() if zero < missed * (one + zero)),
    )


def true_proportion(
    labelled: Proportion, trials: CountArray, false_positive: ArrayLike, left: ArrayLike
) -> Proportion:
    """Return the proportion of actual positives behind that of positive labels.

    The limits are those of the labelled share, each corrected: the rates are taken as known.

    Args:
        labelled: of positive labels, any shape.
        trials: number of labels, same shape.
        false_positive: as for `true_share`.
        left: likewise.

    Returns:
        The inner point lies at least half a case within 0 and 1, and between the limits.

    Source:
        Rogan and Gladen 1978; Lang and Reiczigel 2014 (limits of the labelled share).
    """
    point, inner, lower, upper = (true_share(each, false_positive, left) for each in labelled)
    half = 0.5 / (np.asarray(trials) + 1)
    inner = np.clip(inner, half, 1 - half)
    return Proportion(point, inner, np.minimum(lower, inner), np.maximum(upper, inner))
