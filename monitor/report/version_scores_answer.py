"""The scores of two versions as parts of the object that `compare --json` prints."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from monitor.drift.roc import CurvePosition
from monitor.drift.version_scores import VersionScores
from monitor.drift.version_verdict import SequentialVerdict
from monitor.report.answer_parts import MetricInterval
from monitor.report.score_answer import CurveEffects, curve_effects, score_interval


class ComparedVersionScores(Struct, frozen=True, kw_only=True):
    """The scores of both versions, in the stretch that is compared; live, in its whole days (UTC).

    Attributes:
        roc_auc_a: area under the ROC curve of A.
        roc_auc_b: of B.
        roc_auc_difference: B less A; the limits are those of different cases.
        skill: what the threshold, and what the curve, does of the difference of precision that is
            not prevalence, of the rates as they were; null where that is not known.
    """

    roc_auc_a: MetricInterval
    roc_auc_b: MetricInterval
    roc_auc_difference: MetricInterval
    skill: CurveEffects | None


class DistanceFromCurve(Struct, frozen=True, kw_only=True):
    """How far version B lies from the ROC curve of version A: what the verdict rests on.

    Attributes:
        recall: of B, less that of the curve at its false-positive rate.
        lower: lower end of its confidence sequence, which holds as the verdict does.
        upper: upper end.
        position: `below` the curve, `on` it, or `open`, also above it.
        decides: false where a version hardly tells the classes apart, which decides instead.
    """

    recall: float
    lower: float
    upper: float
    position: CurvePosition
    decides: bool


def version_scores(found: VersionScores | None) -> ComparedVersionScores | UnsetType:
    """Return the scores of both versions as a field of JSON; unset without scores."""
    if found is None:
        return UNSET
    a, b = (score_interval(one.roc_auc) for one in found.versions)
    return ComparedVersionScores(
        roc_auc_a=a,
        roc_auc_b=b,
        roc_auc_difference=score_interval(found.change),
        skill=curve_effects(found.parts),
    )


def distance_from_curve(verdict: SequentialVerdict) -> DistanceFromCurve | UnsetType:
    """Return the distance from the curve as a field of JSON; unset without scores of A."""
    found = verdict.from_curve
    if found is None:
        return UNSET
    return DistanceFromCurve(
        recall=found.recall,
        lower=found.lower,
        upper=found.upper,
        position=found.position,
        decides=verdict.by_curve,
    )
