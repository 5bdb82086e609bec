"""Corrections of the scores, and a threshold, in words."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from monitor.config.quantities import count_of
from monitor.metrics.recalibration import LEAST_GAIN, Correction
from monitor.report.answer_parts import MetricInterval
from monitor.report.recalibration_answer import ScoreCorrections, ThresholdAdvice
from monitor.report.table_cells import UNDEFINED

CORRECTED_CURVE = (
    "corrected for wrong labels (label_errors), which are taken to be as frequent at every score"
)
"""What precision and recall at a threshold rest on where labels have errors."""
_LEAST = f"{100 * LEAST_GAIN:g} %"
_NOT_WARRANTED = (
    f"No correction certainly lowers the Brier score by {_LEAST} or more: leave the scores as "
    "they are."
)

_LITTLE = 0.01
"""A precision so far below the one wanted, out of sample, is as good as reached by chance."""

_ONE_RATE = (
    "No correction is advised: the scores order no cases, so that the best fit is one rate for "
    "every score, the share of positives."
)

_SEPARATED = (
    "No correction is advised: a score separates the labels completely, so that a fit to them is a "
    "step at this score and says nothing of the probabilities on either side."
)

_REVERSED = (
    "No correction is advised: positives do not have the higher scores. See whether the scores are "
    "those of the positive class; if they are those of the other one, send 1 - score."
)


class CorrectionRow(NamedTuple):
    """A correction of the scores.

    Attributes:
        correction: which.
        words: its name.
        formula: of log-odds, or the number of steps.
        gain: what it takes off the Brier score.
    """

    correction: Correction
    words: str
    formula: str
    gain: MetricInterval


def none_advised(found: ScoreCorrections) -> str | None:
    """Return why no correction is advised, in one sentence; None where one is.

    Args:
        found: corrections.
    """
    if found.separated:
        return _SEPARATED
    if found.platt.slope is not None and found.platt.slope < 0:
        return _REVERSED
    if found.advised is None and len(set(found.isotonic.rate)) == 1:
        return _ONE_RATE
    return _NOT_WARRANTED if found.advised is None else None


def correction_rows(found: ScoreCorrections) -> Iterator[CorrectionRow]:
    """Yield each correction that could be fitted, the simplest first.

    None to classes that a score separates completely.

    Args:
        found: corrections.
    """
    if found.separated:
        return
    if found.prior_shift is not None:
        shift = found.prior_shift
        formula = _formula(shift.log_odds, 1.0)
        yield CorrectionRow(Correction.PRIOR_SHIFT, "for the new class ratio", formula, shift.gain)
    platt = found.platt
    if platt.intercept is not None and platt.slope is not None:
        formula = _formula(platt.intercept, platt.slope)
        yield CorrectionRow(Correction.PLATT, "logistic (Platt)", formula, platt.gain)
    steps = count_of(len(found.isotonic.score), "step")
    yield CorrectionRow(Correction.ISOTONIC, "isotonic", steps, found.isotonic.gain)


def correction_advice(found: ScoreCorrections) -> str | None:
    """Return what to do with the scores, in one sentence; None where nothing is warranted.

    Args:
        found: corrections.
    """
    if found.advised is None:
        return None
    rows = {row.correction: row for row in correction_rows(found)}
    row = rows[found.advised]
    way = (
        "replace them by the rates of `--json`"
        if row.correction is Correction.ISOTONIC
        else f"correct their log-odds to {row.formula}"
    )
    return (
        f"Where scores are read as probabilities, {way}: on days that this was not fitted to, it "
        f"lowers the Brier score of {found.brier_score:.4f} by {with_limits(row.gain, 4)}."
    )


def threshold_advice(found: ThresholdAdvice, recall_now: float | None) -> str:
    """Return what a threshold brings, in one sentence; that none is warranted where it falls short.

    Args:
        found: the threshold.
        recall_now: recall at the present threshold; None where undefined.
    """
    reached, corrected = found.precision.estimate, f", {CORRECTED_CURVE}" * found.corrected
    if reached is not None and reached < found.wanted:
        lead = (
            f"The threshold for a precision of {found.wanted:.3f} at today's class ratio is "
            f"{found.threshold:g}, and may fall a little short of it"
            if found.wanted - reached <= _LITTLE
            else f"No threshold is shown to reach a precision of {found.wanted:.3f} at today's "
            "class ratio"
        )
        return (
            f"{lead}: on days that it was not chosen on, {found.threshold:g} has a precision "
            f"of {with_limits(found.precision)}, and recall {with_limits(found.recall)}{corrected}."
        )
    now = "" if recall_now is None else f", against {recall_now:.3f} now"
    return (
        f"For a precision of {found.wanted:.3f} at today's class ratio, predict positive at scores "
        f"of {found.threshold:g} and above: on days that it was not chosen on, precision is "
        f"{with_limits(found.precision)} and recall {with_limits(found.recall)}{now}{corrected}."
    )


def _formula(intercept: float, slope: float) -> str:
    """Return a line of log-odds.

    >>> _formula(-1.074, 1.0), _formula(0.5, 0.83)
    ('logit(score) - 1.07', '0.83 logit(score) + 0.50')
    """
    sign = "-" if intercept < 0 else "+"
    factor = "" if slope == 1 else f"{slope:.2f} "
    return f"{factor}logit(score) {sign} {abs(intercept):.2f}"


def with_limits(metric: MetricInterval, digits: int = 3) -> str:
    """Return a number with its interval.

    Args:
        metric: the number; limits that are undefined are left out.
        digits: after the point.
    """
    if metric.estimate is None:
        return UNDEFINED
    estimate = _fixed(metric.estimate, digits)
    if metric.lower is None or metric.upper is None:
        return estimate
    return f"{estimate} ({_fixed(metric.lower, digits)} to {_fixed(metric.upper, digits)})"


def _fixed(number: float, digits: int) -> str:
    """Return a number with so many digits after the point; what rounds to 0 has no sign.

    >>> _fixed(-0.00001, 4), _fixed(-0.00007, 4)
    ('0.0000', '-0.0001')
    """
    return f"{round(number, digits) + 0.0:.{digits}f}"
