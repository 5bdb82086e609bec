"""Test for a change in how fast labels come: young predictions against earlier ones.

Today's cohorts are compared with earlier cohorts cut off at the same age, within one
kind of outcome. The scatter of earlier cohorts is part of the comparison. A change of
prevalence or volume, working hours, and labels that come in batches are therefore no
change of pace.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_SECONDS
from monitor.events.columns import BoolArray, FloatArray, Int64Array
from monitor.labels.cohorts import DelayCurve


class Pace(NamedTuple):
    """The pace of labels in young cohorts relative to mature ones.

    Attributes:
        odds: odds that a label of the young cohorts is late, divided by the odds in
            mature cohorts of the same age. Above 1 labels come later; towards 0 they
            have stopped. NaN where there are too few cohorts or labels.
        z: deviation of the young cohorts from the mature ones, in units of the usual
            deviation at earlier moments; 0 where an earlier moment deviated nearly as
            far. NaN where `odds` is.
    """

    odds: float
    z: float


_MATURE = 0.99
_YOUNG = (0.1, 0.75)
_FEWEST_MOMENTS = 14
_FEWEST_SECONDS = 6 * DAY_SECONDS
_FEWEST_LABELS = 20
_BEYOND_EARLIER = 1.1
_UNKNOWN = Pace(np.nan, np.nan)


class _LabelsByAge(NamedTuple):
    """Labels of every cohort cut off at the age of each young one, (cohorts, young).

    Attributes:
        total: labels that had come at that age.
        late: those of them in the later half of the visible delays.
    """

    total: Int64Array
    late: Int64Array


def pace(counts: Int64Array, limits: FloatArray, curve: DelayCurve, kind: int) -> Pace:
    """Compare the delays of young cohorts with those of mature cohorts at the same age.

    The statistic sums over the young cohorts by how much more labels than expected came
    in the later half of the visible delays. The same sum at every earlier moment whose
    cohorts are all mature now, at least fourteen moments and six days, gives its scatter.
    A cohort is mature where it has (by the curve) .99 of its labels, and young below .75.

    Args:
        counts: labels by cohort (one after the other, the oldest first), kind of
            outcome and bin of the delay.
        limits: age in seconds of each cohort's youngest prediction.
        curve: the distribution of delays.
        kind: index of the kind of outcome.

    Returns:
        The pace. A change of prevalence alone does not affect it, since only labels
        of one kind and one cohort are compared with each other.
    """
    share = curve.share[kind]
    visible = np.searchsorted(curve.edges_seconds[:-1], limits, side="right") - 1
    covered = np.where(visible >= 0, share[np.maximum(visible, 0)], 0.0)
    mature, young = covered >= _MATURE, (covered > _YOUNG[0]) & (covered < _YOUNG[1])
    split = np.searchsorted(share, share[visible] / 2) + 1
    ages = np.flatnonzero(young & (split <= visible))
    if not mature.any() or not len(ages):
        return _UNKNOWN
    moments = _moments(mature, ages)
    if len(moments) * _width(limits) < _FEWEST_SECONDS or len(moments) < _FEWEST_MOMENTS:
        return _UNKNOWN
    came = np.cumsum(counts[:, kind], axis=1)
    total = came[:, visible[ages]]
    labels = _LabelsByAge(total, total - came[:, split[ages] - 1])
    return _compared(labels, mature, ages, moments)


def _moments(mature: BoolArray, ages: Int64Array) -> Int64Array:
    """Return by how many cohorts to go back to moments whose young cohorts are mature now."""
    last = int(np.flatnonzero(mature)[-1])
    return np.arange(max(int(ages[-1]) - last, 1), int(ages[0]) + 1)


def _width(limits: FloatArray) -> float:
    """Return the length of a cohort in seconds, rounded to remove floating-point error."""
    return round(float(limits[0] - limits[-1]) / max(len(limits) - 1, 1), 3)


def _compared(
    labels: _LabelsByAge, mature: BoolArray, ages: Int64Array, moments: Int64Array
) -> Pace:
    """Return the pace now, relative to the moments before.

    Args:
        labels: labels of every cohort at the age of each young one.
        mature: True for each cohort that is mature.
        ages: indices of the young cohorts.
        moments: by how many cohorts each earlier moment lies back.
    """
    mature_labels = np.maximum(labels.total[mature].sum(axis=0), 1)
    late_share = labels.late[mature].sum(axis=0) / mature_labels
    # One row for each moment, now first; one column for each young cohort of that moment.
    cohort = ages[None, :] - np.append(0, moments)[:, None]
    column = np.arange(len(ages))
    total, late = labels.total[cohort, column], labels.late[cohort, column]
    excess = (late - late_share * total).sum(axis=1)
    variance_of_one = late_share * (1 - late_share)
    # The expected share has an error too, common to all ages: they use the same cohorts.
    variance_of_share = (total * np.sqrt(variance_of_one / mature_labels)).sum(axis=1) ** 2
    variance = (total * variance_of_one).sum(axis=1) + variance_of_share
    enough = (total.sum(axis=1) >= _FEWEST_LABELS) & (variance > 0)
    earlier = excess[1:][enough[1:]] / np.sqrt(variance[1:][enough[1:]])
    if not enough[0] or len(earlier) < _FEWEST_MOMENTS:
        return _UNKNOWN
    now = float(excess[0] / np.sqrt(variance[0]))
    usual = max(1.0, float(np.sqrt(np.mean(earlier**2))))
    furthest = float(np.max(earlier * np.sign(now), initial=0.0))
    late_now, expected, total_now = late[0].sum(), (late_share * total[0]).sum(), total[0].sum()
    odds = (late_now + 0.5) / (total_now - late_now + 0.5) * (total_now - expected) / expected
    return Pace(float(odds), 0.0 if abs(now) <= _BEYOND_EARLIER * furthest else now / usual)
