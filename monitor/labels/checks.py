"""Have the labels themselves gone astray? Looked at before anything is laid to the model.

Labels that stop, or come later, for positives alone look exactly like rarer
positives. But the predictions whose labels are missing are there, and missing
positives leave more of a gap among the predicted positives than among the
others. How much larger the true number of either class is than the labelled
one, x1 and x0, follows from the two gaps:

    tp x1 + fp x0 = predicted positives times their usual coverage
    fn x1 + tn x0 = predicted negatives times theirs

log(x1 / x0) is what the missing labels, and not the world, have taken from the
log class ratio.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.counts import Outcome
from monitor.drift.components import jackknife_variance
from monitor.events.columns import FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.labels.faults import SIDES, LabelFault, faults_of_sides, strata
from monitor.labels.pace import Pace

_HALF = 0.5
_LEAST = 1e-3
_FEWEST_BLOCKS = 5
_FEWER, _Z, _Z_AT_ONCE = 0.95, 3.0, 4.0
_Z_ORDER = 2.326


class Strictness(NamedTuple):
    """When a lack of labels is more than chance.

    Attributes:
        shift: least |log(x1 / x0)|.
        coverage: coverage relative to the usual one below which labels are missing.
        z: of either.
    """

    shift: float
    coverage: float
    z: float


OF_A_WINDOW = Strictness(shift=0.1, coverage=0.8, z=3.3)
"""Half of what a verdict takes for a certain change; looked at for each window."""
AT_AN_ALARM = Strictness(shift=0.15, coverage=0.9, z=2.0)
"""Before a shift of prevalence is announced: rather one too few."""
OF_LATE = Strictness(shift=0.5, coverage=0.5, z=4.0)
"""For the last stretch that is mature, which is short and looked at all the time."""


class PaceStrictness(NamedTuple):
    """When another pace of labels is more than chance.

    Attributes:
        z: standard deviations between mature cohorts.
        odds: of a late label over that in mature cohorts, or its inverse.
    """

    z: float
    odds: float


CERTAIN_PACE = PaceStrictness(z=5.0, odds=1.5)
"""Whatever is found otherwise: it is looked at all the time."""
DOUBTFUL_PACE = PaceStrictness(z=2.5, odds=1.25)
"""Before a small shift of prevalence is believed, which slower labels look exactly like."""


def label_fault(
    before: Int64Array, after: Int64Array, strictness: Strictness, *, given: bool = False
) -> LabelFault | None:
    """What has become wrong with the labels of a complete regime, if anything.

    Args:
        before: counts by blocks of time, (blocks, 6), of the reference.
        after: the same of the window to judge, all of it mature.
        strictness: when a lack is more than chance.
        given: the reference was given as counts: its coverage is not known.

    Returns:
        The fault; None where nothing is amiss or nothing can be said.

    >>> month = np.tile([62, 38, 16, 3804, 100, 3820], (30, 1))
    >>> week = np.tile([3, 38, 1, 3804, 100, 3820], (24, 1))
    >>> print(label_fault(month, week, OF_A_WINDOW))
    positives_missing
    """
    held = after[:, PREDICTED_POSITIVE:].any(axis=1)
    after = after[held]
    if len(after) < _FEWEST_BLOCKS or not before[:, : len(Outcome)].any():
        return None
    return (
        _fault_of_sides(before)
        or _fault_since(before, after, strictness, given=given)
        or _fault_of_sides(after)
    )


def _fault_of_sides(blocks: Int64Array) -> LabelFault | None:
    """Labels cannot miss predictions at random where they miss one predicted class by far.

    >>> print(_fault_of_sides(np.array([[62, 38, 0, 0, 100, 3820]])))
    one_side_labelled
    """
    found = faults_of_sides(*strata(blocks.sum(axis=0)))
    return next((fault for fault, holds in zip(SIDES, found, strict=True) if holds), None)


def _fault_since(
    before: Int64Array, after: Int64Array, strictness: Strictness, *, given: bool
) -> LabelFault | None:
    """What has become wrong since the reference."""
    (lack, shift), (lack_error, shift_error) = _gaps(before, after)
    if lack <= 0:
        return None
    least_lack = -np.log(strictness.coverage)
    # Labels lost within few blocks make the blocks scatter, and hide behind that.
    at_once = not given and lacks_one_side(before, after, z=_Z_AT_ONCE)
    if abs(shift) > strictness.shift and (abs(shift) > strictness.z * shift_error or at_once):
        one = LabelFault.POSITIVES_MISSING if shift > 0 else LabelFault.NEGATIVES_MISSING
        return LabelFault.LABELS_MISSING if lack > 1 - 1 / np.e and not given else one
    if not given and lack > max(least_lack, strictness.z * lack_error):
        return LabelFault.LABELS_MISSING
    return None


def in_order(before: Int64Array, after: Int64Array) -> bool:
    """Whether labels are certain to come as they did in the reference, of either class.

    Args:
        before: counts by blocks of time, (blocks, 6), of the reference.
        after: the same of the window.

    >>> month = np.tile([62, 38, 16, 3804, 100, 3820], (30, 1))
    >>> in_order(month, month[:24]), in_order(month, month[:24] - np.array([20, 0, 5, 0, 0, 0]))
    (True, False)
    """
    if len(after) < _FEWEST_BLOCKS or not before[:, : len(Outcome)].any():
        return False
    (lack, shift), (lack_error, shift_error) = _gaps(before, after)
    least_lack = -np.log(OF_A_WINDOW.coverage)
    certain = lack + _Z_ORDER * lack_error < least_lack
    return bool(certain and abs(shift) + _Z_ORDER * shift_error < 2 * OF_A_WINDOW.shift)


def _gaps(before: Int64Array, after: Int64Array) -> tuple[FloatArray, FloatArray]:
    """As `_missing`, and the errors, from between blocks."""
    usual, usual_left_out = _coverage(before.sum(axis=0)), _coverage(_left_out(before))
    total, left_out = after.sum(axis=0), _left_out(after)
    variance = _variance(_missing(left_out, usual)) + _variance(_missing(total, usual_left_out))
    return _missing(total, usual), np.sqrt(variance)


def lacks_one_side(before: Int64Array, after: Int64Array, *, z: float = _Z) -> bool:
    """Whether labels of one predicted class are missing since the reference, before it is a fault.

    A shift of prevalence alone leaves both coverages as they are. Errors are those of
    independent rows: rather a shift that is announced later than one that is none.

    Args:
        before: counts by blocks of time, (blocks, 6), of the reference.
        after: the same of the last stretch that is mature.
        z: standard errors beyond which it is more than chance.

    >>> hours = np.tile([62, 38, 16, 3804, 100, 3820], (6, 1))
    >>> lacks_one_side(hours, hours), lacks_one_side(hours, hours - np.array([20, 0, 4, 0, 0, 0]))
    (False, True)
    """
    labelled, made = strata(after.sum(axis=0))
    came = (labelled + _HALF) / (made * _coverage(before.sum(axis=0)) + _HALF)
    gap = abs(np.log(came[0] / came[1]))
    error = np.sqrt((np.maximum(1 - labelled / np.maximum(made, 1), 0) / (labelled + _HALF)).sum())
    return bool(gap > -np.log(_FEWER) and gap > z * error)


def pace_fault(
    paces: tuple[Pace, Pace], strictness: PaceStrictness = CERTAIN_PACE
) -> LabelFault | None:
    """Whether the youngest predictions get their labels at another pace.

    Args:
        paces: of negatives and of positives.
        strictness: when it is more than chance.
    """
    for pace in paces:
        odds = max(pace.odds, 1 / pace.odds) if pace.odds > 0 else np.nan
        if abs(pace.z) >= strictness.z and odds >= strictness.odds:
            return LabelFault.DELAYS_CHANGED
    return None


def _coverage(cells: Int64Array) -> FloatArray:
    """Share of labelled predictions, (..., 2): called positive, negative."""
    labelled, made = strata(cells)
    return (labelled + 1) / (made + 1)


def _missing(cells: Int64Array, usual: FloatArray) -> FloatArray:
    """Log of usual over present coverage, and log(x1 / x0), (2, ...)."""
    labelled, made = strata(cells)
    due = made * usual + 1
    lack = np.log(due.sum(axis=-1) / (labelled.sum(axis=-1) + 2))
    tp, fp, fn, tn = (cells[..., outcome] + _HALF for outcome in Outcome)
    separated = tp * tn - fp * fn
    positive = np.maximum(tn * due[..., 0] - fp * due[..., 1], _LEAST * separated)
    negative = np.maximum(tp * due[..., 1] - fn * due[..., 0], _LEAST * separated)
    with np.errstate(divide="ignore", invalid="ignore"):
        shift = np.where(separated > 0, np.log(positive / negative), 0.0)
    return np.stack(np.broadcast_arrays(lack, shift))


def _left_out(blocks: Int64Array) -> Int64Array:
    """All but one block, for each block."""
    return np.asarray(blocks.sum(axis=0) - blocks)


def _variance(estimates: FloatArray) -> FloatArray:
    held = np.ones(estimates.shape[-1], dtype=np.bool_)
    return np.nan_to_num(jackknife_variance(estimates, held))
