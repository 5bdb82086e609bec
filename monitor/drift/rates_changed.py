"""What certainly changed, whatever the verdict: the rates of the model, or the class ratio."""

from __future__ import annotations

from monitor.drift.attribution import Attribution
from monitor.drift.verdict import MOVED_RATES, OF_THE_MODEL, Judgement, Status, Verdict

_COMPONENTS = ("recall", "false_positive_rate", "log_likelihood_ratio")


def rates_changed(verdict: Verdict, judgement: Judgement | None) -> bool:
    """Return whether recall, the false-positive rate or skill certainly changed.

    Also where the verdict is `insufficient_evidence`, because it is open whether a worse model,
    another threshold or other labels are the cause.

    Args:
        verdict: what happened.
        judgement: what the verdict rests on; None where nothing could be judged.
    """
    if verdict in MOVED_RATES or judgement is None:
        return verdict in MOVED_RATES
    if verdict is Verdict.INSUFFICIENT_EVIDENCE:
        return any(judgement.status[name] is Status.CHANGED for name in _COMPONENTS)
    return judgement.operating_point_moved


def moved_by_prevalence(
    verdict: Verdict, judgement: Judgement | None, attribution: Attribution | None
) -> bool | None:
    """Return whether precision certainly moved, mostly by the class ratio, and skill did not.

    Skill is not shown to have changed: also where too few outcomes show that it has not.

    Args:
        verdict: what happened.
        judgement: what the verdict rests on; None where nothing could be judged.
        attribution: of the change of precision; None where it is undefined.

    Returns:
        None where nothing is compared.
    """
    if judgement is None or attribution is None:
        return None
    changed = judgement.status["class_ratio"] is Status.CHANGED
    return changed and attribution.by_prevalence and verdict not in OF_THE_MODEL
