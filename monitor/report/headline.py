"""A diagnosis in one line: what happened to precision, and whether the model is at fault."""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.diagnosis import Diagnosis
from monitor.diagnosis.result import MovedLately
from monitor.drift import Judgement, Status, Verdict
from monitor.drift.rates_changed import rates_changed
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED
from monitor.report.audit_words import audits_beside
from monitor.report.label_quality_words import (
    changed_labels,
    labels_condition,
    open_by_labels,
)
from monitor.report.missing_evidence import day_text
from monitor.report.moved_lately import lately_words, worse_words
from monitor.report.prediction_words import degenerate_since
from monitor.report.rate_changes import RatePairs, both_known, from_to, positives_moved, short
from monitor.report.unjudged_words import unjudged_change
from monitor.report.verdict_words import BECAUSE, VERDICTS
from monitor.report.version_news_words import with_version
from monitor.report.versions_words import worse_by
from monitor.report.vocabulary import CAUSES, METRIC_WORDS
from monitor.report.worse_segment import NOT_BY_ALL, worse_segment
from monitor.report.worse_segment import beside as segment_beside
from monitor.verdicts import DegeneratePredictions

_HARDLY = 0.005
"""Precision that moved by less than half a point counts as unmoved."""

_SMALL = 0.1
"""Rates below it are shown with three digits, others with two."""

_UNMOVED = (Because.TOO_FEW, Because.STEADY)
_RATES = ("recall", "false_positive_rate")
_COMPONENTS = tuple(cause.component for cause in CAUSES.values())
_GOT_WORSE = "the model got worse"
_NOT_RECOVERED = f"{_GOT_WORSE}, and has not certainly recovered"

_PROVISIONAL = " The reference is provisional: no page yet."

_NARROWER = "a narrower range of label_errors, or audits,"
_MORE_AUDITS = "more audits"

_BEFORE_THIS = (
    "Between these two ranges alone nothing is certain: the page began with days that were "
    "certainly worse."
)


def headline(diagnosis: Diagnosis) -> str:
    """Return one line of at most 100 columns, besides what follows on other data."""
    sides = [side.metrics["precision"].estimate for side in (diagnosis.before, diagnosis.after)]
    why = reason(
        diagnosis.verdict,
        diagnosis.judgement,
        rates_of(diagnosis),
        diagnosis.judged_within,
        because=diagnosis.because,
        learned=diagnosis.rates_learned,
        lately=diagnosis.moved_lately,
        segment=worse_segment(diagnosis),
    )
    labels_changed = diagnosis.judgement.label_errors_changed or diagnosis.refusal is not None
    pages = diagnosis.pages
    if pages and diagnosis.verdict not in DEGRADED and not labels_changed:
        why = page_reason(diagnosis.judgement, diagnosis.predictions, diagnosis.moved_lately)
    ends = diagnosis.change_lower_points, diagnosis.change_upper_points
    certain = certainly_moved(*ends, because=diagnosis.because)
    happened = with_version(
        f"{moved(*sides, certain=certain)}: {why}",
        diagnosis.news.new_version,
        diagnosis.after.opens,
        moved=pages or rates_changed(diagnosis.verdict, diagnosis.judgement),
    )
    worse = diagnosis.news.worse
    of_version = "" if worse is None else f" {worse_by(worse)}"
    happened += segment_beside(
        happened, worse_segment(diagnosis), contrary=diagnosis.because is None
    )
    beside = audits_beside(diagnosis.uncorrected_audits)
    since = unjudged_change(diagnosis.unjudged_end)
    if diagnosis.provisional and not pages:
        happened += no_page_yet(diagnosis.verdict, diagnosis.moved_lately)
    silent = no_label_since(diagnosis.labels_silent_since)
    left_out = f"{rejected}. " if (rejected := diagnosis.rejected_predictions) else ""
    found = f"{silent}{died(diagnosis.predictions)}{happened}{since}{beside}{of_version}"
    return f"{left_out}{found}"


def no_label_since(last: int | None) -> str:
    """Return since when no label has come, a sentence; "" while labels come.

    Args:
        last: time of the last label, epoch milliseconds, where labels have stopped.
    """
    return "" if last is None else f"No label since {day_text(last)}. "


def no_page_yet(verdict: Verdict, lately: MovedLately | None) -> str:
    """Return that a worse model does not page by a provisional reference, a sentence; else "".

    Args:
        verdict: on the model.
        lately: the stretch that moved though another one decides; None where none did.
    """
    return _PROVISIONAL if verdict in DEGRADED or worse_words(lately, pages=False) else ""


def died(found: DegeneratePredictions) -> str:
    """Return what predictions alone show to be wrong, a sentence; "" where nothing is.

    The two answers name it in short, and this sentence in full.

    Args:
        found: its predictions against all that is known of them.
    """
    wrong = degenerate_since(found)
    return f"{wrong[0].upper()}{wrong[1:]}. " if wrong else ""


def page_reason(
    judgement: Judgement, predictions: DegeneratePredictions, lately: MovedLately | None
) -> str:
    """Return why a model pages whose deciding window alone is not degraded, a clause.

    Args:
        judgement: of that window.
        predictions: its predictions against all that is known of them.
        lately: the stretch that moved; None where none did.

    Returns:
        The question that labels leave open, where they explain the change by now.
    """
    worse = worse_words(lately, pages=True)
    if not worse and predictions.kind is None and judgement.labels_may_explain:
        return open_by_labels(judgement)
    lasts = _NOT_RECOVERED if predictions.kind is None else _GOT_WORSE
    return f"{worse or lasts}."


def rates_of(diagnosis: Diagnosis) -> RatePairs:
    """Return recall and the false positive rate, each before and after."""
    sides = diagnosis.before.metrics, diagnosis.after.metrics
    return {name: (sides[0][name].estimate, sides[1][name].estimate) for name in _RATES}


def certainties(diagnosis: Diagnosis) -> str:
    """Return what certainly fell, rose, and stayed as it was, in one sentence each."""
    if diagnosis.refusal is not None:
        return "Nothing else is known."
    nothing = _BEFORE_THIS if diagnosis.pages else "Nothing is certain."
    return " ".join(_certain(diagnosis)) or nothing


def _certain(diagnosis: Diagnosis) -> Iterator[str]:
    found = diagnosis.judgement
    clean = [name for name in _COMPONENTS if found.status[name] is Status.CLEAN]
    labelled = labels_condition(found)
    if fell := _phrases(found.fell):
        yield f"Certainly fell{labelled}: {fell}."
    if rose := _phrases(found.rose):
        yield f"Certainly rose{labelled}: {rose}."
    if clean:
        yield f"As before: {_phrases(clean)}."


def _phrases(components: tuple[str, ...] | list[str]) -> str:
    return ", ".join(METRIC_WORDS[name].phrase for name in _COMPONENTS if name in components)


def certainly_moved(lower: float, upper: float, *, because: Because | None) -> bool:
    """Return whether precision certainly moved.

    Args:
        lower: lower limit of its change.
        upper: upper limit of its change.
        because: why there is no verdict. Of too few outcomes no interval counts, and a steady
            model has not certainly moved.
    """
    return (lower > 0 or upper < 0) and because not in _UNMOVED


def moved(before: float, after: float, *, certain: bool = True) -> str:
    """Return whether precision fell, rose or stayed, with both numbers.

    Args:
        before: precision before; NaN where it is not known.
        after: precision after; NaN where it is not known.
        certain: precision certainly moved; where it did not, both numbers stand alone.

    >>> moved(0.4566, 0.2226), moved(0.4566, float("nan"))
    ('Precision fell .457 → .223', 'Precision was .457 before, and is not known after')
    """
    if not (math.isfinite(before) and math.isfinite(after)):
        if math.isfinite(before):
            return f"Precision was {short(before, 3)} before, and is not known after"
        now = f"is {short(after, 3)}, and was not known before"
        return f"Precision {now}" if math.isfinite(after) else "Precision is not known"
    ends = f"{short(before, 3)} → {short(after, 3)}"
    if abs(after - before) < _HARDLY:
        return f"Precision stayed, {ends}"
    if not certain:
        return f"Precision {ends}"
    return f"Precision {'fell' if after < before else 'rose'} {ends}"


def reason(
    verdict: Verdict,
    judgement: Judgement,
    rates: RatePairs,
    judged_within: str | None = None,
    *,
    because: Because | None = None,
    learned: bool = False,
    lately: MovedLately | None = None,
    segment: str = "",
) -> str:
    """Return why precision moved, and whether the model is at fault, in a few words.

    Args:
        verdict: what happened.
        judgement: what the verdict rests on.
        rates: recall and the false positive rate, each before and after.
        judged_within: the segment key whose mix alone changed, if that is so.
        because: why the verdict is `insufficient_evidence`; None for any other.
        learned: rates of wrong labels are learned from audits.
        lately: the stretch that moved though another one is judged; None where none did.
        segment: how a rate of a segment value became worse, a phrase; "" where none did.
    """
    if judged_within is not None:
        open_ = verdict in (Verdict.OPERATING_POINT_MOVED, Verdict.INSUFFICIENT_EVIDENCE)
        fault = "Whether the model is at fault is open." if open_ else "The model is not at fault."
        return f"the mix of {judged_within} changed. {fault}"
    if judgement.label_errors_changed:
        return f"{changed_labels(judgement)}."
    if lately is not None and because is Because.TOO_FEW:
        return f"{lately_words(lately)}."
    words = VERDICTS[verdict] if because is None else BECAUSE[because]
    return words.headline.format(
        positives=positives_moved(judgement.change["class_ratio"]),
        moved=_moved_together(judgement, rates, "threshold or scores moved"),
        slid=_moved_together(judgement, rates, "along the ROC curve of the reference"),
        open=_open_question(judgement, rates, lately, segment),
        narrower=_MORE_AUDITS if learned else _NARROWER,
    )


def _moved_together(judgement: Judgement, rates: RatePairs, what: str) -> str:
    change = judgement.change
    way = "fell" if change["recall"] < 0 else "rose"
    if judgement.status["class_ratio"] is Status.CHANGED:
        few = "fewer" if change["class_ratio"] < 0 else "more"
        return f"{few} positives; recall and FPR {way}, too: {what}."
    return f"{_both_rates(rates, way)}: {what}."


def _both_rates(rates: RatePairs, way: str) -> str:
    """Missed positives come first where both rates fell, false alarms where both rose."""
    ends = {name: [f"{end:.3f}" for end in rates.get(name, ())] for name in _RATES}
    if not both_known(rates) or any(old == new for old, new in ends.values()):
        return f"recall and FPR {way} together"
    digits = 3 if min(min(ends) for ends in rates.values()) < _SMALL else 2
    shown = [
        (METRIC_WORDS[name].short, " → ".join(short(end, digits) for end in rates[name]))
        for name in _RATES
    ]
    (one, first), (other, second) = shown if way == "fell" else shown[::-1]
    return f"{one} {way} {first}, {other} {second}"


def _open_question(
    judgement: Judgement, rates: RatePairs, lately: MovedLately | None, segment: str
) -> str:
    status = judgement.status
    if judgement.labels_may_explain:
        return open_by_labels(judgement)
    rate = next((name for name in _RATES if status[name] is Status.CHANGED), None)
    if status["log_likelihood_ratio"] is Status.CLEAN and rate is None:
        return "skill is as before. Whether prevalence changed is not certain."
    if status["log_likelihood_ratio"] is Status.CHANGED:
        fell = judgement.change["log_likelihood_ratio"] < 0
        return f"skill {'fell' if fell else 'rose'}, but too little evidence to blame one cause."
    if status["class_ratio"] is Status.CHANGED:
        way = "fewer" if judgement.change["class_ratio"] < 0 else "more"
        return f"certainly {way} positives. Whether skill changed is open."
    if rate is not None and both_known(rates):
        fell = judgement.change[rate] < 0
        how = f"{'fell' if fell else 'rose'} {from_to(*rates[rate])}"
        model = "worse" if fell == (rate == "recall") else "better"
        return f"{METRIC_WORDS[rate].short} {how}; {model} model or moved threshold? Open."
    return f"{_too_little(judgement, segment) if lately is None else lately_words(lately)}."


def _too_little(judgement: Judgement, segment: str) -> str:
    """A model whose precision rose is not asked for a fault."""
    if segment:
        return f"{segment}{NOT_BY_ALL}"
    rose = judgement.change["class_ratio"] + judgement.change["log_likelihood_ratio"] > 0
    return f"too little evidence to say {'why' if rose else 'whether the model is at fault'}"
