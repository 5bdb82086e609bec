"""Whether labels that are wrong more often explain a change as well as a worse model does.

Few wrong labels among many negatives look like missed positives: prevalence and missed
positives rise together, while precision and the share of flagged cases stay. A worse model
misses positives that it found before, so that fewer of the flagged cases are positive. Two
rates and a class ratio tell these apart; they do not tell more wrong labels from new
positives of a kind that the model does not find.

Wrong labels may come beside another threshold, or another class ratio. Then three changes have
two or three causes, and a worse model beside another class ratio explains them as well:

    labels alone                      a share of wrong labels
    labels and threshold              and a movement along the ROC curve
    labels and class ratio            and actual positives that are rarer, or more frequent
    labels, threshold, class ratio    a higher threshold: else they would explain everything

A change of the model alone leaves log r as it was. So these count where log r rose with the missed
positives, and where scores can decide: by rates alone, three causes explain any three changes.
Wrong labels beside positives that became rarer by as many leave log r as it was, too, and pass
for a worse model: two changes that cancel are taken for less likely than one.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.component_changes import Changes
from monitor.drift.components import Component
from monitor.drift.no_skill import flags_one_way
from monitor.metrics.ratio import FloatArray

_SHARES = tuple(np.log(np.geomspace(1e-4, 0.05, 64)).tolist())
"""Logs of the shares of actual negatives that more are labelled 1."""
_STARTS = tuple(np.log([1e-3, 5e-3, 2e-2]).tolist())
"""Those from which the nearest one is looked for, beside other changes."""
_OF_POSITIVES = (0.0, 1.0)
"""How many times as large the share of actual positives is that more are labelled 0."""
_SLOPES = (0.5, 0.75, 1.0, 1.5)
"""Change of logit TPR over that of logit FPR along a ROC curve."""
_FARTHEST = 3.0
"""Largest movement of logit FPR by another threshold, and of log r."""
_STEPS, _TINY = 12, 1e-4
_AT_ONCE = 256
"""Series that are looked at together: their places stay in the processor's cache."""
_MOST = 0.95
"""Largest correlation between the changes of both rates."""
_FITS = 9.210340371976184
"""Quantile .99 of chi squared with two degrees of freedom: three changes, one share. Where more
causes are fitted, it asks for less than p > .01, since their directions are bounded."""

_TEN_TIMES = 4.605170185988092
"""2 ln 10: distances by which one explanation is ten times as likely as the other."""
_THREE_TIMES = 2.1972245773362196
"""2 ln 3: likewise for three times, where no scores can tell."""
_MOVED = 2.0
"""Standard errors; where neither recall nor the odds ratio moved by more, none blames skill."""


class _Beside(NamedTuple):
    """What may have changed beside labels: bounds of its movements.

    Attributes:
        threshold: least and greatest movement of logit FPR along the curve.
        class_ratio: least and greatest change of log r.
    """

    threshold: tuple[float, float] = (0.0, 0.0)
    class_ratio: tuple[float, float] = (0.0, 0.0)


_ALL_BESIDE = (
    _Beside(threshold=(-_FARTHEST, _FARTHEST)),
    _Beside(class_ratio=(-_FARTHEST, _FARTHEST)),
    _Beside(threshold=(-_FARTHEST, 0.0), class_ratio=(-_FARTHEST, _FARTHEST)),
)


class _Places(NamedTuple):
    """Sizes of the changes that explain others.

    Attributes:
        at: log of the share of wrong labels, movements of logit FPR and of log r, (..., places, 3).
        times: how many times as large the share of positives labelled 0 is, (places,).
        slope: of the ROC curve in log-odds, (places,).
    """

    at: FloatArray
    times: FloatArray
    slope: FloatArray


@cache
def _places(shares: tuple[float, ...], slopes: tuple[float, ...]) -> _Places:
    """Return places where labels alone are wrong, by the log of their share."""
    share, times, slope = (one.ravel() for one in np.meshgrid(shares, _OF_POSITIVES, slopes))
    return _Places(np.stack([share, 0 * share, 0 * share], axis=-1), times, slope)


def labels_explain(
    before: ConfusionCounts, after: ConfusionCounts, found: Changes, *, scored: bool = False
) -> NDArray[np.bool_]:
    """Test for a change of recall that other labels explain as well as the model.

    That labels are wrong more often predicts the changes of log r, TPR and FPR from one
    share. It explains them where the changes do not leave that prediction (p > .01), and no
    change of log r, which is what a change of the model alone predicts, is less than three times
    as likely. Where scores can tell both apart, ten times are asked for, since waiting costs
    little there. Where recall rose, labels that are wrong less often are tested.

    Where scores can tell both apart, recall certainly fell and log r rose, so that the model alone
    is ten times less likely, wrong labels beside another threshold, another class ratio, or both
    explain it as well, if they fit.

    Args:
        before: outcomes of the reference, one series for each index.
        after: outcomes of the window, same shape.
        found: the changes between them.
        scored: True where the scores of both can decide between labels and model.

    Returns:
        Bool array in the shape of the series; False where recall did not move, or neither it
        nor the odds ratio by two standard errors, where a class is missing, and where nothing
        is flagged any more, or everything.

    >>> from monitor.drift.component_changes import changes
    >>> before = ConfusionCounts(tp=1_600, fp=980, fn=400, tn=97_020)
    >>> more_wrong = ConfusionCounts(tp=1_594, fp=986, fn=1_366, tn=96_054)
    >>> fewer_found = ConfusionCounts(tp=1_000, fp=980, fn=1_000, tn=97_020)
    >>> [bool(labels_explain(before, one, changes(before, one)))
    ...  for one in (more_wrong, fewer_found)]
    [True, False]
    """
    both = [Component.RECALL, Component.ODDS_RATIO]
    moved = (np.abs(found.change[both]) > _MOVED * found.standard_error[both]).any(axis=0)
    moved &= found.change[Component.RECALL] != 0
    asked = np.asarray(moved & _both_classes(before) & _both_classes(after))
    asked = asked & ~flags_one_way(before, after)
    explained, least = np.zeros(asked.shape, dtype=np.bool_), _TEN_TIMES if scored else _THREE_TIMES
    series = Changes(found.change[:, asked], found.standard_error[:, asked])
    more = series.change[Component.RECALL] < 0
    right = np.where(more[:, None], before[asked].cells, after[asked].cells)
    way = Changes(np.where(more, series.change, -series.change), series.standard_error)
    alone = _of_labels_alone(right, way) < np.minimum(_FITS, _of_model(series) + least)
    if scored:
        for index in np.flatnonzero(~alone & _may_be_beside(series)):
            one = Changes(way.change[:, index], way.standard_error[:, index])
            alone[index] = any(_fit_beside(right[index], one, beside) for beside in _ALL_BESIDE)
    explained[asked] = alone
    return explained


class WrongLabels(NamedTuple):
    """Labels that are wrong more, or less, often, which explain a change best.

    Attributes:
        share: of actual negatives that more, or fewer, are labelled 1.
        of_positives: how many times as large the share of actual positives is that more, or
            fewer, are labelled 0.
        more: True where more labels are wrong after, False where fewer are.
    """

    share: float
    of_positives: float
    more: bool


def explaining_labels(
    before: ConfusionCounts, after: ConfusionCounts, found: Changes
) -> WrongLabels:
    """Return the share of wrong labels that alone explains a change best.

    Args:
        before: outcomes of the reference, a scalar.
        after: outcomes of the window, a scalar.
        found: the changes between them.

    >>> from monitor.drift.component_changes import changes
    >>> before = ConfusionCounts(tp=1_600, fp=980, fn=400, tn=97_020)
    >>> after = ConfusionCounts(tp=1_594, fp=986, fn=1_366, tn=96_054)
    >>> found = explaining_labels(before, after, changes(before, after))
    >>> round(found.share, 3), found.more
    (0.01, True)
    """
    more = bool(found.change[Component.RECALL] < 0)
    change = found.change if more else -found.change
    way, places = Changes(change, found.standard_error), _places(_SHARES, (1.0,))
    rest = _rest((before if more else after).cells, way, _root(way), places)
    nearest = int((rest**2).sum(axis=-1).argmin())
    share = float(np.exp(places.at[nearest, 0]))
    return WrongLabels(share, float(places.times[nearest]), more)


def _both_classes(counts: ConfusionCounts) -> NDArray[np.bool_]:
    return np.asarray((counts.actual_positive > 0) & (counts.actual_negative > 0))


def _of_model(found: Changes) -> FloatArray:
    """Distance of the changes from what a change of the model alone predicts for log r."""
    return np.asarray((found.change[0] / found.standard_error[0]) ** 2)


def _may_be_beside(found: Changes) -> NDArray[np.bool_]:
    """Return whether a change of log r says that more changed than the model."""
    ratio, recall = found.change[Component.CLASS_RATIO], found.change[Component.RECALL]
    certain = np.abs(recall) > _MOVED * found.standard_error[Component.RECALL]
    return np.asarray(certain & (ratio * recall < 0) & (_of_model(found) > _TEN_TIMES))


def _of_labels_alone(right: CountArray, found: Changes) -> FloatArray:
    """Squared distance of the changes from the nearest that a share of wrong labels predicts.

    Args:
        right: cells of the outcomes with fewer wrong labels, (series, 4).
        found: the changes from these to the others, (8, series).

    Returns:
        The distance of each series, (series,).
    """
    places = _places(_SHARES, (1.0,))
    nearest = np.empty(len(right))
    for start in range(0, len(right), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        changed = Changes(found.change[:, part], found.standard_error[:, part])
        rest = _rest(right[part], changed, _root(changed), places)
        nearest[part] = (rest**2).sum(axis=-1).min(axis=-1)
    return nearest


def _fit_beside(right: CountArray, found: Changes, beside: _Beside) -> bool:
    """Return whether changes are as near as `_FITS` to those that labels and others predict.

    Looked for by Gauss-Newton steps from several starts at once, inside the bounds.

    Args:
        right: cells of the outcomes with fewer wrong labels, (4,).
        found: the changes from these to the others, of one series.
        beside: what changed as well.
    """
    low, high = np.array([(_SHARES[0], _SHARES[-1]), *beside]).T
    free = low < high
    places = _places(_STARTS, _SLOPES if free[1] else (1.0,))
    at, root = places.at, _root(found)
    tried = np.concatenate([np.zeros((1, 1, 3)), _TINY * np.eye(3)[free, None]])
    for _ in range(_STEPS):
        rest, *moved = _rest(right, found, root, places._replace(at=at + tried))
        if (rest**2).sum(axis=-1).min() < _FITS:
            return True
        slopes = (rest - np.stack(moved)) / _TINY
        squares = np.einsum("pnc,qnc->npq", slopes, slopes) + np.eye(free.sum())
        step = np.linalg.solve(squares, np.einsum("pnc,nc->np", slopes, rest)[..., None])
        at = at.copy()
        at[:, free] += step[..., 0]
        at = np.clip(at, low, high)
    return False


def _rest(right: CountArray, found: Changes, root: FloatArray, places: _Places) -> FloatArray:
    """What places leave of the changes, in independent standard errors, (*series, places, 3)."""
    changed = np.moveaxis(found.change[: Component.FALSE_POSITIVE_RATE + 1], 0, -1)
    return np.asarray((changed[..., None, :] - _predicted(right, places)) @ root)


def _root(found: Changes) -> FloatArray:
    """What makes the changes independent, with a standard error of 1, (*series, 3, 3)."""
    return np.asarray(np.linalg.cholesky(np.linalg.inv(_covariance(found))))


def _covariance(found: Changes) -> FloatArray:
    """Covariance of the changes of log r, logit TPR and logit FPR, (*series, 3, 3).

    The last two hang together as far as their difference, the log odds ratio, is known better,
    or worse, than both; log r is taken to be independent.
    """
    variance = found.standard_error**2
    ratio, recall, false = variance[: Component.FALSE_POSITIVE_RATE + 1]
    most = _MOST * np.sqrt(recall * false)
    shared = np.clip((recall + false - variance[Component.ODDS_RATIO]) / 2, -most, most)
    none = np.zeros_like(ratio)
    cells = np.array([[ratio, none, none], [none, recall, shared], [none, shared, false]])
    return np.ascontiguousarray(np.moveaxis(cells, (0, 1), (-2, -1)))


def _predicted(counts: CountArray, places: _Places) -> FloatArray:
    """Changes of log r, logit TPR and logit FPR if more labels were wrong, (*series, places, 3)."""
    at, times, slope = places
    tp, fp, fn, tn = (counts[..., cell, None] + 0.5 for cell in range(4))
    added, lost = np.exp(at[..., 0]), times * np.exp(at[..., 0])
    recall = expit(logit(tp / (tp + fn)) + slope * at[..., 1])
    false = expit(logit(fp / (fp + tn)) + at[..., 1])
    positive, negative = (tp + fn) * np.exp(at[..., 2]), fp + tn
    hits, alarms = positive * recall, negative * false
    misses, passed = positive - hits, negative - alarms
    now = _three(
        hits * (1 - lost) + alarms * added,
        alarms * (1 - added) + hits * lost,
        misses * (1 - lost) + passed * added,
        passed * (1 - added) + misses * lost,
    )
    return now - _three(tp, fp, fn, tn)


def _three(tp: FloatArray, fp: FloatArray, fn: FloatArray, tn: FloatArray) -> FloatArray:
    """Log r, logit TPR and logit FPR, (..., 3), of counts above 0."""
    return np.stack([np.log((tp + fn) / (fp + tn)), np.log(tp / fn), np.log(fp / tn)], axis=-1)
