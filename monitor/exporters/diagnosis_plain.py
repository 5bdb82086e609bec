"""A diagnosis in whole sentences for somebody who sees one for the first time.

What the text, the page and the JSON say of each cause, so that all three say the same.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.diagnosis import Diagnosis
from monitor.drift import Status, Verdict
from monitor.drift.skill import EQUIVALENCE

_COMPONENT_OF = {
    "prevalence": "class_ratio",
    "recall": "recall",
    "false_positives": "false_positive_rate",
    "skill": "log_likelihood_ratio",
}
_NEARLY_ALL = 0.85
_OPEN = frozenset({Verdict.OPERATING_POINT_MOVED, Verdict.INSUFFICIENT_EVIDENCE})


def said_of(diagnosis: Diagnosis, cause: str) -> str:
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
    said = " ".join(said_of(diagnosis, cause) for cause in diagnosis.attribution)
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


def plainly(diagnosis: Diagnosis) -> tuple[str, ...]:
    """What happened, in sentences that need no knowledge of the words; none where it is clear."""
    return tuple(_plainly(diagnosis)) if diagnosis.refusal is None else ()


def _plainly(diagnosis: Diagnosis) -> Iterator[str]:
    open_question = diagnosis.verdict in _OPEN or diagnosis.operating_point_moved
    if open_question:
        yield from _prevalence(diagnosis)
    if diagnosis.operating_point_moved:
        yield from _slide(diagnosis)
    yield from _curve(diagnosis)
    if open_question:
        yield from _skill(diagnosis)


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
    fell = diagnosis.judgement.change["recall"] < 0
    way, cause = ("fell", "higher") if fell else ("rose", "lower")
    recall, false = (diagnosis.attribution[c].points for c in ("recall", "false_positives"))
    weighed = ""
    if math.isfinite(recall) and math.isfinite(false):
        weighed = f"; what they do to precision is {_points(recall)} and {_points(false)} points"
    yield (
        f"Recall and the false positive rate {way} together, as with a {cause} threshold or with "
        f"scores that slid along the ROC curve; these two alone do not show a worse model{weighed}."
    )


def _curve(diagnosis: Diagnosis) -> Iterator[str]:
    if diagnosis.below_reference_curve is None:
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
    if judgement.status["log_likelihood_ratio"] is Status.CLEAN:
        yield "The model tells positives from others as well as before."
    elif judgement.status["log_likelihood_ratio"] is Status.UNKNOWN and math.isfinite(error):
        yield (
            "Whether the model tells positives from others worse is open: its skill (log LR+) "
            f"moved by {change:+.2f} ± {error:.2f}, which shows no change and rules none out."
        )


def _points(share: float) -> str:
    return f"{100 * share:+.1f}"
