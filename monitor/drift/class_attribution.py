"""What moved the precision of a class: how frequent the classes are, its recall, its leaks.

With π_j the share of cases that are of class j, and C_cj the share of these that are
predicted as class c, the odds of precision of class c are

    π_c C_cc / Σ_{j≠c} π_j C_cj

so that a change of logit(precision) splits, without remainder, into the prevalence of every
class, the recall of its own, and what each other class *leaks* into it. Everything is
standardised over the actual class: where the C_cj hold, whatever happens to the classes'
shares is prevalence alone.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import ndtri

from monitor.events.columns import Int64Array
from monitor.metrics.ratio import FloatArray, ratio

_LEVEL, _SIGNIFICANCE = 0.95, 0.01
_EQUAL = 1e-9  # numbers so close have their arithmetic mean
_STEP = 1e-6
_AT_ONCE = 100_000
"""Cells of matrices that are worked on at once, so that fifty classes take less than 20 MB."""
_AXES = 3  # blocks of time, predicted class, actual class
_CHANGE, _PREVALENCE, _RECALL, _LEAKED, _LEAKS = range(5)
"""Columns of the parts of each class; the leaks of the other classes are the last ones."""


class _Side(NamedTuple):
    """One of the two periods: shares of the classes, and of predictions within each of them."""

    share: FloatArray
    predicted: FloatArray


class Contributions(NamedTuple):
    """Contributions to a change of logit(precision), in log-odds and in points.

    Attributes:
        logit: after minus before; a positive one raises precision.
        points: of the change of precision, a fraction; they add up as the log-odds do.
        lower_points: lower limit of the 95 % interval of the points.
        upper_points: upper limit.
    """

    logit: FloatArray
    points: FloatArray
    lower_points: FloatArray
    upper_points: FloatArray


class ClassAttribution(NamedTuple):
    """What moved the precision of each class.

    The first axis of every array is the class whose precision it is. NaN where a class has no
    right or no wrong prediction on one side, or no case.

    Attributes:
        change: of precision, (classes,).
        prevalence: how frequent all classes are, (classes,).
        recall: of the class itself, (classes,).
        leaks: of each other class into it, (classes, classes); 0 of the class itself.
        leaked: of all other classes into it, (classes,): the sum of the leaks.
    """

    change: Contributions
    prevalence: Contributions
    recall: Contributions
    leaks: Contributions
    leaked: Contributions


def attribute_classes(before: Int64Array, after: Int64Array) -> ClassAttribution:
    """Split the change of each class's precision into its causes.

    Args:
        before: labelled predictions by predicted and actual class, (classes, classes), or by
            blocks of time before these, (blocks, classes, classes).
        after: the same classes in the same order.

    Returns:
        Contributions that add up to the change without remainder. Errors are those of
        independent cases, or those between the blocks of time where they are larger.

    Source:
        Kitagawa 1955 (components of a difference between two rates); Törnqvist et al. 1985
        (logarithmic mean).

    >>> before = np.array([[90, 20, 5], [8, 75, 5], [2, 5, 90]])
    >>> found = attribute_classes(before, before * [1, 3, 1])
    >>> found.prevalence.logit.round(3).tolist()
    [-0.956, 1.099, -0.887]
    >>> bool(np.abs(found.recall.logit).max() < 1e-12 > np.abs(found.leaks.logit).max())
    True
    """
    old, new = blocks_of(before), blocks_of(after)
    sums = old.sum(axis=0), new.sum(axis=0)
    sides = _sides(*sums)
    parts = _parts(*sides)
    variance = np.maximum(_independent(sides, sums), _between_blocks(old, new))
    points, spread = _in_points(*sides), ndtri((1 + _LEVEL) / 2) * np.sqrt(variance)
    arrays = parts, points, points - spread, points + spread
    columns = (_CHANGE, _PREVALENCE, _RECALL, slice(_LEAKS, None), _LEAKED)
    return ClassAttribution(
        *(Contributions(*(array[:, column] for array in arrays)) for column in columns)
    )


def blocks_of(matrix: Int64Array) -> Int64Array:
    """Return matrices by blocks of time; a single matrix is one block.

    Args:
        matrix: (classes, classes) or (blocks, classes, classes).
    """
    return matrix if matrix.ndim == _AXES else matrix[None]


def rates_of(matrix: Int64Array) -> FloatArray:
    """Return the share of the cases of each actual class that are predicted as each class.

    Args:
        matrix: labelled predictions by predicted and actual class, (..., classes, classes).

    Returns:
        Shares in [0, 1], the same shape; NaN for a class without cases.
    """
    return ratio(matrix, np.broadcast_to(matrix.sum(axis=-2, keepdims=True), matrix.shape))


def _sides(old: Int64Array, new: Int64Array) -> tuple[_Side, _Side]:
    """Return both sides; a class without cases on one has the predictions of the other.

    Either may have axes before those of the classes; they broadcast.
    """
    rates = rates_of(old), rates_of(new)
    predicted = (
        np.where(np.isnan(rates[0]), rates[1], rates[0]),
        np.where(np.isnan(rates[1]), rates[0], rates[1]),
    )
    shares = (ratio(m.sum(axis=-2), m.sum(axis=(-2, -1))[..., None]) for m in (old, new))
    first, second = (
        _Side(*pair) for pair in zip(shares, map(np.nan_to_num, predicted), strict=True)
    )
    return first, second


def _parts(old: _Side, new: _Side) -> FloatArray:
    """Return the change of logit(precision) of each class and its parts.

    The shape is (..., classes, 4 + classes).
    """
    own = np.eye(old.share.shape[-1], dtype=np.bool_)
    wrong = [np.where(own, 0.0, side.predicted * side.share[..., None, :]) for side in (old, new)]
    sums = [side.sum(axis=-1) for side in wrong]
    mean = _logarithmic_mean(*sums)[..., None]
    by_mix = (old.predicted + new.predicted) / 2 * (new.share - old.share)[..., None, :]
    by_rate = ((old.share + new.share) / 2)[..., None, :] * (new.predicted - old.predicted)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.log(new.share) - np.log(old.share)
        recall = np.log(_diagonal(new.predicted)) - np.log(_diagonal(old.predicted))
        leaks = np.where(own, 0.0, -by_rate / mean)
        prevalence = share - np.where(own, 0.0, by_mix / mean).sum(axis=-1)
        change = share + recall - np.log(sums[1]) + np.log(sums[0])
    first = np.stack([change, prevalence, recall, leaks.sum(axis=-1)], axis=-1)
    parts = np.concatenate([first, leaks], axis=-1)
    known = np.isfinite(parts).all(axis=-1, keepdims=True)
    return np.where(known, parts, np.nan)


def _diagonal(matrix: FloatArray) -> FloatArray:
    return np.diagonal(matrix, axis1=-2, axis2=-1)


def _logarithmic_mean(old: FloatArray, new: FloatArray) -> FloatArray:
    """(new - old) / log(new / old), their common value where they are equal; NaN at 0."""
    positive = (old > 0) & (new > 0)
    log = np.log(np.where(positive, new, 1.0)) - np.log(np.where(positive, old, 1.0))
    mean = np.divide(new - old, log, out=np.asarray((old + new) / 2), where=np.abs(log) > _EQUAL)
    return np.where(positive, mean, np.nan)


def _in_points(old: _Side, new: _Side) -> FloatArray:
    """Return `_parts` as parts of the change of precision, a fraction."""
    parts = _parts(old, new)
    change, before, after = parts[..., _CHANGE], _precision(old), _precision(new)
    equal = np.abs(change) <= _EQUAL
    per_logit = np.where(
        equal, before * (1 - before), (after - before) / np.where(equal, 1, change)
    )
    return parts * per_logit[..., None]


def _precision(side: _Side) -> FloatArray:
    cases = side.predicted * side.share[..., None, :]
    return ratio(_diagonal(cases), cases.sum(axis=-1))


def _independent(sides: tuple[_Side, _Side], sums: tuple[Int64Array, Int64Array]) -> FloatArray:
    """Return the variance of the points if cases are independent, by the delta method.

    The predictions of a class without cases on one side are those of the other: they have no error
    of their own, and move with them.
    """
    own = np.eye(len(sides[0].share))
    total = np.zeros_like(_in_points(*sides))
    for number, matrix in enumerate(sums):
        side, cases = sides[number], matrix.sum(axis=0)
        moved = _with_shares(side, side.share + _STEP * own)
        slope = _slope(sides, number, moved, sides[1 - number])
        of_share = side.share[:, None, None]
        mean, square = (of_share * slope).sum(axis=0), (of_share * slope**2).sum(axis=0)
        total += (square - mean**2) / max(cases.sum(), 1)
        lacking = sums[1 - number].sum(axis=0) == 0
        moved = _with_predictions(side, side.predicted + _STEP * own[:, None])
        other = sides[1 - number]
        other = _with_predictions(other, other.predicted + _STEP * (own * lacking)[:, None])
        slope = np.where((cases > 0)[:, None, None], _slope(sides, number, moved, other), 0.0)
        rate = ((matrix + 0.5) / (cases + 1)).T[..., None]
        total += (slope**2 * rate * (1 - rate) / (cases + 1)[:, None, None]).sum(axis=0)
    return np.maximum(total, 0.0)


def _with_shares(side: _Side, share: FloatArray) -> _Side:
    return _Side(share, np.broadcast_to(side.predicted, (len(share), *side.predicted.shape)))


def _with_predictions(side: _Side, predicted: FloatArray) -> _Side:
    return _Side(np.broadcast_to(side.share, predicted.shape[:-1]), predicted)


def _slope(sides: tuple[_Side, _Side], number: int, moved: _Side, other: _Side) -> FloatArray:
    """Return the derivative of the points as both sides move, for each of some steps."""
    changed = (moved, other) if number == 0 else (other, moved)
    return (_in_points(*changed) - _in_points(*sides)) / _STEP


def _between_blocks(old: Int64Array, new: Int64Array) -> FloatArray:
    """Return the variance of the points between blocks of time; 0 where a side has one block."""
    if min(len(old), len(new)) < 2:  # noqa: PLR2004  # a variance takes two
        return np.zeros((1, 1))
    sums = old.sum(axis=0), new.sum(axis=0)
    found = _jackknife(old, lambda some: _in_points(*_sides(some, sums[1])))
    return found + _jackknife(new, lambda some: _in_points(*_sides(sums[0], some)))


def _jackknife(blocks: Int64Array, function: Callable[[Int64Array], FloatArray]) -> FloatArray:
    """Return the variance of a function of sums over blocks, each block left out in turn.

    The function takes many sums at once, (sums, classes, classes).
    """
    left = blocks.sum(axis=0) - blocks
    at_once = max(1, _AT_ONCE // left[0].size)
    parts = [function(left[start : start + at_once]) for start in range(0, len(left), at_once)]
    found = np.concatenate(parts)
    deviations = found - found.mean(axis=0)
    return np.asarray((len(blocks) - 1) / len(blocks) * (deviations**2).sum(axis=0))
