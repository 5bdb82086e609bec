"""What audits and sources show of labels, beside a diagnosis."""

from __future__ import annotations

from dataclasses import replace

from monitor.diagnosis.result import Diagnosis, Side
from monitor.events.lost_audits import LostAudits
from monitor.labels.error_words import audits_note, lost_audits_text
from monitor.labels.following_words import confirming_text, following_text
from monitor.labels.regime import LabelRegime
from monitor.labels.source_words import sources_change_text, sources_text
from monitor.labels.uncorrected import (
    changed_between,
    confirmations_to_audit,
    contradicted,
    missing_misses,
    uncorrected,
)
from monitor.metrics.audited_errors import AuditFindings
from monitor.metrics.source_findings import SourceFindings


def with_audits(
    found: Diagnosis,
    audits: AuditFindings | None,
    regime: LabelRegime,
    lost: LostAudits | None = None,
) -> Diagnosis:
    """Return a diagnosis that says what audits of labels show, or would.

    Args:
        found: the diagnosis.
        audits: of the model; None without audits.
        regime: how often its labels are taken to be wrong.
        lost: audits without effect, of all models; None without any.
    """
    before, after = found.before.counts, found.after.counts
    if lost is not None:
        found = replace(found, notes=(*found.notes, lost_audits_text(lost)))
    skill = None if found.scores is None else found.scores.after
    scores = None if skill is None else skill.by_day.sum()
    misses = missing_misses(before, after, found.labelling, audits, scores)
    if misses is not None and found.refusal is None:
        note = following_text(misses, "of before", "of after")
        found = replace(found, notes=(*found.notes, note), missing_misses=misses)
    if confirmed := confirmations_to_audit(after, audits):
        note = confirming_text(after, "of after", confirmed)
        found = replace(found, notes=(*found.notes, note))
    if audits is None:
        return found
    changed = changed_between(audits, found.before.opens, found.after.closes)
    contradict = uncorrected(audits, regime) and (changed or audits.follow_predictions)
    return replace(
        found,
        notes=(*found.notes, audits_note(audits, regime)),
        uncorrected_audits=audits if contradict else None,
        audits=audits,
        rates_learned=regime.is_learned,
        rates_contradicted=contradicted(audits, regime),
    )


def with_label_sources(found: Diagnosis, sources: SourceFindings | None) -> Diagnosis:
    """Return a diagnosis that says how sources label the same cases.

    Args:
        found: the diagnosis.
        sources: of the labels of the model; None where no label has a source.
    """
    if sources is None:
        return found
    notes = [sources_text(sources)] if sources.shared else []
    if change := sources_change_text(sources, _range(found.before), _range(found.after)):
        notes.insert(0, change)
    return replace(found, notes=(*found.notes, *notes), label_sources=sources)


def _range(side: Side) -> tuple[int, int] | None:
    return None if side.opens is None or side.closes is None else (side.opens, side.closes)
