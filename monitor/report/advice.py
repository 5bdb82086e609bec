"""Advice: the next step, by the verdict and by the numbers behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.diagnosis import Diagnosis, SegmentPart
from monitor.drift import Judgement, Status, Verdict
from monitor.drift.recall_evidence import Because
from monitor.drift.skill import EQUIVALENCE, Z_ONE_SIDED, Z_TWO_SIDED
from monitor.drift.verdict import DEGRADED, IMPROVED
from monitor.labels.regime import SAMPLES
from monitor.report.answer_parts import defined
from monitor.report.audit_words import evident, label_advice
from monitor.report.findings import unlabelled
from monitor.report.label_quality_words import audit_advice
from monitor.report.missing_class import missing_class
from monitor.report.points import points_text
from monitor.report.prediction_words import degenerate_text
from monitor.report.recalibration_answer import score_corrections, threshold_answer
from monitor.report.recalibration_words import correction_advice, threshold_advice
from monitor.report.segment_names import segment_name
from monitor.report.unjudged_words import unjudged_advice
from monitor.report.verdict_words import VERDICTS
from monitor.report.versions_words import worse_version

_MOST_DATA = 100
_NAMED_SEGMENTS = 3


def advice(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return what to do, in sentences, the most urgent first; at least one."""
    if diagnosis.rejected_predictions:
        return ("Mend the records that were rejected, which no figure has, and compare again.",)
    return tuple(_advice(diagnosis)) or ("Nothing.",)


def _advice(diagnosis: Diagnosis) -> Iterator[str]:
    yield from _versions(diagnosis)
    yield from _predictions(diagnosis)
    if changed := unjudged_advice(diagnosis.unjudged_end):
        yield f"{changed}."
    yield from _labels(diagnosis)
    if diagnosis.refusal is not None or unlabelled(diagnosis):
        return
    yield from label_advice(diagnosis)
    yield from _first(diagnosis)
    if diagnosis.verdict in DEGRADED:
        yield from _threshold(diagnosis)
        yield from _segments(diagnosis)
    if diagnosis.verdict is Verdict.INSUFFICIENT_EVIDENCE:
        if diagnosis.judgement.labels_may_explain:
            yield from audit_advice(diagnosis)
        if {"recall", "false_positive_rate"} & {
            *diagnosis.judgement.fell,
            *diagnosis.judgement.rose,
        }:
            yield "See whether the threshold, the model, or what reaches it was changed."
        if not diagnosis.judgement.labels_may_explain:
            yield from _more(diagnosis)
        yield from _segments(diagnosis)
    if diagnosis.operating_point_moved:
        yield from _operating_point(diagnosis)
    if not diagnosis.judgement.labels_may_explain:
        yield from _scores(diagnosis)
        yield from _prevalence(diagnosis)


def _versions(diagnosis: Diagnosis) -> Iterator[str]:
    if (worse := diagnosis.news.worse) is not None:
        yield f"Hold the rollout or roll it back: {_lower(worse_version(worse))}."
    if diagnosis.news.counted_as_one:
        yield (
            "See whether one version is worse than another: several predicted in the later "
            "stretch, and count as one here; `precision-monitor compare` compares them."
        )


def _predictions(diagnosis: Diagnosis) -> Iterator[str]:
    if wrong := degenerate_text(diagnosis.predictions):
        yield (
            f"Find out why the model {wrong}, without waiting for labels: look for a deployment, "
            "another threshold, and features that are missing or constant."
        )


def _threshold(diagnosis: Diagnosis) -> Iterator[str]:
    """That a threshold which moved as well lowered precision, and by how much."""
    found = diagnosis.scores
    if found is None or found.thresholds is None or found.parts is None:
        return
    moved, part, curve = found.thresholds, found.parts.threshold, found.parts.curve
    if moved.is_raised is not None and part.upper_points < 0:
        yield (
            f"Set the threshold back as well: it is about {moved.after.estimate:.3f}, and no "
            f"longer {moved.before.estimate:.3f}, which accounts for {points_text(part.points)} "
            f"points of precision, and the model for {points_text(curve.points)}."
        )


def _operating_point(diagnosis: Diagnosis) -> Iterator[str]:
    back = "lower" if diagnosis.judgement.change["recall"] < 0 else "higher"
    thresholds = None if diagnosis.scores is None else diagnosis.scores.thresholds
    if thresholds is not None and thresholds.is_raised_alone is not None:
        check = (
            f"See why the threshold is about {thresholds.after.estimate:.3f}, and no longer "
            f"{thresholds.before.estimate:.3f}: the scores did not certainly shift"
        )
    elif thresholds is not None and thresholds.scores_shifted:
        check = (
            "See why all scores shifted (a deployment, a new calibration, other cases): the "
            "threshold did not certainly change"
        )
    else:
        check = (
            "Check whether the threshold changed or all scores shifted (a deployment, a new "
            "calibration, other cases)"
        )
    yield f"{check}; a {back} threshold would bring recall and false positives back together."
    is_open = diagnosis.verdict is Verdict.INSUFFICIENT_EVIDENCE  # more was asked for already
    if not (is_open or diagnosis.judgement.on_reference_curve):
        yield from _more(diagnosis)


def _lower(sentence: str) -> str:
    return sentence[0].lower() + sentence[1:]


def _first(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.judgement.label_errors_changed and not diagnosis.judgement.by_audits:
        yield from audit_advice(diagnosis)
    followed = evident(diagnosis.missing_misses) and diagnosis.verdict in IMPROVED
    if not followed and (first := VERDICTS[diagnosis.verdict].advice):
        yield first


def _scores(diagnosis: Diagnosis) -> Iterator[str]:
    found = diagnosis.scores
    died = diagnosis.predictions.kind is not None
    if found is None or died or evident(diagnosis.missing_misses):
        return
    if (threshold := threshold_answer(found.threshold)) is not None:
        yield threshold_advice(threshold, defined(diagnosis.after.metrics["recall"].estimate))
    corrections = score_corrections(found.recalibration)
    if corrections is not None and (text := correction_advice(corrections)) is not None:
        yield text


def _labels(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.unlabelled_end is not None and _labels_may_come(diagnosis):
        end = diagnosis.unlabelled_end
        found = f"{end}"
        yield (
            f"{found[0].upper()}{found[1:]}. Judge the week before, {end.week_before}, which has "
            f"labels. If those since {end.since} should have come, page the data team."
        )
    elif diagnosis.refusal is not None:
        yield diagnosis.refusal.advice or (
            "Have a random sample of the predicted negatives labelled: without it nobody can "
            "say what is missed."
            if diagnosis.refusal.keeps_precision
            else "Label predicted positives as well: precision is computed from them alone."
        )
    elif words := unlabelled(diagnosis):
        yield f"Wait for labels, or page the data team: {words}."
    elif diagnosis.lacks_labels and diagnosis.labelling not in SAMPLES:
        yield "Wait for labels, or page the data team: fewer predictions have one than before."


def _labels_may_come(diagnosis: Diagnosis) -> bool:
    """Return False where labels are refused for the way they came before, too."""
    return diagnosis.refusal is None or diagnosis.refusal.spares_before


def _segments(diagnosis: Diagnosis) -> Iterator[str]:
    blamed = [p for p in diagnosis.segments if {"recall", "false_positives"} & set(p.carries)]
    if blamed:
        named = ", ".join(map(_name, blamed[:_NAMED_SEGMENTS]))
        yield f"Look at these segments first: {named}."


def _name(part: SegmentPart) -> str:
    return segment_name(part.series.segment, part.series.value)


def _prevalence(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.judgement.status["class_ratio"] is not Status.CHANGED:
        return
    old = diagnosis.before.metrics["class_ratio"].estimate
    new = diagnosis.after.metrics["class_ratio"].estimate
    known = diagnosis.scores is not None and diagnosis.scores.threshold is not None
    if old > 0 and new > 0 and not known:
        yield (
            f"If precision matters as such, set the threshold anew for r = {new:.3g} "
            f"(it was {old:.3g})."
        )
    yield "If positives should be as frequent as before, page the data team: what changed upstream?"


def _more(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.predictions.kind is not None or evident(diagnosis.missing_misses):
        return
    if diagnosis.because is Because.LABEL_ERRORS and diagnosis.rates_learned:
        yield (
            "Have more labels audited (`precision-monitor audit FILE --sample 500` draws some): at "
            "the middle of the rates that audits show these outcomes would say more."
        )
        return
    if diagnosis.because is Because.LABEL_ERRORS:
        yield (
            "Narrow the range of label_errors, or have labels audited (`label_errors: audit`): at "
            "the middle of the range these outcomes would say more."
        )
        return
    if missing := missing_class(diagnosis.before.counts, diagnosis.after.counts):
        yield f"Compare ranges with positives and negatives: there are {missing}."
        return
    found = diagnosis.judgement
    unknown = found.status["log_likelihood_ratio"] is Status.UNKNOWN
    factor = _times_the_data(found, *found.at_rates)
    if unknown and _times_the_data(found) <= _MOST_DATA < factor:
        yield _by_label_errors(learned=diagnosis.rates_learned)
    elif unknown and factor <= _MOST_DATA:
        much = f"about {_rounded(factor)} times the data" if factor > 1 else "a little more data"
        yield (
            f"Wait, or compare longer ranges: if the estimates hold, {much} would settle whether "
            "skill changed."
        )
    elif diagnosis.verdict is Verdict.INSUFFICIENT_EVIDENCE:
        yield "Wait for more outcomes, or compare longer ranges."


def _rounded(factor: float) -> str:
    """Rounded up, to a tenth below 10: less data would not suffice."""
    few = 10
    return f"{math.ceil(factor * 10) / 10:.1f}" if factor < few else f"{math.ceil(factor):,}"


def _by_label_errors(*, learned: bool) -> str:
    """Return what settles skill where the limits of the rates of wrong labels are what is wide."""
    draw = "`precision-monitor audit FILE --sample 500` draws some"
    have = (
        f"have more labels audited ({draw})"
        if learned
        else "narrow the range of label_errors, or have labels audited (`label_errors: audit`)"
    )
    return (
        "More data alone would not settle whether skill changed: how often labels are wrong is "
        f"known within limits that are too wide for that; {have}."
    )


def _times_the_data(*at_rates: Judgement) -> float:
    """Factor that would show log LR+ as clean or as changed; infinite where none would.

    It may be 1 or less where few days leave a change open: it takes their scatter for known.

    Args:
        at_rates: judgements at rates of wrong labels at all of which it is to show.
    """
    moved = [one.change["log_likelihood_ratio"] for one in at_rates]
    errors = [one.standard_error["log_likelihood_ratio"] for one in at_rates]
    room = [EQUIVALENCE - abs(change) for change in moved]
    one_way = min(moved) > 0 or max(moved) < 0
    clean = (
        max(Z_ONE_SIDED * error / left for error, left in zip(errors, room, strict=True))
        if min(room) > 0
        else math.inf
    )
    changed = (
        max(Z_TWO_SIDED * error / abs(change) for error, change in zip(errors, moved, strict=True))
        if one_way
        else math.inf
    )
    return min(clean, changed) ** 2
