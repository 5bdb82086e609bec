"""Metrics of many classes: pure functions of matrices of counts, NaN where undefined.

A matrix has the predicted class along its second last axis and the actual class along its
last. Any axes before these are matrices of their own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtri, stdtrit

from monitor.counts import ConfusionCounts, CountArray
from monitor.metrics.proportions import wilson
from monitor.metrics.ratio import FloatArray, ratio

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitor.events.columns import Int64Array
    from monitor.metrics.proportions import Interval

    Average = Callable[[FloatArray, NDArray[np.bool_]], "_Gradient"]

_ADDED = 2.0
"""Counts that are spread over all cells before a standard error: as many as half a count in
each cell of a table of two classes."""


class _Gradient(NamedTuple):
    """A function of shares of cells, and its derivative by each share."""

    value: FloatArray
    slope: FloatArray


def one_against_rest(matrix: Int64Array) -> ConfusionCounts:
    """Return the outcomes of each class, as if the others were one class.

    Args:
        matrix: (…, classes, classes), by predicted and actual class.

    Returns:
        Counts of shape (…, classes).

    >>> counts = one_against_rest(np.array([[5, 1, 0], [2, 7, 0], [0, 0, 3]]))
    >>> counts.tp.tolist(), counts.fp.tolist(), counts.fn.tolist(), counts.tn.tolist()
    ([5, 7, 3], [1, 2, 0], [2, 1, 0], [10, 8, 15])
    """
    right = np.diagonal(matrix, axis1=-2, axis2=-1)
    predicted, actual = matrix.sum(axis=-1), matrix.sum(axis=-2)
    total = matrix.sum(axis=(-2, -1))[..., None]
    return ConfusionCounts(
        tp=right,
        fp=predicted - right,
        fn=actual - right,
        tn=total - predicted - actual + right,
    )


def class_accuracy(matrix: Int64Array) -> FloatArray:
    """Share of the cases whose predicted class is the actual one.

    It equals precision, recall and F1 over all classes pooled (micro averages).

    Args:
        matrix: (…, classes, classes), by predicted and actual class.

    Returns:
        Ratio in [0, 1], shape (…); NaN without a case.
    """
    return ratio(np.trace(matrix, axis1=-2, axis2=-1), matrix.sum(axis=(-2, -1)))


def class_kappa(matrix: Int64Array) -> FloatArray:
    """Cohen's kappa: agreement beyond chance, over the largest possible agreement beyond it.

    Args:
        matrix: (…, classes, classes), by predicted and actual class.

    Returns:
        Ratio in [-1, 1], shape (…); NaN where prediction and label are constant and the same,
        and without a case.

    Source:
        Cohen 1960.

    >>> print(class_kappa(np.array([[5, 1, 0], [2, 7, 0], [0, 0, 3]])).round(4))
    0.7313
    """
    return _kappa(_shares(matrix, 0.0)).value


def class_averages(
    matrix: Int64Array, among: NDArray[np.bool_] | None = None
) -> dict[tuple[str, str], FloatArray]:
    """Return averages over the classes, by kind of average and metric.

    `macro` gives each class the same weight, `weighted` its number of actual cases. Precision,
    recall and F1 are averaged over the classes where they are defined.

    Args:
        matrix: (…, classes, classes), by predicted and actual class.
        among: which classes to average over, (classes,); all if left out.

    Returns:
        Ratios in [0, 1], shape (…); NaN where the metric is defined for no class.

    >>> found = class_averages(np.array([[5, 1, 0], [2, 7, 0], [0, 0, 3]]))
    >>> print(found["macro", "precision"].round(4), found["weighted", "recall"].round(4))
    0.8704 0.8333
    """
    shares = _shares(matrix, 0.0)
    return {
        name: average(shares, _defined(shares, name[1], among)).value
        for name, average in AVERAGES.items()
    }


def accuracy_interval(matrix: Int64Array, level: float) -> Interval:
    """Return Wilson's limits of `class_accuracy`; NaN where that is undefined.

    Args:
        matrix: (…, classes, classes), by predicted and actual class.
        level: coverage, in (0, 1).
    """
    right = np.trace(matrix, axis1=-2, axis2=-1)
    return wilson(right, matrix.sum(axis=(-2, -1)), level)


def kappa_interval(matrix: Int64Array, level: float) -> Interval:
    """Return limits of `class_kappa`, by the delta method; NaN where that is undefined.

    Args:
        matrix: (…, classes, classes), by predicted and actual class.
        level: coverage, in (0, 1).

    Source:
        Fleiss, Cohen & Everitt 1969.
    """
    point, found = class_kappa(matrix), _kappa(_shares(matrix, _ADDED))
    spread = ndtri((1 + level) / 2) * _error(matrix, found, _ADDED)
    lower, upper = np.maximum(found.value - spread, -1), np.minimum(found.value + spread, 1)
    return _around(point, lower, upper)


def average_interval(
    matrix: Int64Array,
    kind: str,
    metric: str,
    level: float,
    among: NDArray[np.bool_] | None = None,
) -> Interval:
    """Return limits of one of `class_averages`, by the delta method on the scale of log-odds.

    The error rests on shares with half a right and half a wrong case added to each class, since
    a class with few cases has often no wrong one, and on the cases that each class has. Classes
    where the metric is undefined are left out, as they are of the average. The quantile is
    Student's, with few degrees of freedom where most of the error is that of a class with few
    cases. F1 is centred where it is without the bias of few cases.

    Args:
        matrix: (…, classes, classes), by predicted and actual class.
        kind: `macro` or `weighted`.
        metric: `precision`, `recall` or `f1`.
        level: coverage, in (0, 1).
        among: which classes to average over, (classes,); all if left out.

    Returns:
        Limits in [0, 1]; NaN where the average is undefined.

    Source:
        Satterthwaite 1946 for the degrees of freedom.
    """
    average, defined = AVERAGES[kind, metric], _defined(matrix, metric, among)
    counts = _with_half_cases(matrix, metric)
    found = average(_shares(counts, 0.0), _with_another_class(defined))
    point, error = average(_shares(matrix, 0.0), defined).value, _error(counts, found, 0.0)
    middle = np.where((point > 0) & (point < 1), point, found.value)
    weighted = kind == "weighted"
    bias, freedom = _bias_and_freedom(counts, metric, defined, weighted=weighted)
    middle = np.minimum(middle + bias, (1 + middle) / 2)
    with np.errstate(divide="ignore", invalid="ignore"):
        wide = stdtrit(freedom, (1 + level) / 2) * error / (middle * (1 - middle))
        lower, upper = expit(logit(middle) - wide), expit(logit(middle) + wide)
    return _around(point, lower, upper)


def _bias_and_freedom(
    counts: FloatArray, metric: str, defined: NDArray[np.bool_], *, weighted: bool
) -> tuple[FloatArray, FloatArray]:
    """Return what an average lacks in the mean, and the degrees of freedom of its error.

    The bias is that of 2 TP / (2 TP + FP + FN), to second order, of independent counts.
    """
    right = np.diagonal(counts, axis1=-2, axis2=-1)
    predicted, actual = counts.sum(axis=-1), counts.sum(axis=-2)
    both, cases = predicted + actual, _cases(counts, metric)
    share = np.nan_to_num(ratio(right, cases))
    weight = np.where(_with_another_class(defined), actual if weighted else 1.0, 0.0)
    variance = weight**2 * np.nan_to_num(ratio(share * (1 - share), cases))
    squares = np.nan_to_num(ratio(variance**2, cases)).sum(axis=-1)
    freedom = ratio(variance.sum(axis=-1) ** 2, squares)
    if metric != "f1":
        return np.zeros_like(freedom), freedom
    lacking = np.nan_to_num(ratio(2 * (both - 2 * right) * right, both**3))
    return ratio((weight * lacking).sum(axis=-1), weight.sum(axis=-1)), freedom


def _around(point: FloatArray, lower: FloatArray, upper: FloatArray) -> Interval:
    """Return limits on either side of the point, NaN where that is."""
    unknown = np.isnan(point)
    low = np.where(unknown, np.nan, np.fmin(lower, point))
    return low[()], np.where(unknown, np.nan, np.fmax(upper, point))[()]


def _cases(matrix: CountArray, metric: str) -> FloatArray:
    """Return the cases that a metric of each class is a share of: it is undefined without any."""
    predicted, actual = matrix.sum(axis=-1), matrix.sum(axis=-2)
    cases = {"precision": predicted, "recall": actual, "f1": (predicted + actual) / 2}[metric]
    return np.asarray(cases, dtype=np.float64)


def _defined(matrix: CountArray, metric: str, among: NDArray[np.bool_] | None) -> NDArray[np.bool_]:
    """Return which classes an average is over."""
    defined = _cases(matrix, metric) > 0
    return defined if among is None else defined & among


def _with_another_class(defined: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Return the classes and one more, of wrong half cases, where no metric is defined."""
    return np.concatenate([defined, np.zeros_like(defined[..., :1])], axis=-1)


def _with_half_cases(matrix: Int64Array, metric: str) -> FloatArray:
    """Add half a right case of each class, and half a wrong one with another class, the last.

    Each class has as many cases as before: its cells are scaled down to them. These are the
    predicted cases for precision and the actual ones for recall; F1 has the mean of both.
    """
    size = matrix.shape[-1]
    counts = np.zeros((*matrix.shape[:-2], size + 1, size + 1))
    counts[..., :size, :size] = matrix
    wrong = np.zeros((size + 1, size + 1))
    wrong[:, size] = 0.5
    found = [
        _scaled(counts, added + 0.5 * np.eye(size + 1), axis)
        for added, axis, metrics in ((wrong, -1, "precision"), (wrong.T, -2, "recall"))
        if metric in {metrics, "f1"}
    ]
    return np.asarray(np.mean(found, axis=0))


def _scaled(counts: FloatArray, added: FloatArray, axis: int) -> FloatArray:
    """Return the counts with others added, as many along the axis as before."""
    cases = counts.sum(axis=axis, keepdims=True)
    more = counts + added
    return np.asarray(more * ratio(cases, more.sum(axis=axis, keepdims=True)))


def _pairs_in_use(matrix: CountArray) -> NDArray[np.bool_]:
    """Return which cells are of two classes that have predictions or cases."""
    used = (matrix.sum(axis=-1) + matrix.sum(axis=-2)) > 0
    return np.asarray(used[..., :, None] & used[..., None, :])


def _shares(matrix: CountArray, added: float) -> FloatArray:
    """Return the share of each cell, with counts added that are spread over the cells in use."""
    pairs = _pairs_in_use(matrix)
    spread = ratio(added, pairs.sum(axis=(-2, -1)))[..., None, None]
    counts = matrix + np.where(pairs, spread, 0.0)
    return ratio(counts, counts.sum(axis=(-2, -1))[..., None, None])


def _error(matrix: CountArray, found: _Gradient, added: float) -> FloatArray:
    """Return the standard error of a function of the shares of a multinomial."""
    shares = _shares(matrix, added)
    mean = (shares * found.slope).sum(axis=(-2, -1))
    variance = (shares * found.slope**2).sum(axis=(-2, -1)) - mean**2
    cases = matrix.sum(axis=(-2, -1)) + added
    return np.sqrt(ratio(np.maximum(variance, 0.0), cases))


def _kappa(shares: FloatArray) -> _Gradient:
    predicted, actual = shares.sum(axis=-1), shares.sum(axis=-2)
    agreed = np.trace(shares, axis1=-2, axis2=-1)
    chance = (predicted * actual).sum(axis=-1)
    value = ratio(agreed - chance, 1 - chance)
    by_chance = actual[..., :, None] + predicted[..., None, :]
    rest = (1 - chance)[..., None, None]
    slope = np.eye(shares.shape[-1]) * rest - (1 - agreed)[..., None, None] * by_chance
    return _Gradient(value, ratio(slope, rest**2))


def _average(metric: str, *, weighted: bool) -> Average:
    def average(shares: FloatArray, defined: NDArray[np.bool_]) -> _Gradient:
        right = np.diagonal(shares, axis1=-2, axis2=-1)
        predicted, actual = shares.sum(axis=-1), shares.sum(axis=-2)
        above, below = {
            "precision": (1.0, predicted),
            "recall": (1.0, actual),
            "f1": (2.0, predicted + actual),
        }[metric]
        value = np.where(defined, ratio(above * right, below), 0.0)
        weight = np.where(defined, actual if weighted else 1.0, 0.0)
        total = weight.sum(axis=-1)[..., None]
        share = ratio(weight, total)
        mean = (share * value).sum(axis=-1)
        # What a class adds by its own cell, and by the cells below its fraction.
        own = np.nan_to_num(ratio(share, below))
        slope = np.eye(shares.shape[-1]) * (above * own)[..., None, :]
        if metric != "recall":
            slope = slope - (own * value)[..., :, None]
        if metric != "precision":
            slope = slope - (own * value)[..., None, :]
        if weighted:
            own_weight = np.where(defined, value - mean[..., None], 0.0)
            slope = slope + ratio(own_weight, total)[..., None, :]
        return _Gradient(np.where(total[..., 0] > 0, mean, np.nan), slope)

    return average


AVERAGES: dict[tuple[str, str], Average] = {
    (kind, metric): _average(metric, weighted=kind == "weighted")
    for kind in ("macro", "weighted")
    for metric in ("precision", "recall", "f1")
}
"""Averages over the classes, by kind and metric."""
