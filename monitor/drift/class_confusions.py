"""Which class is predicted as which one more often, or less often, than before.

The rates are of the cases of an actual class, so that they do not change where classes become
more or less frequent. A confusion that never occurred before has a count of 0 there: the tests
are exact where counts are small, and never take the logarithm of a count.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import betainc, ndtr, ndtri, stdtr

from monitor.clock import DAY_MS
from monitor.config.quantities import format_time
from monitor.drift.class_attribution import blocks_of, rates_of
from monitor.drift.segment_attribution import holm
from monitor.events.columns import BoolArray, Int64Array
from monitor.metrics.ratio import FloatArray

_SIGNIFICANCE = 0.01


class ConfusionChanges(NamedTuple):
    """Changes of the rates at which cases of a class are predicted as one.

    All arrays are (classes, classes), by predicted and actual class.

    Attributes:
        before: share of the cases of the actual class; NaN without any.
        after: the same.
        p_values: of the change, two-sided, in [0, 1], corrected for all cells (Holm); 1 where
            a side has no case.
        rose: the rate certainly rose.
        fell: the rate certainly fell.
    """

    before: FloatArray
    after: FloatArray
    p_values: FloatArray
    rose: BoolArray
    fell: BoolArray

    @property
    def is_worse(self) -> bool:
        """Whether a class is certainly recognised less often, or mistaken for one more often.

        It can be better too, as where a threshold moves.
        """
        return bool(self.worse.any())

    @property
    def is_better(self) -> bool:
        """Whether a class is certainly recognised more often, or mistaken for one less often."""
        return bool(((self.rose | self.fell) & ~self.worse).any())

    @property
    def worse(self) -> BoolArray:
        """Which changes are for the worse: recall that fell, confusions that rose."""
        own = np.eye(len(self.rose), dtype=np.bool_)
        return np.where(own, self.fell, self.rose)


class ConfusionBegan(NamedTuple):
    """When a confusion changed, to the day (UTC), epoch milliseconds.

    Attributes:
        at: beginning of the likeliest day.
        earliest: lower limit of its 95 % interval, the beginning of a day; None where the
            likeliest is the first day after the reference, so that the confusion may have changed
            in the days before.
        latest: upper limit of the interval, the end of a day.
    """

    at: int
    earliest: int | None
    latest: int


class Confusion(NamedTuple):
    """A share of the cases of a class that are predicted as another one, which changed.

    Attributes:
        actual: name of the class that they are of.
        predicted: name of the one they are predicted as.
        before: share in the reference, in [0, 1].
        after: share in the window.
        began: when it changed, to the day (UTC); None where no days are stored.
    """

    actual: str
    predicted: str
    before: float
    after: float
    began: ConfusionBegan | None = None

    @property
    def text(self) -> str:
        """The change in words.

        >>> found = Confusion("card", "loan", 0.021, 0.09)
        >>> found.text
        'card → loan confusions rose from 2.1 to 9.0 %'
        >>> day = 1_788_220_800_000
        >>> found._replace(began=ConfusionBegan(day, day, day + DAY_MS)).text
        'card → loan confusions rose from 2.1 to 9.0 %, since 2026-09-01'
        """
        way = "rose" if self.after > self.before else "fell"
        shares = f"{100 * self.before:.1f} to {100 * self.after:.1f} %"
        text = f"{self.actual} → {self.predicted} confusions {way} from {shares}"
        if self.began is None:
            return text
        at, earliest, latest = self.began
        if earliest is None:
            return f"{text}, since on or before {_day(latest - 1)}"
        return f"{text}, since {'' if latest - earliest <= DAY_MS else 'about '}{_day(at)}"


def _day(moment: int) -> str:
    return format_time(moment)[: len("2026-09-01")]


def confusion_changes(before: Int64Array, after: Int64Array) -> ConfusionChanges:
    """Compare the rates at which cases of each class are predicted as each class.

    Each rate of before is tested against that of after by the conditional test of two counts,
    whose variance is the hypergeometric one. Where the blocks of time scatter more than
    independent cases do, the deviate shrinks accordingly and is one of Student's t.

    Args:
        before: labelled predictions by predicted and actual class, (classes, classes), or by
            blocks of time before these, (blocks, classes, classes).
        after: the same classes in the same order.

    Returns:
        Changes of all rates. However the shares of the classes move, at most one comparison
        in a hundred has a rate that moved by chance.

    Source:
        Przyborowski and Wilenski 1940 (conditional test of two counts); McCullagh and Nelder
        1989, eq. 4.23 (dispersion by Pearson's statistic); Holm 1979.

    >>> before = np.array([[98, 2], [2, 98]]) * 10
    >>> found = confusion_changes(before, np.array([[910, 2], [90, 98]]))
    >>> found.rose.tolist(), found.fell.tolist(), found.is_worse
    ([[False, False], [True, False]], [[True, False], [False, False]], True)
    """
    blocks = blocks_of(before), blocks_of(after)
    corrected, deviate = share_tests(*blocks)
    certain = corrected < _SIGNIFICANCE
    return ConfusionChanges(
        before=rates_of(blocks[0].sum(axis=0)),
        after=rates_of(blocks[1].sum(axis=0)),
        p_values=corrected,
        rose=certain & (deviate > 0),
        fell=certain & (deviate < 0),
    )


def share_tests(before: Int64Array, after: Int64Array) -> tuple[FloatArray, FloatArray]:
    """Test the share that each row has of its column, see `confusion_changes`.

    Args:
        before: cases by blocks of time, (blocks, rows, columns).
        after: the same rows and columns.

    Returns:
        P-values, two-sided and corrected for all shares (Holm), and normal deviates, above 0
        where the share rose; both (rows, columns).
    """
    old, new = before.sum(axis=0), after.sum(axis=0)
    deviate = _deviate(old, new)
    scatter, freedom = _scatter(before, after)
    p_values = np.where(
        scatter > 1,
        2 * stdtr(freedom, -np.abs(deviate) / np.sqrt(np.maximum(scatter, 1))),
        2 * ndtr(-np.abs(deviate)),
    )
    seen = (old.sum(axis=0) > 0) & (new.sum(axis=0) > 0)
    p_values = np.where(seen, p_values, 1.0)
    return holm(p_values.ravel()).reshape(p_values.shape), deviate


def _deviate(old: Int64Array, new: Int64Array) -> FloatArray:
    """Return the normal deviate of each rate's change; 0 where a side has no case.

    Given the cells of both sides together, those of one are about binomial where they are few
    beside the cases of the class. Where they are not, the cells that were predicted otherwise
    are counted, and the variance of sampling without replacement makes up for the rest.
    """
    cases = old.sum(axis=0), new.sum(axis=0)
    total = np.maximum(cases[0] + cases[1], 1)
    together = old + new
    mostly = 2 * together > total
    first, second = (np.where(mostly, n - m, m) for n, m in zip(cases, (old, new), strict=True))
    share = cases[1] / total
    more = _tail(second, first, share)
    fewer = _tail(first, second, 1 - share)
    tail = ndtri(np.minimum(np.minimum(more, fewer), 0.5))
    deviate = np.where((more < fewer) != mostly, -tail, tail)
    return np.asarray(deviate / np.sqrt(1 - np.where(mostly, total - together, together) / total))


def _tail(hits: Int64Array, others: Int64Array, share: FloatArray) -> FloatArray:
    """Return the chance of at least so many hits of all, each with a probability, (classes,)."""
    return np.where(hits > 0, betainc(np.maximum(hits, 1), others + 1.0, share), 1.0)


def _scatter(*sides: Int64Array) -> tuple[FloatArray, Int64Array]:
    """Return the variance between blocks beside that of independent cases, and its freedom.

    It is 1 where no side has two blocks with cases of the class.
    """
    squares, freedom = np.zeros(sides[0].shape[1:]), np.zeros(sides[0].shape[1:], dtype=np.int64)
    for side in sides:
        cases = side.sum(axis=1, keepdims=True)
        rate = np.nan_to_num(rates_of(side.sum(axis=0)))
        variance = cases * rate * (1 - rate)
        square = (side - cases * rate) ** 2
        squares += np.divide(square, variance, out=np.zeros_like(variance), where=variance > 0).sum(
            axis=0
        )
        freedom += np.maximum((cases > 0).sum(axis=0) - 1, 0)
    return np.where(freedom > 0, squares / np.maximum(freedom, 1), 1.0), np.maximum(freedom, 1)
