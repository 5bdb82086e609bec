"""Whether labels that are wrong more often explain a change as well as a worse model does.

Few wrong labels among many negatives look like missed positives: prevalence and missed
positives rise together, while precision and the share of flagged cases stay. A worse model
misses positives that it found before, so that fewer of the flagged cases are positive. Two
rates and a class ratio tell these apart; they do not tell more wrong labels from new
positives of a kind that the model does not find.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import Changes
from monitor.drift.components import Component
from monitor.drift.no_skill import flags_one_way
from monitor.metrics.ratio import FloatArray

_SHARES = np.geomspace(1e-4, 0.05, 64)
"""Shares of actual negatives that more are labelled 1."""
_OF_POSITIVES = (0.0, 1.0)
"""How many times as large the share of actual positives is that more are labelled 0."""
_MOST = 0.95
"""Largest correlation between the changes of both rates."""
_FITS = 9.210340371976184
"""Quantile .99 of chi squared with two degrees of freedom: three changes, one share."""

_TEN_TIMES = 4.605170185988092
"""2 ln 10: distances by which one explanation is ten times as likely as the other."""
_THREE_TIMES = 2.1972245773362196
"""2 ln 3: likewise for three times, where no scores can tell."""
_MOVED = 2.0
"""Standard errors; where neither recall nor the odds ratio moved by more, none blames skill."""


def labels_explain(
    before: ConfusionCounts, after: ConfusionCounts, found: Changes, *, scored: bool = False
) -> NDArray[np.bool_]:
    """Test for a change of recall that other labels explain as well as the model.

    That labels are wrong more often predicts the changes of log r, TPR and FPR from one
    share. It explains them where the changes do not leave that prediction (p > .01), and no
    change of log r, which is what a change of the model alone predicts, is less than three times
    as likely. Where scores can tell both apart, ten times are asked for, since waiting costs
    little there. Where recall rose, labels that are wrong less often are tested.

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
    for index in map(tuple, np.argwhere(asked)):
        series = Changes(found.change[:, *index], found.standard_error[:, *index])
        explained[index] = _explains(before[index], after[index], series, least)
    return explained


def _both_classes(counts: ConfusionCounts) -> NDArray[np.bool_]:
    return np.asarray((counts.actual_positive > 0) & (counts.actual_negative > 0))


def _explains(
    before: ConfusionCounts, after: ConfusionCounts, found: Changes, least: float
) -> bool:
    rose = found.change[Component.RECALL] > 0
    right = after if rose else before
    predicted = _predicted(right) * (-1 if rose else 1)
    rest = found.change[: Component.FALSE_POSITIVE_RATE + 1] - predicted
    weight = np.linalg.inv(_covariance(found))
    distance = float(np.einsum("si,ij,sj->s", rest, weight, rest).min())
    of_model = float(found.change[0] / found.standard_error[0]) ** 2
    return distance < min(_FITS, of_model + least)


def _covariance(found: Changes) -> FloatArray:
    """Covariance of the changes of log r, logit TPR and logit FPR, (3, 3).

    The last two hang together as far as their difference, the log odds ratio, is known better,
    or worse, than both; log r is taken to be independent.
    """
    variance = found.standard_error**2
    ratio, recall, false = variance[: Component.FALSE_POSITIVE_RATE + 1]
    most = _MOST * np.sqrt(recall * false)
    shared = np.clip((recall + false - variance[Component.ODDS_RATIO]) / 2, -most, most)
    return np.array([[ratio, 0, 0], [0, recall, shared], [0, shared, false]])


def _predicted(counts: ConfusionCounts) -> FloatArray:
    """Changes of log r, logit TPR and logit FPR if more labels were wrong, (shares, 3)."""
    tp, fp, fn, tn = (float(cell) + 0.5 for cell in counts.cells)
    parts = []
    for times in _OF_POSITIVES:
        added, lost = _SHARES, times * _SHARES
        found = ConfusionCounts(
            tp=tp * (1 - lost) + fp * added,
            fp=fp * (1 - added) + tp * lost,
            fn=fn * (1 - lost) + tn * added,
            tn=tn * (1 - added) + fn * lost,
        )
        parts.append(_three(found) - _three(ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn)))
    return np.concatenate(parts)


def _three(counts: ConfusionCounts) -> FloatArray:
    """Log r, logit TPR and logit FPR, (..., 3), of counts above 0."""
    tp, fp, fn, tn = (np.asarray(counts.cells[..., cell], float) for cell in range(4))
    return np.stack([np.log((tp + fn) / (fp + tn)), np.log(tp / fn), np.log(fp / tn)], axis=-1)
