"""The two answers to every change: what moved precision, and is the model worse?

Every text for people takes both from here: the page, `diagnose`, `replay`, `top`, the API.
The first answer is the attribution and nearly always exists. The second is one of `yes`,
`no`, `not_shown` and `unknown`, with what the outcomes exclude.
"""

from __future__ import annotations

import math
import re
from typing import Literal

from msgspec import Struct
from msgspec.structs import replace

from monitor.drift import Judgement, Status, Verdict
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import DEGRADED, IMPROVED
from monitor.report.answer_parts import defined
from monitor.report.compared import FLAGS_NOTHING, Compared
from monitor.report.label_quality_words import (
    as_when_labels,
    labels_alone,
    labels_condition,
    more_are_wrong,
)
from monitor.report.likely_rates import RATE_OF, is_likely_better, likely_changes
from monitor.report.moved_precision import PrecisionAnswer, did_not_move, moved_precision
from monitor.report.rate_changes import RatePairs, both_known, change_text, short
from monitor.report.recall_words import (
    between,
    excludes_a_fall,
    open_by_range,
    recall_now,
    recall_of,
    recall_so_far,
    what_is_excluded,
)
from monitor.report.vocabulary import ADDITIVE_CAUSES, METRIC_WORDS
from monitor.report.worse_segment import NOT_BY_ALL

THRESHOLD_OR_SCORES = "threshold or scores moved"
"""What an operating point that moved may come from, a phrase."""

_PROVISIONAL = "compared with a provisional reference, which does not page yet"
_MAY_BE_WORSE = ("Yes: ", "Not shown: ")
_RATES = tuple(RATE_OF.values())
_FIGURES = re.compile(r" \([^()]*\)$")
_NOTHING_FLAGGED = "nothing is flagged{}, and precision is a share of flagged cases"
_UNDEFINED = "before or after there are no flagged cases, no positives or no negatives"


class WorseAnswer(Struct, frozen=True, kw_only=True):
    """Answer to "Is the model worse?".

    Attributes:
        answer: `yes`, `no`, `not_shown` or `unknown`.
        recall_lower: lower limit of recall after, by 95 %; null where it is not known.
        recall_upper: its upper limit.
        recall_excluded: recall after is not below this, whenever somebody looks; null
            where nothing is excluded.
        recall_visible: recall at which a fall would have been called one, with 80 %
            probability; null where nothing was compared, and where hardly a positive is missed.
        text: the answer in one line, without a full stop.
    """

    answer: Literal["yes", "no", "not_shown", "unknown"]
    recall_lower: float | None
    recall_upper: float | None
    recall_excluded: float | None
    recall_visible: float | None
    text: str


def what_moved_precision(found: Compared) -> PrecisionAnswer:
    """Return the cause with the largest part in the change of precision, and its part.

    Where it is not known, the figures in parentheses stand in the other answer alone.

    Args:
        found: what was found.
    """
    if found.classes is not None:
        return PrecisionAnswer(cause=None, certain=False, text=found.classes.moved)
    if obstacle := found.obstacle or found.reaches_back or _undefined(found) or found.few:
        if (still := _still(found)) is not None:
            return still
        why = _FIGURES.sub("", obstacle)
        return PrecisionAnswer(cause=None, certain=False, text=f"Not known: {why}")
    return moved_precision(found.change, found.parts, found.rates["recall"], _unsure_causes(found))


def _unsure_causes(found: Compared) -> tuple[str, ...]:
    """Return the causes that the verdict is not sure of."""
    if found.judgement is None:
        return ()
    status = found.judgement.status
    return tuple(n for n, row in ADDITIVE_CAUSES.items() if status[row.component] is Status.UNKNOWN)


def _still(found: Compared) -> PrecisionAnswer | None:
    """Return that precision did not certainly move, as labelled, where labels explain the rest."""
    judgement = found.judgement
    changed = judgement is not None and judgement.label_errors_changed
    return did_not_move(found.change) if changed else None


def _undefined(found: Compared) -> str:
    """Return why there is no precision to compare now; "" where there is."""
    if found.flags != FLAGS_NOTHING:
        return "" if math.isfinite(found.change.estimate) else _UNDEFINED
    dead = found.by_predictions or (found.judgement is not None and found.judgement.dead)
    return _NOTHING_FLAGGED.format(" any more" if dead else "")


def is_model_worse(found: Compared) -> WorseAnswer:
    """Return whether the model is worse, and what the outcomes exclude.

    Args:
        found: what was found.
    """
    if found.classes is not None:
        return _answer(found, found.classes.worse, found.classes.why)
    answer = _is_binary_worse(found)
    alone = found.provisional and not found.pages and answer.text.startswith(_MAY_BE_WORSE)
    against = found.against or (_PROVISIONAL if alone else "")
    compared = f", {against}" if against else ""
    answer = replace(answer, text=f"{answer.text}{compared}{doubt_beside(found)}")
    answer = replace(answer, text=f"{answer.text}{_segment_beside(found, answer)}")
    if not found.worse_version:
        return answer
    return replace(answer, text=f"{answer.text}. {found.worse_version}")


def doubt_beside(found: Compared) -> str:
    """Return why labels are in doubt, as what follows the answer that rests on them.

    Args:
        found: what was found.

    Returns:
        "" where they are not in doubt, and where the answer is unknown without it.
    """
    if not found.doubted or found.classes is not None:
        return ""
    return "" if _is_binary_worse(found).answer == "unknown" else f", but {found.doubted}"


def _is_binary_worse(found: Compared) -> WorseAnswer:
    judgement, obstacle = found.judgement, found.obstacle or _no_positives(found)
    is_worse = found.verdict in DEGRADED or found.pages
    if obstacle or judgement is None or (found.mixed and not is_worse):
        return _uncompared(found, obstacle)
    if is_worse:
        doubt = _page_in_doubt(found, judgement)
        text = f"Not shown: {doubt}" if doubt else f"Yes: {_how_worse(found, judgement)}"
        return _answer(found, "not_shown" if doubt else "yes", text)
    if better := _how_better(found, judgement):
        return _answer(found, "no", better)
    if doubt := _beside(
        found.worse_lately or _doubt(found, judgement) or _by_segment(found),
        by_predictions=found.by_predictions,
    ):
        return _answer(found, "not_shown", f"Not shown: {doubt}")
    if found.verdict is Verdict.INSUFFICIENT_EVIDENCE:
        together = "Not shown for all versions together"
        is_open = _is_by_rates(found) or found.because is Because.LABEL_ERRORS
        quiet = "Not shown" if is_open else "Nothing points to it"
        start = together if found.worse_version else quiet
        likely = "" if found.because is Because.STEADY else likely_changes(found)
        better = f"{likely}, and " if likely else ""
        return _answer(found, "not_shown", f"{start}: {better}{what_is_excluded(found)}")
    return _answer(found, "no", f"No: {_why_not(found, judgement)}")


def _by_segment(found: Compared) -> str:
    """Return the segment value that became worse while all cases leave it open; "" for none."""
    is_open = found.worse_segment and found.verdict is Verdict.INSUFFICIENT_EVIDENCE
    return f"{found.worse_segment}{NOT_BY_ALL}" if is_open else ""


def _segment_beside(found: Compared, answer: WorseAnswer) -> str:
    """Return the segment value that became worse beside another answer that does not name it."""
    phrase = found.worse_segment
    told = not phrase or phrase in answer.text or answer.answer in ("yes", "unknown")
    return "" if told else f"; {'but ' if answer.answer == 'no' else ''}{phrase}"


def _page_in_doubt(found: Compared, judgement: Judgement) -> str:
    """Return that a page lasts whose change labels explain by now; "" where they do not."""
    shown = found.verdict in DEGRADED or found.worse_lately or found.by_predictions
    if shown or judgement.dead or not judgement.labels_may_explain:
        return ""
    return f"{found.lasting_page}, but {_slid(found, judgement)}; {as_when_labels(judgement)}"


def _is_by_rates(found: Compared) -> bool:
    """Return whether precision certainly fell, and a rate is the likeliest cause."""
    moved = found.because is Because.MOVED and found.change.estimate < 0
    return moved and what_moved_precision(found).cause in RATE_OF


def _how_better(found: Compared, judgement: Judgement) -> str:
    """Return that the model is better, or its labels are: in neither case is it worse; else ""."""
    if found.verdict in IMPROVED:
        return f"No, it is better: {how_rates_moved(found.rates, judgement)}"
    rose = judgement.change["odds_ratio"] > 0 and not more_are_wrong(judgement)
    elsewhere = found.worse_lately or found.by_predictions
    if not (judgement.labels_may_explain and rose and _rates_moved(judgement)) or elsewhere:
        return ""
    condition = labels_condition(judgement)
    return f"No: {_slid(found, judgement)}{condition}; it is better, or {labels_alone(judgement)}"


def _uncompared(found: Compared, obstacle: str) -> WorseAnswer:
    """Return the answer where nothing is compared, or with a reference of two states.

    What outcomes exclude needs no comparison, but a recall that is usual.
    """
    doubt = _beside(found.worse_lately, by_predictions=found.by_predictions)
    if not obstacle and doubt:
        return _answer(found, "not_shown", f"Not shown: {doubt}")
    if not (obstacle or found.mixed) and math.isfinite(found.recall.excluded):
        return _answer(found, "not_shown", f"Nothing points to it: {what_is_excluded(found)}")
    text = f"Cannot be known: {obstacle or found.mixed or found.reaches_back}{recall_so_far(found)}"
    return _answer(found, "unknown", text)


def _why_not(found: Compared, judgement: Judgement) -> str:
    """Return why the model is not worse."""
    if judgement.on_reference_curve:
        return f"{_slid(found, judgement)}, along the ROC curve of the reference"
    skill = judgement.status["log_likelihood_ratio"]
    by_skill = skill is Status.CLEAN and not excludes_a_fall(found)
    return "skill (log LR+) is as before" if by_skill else what_is_excluded(found)


def _no_positives(found: Compared) -> str:
    none = math.isnan(found.rates["recall"][1]) and math.isnan(found.recall.excluded)
    return "there are no positives" if none and not found.pages else ""


def _doubt(found: Compared, judgement: Judgement) -> str:
    """Return the changes that may be a worse model and are not shown to be one; "" for none."""
    if found.mix_of:
        open_ = found.verdict is Verdict.INSUFFICIENT_EVIDENCE
        return f"the mix of {found.mix_of} changed, which explains most of it" if open_ else ""
    slides = judgement.operating_point_moved and not judgement.on_reference_curve
    if slides or found.verdict is Verdict.OPERATING_POINT_MOVED:
        return f"{_slid(found, judgement)}; {THRESHOLD_OR_SCORES}"
    if found.verdict is not Verdict.INSUFFICIENT_EVIDENCE:
        return ""
    by_labels = judgement.labels_may_explain
    if by_labels or any(judgement.status[name] is Status.CHANGED for name in _RATES):
        slid = f"{_slid(found, judgement)}; " if not by_labels or _rates_moved(judgement) else ""
        other = f"{_direction(judgement)}, or another threshold"
        return f"{slid}{as_when_labels(judgement) if by_labels else other}"
    if judgement.status["log_likelihood_ratio"] is Status.CHANGED:
        way = "fell" if judgement.change["log_likelihood_ratio"] < 0 else "rose"
        return f"recall over the false positive rate {way}, but neither of them certainly moved"
    likely = (
        "" if found.because is Because.STEADY or is_likely_better(found) else likely_changes(found)
    )
    return likely and f"{likely}; another threshold, or another model"


def _rates_moved(judgement: Judgement) -> bool:
    """Return whether a rate, or the odds ratio, certainly moved, at all rates of wrong labels."""
    return not {*_RATES, "odds_ratio"}.isdisjoint((*judgement.fell, *judgement.rose))


def _beside(doubt: str, *, by_predictions: str) -> str:
    """Return what leaves the answer open by predictions alone, and by labels; "" for neither."""
    if not by_predictions:
        return doubt
    return f"it {by_predictions}; {doubt or 'labels do not show a worse model yet'}"


def _answer(
    found: Compared, answer: Literal["yes", "no", "not_shown", "unknown"], text: str
) -> WorseAnswer:
    return WorseAnswer(
        answer=answer,
        recall_lower=defined(found.recall.lower),
        recall_upper=defined(found.recall.upper),
        recall_excluded=defined(found.recall.excluded) or None,
        recall_visible=defined(found.recall_visible),
        text=text,
    )


def _direction(judgement: Judgement) -> str:
    """Return the meaning of the one rate that changed: a worse model, or a better one."""
    recall = judgement.status["recall"] is Status.CHANGED
    change = judgement.change["recall" if recall else "false_positive_rate"]
    return "worse" if (change < 0) == recall else "better"


def _how_worse(found: Compared, judgement: Judgement) -> str:
    if judgement.dead:
        return _how_dead(found)
    unusual = f"it {found.by_predictions}" if found.by_predictions else ""
    degraded = found.verdict in DEGRADED
    moved = how_rates_moved(found.rates, judgement) if degraded else found.worse_lately
    if unusual or moved:
        return "; ".join(filter(None, (unusual, moved)))
    return f"{found.lasting_page}{recall_now(found)}"


def _how_dead(found: Compared) -> str:
    if found.by_predictions:
        return f"it {found.by_predictions}"
    if found.flags:
        return f"it flags {found.flags}"
    if found.is_inverted:
        return "it flags negatives more often than positives"
    return "it hardly tells the classes apart any more"


def how_rates_moved(rates: RatePairs, judgement: Judgement) -> str:
    """Return how the rates moved; which way they separate where only the odds ratio did.

    Args:
        rates: recall and the false positive rate, each before and after.
        judgement: of the change between them.
    """
    changed = [name for name in _RATES if judgement.status[name] is Status.CHANGED]
    if changed and both_known(rates):
        return " and ".join(
            f"{METRIC_WORDS[name].phrase} {change_text(*rates[name])}" for name in changed
        )
    change = judgement.change["odds_ratio"]
    which = "worse" if change < 0 else "better"
    return f"it separates the classes {which}: odds ratio {math.exp(change):.2g} times that before"


def _slid(found: Compared, judgement: Judgement) -> str:
    if range_open := open_by_range(found):
        return range_open
    if judgement.status["recall"] is Status.CHANGED and math.isfinite(found.recall.lower):
        was = short(found.rates["recall"][0], 2)
        return f"{recall_of(found)} is {between(found.recall)}, was {was}"
    return how_rates_moved(found.rates, judgement)
