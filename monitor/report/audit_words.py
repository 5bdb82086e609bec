"""The words for audits that outcomes are not corrected for, and for labels that may need some."""

from __future__ import annotations

from collections.abc import Iterator

from monitor.config import Labelling
from monitor.diagnosis import Diagnosis
from monitor.labels.following_words import confirming_text, drawn_by, following_text
from monitor.labels.regime import LabelRegime
from monitor.labels.uncorrected import (
    MODEST_RECALL,
    MissingMisses,
    changed_between,
    confirmations_to_audit,
    missing_misses,
    uncorrected,
)
from monitor.metrics.audited_errors import AuditFindings
from monitor.report.deciding_window import deciding_window
from monitor.snapshot import ModelState, Snapshot


def audits_beside(found: AuditFindings | None) -> str:
    """Return what stands beside a headline whose labels audits contradict, with a space before it.

    Args:
        found: audits that outcomes are not corrected for; None without any.
    """
    if found is None:
        return ""
    if found.follow_predictions:
        return " Audits show that labels follow the prediction."
    return " Audits show that labels changed, and nothing is corrected for it."


def doubted_labels(audits: AuditFindings | None, misses: MissingMisses | None) -> str:
    """Return why the labels that an answer rests on are in doubt, a clause; "" where they are not.

    Args:
        audits: audits that outcomes are not corrected for; None without any.
        misses: unflagged cases without positives; None where there are some.
    """
    if audits is not None:
        shown = "follow the prediction" if audits.follow_predictions else "changed"
        return f"audits show that labels {shown}"
    if misses is None or not misses.are_evident:
        return ""
    if misses.of_before_alone:
        return "labels before may have followed the decisions"
    return f"labels may follow the decisions{' now' if misses.of_after_alone else ''}"


def evident(misses: MissingMisses | None) -> bool:
    """Return whether more than a high recall speaks for labels that follow the decisions.

    Args:
        misses: unflagged cases without positives; None where there are some.
    """
    return misses is not None and misses.are_evident


def live_audits(model: ModelState) -> AuditFindings | None:
    """Return audits that contradict what labels say of a model since its reference.

    Args:
        model: the model.

    Returns:
        None without any, and where the monitor corrects outcomes for them.
    """
    audits, reference = model.audits, model.watched.reference
    if audits is None or not uncorrected(audits, LabelRegime.now(model)):
        return None
    opens = None if reference is None else reference.opens
    changed = changed_between(audits, opens, model.now_ms)
    return audits if changed or audits.follow_predictions else None


def live_misses(snapshot: Snapshot, model: ModelState) -> MissingMisses | None:
    """Return unflagged cases without positives, of the reference and of the deciding window.

    Args:
        snapshot: the state.
        model: one of its models.

    Returns:
        None where there are positives among them, see `missing_misses`, and without a reference.
    """
    reference = model.watched.reference
    if reference is None or model.classes:
        return None
    deciding = deciding_window(model, [one.name for one in snapshot.windows])
    after = next(one for one in snapshot.windows if one.name == deciding).counts[model.row]
    scores = model.scores.get(deciding)
    return missing_misses(
        reference.counts,
        after,
        Labelling(model.labelling),
        model.audits,
        None if scores is None else scores.by_day.sum(),
    )


def live_following(snapshot: Snapshot, model: ModelState) -> str | None:
    """Return that labels of a model may follow its decisions, as a clause; None where not.

    Args:
        snapshot: the state.
        model: one of its models.
    """
    longest = snapshot.windows[-1]
    counts = longest.counts[model.row]
    if audits := _confirmations(snapshot, model):
        return confirming_text(counts, f"of the last {longest.name}", audits)
    found = live_misses(snapshot, model)
    deciding = deciding_window(model, [one.name for one in snapshot.windows])
    return found and following_text(found, "of the reference", f"of the last {deciding}")


def seem_to_follow(snapshot: Snapshot, model: ModelState) -> bool:
    """Return whether labels repeat the decisions, or more than a high recall speaks for it.

    Args:
        snapshot: the state.
        model: one of its models.
    """
    return bool(_confirmations(snapshot, model)) or evident(live_misses(snapshot, model))


def _confirmations(snapshot: Snapshot, model: ModelState) -> int:
    """Return how many flagged cases of the longest window to audit where none is negative."""
    counts = snapshot.windows[-1].counts[model.row]
    return 0 if model.classes else confirmations_to_audit(counts, model.audits)


def label_advice(diagnosis: Diagnosis) -> Iterator[str]:
    """Yield what to do about labels before anybody is paged.

    Args:
        diagnosis: what was found.
    """
    audits, misses = diagnosis.uncorrected_audits, diagnosis.missing_misses
    if audits is not None and audits.earlier and audits.rates.known:
        yield (
            "Set `label_errors: audit` before the model's owner is paged: audits show that the "
            "rates of wrong labels changed, and it corrects each stretch of time for its own."
        )
    elif audits is not None and audits.follow_predictions:
        yield (
            "See how labels are made before the model's owner is paged: audits show rates of "
            "wrong labels that no correction by one rate for both predicted classes is right for."
        )
    elif audits is not None:
        yield (
            "Audit more cases before the model's owner is paged: audits show that the rates of "
            "wrong labels changed, and are too few to correct for them."
        )
    if diagnosis.rates_contradicted:
        yield (
            "Set `label_errors: audit`, or correct its rates: audits certainly show others, so "
            "that the metrics are corrected for too many wrong labels, or too few."
        )
    if misses is not None and misses.are_evident:
        earlier = misses.of_before_alone
        first = "the model's owner is paged" if earlier else "recall is relied on"
        yield (
            f"Audit {misses.audits:,} unflagged cases{' of before' if earlier else ''}, drawn at "
            f"random, before {first} ({drawn_by(0, misses.audits, earlier=earlier)}): at a recall "
            f"of {MODEST_RECALL:g} they hold a missed positive with a probability of 95 %."
            + ("" if earlier else " Until then leave the scores as they are: a correction would ")
            + ("" if earlier else "be fitted to decisions.")
        )
