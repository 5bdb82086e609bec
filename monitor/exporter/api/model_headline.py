"""The headline of a model: what happened since the reference, in one line."""

from __future__ import annotations

import math

from monitor.config import Labelling
from monitor.drift.verdict import MOVED_RATES
from monitor.labels.faults import LabelFault
from monitor.labels.refusals import CAUSE_UNKNOWN
from monitor.metrics.precision import precision
from monitor.metrics.rates import false_positive_rate, recall
from monitor.report.class_findings import class_findings
from monitor.report.deciding_window import verdict_on, window_opens
from monitor.report.findings import model_because
from monitor.report.headline import moved, reason
from monitor.report.label_quality_words import cases_named
from monitor.report.label_words import LABEL_FAULTS
from monitor.report.missing_evidence import missing_evidence
from monitor.report.prediction_words import degenerate_text
from monitor.report.version_news_words import with_version
from monitor.snapshot import ModelState, Snapshot
from monitor.verdicts import Watched


def model_headline(snapshot: Snapshot, model: ModelState, deciding: str) -> str:
    """Return what is wrong with the predictions now, and what happened since the reference.

    Args:
        snapshot: the state.
        model: one of its models.
        deciding: name of its deciding window.
    """
    return _died(model.watched) + with_version(
        _headline(snapshot, model, deciding),
        model.watched.new_version,
        window_opens(snapshot, model, deciding),
        moved=verdict_on(model, deciding).verdict in MOVED_RATES,
    )


def _died(watched: Watched) -> str:
    """Return what is wrong with the predictions, before the headline; "" where nothing is."""
    text = degenerate_text(watched.predictions)
    return "" if text is None else f"The model {text}. "


def _headline(snapshot: Snapshot, model: ModelState, deciding: str) -> str:
    """Return what happened since the reference, in one line."""
    found, reference = verdict_on(model, deciding), model.watched.reference
    if model.labelling == Labelling.FLAGGED_ONLY:
        return CAUSE_UNKNOWN
    if (classes := class_findings(model, deciding)) is not None:
        return f"{classes.moved}. {classes.why}."
    if found.label_fault and found.judgement is None:
        fault = LABEL_FAULTS[LabelFault(found.label_fault)].words
        return f"Labels cannot be trusted ({fault}): wait for them, or look at how they come."
    after = next(w for w in snapshot.windows if w.name == deciding)
    missing = missing_evidence(model, after, found)
    if found.judgement is None or missing:
        return f"Nothing is compared: {missing}."
    now = float(after.metrics["precision"].estimate[model.row])
    then = math.nan if reference is None else float(precision(reference.counts))
    rates = {
        name: (math.nan if reference is None else float(rate(reference.counts)), estimate)
        for name, rate in (("recall", recall), ("false_positive_rate", false_positive_rate))
        for estimate in [float(after.metrics[name].estimate[model.row])]
    }
    because = model_because(model, found)
    why = reason(found.verdict, found.judgement, rates, because=because)
    if found.judgement.label_errors_changed and reference is not None:
        why = f"{why} {cases_named(reference.counts, after.counts[model.row])}"
    return f"{moved(then, now, because=because)}: {why}"
