"""A diagnosis in whole sentences for somebody who sees one for the first time.

The text, the page and the JSON of a diagnosis take their sentences about causes from here.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.diagnosis import Diagnosis
from monitor.drift import Judgement, Status, Verdict
from monitor.drift.skill import EQUIVALENCE
from monitor.drift.verdict import DEGRADED
from monitor.report.headline import rates_of
from monitor.report.label_quality_words import (
    as_when_labels,
    changed_labels,
    labels_condition,
    other_cause,
    same_trace,
)
from monitor.report.metric_words import titled
from monitor.report.missing_class import missing_class
from monitor.report.moved_precision import Points
from monitor.report.points import points_text
from monitor.report.rate_changes import both_known, change_text
from monitor.report.score_words import cancelling_sentence
from monitor.report.vocabulary import ADDITIVE_CAUSES, CAUSES, METRIC_WORDS

_RATES = {name: METRIC_WORDS[name].phrase for name in ("recall", "false_positive_rate")}
_NEARLY_ALL = 0.85
_OPEN = frozenset({Verdict.OPERATING_POINT_MOVED, Verdict.INSUFFICIENT_EVIDENCE})
_LIKELY, _A_LITTLE = "likely", "a little"


def cause_status(diagnosis: Diagnosis, cause: str) -> str:
    """Return what is known of a cause, in a word or two.

    It is `likely` where its interval leaves out 0 while the verdict is not sure of a
    change, and `a little` where it certainly changed, and certainly not by much. Where other labels
    explain the changes, it adds that condition.

    Args:
        diagnosis: what was found.
        cause: one of `monitor.drift.CAUSES`.
    """
    part = diagnosis.attribution[cause]
    change = diagnosis.judgement.change[CAUSES[cause].component]
    if diagnosis.refusal is not None:
        return "not known"
    way = f"{'fell' if change < 0 else 'rose'}{labels_condition(diagnosis.judgement, brief=True)}"
    if part.status is Status.CHANGED:
        return way
    beyond = part.lower_points > 0 or part.upper_points < 0
    if part.status is Status.CLEAN:
        return f"{way} {_A_LITTLE}" if beyond else "as before"
    return f"{_LIKELY} {way}" if beyond else "not certain"


def footnotes(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return what the words of `cause_status` mean, of those that need it."""
    used = " ".join(cause_status(diagnosis, cause) for cause in diagnosis.attribution)
    meanings = {
        _LIKELY: "likely: the 95 % interval leaves out 0, but a verdict asks for more: to be "
        "wrong once in a hundred times over all causes together.",
        _A_LITTLE: f"a little: it moved, and certainly by less than {EQUIVALENCE:g} in log-odds, "
        "which counts as unchanged.",
    }
    return tuple(sentence for word, sentence in meanings.items() if word in used)


def explanation(diagnosis: Diagnosis) -> tuple[str, ...]:
    """Return what happened in sentences that need no knowledge of the terms.

    Returns:
        None at all where the verdict says it all, or labels do not allow one.
    """
    return tuple(_explanation(diagnosis)) if diagnosis.refusal is None else ()


def _explanation(diagnosis: Diagnosis) -> Iterator[str]:
    open_question = diagnosis.verdict in _OPEN or diagnosis.operating_point_moved
    if open_question:
        yield from _prevalence(diagnosis)
    yield from _rates(diagnosis)
    if diagnosis.operating_point_moved:
        yield from _slide(diagnosis)
    yield from _curve(diagnosis)
    yield from _cancelling(diagnosis)
    if open_question and not diagnosis.judgement.labels_may_explain:
        yield from _skill(diagnosis)
    if diagnosis.verdict is Verdict.INSUFFICIENT_EVIDENCE:
        yield from _likely(diagnosis)
    if diagnosis.judgement.labels_may_explain:
        text = as_when_labels(diagnosis.judgement)
        yield f"{titled(text)}; {same_trace(diagnosis.judgement)}."
    if diagnosis.judgement.label_errors_changed and diagnosis.judgement.by_audits:
        yield f"{titled(changed_labels(diagnosis.judgement))}."
    elif diagnosis.judgement.label_errors_changed:
        yield (
            f"{titled(changed_labels(diagnosis.judgement))}. Scores that slid or spread do not "
            f"explain it, so that the only other cause is {other_cause(diagnosis.judgement)}."
        )
    if diagnosis.verdict in DEGRADED | {Verdict.OPERATING_POINT_MOVED, Verdict.THRESHOLD_MOVED}:
        yield (
            "First see what was changed between before and after: the threshold, the model, or "
            "what reaches it."
        )


def _rates(diagnosis: Diagnosis) -> Iterator[str]:
    """How recall and the false positive rate changed, where one certainly did."""
    judgement, rates = diagnosis.judgement, rates_of(diagnosis)
    changed = [name for name in _RATES if judgement.status[name] is Status.CHANGED]
    if not changed or not both_known(rates):
        return
    names = [*_RATES] if judgement.change["recall"] < 0 else [*_RATES][::-1]
    text = "; ".join(
        f"{_RATES[name]} {change_text(*rates[name])}" for name in names if name in changed
    )
    text = f"{text}{labels_condition(judgement)}"
    yield f"{text[0].upper()}{text[1:]}{_points_of_both(diagnosis)}."
    if diagnosis.verdict in DEGRADED or diagnosis.verdict in _OPEN:
        if judgement.status["class_ratio"] is Status.CLEAN:
            yield "Positives are as frequent as before: prevalence is not the cause."
        elif judgement.status["class_ratio"] is Status.UNKNOWN:
            status = cause_status(diagnosis, "prevalence")
            likely = status.startswith(_LIKELY)
            yield (
                f"Prevalence {status}, too."
                if likely
                else "Whether prevalence changed, too, is not certain."
            )


def _points_of_both(diagnosis: Diagnosis) -> str:
    parts = {
        CAUSES[cause].words: diagnosis.attribution[cause].points
        for cause in ("recall", "false_positives")
    }
    if not all(map(math.isfinite, parts.values())):
        return ""
    points = ", ".join(f"{words} {points_text(share)}" for words, share in parts.items())
    return f" (points of precision: {points})"


def _prevalence(diagnosis: Diagnosis) -> Iterator[str]:
    judgement = diagnosis.judgement
    if judgement.status["class_ratio"] is not Status.CHANGED:
        return
    way = "fewer" if judgement.change["class_ratio"] < 0 else "more"
    part, whole = diagnosis.attribution["prevalence"].points, diagnosis.change_points
    if not (math.isfinite(part) and whole):
        yield f"There are certainly {way} positives{labels_condition(judgement)}."
        return
    share = part / whole
    all_of_it = _NEARLY_ALL <= share <= 2 - _NEARLY_ALL
    much = ", which is about all of it:" if all_of_it else "; their part is"
    yield (
        f"There are certainly {way} positives{labels_condition(judgement)}{much} "
        f"{points_text(part)} of the {points_text(whole)} points of precision."
    )


def _slide(diagnosis: Diagnosis) -> Iterator[str]:
    """Why both rates moved the same way, and what that does not show."""
    fell = diagnosis.judgement.change["recall"] < 0
    way, few, cause = ("fell", "fewer", "higher") if fell else ("rose", "more", "lower")
    yield (
        f"Recall and the false positive rate {way} together: {few} cases are flagged, as with a "
        f"{cause} threshold or with scores that slid along the ROC curve. These two alone do not "
        "show a worse model."
    )
    whole = diagnosis.change_points
    if fell and whole > 0:
        yield "Precision rose at the cost of recall: more positives are missed."
    elif not fell and whole < 0:
        yield "Recall rose at the cost of precision: more negatives are flagged."


def _curve(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.judgement.label_errors_changed and diagnosis.below_reference_curve:
        return  # wrong labels lower the curve as well
    if diagnosis.below_reference_curve is None:
        clean = diagnosis.judgement.status["log_likelihood_ratio"] is Status.CLEAN
        if diagnosis.operating_point_moved and not clean and not _has_scores(diagnosis):
            yield (
                "Labelled scores of both times, which distinguish a slide from a worse model, "
                "are not available here."
            )
        return
    if diagnosis.judgement.on_reference_curve:
        yield (
            f"The scores show {_moved_along(diagnosis)} and no worse model: recall lies on the ROC "
            "curve of before at today's false positive rate."
        )
    elif diagnosis.below_reference_curve and diagnosis.judgement.labels_may_explain:
        yield (
            "Recall lies certainly below the ROC curve of before at today's false positive rate: "
            "another threshold alone does not explain it, but a worse model does, and so do other "
            "labels."
        )
    elif diagnosis.below_reference_curve:
        moved = _threshold_moved(diagnosis)
        beside = " beside another threshold" if moved else ", not a slide of the threshold"
        yield (
            f"The scores show a worse model{beside}: recall lies certainly "
            "below the ROC curve of before at today's false positive rate."
        )
    else:
        yield (
            "By the scores, too, recall is not certainly below the ROC curve of before at "
            "today's false positive rate."
        )


def _has_scores(diagnosis: Diagnosis) -> bool:
    """Return whether both times have scores; notes say why the curve does not decide then."""
    found = diagnosis.scores
    return found is not None and found.before is not None and found.after is not None


def _threshold_moved(diagnosis: Diagnosis) -> bool:
    found = None if diagnosis.scores is None else diagnosis.scores.thresholds
    return found is not None and found.is_raised is not None


def _moved_along(diagnosis: Diagnosis) -> str:
    """Return what moved the point along the ROC curve, as far as scores of all cases show it."""
    found = None if diagnosis.scores is None else diagnosis.scores.thresholds
    if found is not None and found.is_raised_alone is not None:
        return "another threshold"
    if found is not None and found.scores_shifted:
        return "a slide of all scores"
    return "a slide of the threshold, or of all scores,"


def _cancelling(diagnosis: Diagnosis) -> Iterator[str]:
    """That skill is as before though the curve may not be."""
    judgement, scores = diagnosis.judgement, diagnosis.scores
    clean = judgement.status["log_likelihood_ratio"] is Status.CLEAN
    if not clean or scores is None or scores.parts is None or judgement.labels_may_explain:
        return
    parts = (Points(*part[1:]) for part in (scores.parts.threshold, scores.parts.curve))
    if (text := cancelling_sentence(*parts)) is not None:
        yield text


def _skill(diagnosis: Diagnosis) -> Iterator[str]:
    if missing := missing_class(diagnosis.before.counts, diagnosis.after.counts):
        yield f"Whether the model tells positives from others worse cannot be known: {missing}."
        return
    judgement = diagnosis.judgement
    change, error = (
        values["log_likelihood_ratio"] for values in (judgement.change, judgement.standard_error)
    )
    status, way = judgement.status["log_likelihood_ratio"], "fell" if change < 0 else "rose"
    rates = [judgement.status[name] for name in _RATES]
    by_one = Status.CHANGED in rates and not diagnosis.operating_point_moved
    if by_one and (status is Status.CLEAN or Status.UNKNOWN not in rates):
        yield _hardly_apart(judgement)
    elif status is Status.CLEAN and diagnosis.below_reference_curve:
        yield (
            "Skill (log LR+) is as before, as where a higher threshold makes up in precision for "
            "a worse model."
        )
    elif status is Status.CLEAN:
        yield "The model tells positives from others as well as before."
    elif status is Status.CHANGED and diagnosis.operating_point_moved:
        yield (
            f"Skill (log LR+) certainly {way}, by {abs(change):.2f} ± {error:.2f}, but it does so "
            f"by itself when {'more' if change < 0 else 'fewer'} cases are flagged: the model is "
            f"not shown to be {'worse' if change < 0 else 'better'}."
        )
    elif status is Status.CHANGED:
        yield from _unplaced(diagnosis, f"{way}, by {abs(change):.2f} ± {error:.2f}")
    elif math.isfinite(error):
        yield (
            "Whether the model tells positives from others worse is open: its skill (log LR+) "
            f"moved by {change:+.2f} ± {error:.2f}, which is not certainly a change."
        )


def _hardly_apart(judgement: Judgement) -> str:
    """Why one rate that changed does not show a worse, or a better, model."""
    change, error = judgement.change, judgement.standard_error["odds_ratio"]
    by_recall = judgement.status["recall"] is Status.CHANGED
    worse = change["recall"] < 0 if by_recall else change["false_positive_rate"] > 0
    return (
        "The separation of the classes (log odds ratio) moved by "
        f"{change['odds_ratio']:+.2f} ± {error:.2f}: too little to distinguish a "
        f"{'worse' if worse else 'better'} model from a slide of the threshold."
    )


def _unplaced(diagnosis: Diagnosis, how: str) -> Iterator[str]:
    """Skill changed, and neither rate certainly did."""
    judgement = diagnosis.judgement
    open_rates = [_RATES[name] for name in _RATES if judgement.status[name] is Status.UNKNOWN]
    fell = judgement.change["log_likelihood_ratio"] < 0
    yield (
        f"Skill (log LR+) certainly {how}; the change of {' and '.join(open_rates)} is not "
        f"certain, so that a {'worse' if fell else 'better'} model cannot be distinguished from "
        "a slide of the threshold."
    )
    if fell and diagnosis.change_points > 0:
        yield "Precision rose all the same: it does not show that skill fell."
    elif not fell and diagnosis.change_points < 0:
        yield "Precision fell all the same: it does not show that skill rose."


def _likely(diagnosis: Diagnosis) -> Iterator[str]:
    """Causes whose intervals leave out 0 though the verdict is not sure of them.

    Where precision certainly moved, only those that moved it that way, or that are part of a
    change of skill that is certain.
    """
    judgement = diagnosis.judgement
    skill = judgement.change["log_likelihood_ratio"]
    certain = judgement.status["log_likelihood_ratio"] is Status.CHANGED
    rose, fell = diagnosis.change_lower_points > 0, diagnosis.change_upper_points < 0
    changes = [
        f"{row.words} {way} ({points_text(diagnosis.attribution[cause].points)} points)"
        for cause, row in ADDITIVE_CAUSES.items()
        for likely, _, way in [cause_status(diagnosis, cause).partition(" ")]
        if likely == _LIKELY
        for points in [diagnosis.attribution[cause].points]
        if not ((rose and points < 0) or (fell and points > 0)) or (certain and skill * points > 0)
    ]
    if changes:
        yield f"Likely, not certainly: {', '.join(changes)}."
