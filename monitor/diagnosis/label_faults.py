"""Refusals for label faults under labelling `complete`, by the tests of live windows."""

from __future__ import annotations

from monitor.diagnosis.period_labels import Refusal
from monitor.diagnosis.periods import Period
from monitor.labels.checks import OF_A_WINDOW, label_fault
from monitor.labels.faults import SIDES, LabelFault
from monitor.labels.refusals import KEEPS_PRECISION, REASONS

_REASONS = {
    LabelFault.POSITIVES_MISSING: "labels of actual positives are missing more often after than "
    "before, which looks exactly like rarer positives",
    LabelFault.NEGATIVES_MISSING: "labels of actual negatives are missing more often after than "
    "before, which looks exactly like more frequent positives",
    LabelFault.LABELS_MISSING: "far fewer of the predictions after have a label than of those "
    "before, though they are old enough to have one",
    LabelFault.DELAYS_CHANGED: "they come faster or slower than before, and how many of either "
    "class are still to come is not known",
    LabelFault.ONE_SIDE_LABELLED: "predicted positives get labels and predicted negatives do "
    "not, so that under labelling complete recall, false positives and prevalence are wrong",
    LabelFault.FLAGGED_UNLABELLED: "predicted negatives get labels and predicted positives do "
    "not, so that under labelling complete every number is wrong",
}
_ASK = "Page the data team: why do labels no longer come as they did? Judge the model when they do."
_LOWER = (
    "Lower the rates of label_errors, or have cases of this stretch audited: its labels may be "
    "wrong less often than others."
)
_SAY_HOW = (
    "Configure how labels come: labelling flagged_only where unflagged cases are never reviewed, "
    "sampled where a random share of them is, weighted where labels carry a probability."
)


def distrust(before: Period, after: Period, mature_until: int | None) -> Refusal | None:
    """Return the refusal for a label fault of either period.

    Args:
        before: the period to compare with.
        after: the period to judge.
        mature_until: up to this moment, epoch milliseconds, outcomes are mature.

    Returns:
        None without a fault, and where `after` is not mature or coverage is not known.
    """
    usual, cells = before.labelling_cells, after.labelling_cells
    if usual is None or cells is None or mature_until is None or after.closes is None:
        return None
    if after.closes > mature_until:
        return None
    fault = label_fault(usual, cells, OF_A_WINDOW) or label_fault(usual, usual, OF_A_WINDOW)
    return None if fault is None else refusal_of(fault)


def too_high(before: Period, after: Period) -> Refusal | None:
    """Return the refusal where labels exclude the rates at which they are taken to be wrong.

    Args:
        before: the period to compare with.
        after: the period to judge.
    """
    old, new = (
        one.labelled_blocks is None or one.labelled_blocks.rates_fit for one in (before, after)
    )
    if old and new:
        return None
    return Refusal(
        f"labels of {'before' if new else 'after'}: {REASONS[LabelFault.LABEL_ERRORS_TOO_HIGH]}",
        keeps_precision=False,
        advice=_LOWER,
        spares_before=old,
    )


def refusal_of(fault: LabelFault) -> Refusal | None:
    """Return the refusal for a fault of the labels that are judged.

    Args:
        fault: of them.

    Returns:
        None for a fault that a comparison states otherwise, or not at all.
    """
    if fault not in _REASONS:
        return None
    reason = f"labels cannot be trusted: {_REASONS[fault]}"
    return Refusal(
        reason,
        keeps_precision=fault in KEEPS_PRECISION,
        advice=_SAY_HOW if fault in SIDES else _ASK,
        spares_before=fault not in SIDES,
    )
