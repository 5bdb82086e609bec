"""The rule for skill: does the model separate the classes worse, better, or as before?

`statuses` tests each component of a change: clean, changed or unknown. `skill` applies
the rule to them, for any number of series at once. `verdict_rule` combines the result with
the status of the class ratio.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.drift.component_changes import Changes
from monitor.drift.components import Component
from monitor.metrics.ratio import FloatArray

EQUIVALENCE = 0.2
"""τ: the largest change of log-odds that counts as none; the odds change by a factor of 1.22."""

# Quantiles of the standard normal.
Z_ONE_SIDED = 2.3263478740408408  # .99: equivalence at p < .01
Z_TWO_SIDED = 2.5758293035489004  # .995: p < .01 of one component alone
_Z_TWO_LEFT = 2.807033768343811  # 1 - .01/4: p < .01/2
_Z_THREE_LEFT = 2.935199468866699  # 1 - .01/6: p < .01/3
Z_ODDS_RATIO = 3.090232306167813  # .999: p < .002
_Z_SMALL = 3.2905267314919255  # .9995: p < .001

_SMALL = 2 * EQUIVALENCE
"""Smaller changes of both rates may be a slide of the threshold, seen with noise."""

_COMPARABLE = 0.25
"""A slide of the threshold moves the log-odds of the one rate by this share of the other's."""

_RATES = [Component.RECALL, Component.FALSE_POSITIVE_RATE]
CLEAN, CHANGED, UNKNOWN = np.int8(0), np.int8(1), np.int8(2)
"""Statuses of a component."""

_HOLM_FAMILY = slice(Component.CLASS_RATIO, Component.FALSE_POSITIVE_RATE + 1)


class Skill:
    """Change of skill: of how well the model separates the classes.

    Integers, see `timed_events.EventKind`.
    """

    CLEAN: Final = 0
    DEGRADED: Final = 1
    IMPROVED: Final = 2
    MOVED: Final = 3
    UNKNOWN: Final = 4
    SLID: Final = 5


def statuses(found: Changes) -> NDArray[np.int8]:
    """Test each of the five components: clean, changed or unknown.

    With d the change and se its standard error, a component is

        clean      where |d| + 2.326 se < τ = .2: it certainly changed by less than τ
        changed    where it is not clean and p < .01: it certainly changed
        unknown    otherwise

    Where days are behind the errors, the quantiles are those of Student's t. The tests of
    log r, TPR and FPR are corrected for looking at three (Holm); LR+ and LR- are tested
    alone. Equivalence comes first: with a million outcomes every change is significant,
    and one that is certainly small still counts as none.

    Args:
        found: changes in the order of `Component` along the first axis.

    Returns:
        `CLEAN`, `CHANGED` or `UNKNOWN`, shape (5, *series).

    Source:
        Holm 1979 (a simple sequentially rejective procedure); Schuirmann 1987
        (equivalence by one-sided tests).

    >>> statuses(Changes(np.array([0, -1, 0.3, 0, 0, -1.3]), np.full(6, 0.05))).tolist()
    [0, 1, 1, 0, 0]
    """
    decisive = slice(Component.ODDS_RATIO)
    distance, z = np.abs(found.change[decisive]), np.abs(found.z[decisive])
    needed = np.full(z.shape, Z_TWO_SIDED)
    needed[_HOLM_FAMILY] = _holm_bound(z[_HOLM_FAMILY])
    status = np.where(z > needed, CHANGED, UNKNOWN)
    status[distance + found.margin(Z_ONE_SIDED)[decisive] < EQUIVALENCE] = CLEAN
    return status


def _holm_bound(z: FloatArray) -> FloatArray:
    """Smallest |z| that Holm's procedure rejects, by the three |z| of each series."""
    first, second, third = z
    largest = np.maximum(np.maximum(first, second), third)
    middle = np.maximum(np.minimum(first, second), np.minimum(np.maximum(first, second), third))
    after_one = np.where(middle > _Z_TWO_LEFT, Z_TWO_SIDED, _Z_TWO_LEFT)
    return np.where(largest > _Z_THREE_LEFT, after_one, _Z_THREE_LEFT)


def skill(
    found: Changes,
    status: NDArray[np.int8],
    below_reference_curve: NDArray[np.bool_] | None = None,
    dead: NDArray[np.bool_] | None = None,
    on_reference_curve: NDArray[np.bool_] | None = None,
) -> NDArray[np.int8]:
    """Decide on skill from the changes of TPR, FPR, their likelihood and odds ratios.

    *Changed*, *clean* and *unknown* are the statuses that `statuses` gives; TPR and FPR
    are compared as log-odds. The odds ratio *certainly* fell or rose where p < .002, or
    p < .001 where both rates moved by less than 2 τ = .4, and its change is not certainly
    smaller than τ.

    1. Degraded: the odds ratio certainly fell, and a slide of the threshold is no
       explanation. It is none where TPR fell and FPR rose, nor where one of them moved by
       less than a quarter as much as the other. Where they moved by comparable amounts in
       one direction, it is none below every concave ROC curve through the old point: both
       fell and LR+ fell, or both rose and LR- rose. If both rates changed, that ratio must
       have changed as well; otherwise the direction of its estimate decides.
       Also degraded: a rate changed, one of them by at least 2 τ, and neither moved for the
       better. Then the odds ratio fell as well, however few cases there are to show it.
    2. Improved: the same with every direction reversed.
    3. The operating point moved: neither degraded nor improved, and both rates changed in
       the same direction; or one changed, and the other moved in the same direction
       (p < .01 alone) by at least a quarter as much.
    4. Clean: neither rate changed, and both are clean or log LR+ is clean.
    5. Unknown: otherwise.

    Before these, a dead model (see `no_skill`) is degraded, whatever the two rates do: that
    nothing is flagged any more, or everything, is no slide of the threshold; of too few cases to
    say that the model is dead, nothing is known. Where scores
    come, and a rate changed, a TPR significantly below the reference's ROC curve at
    today's FPR is degraded as well. Where the rates moved in one direction and TPR lies on
    that curve, the point slid along it, and skill neither fell nor rose, whatever the odds
    ratio did: it is the same along a curve only where both classes scatter alike. For the
    same reason no fall of the odds ratio counts where they moved in one direction and TPR is
    not significantly below the curve.

    Args:
        found: changes in the order of `Component` along the first axis.
        status: their statuses, as `statuses` gives them.
        below_reference_curve: True where TPR is significantly below the reference's ROC
            curve at today's FPR (see `roc.below_reference_curve`), shape of the series;
            None where there are no scores.
        dead: True where the model does not tell the classes apart any more, shape of the
            series; None where that is not tested.
        on_reference_curve: True where TPR lies on the reference's ROC curve at today's FPR
            (see `roc.place_on_curve`), shape of the series; None where there are no
            scores.

    Returns:
        A `Skill` for each series.

    Source:
        Biggerstaff 2000 (Comparing diagnostic tests: a simple graphic using
        likelihood ratios); Glas et al. 2003 (The diagnostic odds ratio: a single
        indicator of test performance).
    """
    rates = status[_RATES]
    any_changed, both_changed = (rates == CHANGED).any(axis=0), (rates == CHANGED).all(axis=0)
    fell, rose = _odds_ratio_moved(found)
    below, above = _is_no_slide(found, status, both_changed=both_changed)
    large = np.abs(found.change[_RATES]).max(axis=0) >= _SMALL
    one_sided = any_changed & large & ~_same_direction(found)
    for_the_worse = found.change[Component.ODDS_RATIO] < 0
    worse = (fell & below) | (one_sided & for_the_worse)
    better = (rose & above) | (one_sided & ~for_the_worse)
    if below_reference_curve is not None:
        worse = worse & (below_reference_curve | ~_same_direction(found))
        worse = worse | (any_changed & below_reference_curve)
        better = better & ~below_reference_curve
    slid = np.asarray(False)
    if on_reference_curve is not None:
        moved = any_changed | fell | rose
        slid = on_reference_curve & _same_direction(found) & moved & ~found.one_way
        worse, better = worse & ~slid, better & ~slid
    if dead is not None:
        worse, better, slid = worse | dead, better & ~dead, slid & ~dead
    clean = (rates == CLEAN).all(axis=0) | (status[Component.LOG_LIKELIHOOD_RATIO] == CLEAN)
    verdict = np.where(moved_along_curve(found, status), np.int8(Skill.MOVED), Skill.UNKNOWN)
    verdict = np.where(~any_changed & clean, Skill.CLEAN, verdict)
    verdict = np.where(slid, Skill.SLID, verdict)
    verdict = np.where(better, Skill.IMPROVED, verdict)
    return np.where(worse, Skill.DEGRADED, verdict).astype(np.int8)


def moved_along_curve(found: Changes, status: NDArray[np.int8]) -> NDArray[np.bool_]:
    """Test for recall and false positives moving in one direction, as by another threshold.

    Args:
        found: changes in the order of `Component` along the first axis.
        status: their statuses, as `statuses` gives them.

    Returns:
        True where both changed in one direction; or one changed, and the other moved in
        that direction (p < .01 alone) by at least a quarter as much. False where one side flags
        nothing, or everything.
    """
    changed = status[_RATES] == CHANGED
    certain = (np.abs(found.z[_RATES]) > Z_TWO_SIDED).all(axis=0)
    together = changed.all(axis=0) | (changed.any(axis=0) & certain & _comparable(found))
    return np.asarray(_same_direction(found) & together & ~found.one_way)


def _same_direction(found: Changes) -> NDArray[np.bool_]:
    recall, false = found.change[_RATES]
    return np.asarray(recall * false > 0)


def _comparable(found: Changes) -> NDArray[np.bool_]:
    size = np.abs(found.change[_RATES])
    return np.asarray(size.min(axis=0) >= _COMPARABLE * size.max(axis=0))


def _odds_ratio_moved(found: Changes) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Test for an odds ratio that certainly fell, and for one that certainly rose."""
    index = Component.ODDS_RATIO
    change = found.change[index]
    tolerable = np.abs(change) + found.margin(Z_ONE_SIDED)[index] < EQUIVALENCE
    large = np.abs(found.change[_RATES]).max(axis=0) >= _SMALL
    needed = np.where(large, Z_ODDS_RATIO, _Z_SMALL)
    certain = (np.abs(found.z[index]) > needed) & ~tolerable
    return certain & (change < 0), certain & (change > 0)


def _is_no_slide(
    found: Changes, status: NDArray[np.int8], *, both_changed: NDArray[np.bool_]
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Test for a point that no slide of the threshold leads to: below the curve, and above it.

    Both rates fell: the point is below the chord from the origin where LR+ fell, and above
    the line to (1, 1) where LR- fell. Both rose: it is below that line where LR- rose, and
    above the chord where LR+ rose.
    """
    recall, false = found.change[_RATES]
    ratios = [Component.LOG_LIKELIHOOD_RATIO, Component.NEGATIVE_LOG_LIKELIHOOD_RATIO]
    counted = ~both_changed | (status[ratios] == CHANGED)
    fell, rose = counted & (found.change[ratios] < 0), counted & (found.change[ratios] > 0)
    falling = recall + false < 0
    slide = _same_direction(found) & (both_changed | _comparable(found))
    below = ~slide | np.where(falling, fell[0], rose[1])
    above = ~slide | np.where(falling, fell[1], rose[0])
    return np.asarray(below), np.asarray(above)
