"""A diagnosis in whole sentences for somebody who sees one for the first time.

What the text, the page and the JSON say of each cause, so that all three say the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.diagnosis import Diagnosis
from monitor.drift import Judgement, Status, Verdict
from monitor.drift.skill import EQUIVALENCE
from monitor.drift.verdict import DEGRADED
from monitor.report.headline import rates_of
from monitor.report.rates import both_known, change_text

_COMPONENT_OF = {
    "prevalence": "class_ratio",
    "recall": "recall",
    "false_positives": "false_positive_rate",
    "skill": "log_likelihood_ratio",
}
_RATES = {"recall": "recall", "false_positive_rate": "the false positive rate"}
_NEARLY_ALL = 0.85
_OPEN = frozenset({Verdict.OPERATING_POINT_MOVED, Verdict.INSUFFICIENT_EVIDENCE})


def cause_status(diagnosis: Diagnosis, cause: str) -> str:
    """What is known of a cause, in a word or two.

    An interval that leaves out 0 while the verdict is not sure of a change is said to be
    `likely`; a change that is certain, and certainly small, to be `a little`.
    """
    part, change = diagnosis.attribution[cause], diagnosis.judgement.change[_COMPONENT_OF[cause]]
    if diagnosis.refusal is not None:
        return "not known"
    way = "fell" if change < 0 else "rose"
    if part.status is Status.CHANGED:
        return way
    beyond = part.lower_points > 0 or part.upper_points < 0
    if part.status is Status.CLEAN:
        return f"{way} a little" if beyond else "as before"
    return f"likely {way}" if beyond else "not certain"


def footnotes(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What the words for the causes mean, of those that need it."""
    said = " ".join(cause_status(diagnosis, cause) for cause in diagnosis.attribution)
    return tuple(
        sentence
        for word, sentence in (
            (
                "likely",
                (
                    "likely: the 95 % interval leaves out 0, but a verdict asks for more: to be "
                    "wrong once in a hundred times over all causes together."
                ),
            ),
            (
                "a little",
                (
                    f"a little: it moved, and certainly by less than {EQUIVALENCE:g} in log-odds, "
                    "which counts as unchanged."
                ),
            ),
        )
        if word in said
    )


def explanation(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What happened, in sentences that need no knowledge of the words; none where it is clear."""
    return tuple(_explanation(diagnosis)) if diagnosis.refusal is None else ()


def _explanation(diagnosis: Diagnosis) -> Iterator[str]:
    open_question = diagnosis.verdict in _OPEN or diagnosis.operating_point_moved
    if open_question:
        yield from _prevalence(diagnosis)
    yield from _rates(diagnosis)
    if diagnosis.operating_point_moved:
        yield from _slide(diagnosis)
    yield from _curve(diagnosis)
    if open_question:
        yield from _skill(diagnosis)
    if diagnosis.verdict is Verdict.INSUFFICIENT_EVIDENCE:
        yield from _likely(diagnosis)
    if diagnosis.verdict in DEGRADED | {Verdict.OPERATING_POINT_MOVED}:
        yield (
            "First see what was changed between before and after: the threshold, the model, or "
            "what reaches it."
        )


def _rates(diagnosis: Diagnosis) -> Iterator[str]:
    """What became of recall and the false positive rate where that is the model's doing."""
    judgement, rates = diagnosis.judgement, rates_of(diagnosis)
    moved = [name for name in _RATES if judgement.status[name] is Status.CHANGED]
    if not moved or not both_known(rates):
        return
    names = [*_RATES] if judgement.change["recall"] < 0 else [*_RATES][::-1]
    said = [f"{_RATES[name]} {change_text(*rates[name])}" for name in names if name in moved]
    text = "; ".join(said)
    yield f"{text[0].upper()}{text[1:]}{_weighed(diagnosis)}."
    if diagnosis.verdict in DEGRADED or diagnosis.verdict in _OPEN:
        if judgement.status["class_ratio"] is Status.CLEAN:
            yield "Positives are as frequent as before: prevalence is not the cause."
        elif judgement.status["class_ratio"] is Status.UNKNOWN:
            yield "Whether prevalence changed, too, is not certain."


def _weighed(diagnosis: Diagnosis) -> str:
    recall, false = (diagnosis.attribution[c].points for c in ("recall", "false_positives"))
    if not (math.isfinite(recall) and math.isfinite(false)):
        return ""
    return f" (points of precision: recall {_points(recall)}, false positives {_points(false)})"


def _prevalence(diagnosis: Diagnosis) -> Iterator[str]:
    judgement = diagnosis.judgement
    if judgement.status["class_ratio"] is not Status.CHANGED:
        return
    way = "fewer" if judgement.change["class_ratio"] < 0 else "more"
    part, whole = diagnosis.attribution["prevalence"].points, diagnosis.change_points
    if not (math.isfinite(part) and whole):
        yield f"There are certainly {way} positives."
        return
    share = part / whole
    much = "about all of it" if _NEARLY_ALL <= share <= 2 - _NEARLY_ALL else "its own part in it"
    yield (
        f"There are certainly {way} positives, which is {much}: {_points(part)} of the "
        f"{_points(whole)} points of precision."
    )


def _slide(diagnosis: Diagnosis) -> Iterator[str]:
    """Whose doing it is that both rates went the same way, and what it does not show."""
    fell = diagnosis.judgement.change["recall"] < 0
    way, few, cause = ("fell", "fewer", "higher") if fell else ("rose", "more", "lower")
    yield (
        f"Recall and the false positive rate {way} together: {few} cases are flagged, as with a "
        f"{cause} threshold or with scores that slid along the ROC curve. These two alone do not "
        "show a worse model."
    )
    whole = diagnosis.change_points
    if fell and whole > 0:
        yield "The better precision is paid for with positives that are missed."
    elif not fell and whole < 0:
        yield "The positives found beyond before are paid for with false positives."


def _curve(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.below_reference_curve is None:
        clean = diagnosis.judgement.status["log_likelihood_ratio"] is Status.CLEAN
        if diagnosis.operating_point_moved and not clean:
            yield (
                "Labelled scores of both times, which tell a slide from a worse model, are not "
                "at hand here."
            )
        return
    if diagnosis.below_reference_curve:
        yield (
            "The scores tell a worse model from a slide of the threshold: recall lies certainly "
            "below the ROC curve of before at today's false positive rate."
        )
    else:
        yield (
            "The scores were asked, too: recall is not certainly below the ROC curve of before at "
            "today's false positive rate."
        )


def _skill(diagnosis: Diagnosis) -> Iterator[str]:
    judgement = diagnosis.judgement
    change, error = (
        values["log_likelihood_ratio"] for values in (judgement.change, judgement.standard_error)
    )
    status, way = judgement.status["log_likelihood_ratio"], "fell" if change < 0 else "rose"
    rates = [judgement.status[name] for name in _RATES]
    by_one = Status.CHANGED in rates and not diagnosis.operating_point_moved
    if by_one and (status is Status.CLEAN or Status.UNKNOWN not in rates):
        yield _hardly_apart(judgement)
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
            f"moved by {change:+.2f} ± {error:.2f}, which shows no change and rules none out."
        )


def _hardly_apart(judgement: Judgement) -> str:
    """Why one rate that changed is not laid to the model."""
    change, error = judgement.change, judgement.standard_error["odds_ratio"]
    by_recall = judgement.status["recall"] is Status.CHANGED
    worse = change["recall"] < 0 if by_recall else change["false_positive_rate"] > 0
    return (
        "How well the classes are told apart (log odds ratio) moved by "
        f"{change['odds_ratio']:+.2f} ± {error:.2f}: too little to tell a "
        f"{'worse' if worse else 'better'} model from a slide of the threshold."
    )


def _unplaced(diagnosis: Diagnosis, how: str) -> Iterator[str]:
    """Skill changed, and nothing says by which of the two rates."""
    judgement = diagnosis.judgement
    open_rates = [_RATES[name] for name in _RATES if judgement.status[name] is Status.UNKNOWN]
    fell = judgement.change["log_likelihood_ratio"] < 0
    yield (
        f"Skill (log LR+) certainly {how}; what became of {' and '.join(open_rates)} is not "
        f"certain, so that a {'worse' if fell else 'better'} model cannot be told from a slide "
        "of the threshold."
    )
    if fell and diagnosis.change_points > 0:
        yield "Precision rose all the same: it does not show that skill fell."
    elif not fell and diagnosis.change_points < 0:
        yield "Precision fell all the same: it does not show that skill rose."


def _likely(diagnosis: Diagnosis) -> Iterator[str]:
    """What the intervals say where the verdict is not sure."""
    said = [
        f"{cause.replace('_', ' ')} {word} ({_points(diagnosis.attribution[cause].points)} points)"
        for cause in ("prevalence", "recall", "false_positives")
        for likely, _, word in [cause_status(diagnosis, cause).partition(" ")]
        if likely == "likely"
    ]
    if said:
        yield f"Likely, not certainly: {', '.join(said)}."


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
