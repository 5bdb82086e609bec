"""The words for a change that wrong labels explain as well as a worse model does, or better."""

from __future__ import annotations

import math

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Diagnosis
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift import Judgement

_UNLIKELY = 0.05


def as_when_labels(judgement: Judgement) -> str:
    """Return the pattern that a change of label quality leaves, as a clause.

    Args:
        judgement: with `labels_may_explain`.

    Returns:
        Where prevalence did not move as wrong labels move it, only that these are not excluded.
    """
    fell = judgement.change["recall"] < 0
    way, labels = ("rose", "more") if fell else ("fell", "fewer")
    if fell != (judgement.change["class_ratio"] > 0):
        return f"{labels} wrong labels are not excluded yet"
    return (
        f"missed positives and prevalence {way} together while precision and flagged cases hardly "
        f"moved, as when {labels} labels are wrong"
    )


def open_by_labels(judgement: Judgement) -> str:
    """Return the open question of a headline.

    Args:
        judgement: with `labels_may_explain`.
    """
    fell = judgement.change["recall"] < 0
    more, other = ("more", "worse") if fell else ("fewer", "better")
    return f"{more} missed positives: {more} wrong labels, or a {other} model? Open."


def changed_labels(judgement: Judgement) -> str:
    """Return what scores, or audits, show of labels that changed, as a clause.

    Args:
        judgement: with `label_errors_changed`.
    """
    if judgement.by_audits:
        labels = "more" if judgement.change["recall"] < 0 else "fewer"
        return f"{labels} labels are wrong: audits of these days show it"
    more, spread = (
        ("more", "missed positives are spread")
        if judgement.change["recall"] < 0
        else ("fewer", "the missed positives that are gone were spread")
    )
    return f"{more} labels are wrong: {spread} over all scores, as wrong labels are"


def cases_to_audit(before: ConfusionCounts, after: ConfusionCounts) -> int:
    """Return how many unflagged cases labelled positive show whether wrong labels explain it.

    Args:
        before: outcomes of the reference, a scalar.
        after: outcomes judged, with `labels_may_explain`.

    Returns:
        So many that if half of the change were wrong labels, a random sample of them would
        have none with a probability of 5 %; at least 20.
    """
    rates = []
    for counts in (before, after):
        passed = float(counts.predicted_negative)
        rates.append(float(counts.fn) / passed if passed else math.nan)
    low, high = sorted(rates)
    wrong = (1 - low / high) / 2
    return max(20, math.ceil(math.log(_UNLIKELY) / math.log1p(-wrong))) if wrong > 0 else 20


def cases_named(before: ConfusionCounts, after: ConfusionCounts) -> str:
    """Return in a short sentence which cases to audit.

    Args:
        before: outcomes of the reference, a scalar.
        after: outcomes judged.
    """
    cases = cases_to_audit(before, after)
    return f"Audit {cases} unflagged cases that are labelled positive."


def audit_advice(diagnosis: Diagnosis) -> str:
    """Return which cases to look at again.

    Args:
        diagnosis: with `labels_may_explain`.
    """
    side = "after" if diagnosis.judgement.change["recall"] < 0 else "before"
    cases = cases_to_audit(diagnosis.before.counts, diagnosis.after.counts)
    model = "the model, or positives of a kind that it does not see"
    of = diagnosis.after if side == "after" else diagnosis.before
    known = of.opens is not None and of.closes is not None
    stretch = f" --range {TimeRange(of.opens or 0, of.closes or 0)}" if known else ""
    return (
        f"Have {cases} cases looked at again, drawn at random from the unflagged cases of {side} "
        f"that are labelled positive: if hardly any label is wrong, it is {model}. "
        f"`precision-monitor audit --sample {2 * cases}{stretch}` draws them beside others; sent "
        "as audits, they teach label_errors: audit the rates."
    )
