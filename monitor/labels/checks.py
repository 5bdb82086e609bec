"""Tests for label faults, which come before any verdict on the model.

Labels that stop, or come later, for positives alone look exactly like rarer
positives. But the predictions without a label are known, and missing positives
lower the coverage of the predicted positives more than that of the predicted
negatives. The ratios of the true to the labelled number of positives and of
negatives, x1 and x0, follow from the two coverages:

    tp x1 + fp x0 = predicted positives times their usual coverage
    fn x1 + tn x0 = predicted negatives times theirs

log(x1 / x0) is the part of a change of the log class ratio that missing labels explain.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import ndtr, stdtrit

from monitor.counts import Outcome
from monitor.drift.component_changes import jackknife_variance
from monitor.events.columns import FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.labels.faults import ONE_SIDE, SIDES, LabelFault, faults_of_sides, strata
from monitor.labels.pace import Pace

_HALF = 0.5
_LEAST = 1e-3
_FEWEST_BLOCKS = 5
_FEWER, _Z, _Z_AT_ONCE = 0.95, 3.0, 4.0
_Z_ORDER = 2.326


class Strictness(NamedTuple):
    """Thresholds above which missing labels are a fault.

    Attributes:
        shift: least |log(x1 / x0)|.
        coverage: coverage relative to the usual one below which labels are missing.
        z: standard errors of either.
    """

    shift: float
    coverage: float
    z: float


OF_A_WINDOW = Strictness(shift=0.1, coverage=0.8, z=3.3)
"""For each window: half the change that a verdict requires."""
AT_AN_ALARM = Strictness(shift=0.15, coverage=0.9, z=2.0)
"""Before a prevalence shift is announced: sensitive, to avoid a false announcement."""
OF_LATE = Strictness(shift=0.5, coverage=0.5, z=4.0)
"""For the latest mature panes, which are few and tested at every step."""


class PaceStrictness(NamedTuple):
    """Thresholds above which a change of pace is a fault.

    Attributes:
        z: standard deviations between mature cohorts.
        odds: of a late label over that in mature cohorts, or its inverse.
    """

    z: float
    odds: float


CERTAIN_PACE = PaceStrictness(z=5.0, odds=1.5)
"""For a fault by itself: strict, since it is tested at every step."""
DOUBTFUL_PACE = PaceStrictness(z=2.5, odds=1.25)
"""Before a verdict of a small prevalence shift, which slower labels look exactly like."""


def label_fault(
    before: Int64Array,
    after: Int64Array,
    strictness: Strictness,
    *,
    given: bool = False,
    by_days: bool = False,
) -> LabelFault | None:
    """Return the label fault of a window under labelling `complete`.

    Args:
        before: counts by blocks of time, (blocks, 6), of the reference.
        after: the same of the window to judge, all of it mature.
        strictness: thresholds.
        given: True where the reference is given as counts, so that its coverage is not known.
        by_days: True where the blocks are days, which are few: errors between them have Student's
            t. Fewer than five do not show how labels scatter: rows are taken as independent, and
            one side must lack by four errors.

    Returns:
        The fault; None without one, or with too few blocks or labels to tell.

    >>> month = np.tile([62, 38, 16, 3804, 100, 3820], (30, 1))
    >>> week = np.tile([3, 38, 1, 3804, 100, 3820], (24, 1))
    >>> print(label_fault(month, week, OF_A_WINDOW))
    positives_missing
    """
    held = after[:, PREDICTED_POSITIVE:].any(axis=1)
    after = after[held]
    fewest = 1 if by_days else _FEWEST_BLOCKS
    if len(after) < fewest or not before[:, : len(Outcome)].any():
        return None
    if by_days and len(after) >= _FEWEST_BLOCKS:
        strictness = strictness._replace(z=float(stdtrit(len(after) - 1, ndtr(strictness.z))))
    return (
        _fault_of_sides(before)
        or _fault_since(before, after, strictness, given=given)
        or _fault_of_sides(after)
    )


def _fault_of_sides(blocks: Int64Array) -> LabelFault | None:
    """Return the fault where labels miss one predicted class far more than the other.

    >>> print(_fault_of_sides(np.array([[62, 38, 0, 0, 100, 3820]])))
    one_side_labelled
    """
    labelled, predicted = strata(blocks.sum(axis=0))
    if (labelled >= ONE_SIDE * predicted).all():  # nearly always
        return None
    found = faults_of_sides(labelled, predicted)
    return next((fault for fault, holds in zip(SIDES, found, strict=True) if holds), None)


def _fault_since(
    before: Int64Array, after: Int64Array, strictness: Strictness, *, given: bool
) -> LabelFault | None:
    """Return the fault that has arisen since the reference."""
    lack, shift, difference = _missing(after.sum(axis=0), _coverage(before.sum(axis=0)))
    least_lack = -np.log(strictness.coverage)
    if lack <= 0 or (lack <= least_lack and abs(shift) <= strictness.shift):
        return None
    lack_error, *errors = _errors(before, after)
    # Labels lost in a few blocks increase the scatter between blocks, which hides the loss.
    at_once = not given and lacks_one_side(before, after, z=_Z_AT_ONCE)
    # Where a class has hardly a case, the log is far from normal; the difference is not.
    gaps = zip((shift, difference), errors, strict=True)
    scatter_is_known = len(after) >= _FEWEST_BLOCKS
    certain = scatter_is_known and all(abs(gap) > strictness.z * error for gap, error in gaps)
    if abs(shift) > strictness.shift and (certain or at_once):
        one = LabelFault.POSITIVES_MISSING if shift > 0 else LabelFault.NEGATIVES_MISSING
        return LabelFault.LABELS_MISSING if lack > 1 - 1 / np.e and not given else one
    if scatter_is_known and not given and lack > max(least_lack, strictness.z * lack_error):
        return LabelFault.LABELS_MISSING
    return None


def in_order(before: Int64Array, after: Int64Array) -> bool:
    """Return whether the labels of both classes certainly come as in the reference.

    Args:
        before: counts by blocks of time, (blocks, 6), of the reference.
        after: the same of the window.

    >>> month = np.tile([62, 38, 16, 3804, 100, 3820], (30, 1))
    >>> in_order(month, month[:24]), in_order(month, month[:24] - np.array([20, 0, 5, 0, 0, 0]))
    (True, False)
    """
    if len(after) < _FEWEST_BLOCKS or not before[:, : len(Outcome)].any():
        return False
    lack, shift, _ = _missing(after.sum(axis=0), _coverage(before.sum(axis=0)))
    lack_error, shift_error, _ = _errors(before, after)
    least_lack = -np.log(OF_A_WINDOW.coverage)
    certain = lack + _Z_ORDER * lack_error < least_lack
    return bool(certain and abs(shift) + _Z_ORDER * shift_error < 2 * OF_A_WINDOW.shift)


def _errors(before: Int64Array, after: Int64Array) -> FloatArray:
    """Return the standard errors of `_missing` between blocks, (3,)."""
    usual, usual_left_out = _coverage(before.sum(axis=0)), _coverage(_left_out(before))
    total, left_out = after.sum(axis=0), _left_out(after)
    variance = _variance(_missing(left_out, usual)) + _variance(_missing(total, usual_left_out))
    return np.asarray(np.sqrt(variance))


def lacks_one_side(before: Int64Array, after: Int64Array, *, z: float = _Z) -> bool:
    """Return whether labels of one predicted class are missing, even if not yet a fault.

    A shift of prevalence alone leaves both coverages as they are. Errors are those of
    independent rows, so that an announcement is late rather than false.

    Args:
        before: counts by blocks of time, (blocks, 6), of the reference.
        after: the same of the latest mature panes.
        z: standard errors beyond which it is more than chance.

    >>> hours = np.tile([62, 38, 16, 3804, 100, 3820], (6, 1))
    >>> lacks_one_side(hours, hours), lacks_one_side(hours, hours - np.array([20, 0, 4, 0, 0, 0]))
    (False, True)
    """
    labelled, predicted = strata(after.sum(axis=0))
    came = (labelled + _HALF) / (predicted * _coverage(before.sum(axis=0)) + _HALF)
    gap = abs(np.log(came[0] / came[1]))
    error = np.sqrt(
        (np.maximum(1 - labelled / np.maximum(predicted, 1), 0) / (labelled + _HALF)).sum()
    )
    return bool(gap > -np.log(_FEWER) and gap > z * error)


def pace_fault(
    paces: tuple[Pace, Pace], strictness: PaceStrictness = CERTAIN_PACE
) -> LabelFault | None:
    """Return the fault where young predictions get their labels at another pace.

    Args:
        paces: of negatives and of positives.
        strictness: thresholds.
    """
    for pace in paces:
        odds = max(pace.odds, 1 / pace.odds) if pace.odds > 0 else np.nan
        if abs(pace.z) >= strictness.z and odds >= strictness.odds:
            return LabelFault.DELAYS_CHANGED
    return None


def _coverage(cells: Int64Array) -> FloatArray:
    """Return the share of labelled predictions, (..., 2): predicted positive, negative."""
    labelled, predicted = strata(cells)
    return (labelled + 1) / (predicted + 1)


def _missing(cells: Int64Array, usual: FloatArray) -> FloatArray:
    """Return the log of usual over present coverage, log(x1 / x0), and x1 - x0 scaled, (3, ...).

    Neither class has fewer cases than labels: x1 and x0 are at least 1, so that one of them is
    at most what all labels that are missing make of it. Where a class has hardly a case, the two
    equations alone would put x1 anywhere.
    """
    labelled, predicted = strata(cells)
    due = predicted * usual + 1
    lack = np.log(due.sum(axis=-1) / (labelled.sum(axis=-1) + 2))
    tp, fp, fn, tn = (cells[..., outcome] + _HALF for outcome in Outcome)
    separated = tp * tn - fp * fn
    positive, negative = tn * due[..., 0] - fp * due[..., 1], tp * due[..., 1] - fn * due[..., 0]
    difference = positive - negative
    positive, negative = (np.maximum(one, _LEAST * separated) for one in (positive, negative))
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(separated > 0, np.log(positive / negative), 0.0)
    positives, negatives, all_due = tp + fn, fp + tn, due.sum(axis=-1)
    least = np.log(negatives / np.maximum(all_due - positives, negatives))
    most = np.log(np.maximum(all_due - negatives, positives) / positives)
    shift = np.clip(shift, least, most)
    return np.stack(np.broadcast_arrays(lack, shift, difference))


def _left_out(blocks: Int64Array) -> Int64Array:
    """Return the sum of all other blocks, for each block."""
    return np.asarray(blocks.sum(axis=0) - blocks)


def _variance(estimates: FloatArray) -> FloatArray:
    held = np.ones(estimates.shape[-1], dtype=np.bool_)
    return np.nan_to_num(jackknife_variance(estimates, held))
