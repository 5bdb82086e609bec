"""The words for labels that may follow the decisions of the model."""

from __future__ import annotations

import math

from monitor.counts import ConfusionCounts
from monitor.labels.uncorrected import (
    HIGH_RECALL,
    MODEST_PRECISION,
    MODEST_RECALL,
    MissingMisses,
)


def following_text(found: MissingMisses, before: str, after: str) -> str:
    """Return that labels may follow the decisions, and what an audit would show, as a clause.

    Where more than a high recall speaks for it, that comes first.

    Args:
        found: unflagged cases without positives.
        before: what the earlier cases are of, such as "of before".
        after: what the later ones are of.

    >>> one = ConfusionCounts(tp=25_000, fp=20, fn=0, tn=9_500)
    >>> found = following_text(MissingMisses(one, one), "of before", "of after")
    >>> found.partition("labelled positive, ")[2][:75]
    'where even a recall of 0.999 would leave about 25 and 25; if only flagged c'
    """
    certain = all(not int(side.fp) for side in found.lacking)
    lost = "recall and precision are" if certain else "recall is"
    seen, against, of = _seen(found, before, after)
    shows = (
        f"An audit of {found.audits:,} unflagged cases{of}, drawn at random "
        f"({drawn_by(0, found.audits, earlier=found.of_before_alone)}) and looked at without the "
        f"prediction in sight, shows it: at a recall of {MODEST_RECALL:g} it finds a missed "
        "positive with a probability of 95 %"
    )
    if not found.are_evident:
        return (
            f"whether labels{of} follow the decisions: {seen}{against}. Either recall{of} is "
            f"nearly 1, or only flagged cases are looked at; {lost} known in the first case alone. "
            f"{shows}"
        )
    return (
        f"whether labels{of} follow the decisions, as they seem to: {seen}, {_evidence(found)}"
        f"{against}; if only flagged cases are looked at, {lost} not known from these labels. "
        f"{shows}"
    )


def confirming_text(counts: ConfusionCounts, of: str, audits: int) -> str:
    """Return that labels may confirm whatever is flagged, as a clause.

    Args:
        counts: outcomes of flagged cases alone, all of them true positives.
        of: what they are of, such as "of the last 28d".
        audits: flagged cases to audit, see `confirmations_to_audit`.
    """
    return (
        f"whether labels confirm whatever is flagged: all {int(counts.tp):,} labelled cases {of} "
        "are flagged, and labelled positive. Either precision is above .99, or the label repeats "
        f"the flag; precision is known in the first case alone. An audit of {audits:,} flagged "
        f"cases, drawn at random ({drawn_by(1, audits)}) and looked at without the prediction in "
        f"sight, shows it: at a precision of {MODEST_PRECISION:g} it finds a false "
        "positive with a probability of 95 %"
    )


def drawn_by(predicted: int, cases: int, *, earlier: bool = False) -> str:
    """Return the command that draws cases of a predicted class at random.

    Args:
        predicted: 0 for unflagged cases, 1 for flagged ones.
        cases: how many.
        earlier: they are of an earlier stretch of time, which the command has to name.

    >>> drawn_by(0, 202)
    '`precision-monitor audit FILE --predicted 0 --sample 202`'
    """
    stretch = " --range A..B" if earlier else ""
    return f"`precision-monitor audit FILE --predicted {predicted} --sample {cases}{stretch}`"


def _evidence(found: MissingMisses) -> str:
    """Return what speaks for labels that follow the decisions, as a clause."""
    if not math.isnan(found.by_scores):
        return (
            "where the scores of flagged cases show about "
            f"{found.by_scores:,.0f} among those next to the threshold"
        )
    if found.repeat:
        return "and no flagged case is labelled negative"
    expected = " and ".join(f"{found.expected(side, HIGH_RECALL):,.0f}" for side in found.lacking)
    return f"where even a recall of {HIGH_RECALL:g} would leave about {expected}"


def _seen(found: MissingMisses, before: str, after: str) -> tuple[str, str, str]:
    """Return what unflagged cases show, what those of the other stretch show, and of which it is.

    The latter two are "" where both stretches lack missed positives.
    """
    earlier, later = (found.before, before), (found.after, after)
    if not (found.of_after_alone or found.of_before_alone):
        seen = (
            f"{_positive(found.before)} unflagged cases {before} and {_positive(found.after)} "
            f"{after} are labelled positive"
        )
        return seen, "", ""
    (lacking, of), (other, others) = (later, earlier) if found.of_after_alone else (earlier, later)
    seen = f"{_positive(lacking)} unflagged cases {of} are labelled positive"
    return seen, f"; {_positive(other)} {others} are", f" {of}"


def _positive(counts: ConfusionCounts) -> str:
    missed = int(counts.fn)
    return f"{f'{missed:,}' if missed else 'none'} of {int(counts.predicted_negative):,}"
