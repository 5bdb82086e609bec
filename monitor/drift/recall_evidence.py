"""Bounds on recall where no change is shown: the outcomes of a window exclude lower values.

A window without a certain change still says much: a fall to half of the usual recall would
have left a trace. `recall_evidence` gives the bound below which recall certainly does not
lie, however often somebody looks, and the fall that a verdict would have shown.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from typing import NamedTuple

from scipy.special import betaincinv, expit, logit, ndtr, ndtri, stdtrit

from monitor.counts import ConfusionCounts
from monitor.drift.all_looks import Looks, quantile_of_all_looks
from monitor.drift.attribution import Attribution
from monitor.drift.component_changes import BetweenDays
from monitor.drift.components import Component, SmoothedRates
from monitor.drift.dispersion import Dispersion
from monitor.drift.skill import Z_ODDS_RATIO, Z_TWO_SIDED
from monitor.drift.verdict import Judgement, Status

MATTERS = 0.25
"""A fall of recall by this share of its usual value must be excluded for a `steady` window."""

FEWEST_OUTCOMES = 50
"""Least number of outcomes in each cell that the verdict of a model rests on."""

_FEWEST_MISSED = 5
_ONE_LOOK = 0.975
_POWER = 0.8
_NAN = float("nan")


class Because(StrEnum):
    """Why a verdict is `insufficient_evidence`.

    Attributes:
        STEADY: nothing changed, and a fall of recall by a quarter is excluded.
        MOVED: precision or one of its causes certainly changed, and the cause is open.
        TOO_FEW: the outcomes exclude nothing that matters.
        LABEL_ERRORS: the range of wrong labels leaves open what its middle would show.
        NO_REFERENCE: nothing to compare with: the reference is not complete, the window
            reaches back into it, or in it the model does not tell the classes apart.
    """

    STEADY = "steady"
    MOVED = "moved_cause_open"
    TOO_FEW = "too_few_outcomes"
    LABEL_ERRORS = "label_errors_range"
    NO_REFERENCE = "no_reference"


class RecallEvidence(NamedTuple):
    """Bounds on recall from the outcomes of a window; NaN without actual positives.

    Attributes:
        lower: lower limit of the 95 % interval of one look, in [0, 1].
        upper: its upper limit.
        excluded: recall in the window is not below this, with a probability of 95 % for
            all looks of 60 days together.
    """

    lower: float
    upper: float
    excluded: float


UNKNOWN_RECALL = RecallEvidence(_NAN, _NAN, _NAN)


def recall_evidence(
    after: ConfusionCounts, dispersion: Dispersion, between: BetweenDays | None, looks: Looks
) -> RecallEvidence:
    """Return the limits of recall in a window.

    Args:
        after: outcomes of the window, a scalar, fractional ones too.
        dispersion: variance of rows over that of independent ones, at least 1.
        between: what the scatter of days adds, in `after`; None for nothing.
        looks: the window, as it is looked at.

    Returns:
        Exact binomial limits for the effective number of positives: as many as independent
        rows with the same variance would be. That for all looks takes the quantile of
        `quantile_of_all_looks`.

    Source:
        Clopper and Pearson 1934; Korn and Graubard 1998 (effective sample size).

    >>> counts = ConfusionCounts(tp=313, fp=200, fn=79, tn=4_300)
    >>> found = recall_evidence(counts, Dispersion.of(1.0), None, Looks(7))
    >>> [round(limit, 2) for limit in found]
    [0.76, 0.84, 0.72]
    """
    if not after.actual_positive:
        return UNKNOWN_RECALL
    limits = _limits(
        (float(after.tp), float(after.fn)),
        float(dispersion.recall),
        _widening(Component.RECALL, after, dispersion, between),
    )
    lower, upper = limits(_one_look)
    return RecallEvidence(lower, upper, excluded=limits(_all_looks(looks))[0])


def false_positive_rate_above(
    after: ConfusionCounts, dispersion: Dispersion, between: BetweenDays | None, looks: Looks
) -> float:
    """Return the false positive rate that the outcomes of a window exclude, and all above it.

    Args:
        after: outcomes of the window, a scalar, fractional ones too.
        dispersion: variance of rows over that of independent ones, at least 1.
        between: what the scatter of days adds, in `after`; None for nothing.
        looks: the window, as it is looked at.

    Returns:
        Upper limit in (0, 1], by the rule of `recall_evidence` for all looks of 60 days; NaN
        without actual negatives.

    >>> counts = ConfusionCounts(tp=313, fp=200, fn=79, tn=4_300)
    >>> round(false_positive_rate_above(counts, Dispersion.of(1.0), None, Looks(7)), 3)
    0.055
    """
    if not after.actual_negative:
        return _NAN
    limits = _limits(
        (float(after.fp), float(after.tn)),
        float(dispersion.false_positive_rate),
        _widening(Component.FALSE_POSITIVE_RATE, after, dispersion, between),
    )
    return limits(_all_looks(looks))[1]


def _widening(
    component: Component,
    after: ConfusionCounts,
    dispersion: Dispersion,
    between: BetweenDays | None,
) -> tuple[float, float]:
    """Return variance with the scatter of days over that of rows, and degrees of freedom."""
    rows = float(SmoothedRates.of(after).variances(dispersion)[component])
    added = 0.0 if between is None else float(between.after[component])
    freedom = math.inf
    if between is not None and added:
        freedom = float(between.freedom[component]) * ((rows + added) / added) ** 2
    return 1 + added / rows, freedom


_Quantile = Callable[[float], float]
"""Gives a quantile by the degrees of freedom behind the variance."""


def _one_look(freedom: float) -> float:
    return float(ndtri(_ONE_LOOK) if math.isinf(freedom) else stdtrit(freedom, _ONE_LOOK))


def _all_looks(looks: Looks) -> _Quantile:
    return partial(quantile_of_all_looks, looks)


def _limits(
    cells: tuple[float, float], dispersion: float, widening: tuple[float, float]
) -> Callable[[_Quantile], tuple[float, float]]:
    """Return a function from quantiles to the exact limits of a rate, its hits and misses given."""
    wider, freedom = widening
    factor = dispersion * wider

    def at(quantile_at: _Quantile) -> tuple[float, float]:
        quantile, z = quantile_at(freedom), quantile_at(math.inf)
        hits, misses = (cell / (factor * (quantile / z) ** 2) for cell in cells)
        return (
            0.0 if not hits else float(betaincinv(hits, misses + 1, ndtr(-z))),
            1.0 if not misses else float(betaincinv(hits + 1, misses, ndtr(z))),
        )

    return at


def visible_recall(before: ConfusionCounts, after: ConfusionCounts, judgement: Judgement) -> float:
    """Return the recall at which a fall would have been called one, with 80 % probability.

    A verdict of a degradation asks that the odds ratio certainly fell (p < .002).

    Args:
        before: outcomes of the reference, a scalar.
        after: outcomes of the window, a scalar.
        judgement: of the window against it, with the errors of the change.

    Returns:
        In [0, 1]; NaN where the reference or the window has fewer than five missed positives: the
        error of so high a recall, in log-odds, is many times that of a lower one.
    """
    if min(float(before.fn), float(after.fn)) < _FEWEST_MISSED:
        return _NAN
    usual = float(logit(SmoothedRates.of(before).recall))
    error = judgement.standard_error["odds_ratio"]
    needed = float(stdtrit(judgement.freedom["odds_ratio"], float(ndtr(Z_ODDS_RATIO))))
    return float(expit(usual - (needed + float(ndtri(_POWER))) * error))


def visible_recall_at_best(before: ConfusionCounts) -> float:
    """Return the highest recall that a reference can show to be a fall, with 80 % probability.

    It is that of endlessly many outcomes after it, of independent rows and with false positives as
    they were: what remains is the error of the reference's own recall, which must certainly change
    (p < .01). A window of some outcomes, whose days scatter, shows less.

    Args:
        before: outcomes of the reference, a scalar.

    Returns:
        In (0, 1); NaN without actual positives in the reference.

    >>> few = ConfusionCounts(tp=9, fp=6, fn=3, tn=582)
    >>> round(visible_recall_at_best(few), 2)
    0.24
    """
    if not before.actual_positive:
        return _NAN
    rates = SmoothedRates.of(before)
    error = math.sqrt(float(rates.variances(Dispersion.of(1.0))[Component.RECALL]))
    needed = Z_TWO_SIDED + float(ndtri(_POWER))
    return float(expit(float(logit(rates.recall)) - needed * error))


def fewest_outcomes(counts: ConfusionCounts, judgement: Judgement) -> int:
    """Return the outcomes in the smallest cell that a verdict rests on.

    Args:
        counts: outcomes of the window, a scalar.
        judgement: of the window.

    Returns:
        The least of actual positives, actual negatives and, unless the model is dead,
        flagged cases.
    """
    cells = [counts.actual_positive, counts.actual_negative]
    if not judgement.dead:
        cells.append(counts.predicted_positive)
    return int(min(cells))


def why_open(
    judgement: Judgement,
    attribution: Attribution,
    usual_recall: float,
    excluded: float,
    *,
    fewest: int,
) -> Because:
    """Return why a window that was compared has no verdict.

    Args:
        judgement: of the window; its verdict is `insufficient_evidence`.
        attribution: of the change of precision.
        usual_recall: recall of the reference; NaN where it is unknown.
        excluded: recall that is excluded, see `RecallEvidence`; NaN where nothing is.
        fewest: outcomes in the smallest cell, see `fewest_outcomes`. The interval of the
            change of precision counts from 50 on.
    """
    lower, upper = attribution.change_lower_points, attribution.change_upper_points
    certain = (lower > 0 or upper < 0) and fewest >= FEWEST_OUTCOMES
    if Status.CHANGED in judgement.status.values() or certain:
        return Because.MOVED
    return Because.STEADY if excludes_much(excluded, usual_recall) else Because.TOO_FEW


def excludes_much(excluded: float, usual_recall: float) -> bool:
    """Return whether outcomes exclude a fall of recall that matters.

    Args:
        excluded: recall that is excluded, see `RecallEvidence`; NaN where nothing is.
        usual_recall: recall of the reference; NaN where it is unknown.
    """
    return excluded >= (1 - MATTERS) * usual_recall
