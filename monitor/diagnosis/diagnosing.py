"""Diagnoses the change of precision between two periods."""

from __future__ import annotations

import math

import numpy as np
from scipy.special import expit, logit

from monitor import metrics
from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.diagnosis.caveats import notes
from monitor.diagnosis.compared_scores import compare_scores
from monitor.diagnosis.estimated import Estimated
from monitor.diagnosis.label_faults import distrust, refusal_of, too_high
from monitor.diagnosis.model_scatter import ModelScatter, ScatterDays
from monitor.diagnosis.period_labels import Refusal, missing_side, refusal
from monitor.diagnosis.periods import Errors, Period
from monitor.diagnosis.present_state import LATEST
from monitor.diagnosis.result import DIAGNOSED_METRICS, CausePart, Diagnosis, Side
from monitor.diagnosis.segments import both_by_key, by_day_and_version, segment_parts, within_key
from monitor.diagnosis.worse_segments import worse_segments
from monitor.drift import (
    CAUSES,
    COMPONENT_OF,
    Attribution,
    Judgement,
    Status,
    attribute,
    judge,
)
from monitor.drift.all_looks import Looks
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import changes
from monitor.drift.components import Component
from monitor.drift.detectors import is_too_small
from monitor.drift.judgement_on_curve import judge_on_curve
from monitor.drift.recall_evidence import (
    UNKNOWN_RECALL,
    Because,
    false_positive_rate_above,
    fewest_outcomes,
    recall_evidence,
    visible_recall,
)
from monitor.drift.verdict import OF_THE_MODEL
from monitor.labels.audits_decide import AuditedWindow
from monitor.labels.error_ranges import Corner, at_corners
from monitor.labels.faults import LabelFault
from monitor.labels.widened import (
    RangeFindings,
    why_open_within,
    widened,
    widened_false_positive_rate,
    widened_recall,
)
from monitor.metrics.label_sensitivity import label_sensitivity

_Z_95 = 1.959963984540054
_NAN = float("nan")


def diagnose(
    before: Period,
    after: Period,
    *,
    model: str = "default",
    labelling: Labelling = Labelling.COMPLETE,
    mature_until: int | None = None,
    scatter: ModelScatter | None = None,
    objective: float | None = None,
    fault: LabelFault | None = None,
) -> Diagnosis:
    """Distinguish a worse model from rarer positives, with the evidence.

    Args:
        before: what to compare with.
        after: what to judge.
        model: its name.
        labelling: the labelling regime; conclusions that it does not allow are refused.
        mature_until: up to this moment, epoch milliseconds, outcomes are mature;
            None where it is not known.
        scatter: how the days of the model scatter, where more of them are known; None to learn it
            from the two periods.
        objective: precision that a threshold is sought for; None for that of before.
        fault: of the labels of `after`, where it is known of them otherwise.

    Returns:
        The diagnosis; empty periods give `insufficient_evidence`, never an error.

    >>> before = Period.given(ConfusionCounts(tp=80_000, fp=45_000, fn=20_000, tn=855_000))
    >>> after = Period.given(ConfusionCounts(tp=4_000, fp=4_750, fn=1_000, tn=90_250))
    >>> found = diagnose(before, after)
    >>> str(found.verdict), round(found.change_points, 3)
    ('prevalence_shift', -0.183)
    """
    refused = (
        refusal(labelling)
        or missing_side(before.sample, after.sample)
        or too_high(before, after)
        or distrust(before, after, mature_until)
        or (None if fault is None else refusal_of(fault))
    )
    trusted = refused is None
    errors = Errors.of(before, after, None if scatter is None else scatter.scatter)
    whole = ComparedOutcomes(before.blocks, after.blocks)
    corners = _corners(before, after)
    causes = attribute(*whole, errors.rows, between=errors.between)
    attribution = widened(causes, corners, errors.between)
    below: bool | None = None
    if trusted:
        days = ComparedOutcomes(before.days_or_blocks, after.days_or_blocks)
        window = AuditedWindow(
            whole,
            errors.rows,
            errors.between,
            corners,
            after.labelled_blocks,
            after.audited,
            days,
            before.labelled_blocks,
        )
        judgement, middle, below = window.judged(
            lambda by_labels: judge_on_curve(
                whole,
                errors.rows,
                between=errors.between,
                scores=before.curve,
                scores_after=None if after.labelled_blocks else lambda: after.scores,
                by_key=both_by_key(before, after),
                days=days,
                by_version=by_day_and_version(before, after),
                by_labels=by_labels,
            )
        )
    else:
        distrusted = judge(*whole, errors.rows, between=errors.between, labels_trustworthy=False)
        judgement = middle = distrusted
    mixed = _mix_alone(before, after, judgement, errors)
    final = mixed[1] if mixed else judgement
    seen, above, because = UNKNOWN_RECALL, _NAN, None
    if trusted:
        outcomes, looks = (after.total, errors.rows, errors.between), _looks(before, after)
        found = recall_evidence(*outcomes, looks)
        seen = widened_recall(found, corners, errors.between, looks)
        above = false_positive_rate_above(*outcomes, looks)
        above = widened_false_positive_rate(above, corners, errors.between, looks)
        because = why_open_within(
            RangeFindings(final, attribution, seen),
            RangeFindings(final if mixed else middle, causes, found),
            float(metrics.recall(before.total)),
            fewest=fewest_outcomes(after.total, final),
        )
        if because is Because.STEADY and is_too_small(before.total):
            because = Because.TOO_FEW  # without a case to miss, every fall is excluded
    segments = segment_parts(before, after, attribution, errors) if trusted else ()
    worse = worse_segments(segments, before, after, errors)
    if worse and because in (Because.STEADY, Because.TOO_FEW):
        because = Because.MOVED
    precise = refused is None or refused.keeps_precision
    known = precise and math.isfinite(attribution.change_points)
    sides = _sides(before, after, refused)
    return Diagnosis(
        model=model,
        labelling=labelling,
        before=sides[0],
        after=sides[1],
        change_points=attribution.change_points if precise else _NAN,
        change_lower_points=attribution.change_lower_points if precise else _NAN,
        change_upper_points=attribution.change_upper_points if precise else _NAN,
        change_logit=_change_logit(before.total, after.total) if precise else _NAN,
        attribution=_parts(attribution, judgement, trusted=trusted),
        judgement=judgement,
        verdict=final.verdict,
        operating_point_moved=final.operating_point_moved and trusted,
        judged_within=mixed[0] if mixed else None,
        below_reference_curve=below,
        main_driver=judgement.main_driver if trusted and known else None,
        segments=segments,
        worse_segments=worse,
        had_prevalence_stayed=_had_prevalence_stayed(after, attribution, errors, trusted=trusted),
        because=because,
        recall=seen,
        false_positive_rate_above=above,
        visible_recall=visible_recall(before.total, after.total, judgement) if trusted else _NAN,
        refusal=refused,
        notes=notes(
            before,
            after,
            judgement,
            refused,
            mixed and mixed[0],
            errors=errors,
            mature_until=mature_until,
            sensitivity=(sides[0].sensitivity, sides[1].sensitivity),
        ),
        scatter_days=_scatter_days(errors, scatter),
        scores=compare_scores(
            before, after, _missed(before, after, attribution, objective), corners
        )
        if trusted
        else None,
    )


def _scatter_days(errors: Errors, scatter: ModelScatter | None) -> ScatterDays | None:
    if errors.between is None:
        return None
    return ScatterDays("ranges") if scatter is None else scatter.days


def _missed(
    before: Period, after: Period, attribution: Attribution, objective: float | None
) -> float | None:
    """Return the precision that is certainly missed: that of before, or the objective."""
    if objective is None:
        fell = attribution.change_upper_points < 0
        return float(metrics.precision(before.total)) if fell else None
    _, upper = metrics.intervals(after.total, "precision")
    return objective if float(upper) < objective else None


def _looks(before: Period, after: Period) -> Looks:
    """Return what is looked at: a window, or all outcomes since a reference that stays."""
    since = after.source == LATEST and after.opens is not None and after.opens == before.closes
    return Looks(after.days, grows=since and before.source != "trailing")


def _corners(before: Period, after: Period) -> tuple[Corner, ...]:
    """Return the comparison at the ends of the ranges of wrong labels; nothing without any."""
    labelled = after.labelled_blocks
    if labelled is None:
        return ()
    return at_corners(before.labelled_blocks or before.blocks, labelled, before.scores_as_labelled)


def _mix_alone(
    before: Period, after: Period, judgement: Judgement, errors: Errors
) -> tuple[str, Judgement] | None:
    """Return a segment key within which the model is not to blame, though the totals blame it."""
    if judgement.verdict not in OF_THE_MODEL:
        return None
    below = judgement.below_reference_curve
    return within_key(before, after, judgement, errors, below_reference_curve=below)


def _sides(before: Period, after: Period, refused: Refusal | None) -> tuple[Side, Side]:
    rates_known = any(one.sample and one.sample.regime.has_errors for one in (before, after))
    spared = refused is not None and refused.spares_before
    return (
        _side(before, None if spared else refused, rates_known=rates_known),
        _side(after, refused, rates_known=rates_known),
    )


def _side(period: Period, refused: Refusal | None, *, rates_known: bool) -> Side:
    found = {name: _estimated(period, name, refused) for name in DIAGNOSED_METRICS}
    return Side(
        opens=period.opens,
        closes=period.closes,
        source=period.source,
        predictions=period.predictions,
        predicted_positive=period.predicted_positive,
        counts=period.labelled,
        metrics=found,
        blocks=period.held,
        block_ms=period.block_ms,
        sensitivity=None if rates_known else label_sensitivity(period.counts, found),
    )


def _estimated(period: Period, name: str, refused: Refusal | None) -> Estimated:
    if refused is not None and not (refused.keeps_precision and name == "precision"):
        return Estimated(estimate=_NAN, lower=_NAN, upper=_NAN)
    if period.sample is not None:
        return Estimated(**period.sample.measure(name)._asdict())
    lower, upper = metrics.intervals(period.total, name)
    point = getattr(metrics, name)(period.total)
    return Estimated(estimate=float(point), lower=float(lower), upper=float(upper))


def _change_logit(before: ConfusionCounts, after: ConfusionCounts) -> float:
    """Return the change of logit(precision); NaN unless both lie between 0 and 1."""
    old, new = (float(metrics.precision(counts)) for counts in (before, after))
    return float(logit(new) - logit(old)) if 0 < old < 1 and 0 < new < 1 else _NAN


def _parts(
    attribution: Attribution, judgement: Judgement, *, trusted: bool
) -> dict[str, CausePart]:
    if not trusted:
        nothing = CausePart(
            logit=_NAN,
            points=_NAN,
            lower_points=_NAN,
            upper_points=_NAN,
            status=Status.UNKNOWN,
        )
        return dict.fromkeys(CAUSES, nothing)
    return {
        cause: CausePart(
            logit=attribution.logit[cause],
            points=attribution.points[cause],
            lower_points=attribution.lower_points[cause],
            upper_points=attribution.upper_points[cause],
            status=judgement.status[COMPONENT_OF[cause]],
        )
        for cause in CAUSES
    }


def _had_prevalence_stayed(
    after: Period, attribution: Attribution, errors: Errors, *, trusted: bool
) -> Estimated:
    """Estimate with the class ratio of before as exact and the error of log LR+ of after."""
    point = attribution.precision_had_prevalence_stayed
    if not (trusted and math.isfinite(point)):
        return Estimated(estimate=_NAN, lower=_NAN, upper=_NAN)
    between = errors.between and errors.between._replace(before=errors.between.after)
    twice = changes(after.blocks, after.blocks, errors.rows, between)
    half_width = float(twice.margin(_Z_95)[Component.LOG_LIKELIHOOD_RATIO]) / math.sqrt(2)
    middle = float(logit(np.clip(point, 1e-12, 1 - 1e-12)))
    return Estimated(
        estimate=point,
        lower=float(expit(middle - half_width)),
        upper=float(expit(middle + half_width)),
    )
