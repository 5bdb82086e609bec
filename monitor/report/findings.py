"""Findings of a live or recorded comparison, as `two_answers` reads them."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.config.quantities import count_of, parse_duration
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Diagnosis
from monitor.diagnosis.present_state import (
    LATEST,
    is_of_reference,
    paged_since,
    with_present_state,
)
from monitor.drift import Attribution, Judgement, Status
from monitor.drift.detectors import is_too_small
from monitor.drift.recall_evidence import (
    Because,
    RecallEvidence,
)
from monitor.labels.faults import LabelFault
from monitor.labels.refusals import ONLY_POSITIVES
from monitor.report.audit_words import doubted_labels, live_audits, live_misses
from monitor.report.class_findings import class_findings
from monitor.report.compared import FLAGS_EVERYTHING, FLAGS_NOTHING, Compared
from monitor.report.deciding_window import (
    deciding_since_reference,
    deciding_window,
    verdict_on,
)
from monitor.report.headline import rates_of
from monitor.report.label_quality_words import changed_labels
from monitor.report.label_words import LABEL_FAULTS
from monitor.report.missing_evidence import (
    day_text,
    missing_evidence,
    reaches_back,
    too_few_before,
)
from monitor.report.moved_lately import (
    live_rates,
    moved_lately,
    rates_since,
    since_words,
    worse_words,
)
from monitor.report.moved_precision import Points
from monitor.report.prediction_words import degenerate_text
from monitor.report.reference_text import level_phrase, mixed_phrase, reference_notes
from monitor.report.version_news_words import begun_with_ended
from monitor.report.versions_words import worse_version
from monitor.report.vocabulary import ADDITIVE_CAUSES
from monitor.report.why_open import model_because
from monitor.report.worse_segment import live_worse_segment, worse_segment
from monitor.report.worse_version import worse_version_in_use
from monitor.snapshot import ModelState, Snapshot, Window
from monitor.verdicts import WindowVerdict

_FEWEST = 10
"""Positives, and flagged cases, below which no cause is named unless a rate certainly changed."""
_NAN = float("nan")
_LATE_MS = 2 * DAY_MS
"""Age of the latest outcomes of a window from which on the day of its end is named."""
_UNKNOWN = Points(_NAN, _NAN, _NAN)


def of_diagnosis(diagnosis: Diagnosis) -> Compared:
    """Return what a diagnosis found."""
    before = diagnosis.before
    parts = {
        cause: Points(part.points, part.lower_points, part.upper_points)
        for cause, part in diagnosis.attribution.items()
        if cause in ADDITIVE_CAUSES
    }
    return Compared(
        verdict=diagnosis.verdict,
        judgement=diagnosis.judgement,
        because=diagnosis.because,
        change=Points(
            diagnosis.change_points, diagnosis.change_lower_points, diagnosis.change_upper_points
        ),
        parts=parts,
        rates=rates_of(diagnosis),
        recall=diagnosis.recall,
        stretch=diagnosis.judged_stretch,
        false_positive_rate_above=diagnosis.false_positive_rate_above,
        recall_visible=diagnosis.visible_recall,
        flags=FLAGS_NOTHING if diagnosis.flags_nothing else _flags(diagnosis.after.counts),
        few=_few(diagnosis.after.counts, diagnosis.judgement),
        pages=diagnosis.pages,
        paged_since=diagnosis.paged_since,
        with_version=begun_with_ended(diagnosis.news.new_version),
        worse_lately=worse_words(diagnosis.moved_lately, pages=diagnosis.pages),
        mix_of=diagnosis.judged_within or "",
        obstacle=_obstacle_of(diagnosis),
        by_predictions=degenerate_text(diagnosis.predictions),
        mixed=mixed_phrase(diagnosis.mixed_reference),
        doubted=doubted_labels(diagnosis.uncorrected_audits, diagnosis.missing_misses),
        worse_version="" if (worse := diagnosis.news.worse) is None else worse_version(worse),
        against=level_phrase(before.opens, before.closes) if before.source == "level" else "",
        worse_segment=worse_segment(diagnosis),
        provisional=diagnosis.provisional,
    )


def _obstacle_of(diagnosis: Diagnosis) -> str:
    if diagnosis.refusal is not None:
        return diagnosis.refusal.reason
    if diagnosis.judgement.label_errors_changed:
        return changed_labels(diagnosis.judgement)
    return unlabelled(diagnosis) or _too_few_before(diagnosis)


def _too_few_before(diagnosis: Diagnosis) -> str:
    before = diagnosis.before
    some = min(before.counts.actual_positive, before.counts.actual_negative) > 0
    if diagnosis.because is not Because.TOO_FEW or not (some and is_too_small(before.counts)):
        return ""
    return too_few_before(before.counts, "the reference" if before.source else "the range before")


def unlabelled(diagnosis: Diagnosis) -> str:
    """Return that a side has no outcome, a phrase; "" where both have some.

    Args:
        diagnosis: of two periods.
    """
    sides = {"before": diagnosis.before, "after": diagnosis.after}
    without = [name for name, side in sides.items() if not side.counts.total]
    return f"no prediction {' or '.join(without)} has a label" if without else ""


def of_model(snapshot: Snapshot, model: ModelState, deciding: str) -> Compared:
    """Return what was found between the reference of a model and its deciding window.

    Args:
        snapshot: the state.
        model: one of its models.
        deciding: name of its deciding window.
    """
    found = verdict_on(model, deciding)
    window = next(one for one in snapshot.windows if one.name == deciding)
    since, worse = deciding_since_reference(model, deciding), worse_version_in_use(model)
    answers = found if since is None else since
    seen, visible, stretch = _recall(model)
    if model.watched.reference is None:
        seen = _metric(model, window)
    elif answers.judgement is not None and answers.judgement.status["recall"] is Status.CHANGED:
        seen = (found if since is None else _reaching_back(model)).recall
        stretch = _last(model, deciding) if since is None else ""
        visible = answers.visible_recall
    counts = window.counts[model.row] if since is None else since.outcomes
    pages = model.watched.degradation_detected
    return Compared(
        verdict=found.verdict,
        judgement=answers.judgement,
        because=model_because(model, found),
        change=_whole(answers.attribution or found.as_labelled),
        parts={} if answers.attribution is None else _parts(answers.attribution),
        rates=live_rates(model, window) if since is None else rates_since(model, since),
        recall=seen,
        false_positive_rate_above=_false_positive_rate_above(model),
        recall_visible=visible if math.isfinite(visible) else answers.visible_recall,
        flags=_flags(counts),
        few=_few(counts, answers.judgement),
        pages=pages,
        paged_since=paged_since(model.watched),
        with_version=begun_with_ended(model.watched.new_version),
        stretch=stretch,
        obstacle="" if since is not None else _obstacle(model, window, found),
        reaches_back="" if since is not None else reaches_back(model, window, found),
        classes=class_findings(model, deciding) if model.classes else None,
        worse_lately=worse_words(moved_lately(snapshot, model, deciding), pages=pages),
        by_predictions=degenerate_text(model.watched.predictions),
        mixed=mixed_phrase(model.watched.reference),
        doubted=doubted_labels(live_audits(model), live_misses(snapshot, model)),
        worse_version="" if worse is None else worse_version(worse),
        against="" if found.level is None else level_phrase(found.level.opens, found.level.closes),
        worse_segment=live_worse_segment(snapshot, model, deciding),
        provisional=(known := model.watched.reference) is not None and known.provisional,
    )


def with_model_now(found: Diagnosis, snapshot: Snapshot, model: ModelState) -> Diagnosis:
    """Return a diagnosis with what is known of its model now, as `with_present_state`.

    Args:
        found: the diagnosis, of a model of two classes.
        snapshot: the state.
        model: the model in it.
    """
    if is_of_reference(found, model.watched.reference):
        found = replace(found, notes=(*found.notes, *reference_notes(model.watched)))
    deciding = deciding_window(model, [one.name for one in snapshot.windows])
    counts = next(one for one in snapshot.windows if one.name == deciding).counts[model.row]
    return with_present_state(
        replace(found, judged_stretch=_judged_stretch(found, model, deciding)),
        model,
        flags_nothing=_flags(counts) == FLAGS_NOTHING,
        moved_lately=moved_lately(snapshot, model, deciding),
        because=model_because(model, verdict_on(model, deciding)),
    )


def _judged_stretch(found: Diagnosis, model: ModelState, deciding: str) -> str:
    """Return which stretch a diagnosis judges that nobody named, as the answers of a model have it.

    Another window may exclude more, and stands in these with its own name.
    """
    opens, closes = found.after.opens, found.after.closes
    if not found.before.source or found.after.source != LATEST or opens is None or closes is None:
        return ""
    since, changed = deciding_since_reference(model, deciding), found.judgement.status["recall"]
    if since is not None:
        return "" if changed is Status.CHANGED else since_words(since.length_ms)
    is_window = closes - opens == parse_duration(deciding)
    return _last(model, deciding) if is_window else ""


def _recall(model: ModelState) -> tuple[RecallEvidence, float, str]:
    """Limits of recall by the window that excludes most, its visible one, and what that window is.

    They are for answers that show no change of recall: another window may contradict one. Of a
    window that reaches back into the reference, they are about what lies beyond that.
    """
    known = {
        name: found
        for name, found in model.watched.verdicts.items()
        if math.isfinite(found.recall.excluded)
    }
    if not known:
        return RecallEvidence(_NAN, _NAN, _NAN), _NAN, ""
    name = max(known, key=lambda one: (known[one].recall.excluded, parse_duration(one)))
    beyond = known[name].beyond
    over = _last(model, name) if beyond is None else since_words(beyond.length_ms)
    return known[name].recall, (beyond or known[name]).visible_recall, over


def _reaching_back(model: ModelState) -> WindowVerdict:
    """Return the verdict on a window that reaches back into the reference; there is one."""
    return next(one for one in model.watched.verdicts.values() if one.beyond is not None)


def _last(model: ModelState, window: str) -> str:
    """Return which stretch a window is of: where its labels come late, one that ended long ago."""
    now, end = model.now_ms, model.mature_until
    if now is None or end is None or now - end < _LATE_MS:
        return f"over the last {window}"
    return f"over the {window} until {day_text(end)}"


def _false_positive_rate_above(model: ModelState) -> float:
    """Return the limit of the window that excludes most; NaN without any."""
    limits = [found.false_positive_rate_above for found in model.watched.verdicts.values()]
    return min((one for one in limits if math.isfinite(one)), default=_NAN)


def _metric(model: ModelState, window: Window) -> RecallEvidence:
    """Limits of recall in a window, without the scatter of days, which is not known yet."""
    found, row = window.metrics["recall"], model.row
    return RecallEvidence(float(found.lower[row]), float(found.upper[row]), _NAN)


def _obstacle(model: ModelState, window: Window, found: WindowVerdict) -> str:
    if model.labelling == Labelling.FLAGGED_ONLY:
        return ONLY_POSITIVES
    if found.judgement is not None and found.judgement.label_errors_changed:
        return changed_labels(found.judgement)
    if found.label_fault:
        words = LABEL_FAULTS[LabelFault(found.label_fault)].words
        return f"labels cannot be trusted ({words})"
    reaches = reaches_back(model, window, found)
    return "" if reaches else missing_evidence(model, window, found) or ""


def _whole(found: Attribution | None) -> Points:
    if found is None:
        return _UNKNOWN
    return Points(found.change_points, found.change_lower_points, found.change_upper_points)


def _parts(found: Attribution) -> Mapping[str, Points]:
    return {
        cause: Points(found.points[cause], found.lower_points[cause], found.upper_points[cause])
        for cause in ADDITIVE_CAUSES
    }


def _flags(counts: ConfusionCounts) -> str:
    if not counts.total:
        return ""
    if not counts.predicted_positive:
        return FLAGS_NOTHING
    return "" if counts.predicted_negative else FLAGS_EVERYTHING


def _few(counts: ConfusionCounts, judgement: Judgement | None) -> str:
    """Return which outcomes are too few to say what moved, a phrase; "" where they are not.

    A few cases of one hour may all be missed by chance, and errors of so few are no errors. What
    certainly changed did, however few there are.
    """
    if judgement is None or Status.CHANGED in judgement.status.values():
        return ""
    positives, flagged = int(counts.actual_positive), int(counts.predicted_positive)
    if not 0 < min(positives, flagged) < _FEWEST:
        return ""
    return f"{count_of(positives, 'positive')} and {count_of(flagged, 'flagged case')} are too few"
