"""A diagnosis in one line: what happened, and whether the model is at fault."""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.diagnosis import Diagnosis
from monitor.drift import Judgement, Status, Verdict
from monitor.report.rates import RatePairs, both_known, from_to, short

_HARDLY = 0.005
"""Precision that moved by less than half a point stayed where it was."""

_SMALL = 0.1
"""Two digits do not say enough below it."""

_RATES = {"recall": "recall", "false_positive_rate": "FPR"}
_CHANGED = {
    "class_ratio": "the class ratio",
    "recall": "recall",
    "false_positive_rate": "the false positive rate",
    "log_likelihood_ratio": "skill (log LR+)",
}


def headline(diagnosis: Diagnosis) -> str:
    """One line of at most 100 columns."""
    sides = [side.metrics["precision"].estimate for side in (diagnosis.before, diagnosis.after)]
    why = reason(
        diagnosis.verdict, diagnosis.judgement, rates_of(diagnosis), diagnosis.judged_within
    )
    return f"{moved(*sides)}: {why}"


def rates_of(diagnosis: Diagnosis) -> RatePairs:
    """Recall and the false positive rate, before and after."""
    sides = diagnosis.before.metrics, diagnosis.after.metrics
    return {
        name: (sides[0][name].estimate, sides[1][name].estimate)
        for name in ("recall", "false_positive_rate")
    }


def certainties(diagnosis: Diagnosis) -> str:
    """What certainly fell, rose, and is as it was, in one sentence each."""
    if diagnosis.refusal is not None:
        return "Nothing else is known."
    return " ".join(_certain(diagnosis)) or "Nothing is certain."


def _certain(diagnosis: Diagnosis) -> Iterator[str]:
    found = diagnosis.judgement
    fell = [name for key, name in _CHANGED.items() if key in found.fell]
    rose = [name for key, name in _CHANGED.items() if key in found.rose]
    clean = [name for key, name in _CHANGED.items() if found.status[key] is Status.CLEAN]
    if fell:
        yield f"Certainly fell: {', '.join(fell)}."
    if rose:
        yield f"Certainly rose: {', '.join(rose)}."
    if clean:
        yield f"As before: {', '.join(clean)}."


def moved(before: float, after: float) -> str:
    """Whether precision fell, rose or stayed, with both numbers; NaN where one is not known."""
    if not (math.isfinite(before) and math.isfinite(after)):
        return "Precision is not known on both sides"
    ends = f"{_short(before)} → {_short(after)}"
    if abs(after - before) < _HARDLY:
        return f"Precision stayed, {ends}"
    return f"Precision {'fell' if after < before else 'rose'} {ends}"


def reason(
    verdict: Verdict, judgement: Judgement, rates: RatePairs, judged_within: str | None = None
) -> str:
    """Why, and whether the model is at fault: what a verdict means in a few words.

    Args:
        verdict: what happened.
        judgement: what it rests on.
        rates: recall and the false positive rate, before and after.
        judged_within: the segment key whose mix alone changed, if that is so.
    """
    positives = _positives(judgement)
    if judged_within is not None:
        slid = verdict is Verdict.OPERATING_POINT_MOVED
        fault = "Model's fault? Open." if slid else "The model is not at fault."
        return f"the mix of {judged_within} changed. {fault}"
    return {
        Verdict.NO_CHANGE: "neither prevalence nor the model changed.",
        Verdict.PREVALENCE_SHIFT: f"{positives}. The model is not at fault.",
        Verdict.MODEL_DEGRADED: "the model got worse; prevalence is not shown to have changed.",
        Verdict.MODEL_IMPROVED: "the model got better; prevalence is not shown to have changed.",
        Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED: f"the model got worse, and {positives}.",
        Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED: f"the model got better, and {positives}.",
        Verdict.OPERATING_POINT_MOVED: _slid(judgement, rates),
        Verdict.INSUFFICIENT_EVIDENCE: _unknown(judgement, rates),
        Verdict.LABELS_NOT_TRUSTWORTHY: "these labels cannot say why. Model's fault? Open.",
    }[verdict]


def _slid(judgement: Judgement, rates: RatePairs) -> str:
    change = judgement.change
    way = "fell" if change["recall"] < 0 else "rose"
    if judgement.status["class_ratio"] is Status.CHANGED:
        few = "fewer" if change["class_ratio"] < 0 else "more"
        return f"{few} positives; recall and FPR {way}, too: threshold or scores moved."
    return f"{_both(rates, way)}: threshold or scores moved."


def _both(rates: RatePairs, way: str) -> str:
    """What harms first: missed positives where both fell, false alarms where both rose."""
    ends = {name: [f"{end:.3f}" for end in rates.get(name, ())] for name in _RATES}
    if not both_known(rates) or any(old == new for old, new in ends.values()):
        return f"recall and FPR {way} together"
    fine = min(min(ends) for ends in rates.values()) < _SMALL
    shown = [
        (title, " → ".join(short(end, 3 if fine else 2) for end in rates[name]))
        for name, title in _RATES.items()
    ]
    (one, first), (other, second) = shown if way == "fell" else shown[::-1]
    return f"{one} {way} {first}, {other} {second}"


def _unknown(judgement: Judgement, rates: RatePairs) -> str:
    status = judgement.status
    moved = next((name for name in _RATES if status[name] is Status.CHANGED), None)
    if status["log_likelihood_ratio"] is Status.CLEAN and moved is None:
        return "skill is as before. Whether prevalence changed is not certain."
    if status["log_likelihood_ratio"] is Status.CHANGED:
        fell = judgement.change["log_likelihood_ratio"] < 0
        return f"skill {'fell' if fell else 'rose'}, but too little evidence to blame one cause."
    if status["class_ratio"] is Status.CHANGED:
        way = "fewer" if judgement.change["class_ratio"] < 0 else "more"
        return f"certainly {way} positives. Whether skill changed is open."
    if moved is not None and both_known(rates):
        fell = judgement.change[moved] < 0
        how = f"{'fell' if fell else 'rose'} {from_to(*rates[moved])}"
        model = "worse" if fell == (moved == "recall") else "better"
        return f"{_RATES[moved]} {how}; {model} model or moved threshold? Open."
    return "too little evidence to say why. Model's fault? Open."


def _positives(judgement: Judgement) -> str:
    rarer = judgement.change["class_ratio"] < 0
    return f"positives became {'rarer' if rarer else 'more frequent'}"


def _short(ratio: float) -> str:
    return short(ratio, 3)
