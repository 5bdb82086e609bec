"""Contribution of each segment to a change of precision: of its own rates, and of the mix.

Kitagawa's decomposition separates the two exactly: within = Σ w̄ Δrate, mix = Σ Δw mean rate.
The weight w of a segment is its share of the actual positives (recall), of the actual
negatives (false positives) or of all cases (prevalence).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import BetweenDays, changes
from monitor.drift.dispersion import Dispersion
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
    old, new = aligned_blocks(before, after)
    within, mix = _parts(old.sum(axis=-1), new.sum(axis=-1))
    p_values = _segment_p_values(old, new, Dispersion.of(dispersion), between)
    return SegmentAttribution(
        within=within, mix=mix, p_values=p_values, carries=p_values < _SIGNIFICANCE
    )


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


def aligned_blocks(
    before: ConfusionCounts, after: ConfusionCounts
) -> tuple[ConfusionCounts, ConfusionCounts]:
    """Return the outcomes of two windows as (segments, blocks of time).

    Args:
        before: outcomes of shape (segments,), or (segments, blocks of time).
        after: the same segments in the same order.

    Raises:
        ValueError: the segments of the two do not match.
    """
    old, new = (one[:, None] if len(one.shape) == 1 else one for one in (before, after))
    if len(old.shape) != _AXES or len(new.shape) != _AXES or old.shape[0] != new.shape[0]:
        raise ValueError(
            f"segments: before and after must have the same segments along the first axis and "
            f"at most blocks of time along a second, got shapes {old.shape} and {new.shape}"
        )
    return old, new
