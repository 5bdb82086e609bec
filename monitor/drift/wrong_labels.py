"""What labels that are wrong more often do to log r, TPR and FPR, beside other changes.

From the outcomes with fewer wrong labels, a share of wrong labels, a movement along the ROC curve
and another class ratio predict all three changes. `label_quality` asks whether they explain those
that are seen.
"""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import expit, logit

from monitor.counts import CountArray
from monitor.drift.component_changes import Changes
from monitor.drift.components import Component
from monitor.metrics.ratio import FloatArray

_MOST = 0.95
"""Largest correlation between the changes of both rates."""


class Places(NamedTuple):
    """Sizes of the changes that explain others.

    Attributes:
        at: log of the share of wrong labels, movements of logit FPR and of log r, (..., places, 3).
        of: how many times that share of actual negatives, and of actual positives, is labelled
            wrongly, (places, 2).
        slope: of the ROC curve in log-odds, (places,).
    """

    at: FloatArray
    of: FloatArray
    slope: FloatArray


@cache
def places_of(
    shares: tuple[float, ...], of: tuple[tuple[float, float], ...], slopes: tuple[float, ...]
) -> Places:
    """Return places where labels alone are wrong: all combinations.

    Args:
        shares: logs of the shares of wrong labels.
        of: see `Places`.
        slopes: of the ROC curve in log-odds.
    """
    share, kind, slope = (one.ravel() for one in np.meshgrid(shares, range(len(of)), slopes))
    at = np.stack([share, 0 * share, 0 * share], axis=-1)
    return Places(at, np.array(of)[kind.astype(int)], slope)


def what_is_left(right: CountArray, found: Changes, root: FloatArray, places: Places) -> FloatArray:
    """Return what places leave of the changes, in independent standard errors.

    Args:
        right: cells of the outcomes with fewer wrong labels, (*series, 4).
        found: the changes from these to the others, (8, *series).
        root: see `whitening`.
        places: the changes that explain them.

    Returns:
        Of log r, TPR and FPR, (*series, places, 3).
    """
    changed = np.moveaxis(found.change[: Component.FALSE_POSITIVE_RATE + 1], 0, -1)
    return np.asarray((changed[..., None, :] - _predicted(right, places)) @ root)


def whitening(found: Changes) -> FloatArray:
    """Return what makes the changes independent, with a standard error of 1, (*series, 3, 3).

    Args:
        found: the changes, (8, *series).
    """
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


def _predicted(counts: CountArray, places: Places) -> FloatArray:
    """Changes of log r, logit TPR and logit FPR if more labels were wrong, (*series, places, 3)."""
    at, of, slope = places
    tp, fp, fn, tn = (counts[..., cell, None] + 0.5 for cell in range(4))
    added, lost = np.exp(at[..., 0]) * of[:, 0], np.exp(at[..., 0]) * of[:, 1]
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
