"""The rule for skill: does the model separate the classes worse, better, or as before?

`statuses` tests each component of a change: clean, changed or unknown. `skill` applies
the rule to them, for any number of series at once. `verdict` combines the result with
the status of the class ratio.
"""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from monitor.drift.components import Changes, Component
from monitor.metrics.ratio import FloatArray

EQUIVALENCE = 0.2
"""τ: the largest change of log-odds that counts as none; the odds change by a factor of 1.22."""

# Quantiles of the standard normal.
Z_ONE_SIDED = 2.3263478740408408  # .99: equivalence at p < .01
Z_TWO_SIDED = 2.5758293035489004  # .995: p < .01 of one component alone
_Z_TWO_LEFT = 2.807033768343811  # 1 - .01/4: p < .01/2
_Z_THREE_LEFT = 2.935199468866699  # 1 - .01/6: p < .01/3
_Z_ODDS_RATIO = 3.2905267314919255  # .9995: p < .001

_SMALL = 2 * EQUIVALENCE
"""A smaller change of one rate may be a slide of the threshold that also moved the other."""
_COMPARABLE = 0.25
"""A slide of the threshold moves the log-odds of the one rate by this share of the other's."""

CLEAN, CHANGED, UNKNOWN = np.int8(0), np.int8(1), np.int8(2)
"""Statuses of a component."""

_HOLM_FAMILY = slice(Component.CLASS_RATIO, Component.FALSE_POSITIVE_RATE + 1)


class Skill(IntEnum):
    """Change of skill: of how well the model separates the classes."""

    CLEAN = 0
    DEGRADED = 1
    IMPROVED = 2
    MOVED = 3
    UNKNOWN = 4


def statuses(found: Changes) -> NDArray[np.int8]:
    """Test each of the five components: clean, changed or unknown.

    With d the change and se its standard error, a component is

        clean      where |d| + 2.326 se < τ = .2: it certainly changed by less than τ
        changed    where it is not clean and p < .01: it certainly changed
        unknown    otherwise

    The tests of log r, TPR and FPR are corrected for looking at three (Holm); LR+ and
    LR- are tested alone. Equivalence comes first: with a million outcomes every change
    is significant, and one that is certainly small still counts as none.

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
    distance, error = np.abs(found.change[decisive]), found.standard_error[decisive]
    z = distance / error
    needed = np.full(z.shape, Z_TWO_SIDED)
    needed[_HOLM_FAMILY] = _holm_bound(z[_HOLM_FAMILY])
    status = np.where(z > needed, CHANGED, UNKNOWN)
    status[distance + Z_ONE_SIDED * error < EQUIVALENCE] = CLEAN
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
) -> NDArray[np.int8]:
    """Decide on skill from the changes of TPR, FPR, LR+ and LR-.

    *Changed*, *clean* and *unknown* are the statuses that `statuses` gives; TPR and FPR
    are compared as log-odds.

    1. TPR and FPR changed in opposite directions: degraded where TPR fell, improved
       where it rose.
    2. Both changed in the same direction: the operating point moved along the ROC
       curve, unless the new point is dominated, or dominates, on every concave ROC
       curve. Both fell: degraded where LR+ changed and fell, improved where LR- changed
       and fell. Both rose: degraded where LR- changed and rose, improved where LR+
       changed and rose.
    3. Only one changed. The other is clean, or its estimate moved in the opposite
       direction: degraded where TPR fell or FPR rose, else improved. The other is unknown
       and its estimate moved in the same direction: degraded or improved as in 2, by the
       signs of the changes of LR+ and LR- alone; unknown where these give neither.
    4. Neither changed: clean where both are clean or log LR+ is clean, else unknown.

    Two additions keep rule 3 from blaming the model for a small slide of the threshold,
    which takes one rate just past τ and leaves the other just below it:

    (a) Only one rate changed, but the other certainly moved in the same direction
        (p < .01 each, alone), and the smaller of the two moves is at least a quarter of
        the larger: rule 2 applies instead, with LR+ and LR- tested alone at p < .01.
    (b) Where rule 3 applies and the rate changed by less than 2 τ = .4, skill is unknown
        unless the odds ratio of TPR and FPR certainly changed (p < .001). A slide leaves
        it about as it was.

    Where scores come, and a rate changed, a TPR significantly below the reference's ROC
    curve at today's FPR means degraded: instead of a moved operating point, of unknown,
    and of improved by rule 2.

    Args:
        found: changes in the order of `Component` along the first axis.
        status: their statuses, as `statuses` gives them.
        below_reference_curve: True where TPR is significantly below the reference's ROC
            curve at today's FPR (see `roc.below_reference_curve`), shape of the series;
            None where there are no scores.

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
    slid = any_changed & ~both & _moved_together(found)
    one_clean = (recall_status == CLEAN) | (false_status == CLEAN)
    one_sided = any_changed & (opposite | (one_clean & ~slid))
    large = np.where(recall_changed, np.abs(recall), np.abs(false)) >= _SMALL
    odds_ratio_changed = _is_certain(found, Component.ODDS_RATIO, _Z_ODDS_RATIO)
    decisive = any_changed & (both | slid | large | odds_ratio_changed)
    for_the_worse = np.where(recall_changed, recall < 0, false > 0)
    by_one = np.where(for_the_worse, np.int8(Skill.DEGRADED), np.int8(Skill.IMPROVED))
    worse, better = _dominance(found, status, both=both, slid=slid)
    worse, better = decisive & ~one_sided & worse, decisive & ~one_sided & better
    if below_reference_curve is not None:
        worse = worse | (any_changed & below_reference_curve)
        better = better & ~below_reference_curve
    clean = (recall_status == CLEAN) & (false_status == CLEAN)
    clean |= status[Component.LOG_LIKELIHOOD_RATIO] == CLEAN
    verdict = np.where(both | slid, np.int8(Skill.MOVED), np.int8(Skill.UNKNOWN))
    verdict = np.where(better, np.int8(Skill.IMPROVED), verdict)
    verdict = np.where(worse, np.int8(Skill.DEGRADED), verdict)
    verdict = np.where(one_sided & decisive, by_one, verdict)
    return np.where(~any_changed & clean, Skill.CLEAN, verdict).astype(np.int8)


def _moved_together(found: Changes) -> NDArray[np.bool_]:
    """Test for both rates moving in one direction, each at p < .01, by comparable amounts."""
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
    """Test for a point that is dominated, or dominates, on every concave ROC curve.

    Both rates fell: the point is dominated below the chord from the origin (LR+ fell),
    and dominates above the line to (1, 1) (LR- fell). Both rose: it is dominated where
    LR- rose and dominates where LR+ rose. The change of the ratio counts where its
    status is changed if both rates changed, where p < .01 under addition (a), and by its
    sign alone otherwise. A point that does both (a model worse than chance) does neither.
    """
    indices = [Component.LOG_LIKELIHOOD_RATIO, Component.NEGATIVE_LOG_LIKELIHOOD_RATIO]
    change = found.change
    certain = np.stack([_is_certain(found, index) for index in indices])
    counted = np.where(both, status[indices] == CHANGED, certain | ~slid)
    fell, rose = counted & (change[indices] < 0), counted & (change[indices] > 0)
    recall_changed = status[Component.RECALL] == CHANGED
    falling = np.where(
        recall_changed, change[Component.RECALL] < 0, change[Component.FALSE_POSITIVE_RATE] < 0
    )
    dominated = np.where(falling, fell[0], rose[1])
    dominating = np.where(falling, fell[1], rose[0])
    return dominated & ~dominating, dominating & ~dominated
