"""Tests whether the share of cases changed: of all shares of a table, and of one by days.

The cells of a table that never occurred before have a count of 0 there: `share_tests` is exact
where counts are small, and never takes the logarithm of a count. It takes the blocks of time as
independent. Days are not: part of a deviation carries over to the next day, and few days show
little of their scatter. `by_days` is the test by the model of days.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.special import betainc, ndtr, ndtri, stdtr

from monitor.counts import ConfusionCounts
from monitor.drift.class_attribution import rates_of
from monitor.drift.component_changes import changes
from monitor.drift.components import Component
from monitor.drift.day_scatter import DayScatter, days_behind
from monitor.drift.segment_attribution import holm
from monitor.events.columns import Int64Array
from monitor.metrics.ratio import FloatArray


def share_tests(before: Int64Array, after: Int64Array) -> tuple[FloatArray, FloatArray]:
    """Test the share that each row has of its column.

    Each share of before is tested against that of after by the conditional test of two counts,
    whose variance is the hypergeometric one. Where the blocks of time scatter more than
    independent cases do, the deviate shrinks accordingly and is one of Student's t.

    Args:
        before: cases by blocks of time, (blocks, rows, columns).
        after: the same rows and columns.

    Returns:
        P-values, two-sided and corrected for all shares (Holm), and normal deviates, above 0
        where the share rose; both (rows, columns).

    Source:
        Przyborowski and Wilenski 1940 (conditional test of two counts); McCullagh and Nelder
        1989, eq. 4.23 (dispersion by Pearson's statistic); Holm 1979.
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


def by_days(
    before: ConfusionCounts,
    after: ConfusionCounts,
    *,
    component: Component,
    tolerance: float = 0.0,
) -> float:
    """Return the p-value of a change of one component, with errors of rows and of days.

    Args:
        before: outcomes by day.
        after: outcomes of other days.
        component: the one that is tested.
        tolerance: change that is none, log-odds.

    Returns:
        Two-sided, in [0, 1].
    """
    behind = (days_behind(side.total, 1) for side in (before, after))
    between = DayScatter.learn([before, after]).between(*behind)
    found = changes(before.sum(), after.sum(), between=between)
    beyond = np.maximum(np.abs(found.change) - tolerance, 0.0)
    return 2 * float(ndtr(-replace(found, change=beyond).z[component]))


def taken_for(matrix: Int64Array, predicted: int, actual: int) -> ConfusionCounts:
    """Return the cases of a class that are predicted as another (tp), and its others (fn).

    Args:
        matrix: by predicted and actual class, (..., classes, classes).
        predicted: number of the predicted class.
        actual: number of the actual one.
    """
    taken = matrix[..., predicted, actual]
    cases = matrix[..., :, actual].sum(axis=-1)
    return ConfusionCounts(tp=taken, fp=0, fn=cases - taken, tn=0)


def cases_of(matrix: Int64Array, actual: int) -> ConfusionCounts:
    """Return the cases of a class as positives (tp), and those of the others as negatives (tn).

    Args:
        matrix: by predicted and actual class, (..., classes, classes).
        actual: number of the class.
    """
    own = matrix[..., :, actual].sum(axis=-1)
    return ConfusionCounts(tp=own, fp=0, fn=0, tn=matrix.sum(axis=(-2, -1)) - own)


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
