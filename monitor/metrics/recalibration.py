"""Corrections of scores as probabilities, and what each brings out of sample.

Three are tried, from the simplest to the most flexible:

    prior_shift   logit(score) + log(r now / r before): positives became rarer or more frequent,
                  and nothing else changed
    platt         intercept + slope logit(score), fitted to recent labels
    isotonic      the rate of positives by score, non-decreasing, fitted to recent labels

Each is fitted to some days and measured on others (`monitor.metrics.out_of_sample`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from monitor.metrics.calibration import calibration_line, middles, separates
from monitor.metrics.out_of_sample import fitted_elsewhere, folds_of_days, ratio_interval
from monitor.metrics.score_intervals import Interval

if TYPE_CHECKING:
    from monitor.metrics.histogram import ScoreHistogram
    from monitor.metrics.ratio import FloatArray

FEWEST_CASES = 50
"""Labelled cases of each class below which nothing is fitted."""
LEAST_GAIN = 0.01
"""A correction is advised if it lowers the Brier score by at least this share of it."""


class Correction(StrEnum):
    """A way to correct scores, from the simplest to the most flexible."""

    PRIOR_SHIFT = "prior_shift"
    PLATT = "platt"
    ISOTONIC = "isotonic"


class LogOddsLine(NamedTuple):
    """A correction of log-odds: `intercept + slope * logit(score)`."""

    intercept: float
    slope: float


class RateSteps(NamedTuple):
    """A correction by steps: the rate of positives at some scores, linear between them.

    Attributes:
        score: in (0, 1), increasing.
        rate: in [0, 1], non-decreasing, same length.
    """

    score: FloatArray
    rate: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Recalibration:
    """Corrections of the scores of recent cases.

    Attributes:
        brier_score: mean squared distance of the scores as they are from the labels.
        prior_shift: log of the class ratio now over that of before, to be added to the
            log-odds of the scores; NaN where that of before is not known.
        platt: fitted to all recent cases.
        isotonic: likewise.
        gain: what each correction takes off the Brier score of days that it was not fitted to,
            with its 95 % interval; below 0 where it makes scores worse.
        advised: the simplest correction whose gain is certain and at least 1 % of the Brier
            score, and that no more flexible one certainly improves on by as much again; None
            where no correction is warranted, where a score separates the classes completely, and
            where the slope of `platt` is below 0: scores of the other class are no probabilities
            of the positive one. Steps of one rate are advised nowhere: that is the share of
            positives.
        separated: a score separates the classes completely, so that a fit to them is a step there
            and no probability in between is known. Where cases of both classes have that score,
            the gain decides, as elsewhere; `platt` is NaN there.
    """

    brier_score: float
    prior_shift: float
    platt: LogOddsLine
    isotonic: RateSteps
    gain: Mapping[Correction, Interval]
    advised: Correction | None
    separated: bool = False


def recalibration(
    days: ScoreHistogram, class_ratio_before: float = math.nan
) -> Recalibration | None:
    """Return the corrections of scores, and the one to use.

    Args:
        days: recent labelled cases by score, (days, bins), in order of time.
        class_ratio_before: positives per negative that the scores were made for, in (0, ∞);
            NaN where it is not known, so that no prior shift is tried.

    Returns:
        None with fewer than four days, or fewer than 50 cases of a class.

    Source:
        Saerens, Latinne & Decaestecker 2002, eq. 2.4 (prior shift); Platt 1999; Zadrozny &
        Elkan 2002 (isotonic regression).

    >>> rare, often = [40, 10], [10, 40]  # at scores of .25 and .75; made for r = 1
    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> days = ScoreHistogram(
    ...     positive=np.tile(often, (7, 1)), negative=np.tile(9 * np.array(rare), (7, 1)),
    ...     unlabelled=np.zeros((7, 2), dtype=np.int64))
    >>> found = recalibration(days, class_ratio_before=1.0)
    >>> round(found.prior_shift, 3), found.advised
    (-2.197, <Correction.PRIOR_SHIFT: 'prior_shift'>)
    """
    whole, folds = days.sum(), folds_of_days(days)
    if folds is None or min(whole.positive.sum(), whole.negative.sum()) < FEWEST_CASES:
        return None
    fits = _fits(class_ratio_before)
    score = middles(days.bins)
    as_is = np.array([_loss(score, f) for _, f in fitted_elsewhere(folds, lambda _: score)])
    steps = _steps(whole)
    losses = {
        correction: np.array([_loss(rates, fold) for rates, fold in fitted_elsewhere(folds, fit)])
        for correction, fit in fits.items()
    }
    cases = (folds.positive + folds.negative).sum(axis=-1)
    line, separated = calibration_line(whole), separates(whole, completely=True)
    warrants_none = separated or line.slope < 0
    return Recalibration(
        brier_score=float(as_is.sum() / cases.sum()),
        prior_shift=_shift(whole, class_ratio_before),
        platt=LogOddsLine(line.intercept, line.slope),
        isotonic=steps,
        gain={name: ratio_interval(as_is - loss, cases) for name, loss in losses.items()},
        advised=None if warrants_none else _advised(as_is, _usable(losses, steps), cases),
        separated=separated,
    )


def _fits(class_ratio_before: float) -> dict[Correction, Callable[[ScoreHistogram], FloatArray]]:
    """How each correction is fitted: cases in, the corrected score of each bin out."""

    def shifted(cases: ScoreHistogram) -> FloatArray:
        score = middles(cases.bins)
        shift = _shift(cases, class_ratio_before)
        return np.asarray(expit(logit(score) + shift)) if math.isfinite(shift) else score

    def by_line(cases: ScoreHistogram) -> FloatArray:
        score, line = middles(cases.bins), calibration_line(cases)
        if not math.isfinite(line.slope):
            return score
        return np.asarray(expit(line.intercept + line.slope * logit(score)))

    def by_steps(cases: ScoreHistogram) -> FloatArray:
        steps = _steps(cases)
        return np.interp(middles(cases.bins), steps.score, steps.rate)

    fits: dict[Correction, Callable[[ScoreHistogram], FloatArray]] = {
        Correction.PRIOR_SHIFT: shifted,
        Correction.PLATT: by_line,
        Correction.ISOTONIC: by_steps,
    }
    if not math.isfinite(class_ratio_before):
        del fits[Correction.PRIOR_SHIFT]
    return fits


def _shift(cases: ScoreHistogram, class_ratio_before: float) -> float:
    positives, negatives = float(cases.positive.sum()), float(cases.negative.sum())
    if not (positives and negatives and class_ratio_before > 0):
        return math.nan
    return math.log(positives / negatives) - math.log(class_ratio_before)


def _steps(cases: ScoreHistogram) -> RateSteps:
    within = cases.positive + cases.negative
    held = np.flatnonzero(within)
    weights = within[held].astype(np.float64)
    from scipy.optimize import isotonic_regression  # noqa: PLC0415  # slow to import

    rate = isotonic_regression(cases.positive[held] / weights, weights=weights).x
    corner = np.ones(len(held), dtype=np.bool_)
    corner[1:-1] = (rate[1:-1] != rate[:-2]) | (rate[1:-1] != rate[2:])
    return RateSteps(middles(cases.bins)[held][corner], np.asarray(rate)[corner])


def _loss(score: FloatArray, cases: ScoreHistogram) -> float:
    """Sum of the squared distances of the scores from the labels."""
    return float(cases.positive @ (1 - score) ** 2 + cases.negative @ score**2)


def _usable(
    losses: Mapping[Correction, FloatArray], steps: RateSteps
) -> Mapping[Correction, FloatArray]:
    """Return the losses of corrections that may be advised: steps of one rate order no cases."""
    return {
        correction: loss
        for correction, loss in losses.items()
        if correction is not Correction.ISOTONIC or np.ptp(steps.rate) > 0
    }


def _advised(
    as_is: FloatArray, losses: Mapping[Correction, FloatArray], cases: FloatArray
) -> Correction | None:
    least = LEAST_GAIN * float(as_is.sum() / cases.sum())
    best, found = as_is, None
    for correction, loss in losses.items():
        gain = ratio_interval(best - loss, cases)
        if gain.lower > 0 and gain.estimate >= least:
            best, found = loss, correction
    return found
