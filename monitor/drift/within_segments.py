"""Changes within segments, apart from changes of the mix of segments.

When hard cases become more frequent, recall falls although the model treats every case as
before: a change of the mix looks like a change of skill. Kitagawa's decomposition separates
the two exactly: within = Σ w̄ Δrate, mix = Σ Δw mean rate. The weight w of a segment is its
share of the actual positives (recall), of the actual negatives (false positives) or of all
cases (prevalence). The verdict within segments rests on the first part alone, as the
change of rates standardised to the mean mix of both windows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from monitor.counts import ConfusionCounts, CountArray
from monitor.drift.component_changes import (
    BetweenDays,
    Changes,
    changes,
    jackknife_variance,
    leave_one_out,
    with_days,
)
from monitor.drift.components import SmoothedRates
from monitor.drift.dispersion import Dispersion
from monitor.drift.skill import is_dead
from monitor.drift.verdict import NOT_OF_THE_MODEL, Judgement, Verdict, judge_changes
from monitor.metrics.ratio import FloatArray, ratio

_SIGNIFICANCE = 0.01
_PREVALENCE, _FALSE_POSITIVES = 0, 2  # rows
_EQUAL = 1e-9  # log rates so close have their arithmetic mean
_AXES = 2  # segments, blocks of time


@dataclass(frozen=True, slots=True)
class SegmentAttribution:
    """Contribution of each segment to the change of logit(precision).

    Contributions are in log-odds, after minus before; a positive one raises precision.
    The rows of the arrays are prevalence, recall and false positives, the columns the
    segments in their order. NaN where a window has no actual positives, no actual
    negatives, or a rate of 0 on either side.

    Attributes:
        within: contribution of the change of the segment's own rate, (3, segments).
        mix: contribution of the change of the segment's share, (3, segments).
        p_values: p-value of the change of each segment's own rate, corrected for all
            segments and all three rates (Holm), (3, segments).
        carries: True where the p-value is below .01, (3, segments).
    """

    within: FloatArray
    mix: FloatArray
    p_values: FloatArray
    carries: NDArray[np.bool_]

    @property
    def within_effect(self) -> FloatArray:
        """Change of logit(precision) within segments: prevalence, recall, false positives."""
        return np.asarray(self.within.sum(axis=-1))

    @property
    def mix_effect(self) -> FloatArray:
        """Change of logit(precision) by the mix: prevalence, recall, false positives."""
        return np.asarray(self.mix.sum(axis=-1))


def attribute_segments(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    between: BetweenDays | None = None,
) -> SegmentAttribution:
    """Split the change of logit(precision) into changes within segments and of their mix.

    Args:
        before: outcomes of shape (segments,), or (segments, blocks of time).
        after: the same segments in the same order.
        dispersion: variance over that of independent rows, at least 1.
        between: what the scatter of days adds to the errors of each segment's rates,
            instead of the scatter of blocks; None to estimate the errors from the blocks.

    Returns:
        Contributions by segment; `within` and `mix` sum to the change of
        logit(precision), without remainder.

    Raises:
        ValueError: the segments of the two do not match.

    Source:
        Kitagawa 1955 (components of a difference between two rates); Törnqvist
        et al. 1985 (logarithmic mean).

    >>> before = ConfusionCounts(tp=[90, 20], fn=[10, 20], fp=[9, 1], tn=[891, 99])
    >>> after = ConfusionCounts(tp=[90, 100], fn=[10, 100], fp=[9, 1], tn=[891, 99])
    >>> found = attribute_segments(before, after)
    >>> found.within[1].round(3).tolist(), found.mix[1].round(3).tolist()
    ([0.0, 0.0], [-0.485, 0.269])
    """
    old, new = _blocks(before), _blocks(after)
    _check(old, new)
    within, mix = _parts(old.sum(axis=-1), new.sum(axis=-1))
    p_values = _segment_p_values(old, new, Dispersion.of(dispersion), between)
    return SegmentAttribution(
        within=within, mix=mix, p_values=p_values, carries=p_values < _SIGNIFICANCE
    )


def judge_within_segments(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    between: BetweenDays | None = None,
    labels_trustworthy: bool = True,
    below_reference_curve: bool = False,
) -> Judgement:
    """Judge skill within segments; a change of their mix alone is no change of skill.

    TPR and FPR are standardised to the mean of the two windows' mixes (direct
    standardisation), so that their difference is Kitagawa's within part. The class ratio
    is not standardised, since precision depends on it whatever its origin.

    Args:
        before: outcomes of shape (segments,), or (segments, blocks of time).
        after: the same segments in the same order.
        dispersion: variance over that of independent rows, at least 1.
        between: as for `verdict.judge`.
        labels_trustworthy: as for `verdict.judge`.
        below_reference_curve: True where TPR is below the reference's ROC curve also with
            the reference's mix of segments (see `roc.standardised_to`).

    Returns:
        The judgement, with the same fields as that of `verdict.judge`.

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
    old, new = _blocks(before), _blocks(after)
    _check(old, new)
    found = _standardised_changes(old, new, Dispersion.of(dispersion), between)
    whole = old.sum(axis=(0, 1)), new.sum(axis=(0, 1))
    return judge_changes(
        found,
        labels_trustworthy=labels_trustworthy,
        below_reference_curve=below_reference_curve,
        dead=bool(is_dead(*whole, found)),
    )


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


def _kitagawa(
    hits_old: FloatArray, cases_old: FloatArray, hits_new: FloatArray, cases_new: FloatArray
) -> tuple[FloatArray, FloatArray, FloatArray, FloatArray]:
    """Within and mix parts of a rate's change by segment, and the rate of old and of new."""
    rate_old, rate_new = ratio(hits_old, cases_old), ratio(hits_new, cases_new)
    share_old = ratio(cases_old, cases_old.sum())
    share_new = ratio(cases_new, cases_new.sum())
    # A segment without cases on one side has no rate there: its change is all mix.
    known_old = np.where(cases_old > 0, rate_old, rate_new)
    known_new = np.where(cases_new > 0, rate_new, rate_old)
    absent = (cases_old == 0) & (cases_new == 0)
    within = (share_old + share_new) / 2 * (known_new - known_old)
    mix = (share_new - share_old) * (known_old + known_new) / 2
    whole_old = ratio(hits_old.sum(), cases_old.sum())
    whole_new = ratio(hits_new.sum(), cases_new.sum())
    return np.where(absent, 0.0, within), np.where(absent, 0.0, mix), whole_old, whole_new


def _parts(old: ConfusionCounts, new: ConfusionCounts) -> tuple[FloatArray, FloatArray]:
    """Within and mix parts in log-odds of precision, each of shape (3, segments)."""
    streams = [
        [(c.actual_positive, c.total), (c.tp, c.actual_positive), (c.fp, c.actual_negative)]
        for c in (old, new)
    ]
    within, mix = [], []
    for row, (before, after) in enumerate(zip(*streams, strict=True)):
        arrays = [np.asarray(values, float) for values in (*before, *after)]
        own, between, rate_old, rate_new = _kitagawa(*arrays)
        scale = 1 / _logarithmic_mean(rate_old, rate_new)
        if row == _PREVALENCE:  # enters as log r, a difference of two logs
            scale = scale + 1 / _logarithmic_mean(1 - rate_old, 1 - rate_new)
        sign = -1.0 if row == _FALSE_POSITIVES else 1.0
        within.append(sign * own * scale)
        mix.append(sign * between * scale)
    return np.stack(within), np.stack(mix)


def _logarithmic_mean(old: FloatArray, new: FloatArray) -> FloatArray:
    """(new - old) / log(new / old), their common value where they are equal; NaN at 0."""
    positive = (old > 0) & (new > 0)
    log = np.log(np.where(positive, new, 1.0)) - np.log(np.where(positive, old, 1.0))
    mean = np.divide(new - old, log, out=np.asarray((old + new) / 2), where=np.abs(log) > _EQUAL)
    return np.where(positive, mean, np.nan)


def _segment_p_values(
    old: ConfusionCounts,
    new: ConfusionCounts,
    dispersion: Dispersion,
    between: BetweenDays | None,
) -> FloatArray:
    found = changes(old, new, dispersion, between)
    p_values: FloatArray = 2 * ndtr(-np.abs(found.z[:3]))
    corrected: FloatArray = holm(p_values.ravel()).reshape(p_values.shape)
    return corrected


def holm(p_values: FloatArray) -> FloatArray:
    """Correct p-values for several tests by Holm's procedure.

    Args:
        p_values: p-values in [0, 1], one axis.

    Returns:
        Corrected p-values in [0, 1], same shape; one is below a level exactly where
        Holm's procedure rejects at that level.

    Source:
        Holm 1979 (a simple sequentially rejective multiple test procedure).

    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values)
    factors = np.arange(p_values.size, 0, -1.0)
    corrected = np.empty_like(p_values)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * factors), 1.0)
    return corrected


def _blocks(counts: ConfusionCounts) -> ConfusionCounts:
    return counts[:, None] if len(counts.shape) == 1 else counts


def _check(old: ConfusionCounts, new: ConfusionCounts) -> None:
    if len(old.shape) != _AXES or len(new.shape) != _AXES or old.shape[0] != new.shape[0]:
        raise ValueError(
            f"segments: before and after must have the same segments along the first axis and "
            f"at most blocks of time along a second, got shapes {old.shape} and {new.shape}"
        )
