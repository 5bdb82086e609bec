"""Corrections of the scores, and a threshold, as parts of JSON answers."""

from __future__ import annotations

from msgspec import Struct

from monitor.metrics.expected_threshold import ExpectedThreshold
from monitor.metrics.recalibration import Correction, Recalibration
from monitor.metrics.score_intervals import Interval
from monitor.report.answer_parts import MetricInterval, Share, defined


class PriorShift(Struct, frozen=True, kw_only=True):
    """logit(score) + log_odds.

    Attributes:
        log_odds: log of the class ratio now over that of before.
        gain: what it takes off the Brier score, out of sample.
    """

    log_odds: float
    gain: MetricInterval


class PlattScaling(Struct, frozen=True, kw_only=True):
    """Intercept + slope logit(score).

    Attributes:
        intercept: in log-odds; null where a score separates the classes.
        slope: null likewise.
        gain: what it takes off the Brier score, out of sample.
    """

    intercept: float | None
    slope: float | None
    gain: MetricInterval


class IsotonicSteps(Struct, frozen=True, kw_only=True):
    """Rates of positives at some scores, linear between them.

    Attributes:
        score: increasing.
        rate: non-decreasing, same length.
        gain: what it takes off the Brier score, out of sample.
    """

    score: tuple[Share, ...]
    rate: tuple[Share, ...]
    gain: MetricInterval


class ScoreCorrections(Struct, frozen=True, kw_only=True):
    """Corrections of the scores of the later period, each fitted to its labels.

    Attributes:
        brier_score: of the scores as they are.
        prior_shift: for another class ratio alone; null where that of before is not known.
        platt: logistic.
        isotonic: by steps.
        advised: the simplest correction that certainly lowers the Brier score, by at least
            1 % of it; null where none is warranted, where a score separates the classes
            completely, and where the slope of `platt` is below 0.
        separated: a score separates the classes completely: none of both have it. A fit to them is
            a step there.
    """

    brier_score: float
    prior_shift: PriorShift | None
    platt: PlattScaling
    isotonic: IsotonicSteps
    advised: Correction | None
    separated: bool


class ThresholdAdvice(Struct, frozen=True, kw_only=True):
    """The threshold of highest recall that reaches a precision at the class ratio of after.

    Attributes:
        wanted: the precision: the objective, or that of before.
        threshold: predict positive at this score and above.
        precision: out of sample.
        recall: out of sample.
        flagged: share of the labelled cases that it predicts positive.
        corrected: for wrong labels, taken to be as frequent at every score.
    """

    wanted: Share
    threshold: Share
    precision: MetricInterval
    recall: MetricInterval
    flagged: Share
    corrected: bool = False


def score_corrections(found: Recalibration | None) -> ScoreCorrections | None:
    """Return corrections as an object of JSON."""
    if found is None:
        return None
    gain = {name: _interval(interval) for name, interval in found.gain.items()}
    shift = gain.get(Correction.PRIOR_SHIFT)
    return ScoreCorrections(
        brier_score=found.brier_score,
        prior_shift=None if shift is None else PriorShift(log_odds=found.prior_shift, gain=shift),
        platt=PlattScaling(
            intercept=defined(found.platt.intercept),
            slope=defined(found.platt.slope),
            gain=gain[Correction.PLATT],
        ),
        isotonic=IsotonicSteps(
            score=tuple(found.isotonic.score.tolist()),
            rate=tuple(found.isotonic.rate.tolist()),
            gain=gain[Correction.ISOTONIC],
        ),
        advised=found.advised,
        separated=found.separated,
    )


def threshold_answer(found: ExpectedThreshold | None) -> ThresholdAdvice | None:
    """Return a threshold as an object of JSON."""
    if found is None:
        return None
    return ThresholdAdvice(
        wanted=found.wanted,
        threshold=found.threshold,
        precision=_interval(found.precision),
        recall=_interval(found.recall),
        flagged=found.flagged,
        corrected=found.corrected,
    )


def _interval(found: Interval) -> MetricInterval:
    estimate, lower, upper = map(defined, found)
    return MetricInterval(estimate=estimate, lower=lower, upper=upper)
