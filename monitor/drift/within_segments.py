"""The verdict within segments: on changes of their rates, apart from changes of their mix.

When hard cases become more frequent, recall falls although the model treats every case as
before: a change of the mix looks like a change of skill. The verdict within segments rests
on the change of rates standardised to the mean mix of both windows, which is the part
within segments of `segment_attribution`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.component_changes import (
    BetweenDays,
    Changes,
    jackknife_variance,
    leave_one_out,
    with_days,
)
from monitor.drift.components import Component, SmoothedRates
from monitor.drift.day_scatter import DayScatter, days_behind
from monitor.drift.dispersion import Dispersion
from monitor.drift.no_skill import is_dead
from monitor.drift.segment_attribution import aligned_blocks
from monitor.drift.skill import CLEAN, statuses
from monitor.drift.verdict import NOT_OF_THE_MODEL, Judgement, Verdict
from monitor.drift.verdict_rule import judge_changes
from monitor.events.columns import Int64Array
from monitor.metrics.ratio import FloatArray


def judge_within_segments(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    between: BetweenDays | None = None,
    labels_trustworthy: bool = True,
    below_reference_curve: bool | None = None,
) -> Judgement:
    """Judge skill within segments; a change of their mix alone is no change of skill.

    TPR and FPR are standardised to the mean of the two windows' mixes (direct
    standardisation), so that their difference is Kitagawa's within part. The class ratio
    is not standardised, since precision depends on it whatever its origin.

    Args:
        before: outcomes of shape (segments,), or (segments, blocks of time).
        after: the same segments in the same order.
        dispersion: variance over that of independent rows, at least 1.
        between: as for `verdict_rule.judge`.
        labels_trustworthy: as for `verdict_rule.judge`.
        below_reference_curve: True where TPR is below the reference's ROC curve also with
            the reference's mix of segments (see `roc.standardised_to`).

    Returns:
        The judgement, with the same fields as that of `verdict_rule.judge`.

    Raises:
        ValueError: the segments of the two do not match.

    Source:
        Kitagawa 1955 (direct standardisation).

    >>> before = ConfusionCounts(
    ...     tp=[90_000, 20_000], fn=[10_000, 20_000], fp=[9_000, 1_000], tn=[891_000, 99_000])
    >>> after = ConfusionCounts(
    ...     tp=[45_000, 40_000], fn=[5_000, 40_000], fp=[9_000, 1_000], tn=[891_000, 99_000])
    >>> str(judge_within_segments(before, after).verdict)
    'no_change'
    """
    old, new = aligned_blocks(before, after)
    found = _standardised_changes(old, new, Dispersion.of(dispersion), between)
    whole = old.sum(axis=(0, 1)), new.sum(axis=(0, 1))
    return judge_changes(
        found,
        labels_trustworthy=labels_trustworthy,
        below_reference_curve=below_reference_curve,
        dead=bool(is_dead(*whole, found, dispersion)),
    )


def accuracy_held(
    before: Int64Array, after: Int64Array, days: tuple[ConfusionCounts, ConfusionCounts]
) -> bool:
    """Return whether the accuracy within the actual classes certainly changed by less than τ.

    It is standardised to the mean of both mixes of classes, so that these do not move it. The
    errors add the scatter of days to that of rows; τ is that of `skill.statuses`.

    Args:
        before: matrix of the reference by predicted and actual class, (classes, classes).
        after: that of a window.
        days: right (tp) and wrong (fn) predictions of each day of both.

    >>> days = ConfusionCounts(tp=[4_000] * 28, fn=[1_000] * 28, fp=0, tn=0)
    >>> before = np.array([[9_000, 3_000], [1_000, 7_000]])
    >>> both = days, days[np.arange(7)]
    >>> [accuracy_held(before * 7, after, both) for after in (before * [5, 1], before - 500)]
    [True, False]
    """
    old, new = (
        ConfusionCounts(tp=np.diagonal(one), fn=one.sum(axis=0) - np.diagonal(one), fp=0, tn=0)
        for one in (before, after)
    )
    behind = (days_behind(side.total, 1) for side in days)
    between = DayScatter.learn(days).between(*behind)
    found = _standardised_changes(old[:, None], new[:, None], Dispersion.of(1.0), between)
    return bool(statuses(found)[Component.RECALL] == CLEAN)


def explains(within: Judgement, whole: Judgement) -> bool:
    """Return whether the mix of a segment key explains a verdict that blames the model.

    Args:
        within: the judgement within the values of the key.
        whole: the judgement on the totals, by which skill changed.

    Returns:
        True where the model is not to blame within the values; and where that is not certain,
        but less than half of the change of the odds ratio remains within them.
    """
    if within.verdict in NOT_OF_THE_MODEL:
        return True
    left, changed = (abs(one.change["odds_ratio"]) for one in (within, whole))
    return within.verdict is Verdict.INSUFFICIENT_EVIDENCE and left < changed / 2


def _standardised_changes(
    old: ConfusionCounts,
    new: ConfusionCounts,
    dispersion: Dispersion,
    between: BetweenDays | None,
) -> Changes:
    standard = _Standard.of(old.sum(axis=-1), new.sum(axis=-1))
    estimates, variances = [], []
    for blocks in (old, new):
        rates = standard.rates(blocks.sum(axis=-1)[:, None])
        variance = rates.variances(dispersion)[:, 0]
        if between is None and blocks.shape[-1] > 1:
            left_out = standard.rates(leave_one_out(blocks)).components()
            occupied = blocks.total.sum(axis=0) > 0
            variance = np.fmax(variance, jackknife_variance(left_out, occupied))
        estimates.append(rates.components()[:, 0])
        variances.append(variance)
    return with_days(estimates[1] - estimates[0], variances[0] + variances[1], between)


@dataclass(frozen=True, slots=True)
class _Standard:
    """The mix that rates are standardised to, and the rates assumed for empty segments.

    Weights and targets have shape (segments, 1). Each segment gets one more case, at the
    rate that it has over both windows. This changes little where the segment has cases,
    and gives no change where it has none on one side.
    """

    recall_weights: FloatArray
    recall_targets: FloatArray
    false_weights: FloatArray
    false_targets: FloatArray

    @classmethod
    def of(cls, old: ConfusionCounts, new: ConfusionCounts) -> Self:
        return cls(
            *_weights_and_targets(old.tp, old.fn, new.tp, new.fn),
            *_weights_and_targets(old.fp, old.tn, new.fp, new.tn),
        )

    def rates(self, counts: ConfusionCounts) -> SmoothedRates:
        """Rates standardised over the first axis (segments); the others stay."""
        recall, miss, recall_variance = _standardise(
            counts.tp, counts.fn, self.recall_weights, self.recall_targets
        )
        false, true, false_variance = _standardise(
            counts.fp, counts.tn, self.false_weights, self.false_targets
        )
        plain = SmoothedRates.of(counts.sum(axis=0))
        return SmoothedRates(
            log_class_ratio=plain.log_class_ratio,
            log_class_ratio_variance=plain.log_class_ratio_variance,
            recall=recall,
            miss_rate=miss,
            recall_variance=recall_variance,
            false_positive_rate=false,
            specificity=true,
            false_positive_rate_variance=false_variance,
        )


def _weights_and_targets(
    hits_old: CountArray, misses_old: CountArray, hits_new: CountArray, misses_new: CountArray
) -> tuple[FloatArray, FloatArray]:
    old, new = np.add(hits_old, misses_old, dtype=float), np.add(hits_new, misses_new, dtype=float)
    uniform = np.full(old.shape, 1 / old.size)
    share_old = old / old.sum() if old.any() else uniform
    share_new = new / new.sum() if new.any() else share_old
    hits = np.add(hits_old, hits_new, dtype=float)
    overall = (hits.sum() + 0.5) / ((old + new).sum() + 1)
    targets = (hits + overall) / (old + new + 1)
    return ((share_old + share_new) / 2)[:, None], targets[:, None]


def _standardise(
    hits: CountArray, misses: CountArray, weights: FloatArray, targets: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Weighted rate over the first axis, its complement and its variance."""
    cases = np.add(hits, misses, dtype=float) + 1
    rate, complement = (hits + targets) / cases, (misses + 1 - targets) / cases
    variance = (weights**2 * rate * complement / cases).sum(axis=0)
    return (weights * rate).sum(axis=0), (weights * complement).sum(axis=0), variance
