"""The scores of two versions as a part of the object that `compare --json` prints."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from monitor.drift.roc import CurvePosition
from monitor.drift.version_scores import VersionScores
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
        position: of the operating point of B relative to the ROC curve of A: `on`, `below`, or
            `open`, for one look.
    """

    roc_auc_a: MetricInterval
    roc_auc_b: MetricInterval
    roc_auc_difference: MetricInterval
    skill: CurveEffects | None
    position: CurvePosition


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
        position=found.position,
    )
