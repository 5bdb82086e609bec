"""A model of a running monitor in one line: what happened since its reference."""

from __future__ import annotations

import math

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.diagnosis.label_silence import labels_silent_since
from monitor.drift.rates_changed import rates_changed
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED
from monitor.labels.faults import LabelFault
from monitor.labels.refusals import CAUSE_UNKNOWN
from monitor.labels.regime import LabelRegime
from monitor.metrics.precision import precision
from monitor.report.audit_words import audits_beside, live_audits
from monitor.report.class_findings import class_findings
from monitor.report.deciding_window import (
    compared_with,
    deciding_since_reference,
    verdict_on,
    window_opens,
)
from monitor.report.headline import (
    certainly_moved,
    died,
    moved,
    no_label_since,
    no_page_yet,
    page_reason,
    reason,
)
from monitor.report.label_quality_words import (
    audited_already,
    cases_named,
    cases_to_audit,
    more_are_wrong,
)
from monitor.report.label_words import LABEL_FAULTS
from monitor.report.missing_evidence import day_text, missing_evidence
from monitor.report.moved_lately import live_rates, moved_lately, rates_since
from monitor.report.verdict_words import BECAUSE
from monitor.report.version_news_words import with_version
from monitor.report.versions_words import worse_by
from monitor.report.why_open import model_because
from monitor.report.worse_segment import beside as segment_beside
from monitor.report.worse_segment import live_worse_segment
from monitor.report.worse_version import worse_version_in_use
from monitor.snapshot import ModelState, Snapshot

_SILENT_MS = 2 * DAY_MS
"""Event time without a prediction from which on the headline says so."""


def model_headline(snapshot: Snapshot, model: ModelState, deciding: str) -> str:
    """Return what happened to a model since its reference, and with which version.

    Args:
        snapshot: the state.
        model: one of its models.
        deciding: name of its deciding window.
    """
    watched, found = model.watched, verdict_on(model, deciding)
    pages = watched.degradation_detected and found.judgement is not None
    opens = window_opens(snapshot, model, deciding)
    worse = worse_version_in_use(model)
    happened = with_version(
        _since_reference(snapshot, model, deciding, beside=worse is not None),
        watched.new_version,
        opens,
        moved=pages or rates_changed(found.verdict, found.judgement),
    )
    of_version = "" if worse is None else f" {worse_by(worse)}"
    happened += segment_beside(
        happened, live_worse_segment(snapshot, model, deciding), contrary=found.because is None
    )
    provisional = watched.reference is not None and watched.reference.provisional
    if provisional and not pages:
        happened += no_page_yet(found.verdict, moved_lately(snapshot, model, deciding))
    happened = died(watched.predictions) + happened + audits_beside(live_audits(model))
    return (
        (_silent(snapshot, model) or no_label_since(labels_silent_since(model)))
        + happened
        + of_version
    )


def _silent(snapshot: Snapshot, model: ModelState) -> str:
    """Return since when a model has not predicted while others went on; "" while it does."""
    last, newest = model.last_prediction_ms, snapshot.now_ms
    if last is None or newest is None or newest - last < _SILENT_MS:
        return ""
    return f"No prediction since {day_text(last)}. "


def _since_reference(snapshot: Snapshot, model: ModelState, deciding: str, *, beside: bool) -> str:
    """Return what happened since the reference, in one line.

    Args:
        snapshot: the state.
        model: one of its models.
        deciding: name of its deciding window.
        beside: versions are compared beside it.
    """
    found, reference = verdict_on(model, deciding), compared_with(model, deciding)
    since = deciding_since_reference(model, deciding)
    if model.labelling == Labelling.FLAGGED_ONLY:
        return CAUSE_UNKNOWN
    if (classes := class_findings(model, deciding)) is not None:
        return classes.headline
    if found.label_fault and found.judgement is None:
        fault = LABEL_FAULTS[LabelFault(found.label_fault)].words
        return f"Labels cannot be trusted ({fault}): wait for them, or look at how they come."
    after = next(w for w in snapshot.windows if w.name == deciding)
    missing = missing_evidence(model, after, found)
    because = model_because(model, found)
    answers = found if since is None else since
    if answers.judgement is None or (missing and since is None):
        compared = f"Nothing is compared{' with the reference' * beside}: {missing}."
        steady = f"Since the reference, {BECAUSE[Because.STEADY].headline}"
        return steady if because is Because.STEADY else compared
    counts = after.counts[model.row] if since is None else since.outcomes
    now = after.metrics["precision"].estimate[model.row] if since is None else precision(counts)
    then = math.nan if reference is None else float(precision(reference.counts))
    parts = answers.attribution
    certain = parts is not None and certainly_moved(
        parts.change_lower_points, parts.change_upper_points, because=because
    )
    change = moved(then, float(now), certain=certain)
    labels_changed = answers.judgement.label_errors_changed
    lately = moved_lately(snapshot, model, deciding)
    if model.watched.degradation_detected and found.verdict not in DEGRADED and not labels_changed:
        return f"{change}: {page_reason(answers.judgement, model.watched.predictions, lately)}"
    rates = live_rates(model, after) if since is None else rates_since(model, since)
    learned = LabelRegime.now(model).is_learned
    why = reason(
        found.verdict,
        answers.judgement,
        rates,
        because=because,
        learned=learned,
        lately=lately,
        segment=live_worse_segment(snapshot, model, deciding),
    )
    if labels_changed and reference is not None:
        stretch = (reference.opens, reference.closes)
        if more_are_wrong(answers.judgement):
            stretch = (window_opens(snapshot, model, deciding), model.now_ms)
        audited = audited_already(answers.judgement, model.audits, *stretch)
        if audited < cases_to_audit(reference.counts, counts, answers.judgement):
            why = f"{why} {cases_named(reference.counts, counts, answers.judgement)}"
    return f"{change}: {why}"
