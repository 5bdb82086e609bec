"""Two periods in, everything that can be said about the change between them out."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from scipy.special import expit, logit

from monitor import metrics, snapshot
from monitor.config import Labelling
from monitor.counts import ConfusionCounts
from monitor.diagnosis.caveats import notes
from monitor.diagnosis.evidence import Refusal, lacking, refusal
from monitor.diagnosis.label_faults import astray
from monitor.diagnosis.periods import Period, dispersion_of
from monitor.diagnosis.segments import SegmentPart, both_by_key, segment_parts, within_key
from monitor.drift import (
    CAUSES,
    COMPONENT_OF,
    Attribution,
    Dispersion,
    Judgement,
    MainDriver,
    Status,
    Verdict,
    attribute,
    judge,
)
from monitor.drift.components import Component, changes
from monitor.drift.roc import below_reference_curve, standardised_to
from monitor.drift.verdict import OF_THE_MODEL, roc_decides

METRICS = tuple(name for name in snapshot.METRICS if name != "log_likelihood_ratio")
"""The metrics of either side, by their names in `monitor.metrics`; log LR+ is a component."""

_Z_95 = 1.959963984540054
_NAN = float("nan")


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """A number with its 95 % interval; NaN where it is undefined or refused."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Side:
    """One of the two periods.

    Attributes:
        opens: first moment, epoch milliseconds; None where counts were given.
        closes: first moment after it; None likewise.
        source: `counts`, `first`, `window` or `trailing` where it is the
            configured reference, `mature` for the last days that are mature;
            "" where its bounds were asked for.
        predictions: made in it, labelled or not; None where it is not known.
        counts: its labelled outcomes, a scalar.
        metrics: by the names in `METRICS`; intervals as of independent rows,
            as everywhere where a single period is shown.
        blocks: blocks of time that hold an outcome.
        block_ms: length of a block; None where no time is known.
    """

    opens: int | None
    closes: int | None
    source: str
    predictions: int | None
    counts: ConfusionCounts
    metrics: Mapping[str, Estimated]
    blocks: int
    block_ms: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """What one cause contributed; NaN where undefined or refused.

    Attributes:
        logit: to the change of logit(precision), exact, from raw counts.
        points: as a fraction of precision (-0.233 is 23.3 points down).
        lower_points: lower end of its 95 % interval.
        upper_points: upper end.
        status: what is known of the component behind it.
    """

    logit: float
    points: float
    lower_points: float
    upper_points: float
    status: Status


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnosis:
    """What happened between two periods, and why.

    Attributes:
        model: its name.
        labelling: how its labels come.
        before: what is compared with.
        after: what is judged.
        change_points: of precision, after minus before.
        change_logit: of logit(precision), from raw counts.
        attribution: by cause: `prevalence`, `recall`, `false_positives`, and
            `skill`, the two before it together.
        judgement: the verdict on the totals, and what it rests on.
        verdict: what happened; that of the judgement, unless within the values
            of `judged_within` nothing is laid to the model.
        operating_point_moved: recall and false positives went the same way.
        judged_within: the segment key whose mix alone made skill seem to have
            changed; None where there is none.
        below_reference_curve: recall lies below the ROC curve of before at today's false
            positive rate; None where the scores were not asked: there are none, or what
            recall and false positives say is clear without.
        main_driver: None where precision is not known on both sides.
        segments: by segment value, those first that carry most.
        had_prevalence_stayed: precision after, had the class ratio stayed as it
            was before; interval from between blocks of time.
        refusal: what cannot be known for the way that labels come; None where
            everything can.
        notes: what is not known, and why; what to keep in mind.
    """

    model: str
    labelling: Labelling
    before: Side
    after: Side
    change_points: float
    change_logit: float
    attribution: Mapping[str, Part]
    judgement: Judgement
    verdict: Verdict
    operating_point_moved: bool
    judged_within: str | None
    below_reference_curve: bool | None
    main_driver: MainDriver | None
    segments: tuple[SegmentPart, ...]
    had_prevalence_stayed: Estimated
    refusal: Refusal | None
    notes: tuple[str, ...]


def diagnose(
    before: Period,
    after: Period,
    *,
    model: str = "default",
    labelling: Labelling = Labelling.COMPLETE,
    mature_until: int | None = None,
) -> Diagnosis:
    """Tell a worse model from rarer positives, with all that the answer rests on.

    Args:
        before: what to compare with.
        after: what to judge.
        model: its name.
        labelling: how labels come; what they do not allow is refused.
        mature_until: up to this moment, epoch milliseconds, outcomes are mature;
            None where it is not known.

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
        or lacking(before.sample, after.sample)
        or astray(before, after, mature_until)
    )
    trusted = refused is None
    dispersion = dispersion_of(before, after)
    attribution = attribute(before.blocks, after.blocks, dispersion)
    judgement = judge(before.blocks, after.blocks, dispersion, labels_trustworthy=trusted)
    below = _is_below_curve(before, after, judgement, dispersion) if trusted else None
    if below:
        judgement = judge(before.blocks, after.blocks, dispersion, below_reference_curve=True)
    mixed = _mix_alone(before, after, judgement)
    final = mixed[1] if mixed else judgement
    precise = refused is None or refused.keeps_precision
    known = precise and math.isfinite(attribution.change_points)
    return Diagnosis(
        model=model,
        labelling=labelling,
        before=_side(before, None if refused is not None and refused.spares_before else refused),
        after=_side(after, refused),
        change_points=attribution.change_points if precise else _NAN,
        change_logit=_change_logit(before.total, after.total) if precise else _NAN,
        attribution=_parts(attribution, judgement, trusted=trusted),
        judgement=judgement,
        verdict=final.verdict,
        operating_point_moved=final.operating_point_moved and trusted,
        judged_within=mixed[0] if mixed else None,
        below_reference_curve=below,
        main_driver=judgement.main_driver if trusted and known else None,
        segments=segment_parts(before, after, attribution) if trusted else (),
        had_prevalence_stayed=_had_prevalence_stayed(
            after, attribution, dispersion, trusted=trusted
        ),
        refusal=refused,
        notes=notes(
            before, after, judgement, refused, mixed and mixed[0], mature_until=mature_until
        ),
    )


def _is_below_curve(
    before: Period, after: Period, judgement: Judgement, dispersion: Dispersion
) -> bool | None:
    """Whether recall lies below the ROC curve of before, whatever became of the mix.

    None where that is not asked: there are no scores, or it could not alter the verdict.
    """
    scores = before.scores
    if scores is None or not roc_decides(judgement):
        return None
    points = [after.blocks, *(standardised_to(*both) for both in both_by_key(before, after))]
    return all(
        below_reference_curve(scores, point, dispersion, before=before.blocks) for point in points
    )


def _mix_alone(before: Period, after: Period, judgement: Judgement) -> tuple[str, Judgement] | None:
    """Where the totals lay it to the model: a key within which it is not, as in live windows."""
    if judgement.verdict not in OF_THE_MODEL:
        return None
    return within_key(before, after, below_reference_curve=judgement.below_reference_curve)


def _side(period: Period, refused: Refusal | None) -> Side:
    return Side(
        opens=period.opens,
        closes=period.closes,
        source=period.source,
        predictions=period.predictions,
        counts=period.labelled,
        metrics={name: _estimated(period, name, refused) for name in METRICS},
        blocks=period.held,
        block_ms=period.block_ms,
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
    """Of logit(precision); defined wherever both precisions lie between 0 and 1."""
    old, new = (float(metrics.precision(counts)) for counts in (before, after))
    return float(logit(new) - logit(old)) if 0 < old < 1 and 0 < new < 1 else _NAN


def _parts(attribution: Attribution, judgement: Judgement, *, trusted: bool) -> dict[str, Part]:
    if not trusted:
        nothing = Part(
            logit=_NAN,
            points=_NAN,
            lower_points=_NAN,
            upper_points=_NAN,
            status=Status.UNKNOWN,
        )
        return dict.fromkeys(CAUSES, nothing)
    return {
        cause: Part(
            logit=attribution.logit[cause],
            points=attribution.points[cause],
            lower_points=attribution.lower_points[cause],
            upper_points=attribution.upper_points[cause],
            status=judgement.status[COMPONENT_OF[cause]],
        )
        for cause in CAUSES
    }


def _had_prevalence_stayed(
    after: Period, attribution: Attribution, dispersion: Dispersion, *, trusted: bool
) -> Estimated:
    """The class ratio of before is taken as known; log LR+ of after has its own error."""
    point = attribution.precision_had_prevalence_stayed
    if not (trusted and math.isfinite(point)):
        return Estimated(estimate=_NAN, lower=_NAN, upper=_NAN)
    twice = changes(after.blocks, after.blocks, dispersion)
    both = twice.standard_error[Component.LOG_LIKELIHOOD_RATIO]
    half_width = _Z_95 * float(both) / math.sqrt(2)
    middle = float(logit(np.clip(point, 1e-12, 1 - 1e-12)))
    return Estimated(
        estimate=point,
        lower=float(expit(middle - half_width)),
        upper=float(expit(middle + half_width)),
    )
