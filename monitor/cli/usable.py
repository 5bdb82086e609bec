"""Exit code and last line of a command whose records could not be used."""

from __future__ import annotations

from monitor.cli.failures import UNREADABLE
from monitor.cli.output import tell
from monitor.cli.rejected_predictions import (
    many_predictions_rejected,
    predictions_mostly_rejected,
)
from monitor.cli.rejected_records import RejectedRecords
from monitor.cli.rejection_hints import hint, stand_for_no_class
from monitor.config.mapping import NO_FIELD, ClassField, text_of
from monitor.config.quantities import count_of
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.mapping.written import Notation
from monitor.feeds.odd_values import are_named_classes, are_of_more_classes, stands_for_no_class
from monitor.report.printable import one_line
from monitor.report.repeated_ids import repeats_beside_versions, reused_ids
from monitor.snapshot import Snapshot

_CLASS = 0.01
"""Share of the predictions from which on a name is a class; of labels, one that is missed."""
NO_RECORDS = "no records to read: the input is empty; check the file, or what writes it"


def rejected_text(snapshot: Snapshot, faults: RejectedRecords) -> str:
    """Return how many records were rejected, why, and what to write; "" if none was.

    Args:
        snapshot: after all records.
        faults: of the rejected records.
    """
    rejected = {reason: n for reason, n in snapshot.rejected.items() if n}
    if not rejected:
        return ""
    most = max(rejected, key=lambda reason: rejected[reason])
    reasons = ", ".join(f"{n:,} {reason}" for reason, n in rejected.items())
    total = sum(rejected.values())
    advice = "; then ".join(filter(None, [hint(most, faults), *faults.further]))
    were = "was" if total == 1 else "were"
    records = count_of(snapshot.records, "record")
    parts = [reasons, labels_of_no_class(snapshot, faults), advice]
    return f"{total:,} of {records} {were} rejected: {'; '.join(filter(None, parts))}"


def labels_of_no_class(snapshot: Snapshot, faults: RejectedRecords) -> str:
    """Return which share of the labels names no class of the model, and what that does.

    Args:
        snapshot: after all records.
        faults: of the rejected records.

    Returns:
        "" where classes have no names, where these labels seem to stand for none, and for less
        than 1 %, from which on a name that is predicted would be a class.
    """
    kind = RejectReason.BAD_VALUE, str(ClassField.LABEL)
    number, allowed = faults.number(*kind), faults.allowed(*kind)
    texts = map(text_of, faults.values(*kind))
    if not (number and are_named_classes(allowed)) or all(map(stands_for_no_class, texts)):
        return ""
    without_id = int(snapshot.lifetime.counts.total.sum()) - snapshot.labels.applied
    share = number / (number + snapshot.labels.received + max(without_id, 0))
    if share < _CLASS:
        return ""
    return (
        f"no figure has the {count_of(number, 'label')} of no class of the model, "
        f"{100 * share:.1f} % of all, so that precision and recall are those of the other cases"
    )


def mostly_rejected(snapshot: Snapshot) -> bool:
    """Return whether more than half of all records were rejected.

    Args:
        snapshot: after all records.
    """
    return sum(snapshot.rejected.values()) * 2 > snapshot.records


def many_rejected(snapshot: Snapshot) -> bool:
    """Return whether a tenth of all records was rejected, or more: they are no few odd ones.

    Args:
        snapshot: after all records.
    """
    return sum(snapshot.rejected.values()) * 10 >= snapshot.records > 0


def unjudged(snapshot: Snapshot, faults: RejectedRecords) -> str:
    """Return why nothing counts as judged; "" where it does.

    Args:
        snapshot: after all records, some of which could be used.
        faults: of the rejected records.
    """
    total, field = sum(snapshot.rejected.values()), ClassField.PREDICTION
    if mostly_rejected(snapshot):
        return f"{total:,} of {count_of(snapshot.records, 'record')} were rejected"
    if predictions_mostly_rejected(snapshot, faults):
        return many_predictions_rejected(snapshot, faults)
    values = faults.values(RejectReason.BAD_VALUE, field)
    allowed = faults.allowed(RejectReason.BAD_VALUE, field)
    number = faults.number(RejectReason.BAD_VALUE, field)
    if not are_of_more_classes(values, allowed, number, snapshot.records):
        return ""
    which = "that are not configured" if are_named_classes(allowed) else "other than 0 and 1"
    return f"{count_of(number, 'prediction')} of classes {which} were rejected"


def tell_of_repeats(snapshot: Snapshot, notation: Notation, pairs: int = 0) -> None:
    """Print a warning where one of twenty predictions, and 100, have an id that came before.

    Where it is more than half, an id column is advised.

    Where another model predicted it, one is enough, and the warning says so. Where several versions
    predict at once, one of a hundred is: versions that share ids are one group without the segment.

    Args:
        snapshot: after all records.
        notation: how to complete the mapping.
        pairs: how many of these are no duplicates.
    """
    shared = [model.shared_ids for model in snapshot.models if model.shared_ids is not None]
    for one in shared:
        tell(f"warning: {one.text}")
    again = sum(model.duplicates for model in snapshot.models)
    every = again + sum(m.predictions_positive + m.predictions_negative for m in snapshot.models)
    again -= pairs + sum(one.predictions for one in shared)
    mostly = again * 2 > every
    if not pairs:
        for model in snapshot.models:
            if text := repeats_beside_versions(model) or ("" if mostly else reused_ids(model)):
                tell(f"warning: {text}")
    if mostly:
        tell(
            f"warning: {again:,} of {count_of(every, 'prediction')} repeat an id, which counts "
            f"once: name a column that has another id in each, {notation.columns({'id': 'COLUMN'})}"
            f", or leave it out where each row has its label, {notation.constant('id', NO_FIELD)}"
        )


def tell_of_reversed(snapshot: Snapshot, notation: Notation) -> None:
    """Print a warning for each model that certainly flags negatives more often than positives.

    Such a model is worse than a coin: labels or predictions then seem to name the other class.

    Args:
        snapshot: after all records; only recall and the false positive rate of all are looked at.
        notation: how to complete the mapping.
    """
    metrics = snapshot.lifetime.metrics
    recall, false = metrics["recall"], metrics["false_positive_rate"]
    for model in snapshot.models:
        if model.classes or not recall.upper[model.row] < false.lower[model.row]:
            continue
        advice = " or ".join(
            notation.classes(str(field), {"positive": ["VALUE"]}) for field in ClassField
        )
        tell(
            f"warning: {one_line(model.name)} flags {_percent(recall.estimate[model.row])} of "
            f"actual positives and {_percent(false.estimate[model.row])} of actual negatives: if "
            f"its labels or predictions name the other class, say which value is positive: {advice}"
        )


def _percent(share: float) -> str:
    return f"{100 * share:.3g} %"


def usable(snapshot: Snapshot, faults: RejectedRecords) -> int:
    """Print a last line where records were rejected, or none came; return the exit code.

    It is a warning where nothing counts as judged, where the values of a class seem to stand for
    none, and where the others hold no outcome.

    Args:
        snapshot: after all records.
        faults: of the rejected records.

    Returns:
        3 if no record could be used, else 0.
    """
    if not snapshot.records:
        tell(f"error: {NO_RECORDS}")
        return UNREADABLE
    tell_of_repeats(snapshot, faults.notation)
    tell_of_reversed(snapshot, faults.notation)
    total = sum(snapshot.rejected.values())
    without_them = not int(snapshot.lifetime.counts.total.sum())
    if total == snapshot.records:
        tell(f"error: {rejected_text(snapshot, faults)}")
    elif total:
        warns = bool(unjudged(snapshot, faults)) or without_them or stand_for_no_class(faults)
        warns |= bool(labels_of_no_class(snapshot, faults))
        tell(f"{'warning: ' if warns else ''}{rejected_text(snapshot, faults)}")
    return UNREADABLE if total == snapshot.records else 0
