"""The rule: what is known of each component, and what that says of the model's skill.

Owns the statuses (clean, changed, unknown) and rules 1 to 4 of the verdict on
skill, for any number of series at once. `verdict` puts names to the outcome.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from monitor.drift.components import Changes, Component
from monitor.metrics.ratio import FloatArray

EQUIVALENCE = 0.2
"""τ: a change of log-odds (odds times 1.22) below which a component is as it was."""

# Quantiles of the standard normal.
Z_ONE_SIDED = 2.3263478740408408  # .99: equivalence at one chance in a hundred
Z_TWO_SIDED = 2.5758293035489004  # .995: p < .01, looking at one
_Z_TWO_LEFT = 2.807033768343811  # 1 - .01/4: p < .01/2
_Z_THREE_LEFT = 2.935199468866699  # 1 - .01/6: p < .01/3
_Z_ODDS_RATIO = 3.2905267314919255  # .9995: p < .001

_SMALL = 2 * EQUIVALENCE
"""A change of a rate below it may be a slide of the threshold whose other half is hidden."""
_COMPARABLE = 0.25
"""A slide moves the log-odds of one rate by at least this share of what it moves the other's."""

CLEAN, CHANGED, UNKNOWN = np.int8(0), np.int8(1), np.int8(2)
"""Statuses of a component."""

_HOLM_FAMILY = slice(Component.CLASS_RATIO, Component.FALSE_POSITIVE_RATE + 1)


class Skill(IntEnum):
    """What the components say of how well the model separates the classes."""

    CLEAN = 0
    DEGRADED = 1
    IMPROVED = 2
    MOVED = 3
    UNKNOWN = 4


def statuses(found: Changes) -> NDArray[np.int8]:
    """Clean, changed or unknown, for each of the five components.

    Equivalence is looked at first: with a million outcomes nothing is exactly
    equal, and what is certainly small is clean however significant.

    Args:
        found: changes in the order of `Component` along the first axis.

    Returns:
        Shape (5, *series). *Clean* where |d| + 2.326 se < .2; *changed* where
        p < .01 (Holm over log r, TPR and FPR; LR+ and LR- on their own), else
        *unknown*.

    Source:
        Holm 1979 (a simple sequentially rejective procedure); Schuirmann 1987
        (equivalence by one-sided tests).

    >>> statuses(Changes(np.array([0, -1, 0.3, 0, 0, -1.3]), np.full(6, 0.05))).tolist()
    [0, 1, 1, 0, 0]
    """
    decisive = slice(Component.ODDS_RATIO)
    distance, error = np.abs(found.change[decisive]), found.standard_error[decisive]
    z = distance / error
    needed = np.full(z.shape, Z_TWO_SIDED)
    needed[_HOLM_FAMILY] = _holm_bound(z[_HOLM_FAMILY])
    status = np.where(z > needed, CHANGED, UNKNOWN)
    status[distance + Z_ONE_SIDED * error < EQUIVALENCE] = CLEAN
    return status


def _holm_bound(z: FloatArray) -> FloatArray:
    """How large |z| must be to be rejected among three by Holm's procedure."""
    first, second, third = z
    largest = np.maximum(np.maximum(first, second), third)
    middle = np.maximum(np.minimum(first, second), np.minimum(np.maximum(first, second), third))
    after_one = np.where(middle > _Z_TWO_LEFT, Z_TWO_SIDED, _Z_TWO_LEFT)
    return np.where(largest > _Z_THREE_LEFT, after_one, _Z_THREE_LEFT)


def skill(
    found: Changes,
    status: NDArray[np.int8],
    below_reference_curve: NDArray[np.bool_] | None = None,
) -> NDArray[np.int8]:
    """Rules 1 to 4 of the verdict on skill.

    1. TPR and FPR changed in opposite ways: degraded where TPR fell, else improved.
    2. Both changed the same way: the operating point moved, unless the new point
       is dominated, or dominates, on every concave ROC curve.
    3. One changed. The other clean, or leaning the opposite way: as 1. Leaning
       the same way: as 2 by the sign of the estimates, else unknown.
    4. Neither changed: clean if both are clean, or if log LR+ is; else unknown.

    A small slide of the threshold moves one rate just beyond what is tolerated and
    leaves the other within it, and would pass for 3. So the point moved as in 2 where
    the other rate certainly moved the same way (p < .01) and by a quarter as much at
    least; and a change below .4 is laid to the model only where the odds ratio
    certainly moved, too (p < .001): a slide leaves it about as it was.

    Args:
        found: changes in the order of `Component` along the first axis.
        status: their statuses.
        below_reference_curve: TPR is below the reference's ROC curve at today's
            FPR, which is degraded whatever 2 says; shape of the series.

    Returns:
        A `Skill` for each series.

    Source:
        Biggerstaff 2000 (Comparing diagnostic tests: a simple graphic using
        likelihood ratios); Glas et al. 2003 (The diagnostic odds ratio: a single
        indicator of test performance).
    """
    recall, false = found.change[Component.RECALL], found.change[Component.FALSE_POSITIVE_RATE]
    recall_status, false_status = status[Component.RECALL], status[Component.FALSE_POSITIVE_RATE]
    recall_changed, false_changed = recall_status == CHANGED, false_status == CHANGED
    any_changed, both = recall_changed | false_changed, recall_changed & false_changed
    opposite = recall * false < 0
    slid = any_changed & ~both & _together(found)
    one_clean = (recall_status == CLEAN) | (false_status == CLEAN)
    one_sided = any_changed & (opposite | (one_clean & ~slid))
    moved = np.where(recall_changed, np.abs(recall), np.abs(false))
    told = both | slid | (moved >= _SMALL)
    told = any_changed & (told | _is_certain(found, Component.ODDS_RATIO, _Z_ODDS_RATIO))
    blamed = np.where(recall_changed, recall < 0, false > 0)
    by_one = np.where(blamed, np.int8(Skill.DEGRADED), np.int8(Skill.IMPROVED))
    worse, better = _dominance(found, status, both=both, slid=slid)
    worse, better = told & ~one_sided & worse, told & ~one_sided & better
    if below_reference_curve is not None:
        worse = worse | (any_changed & below_reference_curve)
        better = better & ~below_reference_curve
    clean = (recall_status == CLEAN) & (false_status == CLEAN)
    clean |= status[Component.LOG_LIKELIHOOD_RATIO] == CLEAN
    verdict = np.where(both | slid, np.int8(Skill.MOVED), np.int8(Skill.UNKNOWN))
    verdict = np.where(better, np.int8(Skill.IMPROVED), verdict)
    verdict = np.where(worse, np.int8(Skill.DEGRADED), verdict)
    verdict = np.where(one_sided & told, by_one, verdict)
    return np.where(~any_changed & clean, Skill.CLEAN, verdict).astype(np.int8)


def _together(found: Changes) -> NDArray[np.bool_]:
    """Whether both rates certainly moved the same way, by comparable amounts."""
    rates = Component.RECALL, Component.FALSE_POSITIVE_RATE
    one, other = found.change[rates[0]], found.change[rates[1]]
    larger, smaller = np.maximum(abs(one), abs(other)), np.minimum(abs(one), abs(other))
    alike = (one * other > 0) & (smaller >= _COMPARABLE * larger)
    return np.asarray(alike & _is_certain(found, rates[0]) & _is_certain(found, rates[1]))


def _is_certain(found: Changes, component: Component, z: float = Z_TWO_SIDED) -> NDArray[np.bool_]:
    return np.asarray(np.abs(found.change[component]) > z * found.standard_error[component])


def _dominance(
    found: Changes,
    status: NDArray[np.int8],
    *,
    both: NDArray[np.bool_],
    slid: NDArray[np.bool_],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether a point that slid is dominated, or dominates, on every concave ROC curve.

    Both rates fell: below the chord from the origin (LR+ fell) it is dominated,
    above the line through (1, 1) (LR- fell) it dominates. Both rose: LR- rose,
    LR+ rose. Where both rates changed the ratio must have, too; where the point
    slid within what is tolerated, it must have moved for certain; else its sign is
    enough. Both at once (a model worse than chance) is neither.
    """
    indices = [Component.LOG_LIKELIHOOD_RATIO, Component.NEGATIVE_LOG_LIKELIHOOD_RATIO]
    change = found.change
    certain = np.stack([_is_certain(found, index) for index in indices])
    believed = np.where(both, status[indices] == CHANGED, certain | ~slid)
    fell, rose = believed & (change[indices] < 0), believed & (change[indices] > 0)
    recall_changed = status[Component.RECALL] == CHANGED
    falling = np.where(
        recall_changed, change[Component.RECALL] < 0, change[Component.FALSE_POSITIVE_RATE] < 0
    )
    dominated = np.where(falling, fell[0], rose[1])
    dominating = np.where(falling, fell[1], rose[0])
    return dominated & ~dominating, dominating & ~dominated
