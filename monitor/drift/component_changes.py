"""Changes of the components from one window to another, and how well each is known.

A change is after minus before. Rows of real streams are not independent: those of one day are
correlated, which makes the errors of independent rows several times too small. Recall and
false positives also move together from day to day, which makes log LR+ and the odds ratio far
better known than either rate, so that each component has its own error.

Where the scatter of days is known (`BetweenDays`), the variance of a change is that of rows
plus that of days. Else it is the larger of that of independent rows (delta method) and that
between the blocks of time of each window (jackknife).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri, stdtr, stdtrit, xlogy

from monitor.counts import ConfusionCounts
from monitor.drift.components import Component, SmoothedRates
from monitor.drift.dispersion import Dispersion
from monitor.metrics.ratio import FloatArray

_MANY = 1e6
_TINY = 1e-12
_OF_BOTH_RATES = (
    Component.LOG_LIKELIHOOD_RATIO,
    Component.NEGATIVE_LOG_LIKELIHOOD_RATIO,
    Component.ODDS_RATIO,
)
_LEAST_STATISTIC = 0.5
_HALF_A_CASE = 0.5


class BetweenDays(NamedTuple):
    """Part of the scatter of days in the errors of a change; see `DayScatter.between`.

    Attributes:
        before: variance of each component of the window before, (8,).
        after: variance of each component of the window after, (8,).
        freedom: degrees of freedom behind both, (8,), above 0.
    """

    before: FloatArray
    after: FloatArray
    freedom: FloatArray


@dataclass(frozen=True, slots=True)
class Changes:
    """Components after minus before, and their standard errors.

    Attributes:
        change: (8, *series) in the order of `Component`; log-odds of rates, logs of ratios.
        standard_error: same shape, above 0.
        freedom: degrees of freedom behind the standard errors, broadcasts to them; very
            many where they are known without the scatter of days.
        one_way: True where one side flags nothing, or everything: each ROC curve ends there, so
            that it is no movement along one. Broadcasts to the series.
    """

    change: FloatArray
    standard_error: FloatArray
    freedom: FloatArray = field(default_factory=lambda: np.array(_MANY))
    one_way: NDArray[np.bool_] = field(default_factory=lambda: np.array(False))

    @property
    def z(self) -> FloatArray:
        """Change over its error, as the normal quantile with the p-value of Student's t."""
        t = self.change / self.standard_error
        if (self.freedom >= _MANY).all():
            return t
        return np.asarray(-np.sign(t) * ndtri(stdtr(self.freedom, -np.abs(t))))

    def margin(self, z: float) -> FloatArray:
        """Half-width of the interval at a level given as a normal quantile, by Student's t.

        Args:
            z: quantile of the standard normal, above 0.

        Returns:
            Half-widths in the shape of the changes: z standard errors, or more where few
            days are behind them.
        """
        if (self.freedom >= _MANY).all():
            return z * self.standard_error
        return np.asarray(stdtrit(self.freedom, ndtr(z)) * self.standard_error)

    def fell(self, component: Component, level: float) -> bool:
        """Return whether the interval of a change of one series lies below 0.

        Args:
            component: which one changed.
            level: of the interval, in (0, 1).
        """
        freedom = np.broadcast_to(self.freedom, self.change.shape)[component]
        half = stdtrit(freedom, (1 + level) / 2) * self.standard_error[component]
        return bool(self.change[component] + half < 0)

    def within_days(self, odds_ratio: float) -> Changes:
        """Return the changes with a fall of the odds ratio as large as it is within days.

        Where the sum of the days fell by more, days at different thresholds explain the
        rest (see `odds_ratio_within`).

        Args:
            odds_ratio: change of its log within days; NaN to return the changes as they are.
        """
        least = min(odds_ratio, 0.0)
        if not self.change[Component.ODDS_RATIO] < least:
            return self
        change = self.change.copy()
        change[Component.ODDS_RATIO] = least
        return replace(self, change=change)


def changes(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    between: BetweenDays | None = None,
) -> Changes:
    """Return the change of each component from one window to another, and its error.

    Args:
        before: outcomes of blocks of time along the last axis; one series for each
            index of the axes in front. A scalar is one block.
        after: the same; the number of blocks may differ.
        dispersion: variance over that of independent rows, at least 1. It scales only
            the error of independent rows; the error between blocks includes it.
        between: what the scatter of days adds to the variance of independent rows; the
            blocks are then summed. None to estimate the errors from the blocks alone.

    Returns:
        Changes of shape (8, *series). Without `between`, the variance of each window is
        the larger of that of independent rows and that between its non-empty blocks
        (delete-one-block jackknife); that of independent rows where it has fewer than two
        such blocks. With it, the degrees of freedom are Satterthwaite's: many where the
        rows make up most of the error; and the variances of the rows of TPR, FPR and the
        odds ratio are those that the likelihood ratio test implies.

    Source:
        Efron 1982 (jackknife); Busing et al. 1999 (delete-m); delta method;
        Satterthwaite 1946 (degrees of freedom of a sum of variances).

    >>> day = ConfusionCounts(tp=[8, 9], fp=[5, 6], fn=[2, 1], tn=[90, 90])
    >>> found = changes(day, day)
    >>> float(abs(found.change).max()), bool((found.standard_error > 0).all())
    (0.0, True)
    """
    factors = Dispersion.of(dispersion)
    if between is not None:
        before, after = (as_blocks(one).sum(axis=-1)[..., None] for one in (before, after))
    old, old_variance = _estimate(before, factors)
    new, new_variance = _estimate(after, factors)
    change, rows = new - old, old_variance + new_variance
    if between is not None:
        rows = _of_small_counts(before[..., 0], after[..., 0], change, rows, factors)
    else:
        rows = _of_unseen_classes(before, after, change, rows)
    sides = [as_blocks(one).sum(axis=-1) for one in (before, after)]
    flagged = [(one.predicted_positive == 0) | (one.predicted_negative == 0) for one in sides]
    return replace(with_days(change, rows, between), one_way=np.asarray(flagged[0] | flagged[1]))


def _of_unseen_classes(
    before: ConfusionCounts, after: ConfusionCounts, change: FloatArray, rows: FloatArray
) -> FloatArray:
    """Widen the errors of rates of which one side has no case, so that they show no change.

    Half a count in each cell makes such a rate .5, and the error of that is finite.
    """
    sides = [as_blocks(one).sum(axis=-1) for one in (before, after)]
    no_positives, no_negatives = (
        np.logical_or(*(getattr(side, cases) == 0 for side in sides))
        for cases in ("actual_positive", "actual_negative")
    )
    if not (no_positives.any() or no_negatives.any()):
        return rows
    rows = rows.copy()
    for component, unseen in (
        (Component.RECALL, no_positives),
        (Component.FALSE_POSITIVE_RATE, no_negatives),
        *((one, no_positives | no_negatives) for one in _OF_BOTH_RATES),
    ):
        floor = np.maximum(rows[component], change[component] ** 2 / _LEAST_STATISTIC)
        rows[component] = np.where(unseen, floor, rows[component])
    return rows


def _of_small_counts(
    before: ConfusionCounts,
    after: ConfusionCounts,
    change: FloatArray,
    rows: FloatArray,
    dispersion: Dispersion,
) -> FloatArray:
    """Replace the variances of the rates and the odds ratio by those of the likelihood ratio.

    With few counts the delta method is too wide where a rate falls to zero and too narrow
    where a rare rate rises. The signed root of the likelihood ratio is closer to normal.

    Half a count in each cell moves a rate of 0 or 1 by more, the fewer cases there are. A
    component whose counts show no difference is therefore no change, whatever its estimate.
    """
    rows = rows.copy()
    least = change**2 / _LEAST_STATISTIC
    shown = []
    for component, hits, misses, factor in (
        (Component.RECALL, "tp", "fn", dispersion.recall),
        (Component.FALSE_POSITIVE_RATE, "fp", "tn", dispersion.false_positive_rate),
    ):
        old = np.asarray(getattr(before, hits), float), np.asarray(getattr(before, misses), float)
        new = np.asarray(getattr(after, hits), float), np.asarray(getattr(after, misses), float)
        statistic = _likelihood_ratio(*old, *new) / factor
        usable = statistic > _LEAST_STATISTIC
        implied = change[component] ** 2 / np.where(usable, statistic, 1.0)
        floor = np.maximum(rows[component], least[component])
        rows[component] = np.where(usable, implied, floor)
        shown.append(usable)
    for component in (Component.LOG_LIKELIHOOD_RATIO, Component.NEGATIVE_LOG_LIKELIHOOD_RATIO):
        floor = np.maximum(rows[component], least[component])
        rows[component] = np.where(shown[0] | shown[1], rows[component], floor)
    classes = [
        np.asarray(one, float)
        for side in (before, after)
        for one in (side.actual_positive, side.actual_negative)
    ]
    ratio = _likelihood_ratio(*classes) / dispersion.class_ratio > _LEAST_STATISTIC
    floor = np.maximum(rows[Component.CLASS_RATIO], least[Component.CLASS_RATIO])
    rows[Component.CLASS_RATIO] = np.where(ratio, rows[Component.CLASS_RATIO], floor)
    rows[Component.ODDS_RATIO] = rows[Component.RECALL] + rows[Component.FALSE_POSITIVE_RATE]
    return rows


def _likelihood_ratio(
    old_hits: FloatArray, old_misses: FloatArray, new_hits: FloatArray, new_misses: FloatArray
) -> FloatArray:
    """Twice the log likelihood ratio of two rates against one common rate.

    The new hits are moved by up to half a case toward the common rate (Yates 1934), which
    brings the tails of few cases close to those of the exact test.
    """
    shared = (old_hits + new_hits) / np.maximum(
        old_hits + old_misses + new_hits + new_misses, _TINY
    )
    excess = new_hits - (new_hits + new_misses) * shared
    moved = np.clip(excess, -_HALF_A_CASE, _HALF_A_CASE)
    new_hits, new_misses = new_hits - moved, new_misses + moved
    old, new = old_hits + old_misses, new_hits + new_misses
    hits, misses = old_hits + new_hits, old_misses + new_misses
    separate = xlogy(old_hits, old_hits / np.maximum(old, _TINY))
    separate = separate + xlogy(old_misses, old_misses / np.maximum(old, _TINY))
    separate = separate + xlogy(new_hits, new_hits / np.maximum(new, _TINY))
    separate = separate + xlogy(new_misses, new_misses / np.maximum(new, _TINY))
    cases = np.maximum(old + new, _TINY)
    common = xlogy(hits, hits / cases) + xlogy(misses, misses / cases)
    return np.asarray(2 * (separate - common))


def with_days(change: FloatArray, rows: FloatArray, between: BetweenDays | None) -> Changes:
    """Return changes whose errors add the scatter of days to that of rows.

    Args:
        change: (8, *series), in the order of `Component`.
        rows: variances without the scatter of days, same shape.
        between: what the scatter of days adds; None for nothing.
    """
    if between is None:
        return Changes(change=change, standard_error=np.sqrt(rows))
    shape = (-1,) + (1,) * (rows.ndim - 1)
    days = (between.before + between.after).reshape(shape)
    variance = rows + days
    freedom = between.freedom.reshape(shape) * (variance / np.maximum(days, _TINY)) ** 2
    return Changes(
        change=change, standard_error=np.sqrt(variance), freedom=np.minimum(freedom, _MANY)
    )


def leave_one_out(blocks: ConfusionCounts) -> ConfusionCounts:
    """Return the sum of all blocks but one, for each block of the last axis (same shape).

    >>> leave_one_out(ConfusionCounts(tp=[1, 2, 4], fp=0, fn=0, tn=0)).tp.tolist()
    [6, 5, 3]
    """
    cells = blocks.cells
    return ConfusionCounts.from_cells(cells.sum(axis=-2, keepdims=True) - cells)


def jackknife_variance(estimates: FloatArray, occupied: NDArray[np.bool_]) -> FloatArray:
    """Return the variance of an estimate between blocks of time: delete-one-block jackknife.

    Args:
        estimates: the estimate with one block left out, blocks along the last axis.
        occupied: True where the left-out block has outcomes; broadcasts against the
            estimates.

    Returns:
        (g - 1)/g times the sum of squares about the mean over the g occupied blocks,
        without the last axis; NaN where g < 2.

    Source:
        Efron 1982, eq. 3.2 (the jackknife estimate of variance).

    >>> float(jackknife_variance(np.array([1.0, 2.0, 3.0]), np.array([True, True, True])))
    1.3333333333333333
    """
    blocks = occupied.sum(axis=-1)
    weight = occupied / np.maximum(blocks, 1)[..., None]
    mean = (weight * estimates).sum(axis=-1, keepdims=True)
    spread = (weight * (estimates - mean) ** 2).sum(axis=-1)
    return np.where(blocks > 1, (blocks - 1) * spread, np.nan)


def as_blocks(window: ConfusionCounts) -> ConfusionCounts:
    """Return the window as blocks along the last axis; a scalar becomes one block."""
    return window[None] if window.shape == () else window


def _estimate(window: ConfusionCounts, dispersion: Dispersion) -> tuple[FloatArray, FloatArray]:
    blocks = as_blocks(window)
    rates = SmoothedRates.of(blocks.sum(axis=-1))
    variances = rates.variances(dispersion)
    if blocks.shape[-1] > 1:
        estimates = SmoothedRates.of(leave_one_out(blocks)).components()
        variances = np.fmax(variances, jackknife_variance(estimates, blocks.total > 0))
    return rates.components(), variances
