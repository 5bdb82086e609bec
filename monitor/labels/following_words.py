"""The words for labels that may follow the decisions of the model."""

from __future__ import annotations

from monitor.counts import ConfusionCounts
from monitor.labels.uncorrected import MODEST_RECALL, MissingMisses


def following_text(found: MissingMisses, before: str, after: str) -> str:
    """Return that labels may follow the decisions, and what an audit would show, as a clause.

    Args:
        found: unflagged cases without positives.
        before: what the earlier cases are of, such as "of before".
        after: what the later ones are of.

    >>> one = ConfusionCounts(tp=500, fp=20, fn=0, tn=9_500)
    >>> found = following_text(MissingMisses(one, one), "of before", "of after")
    >>> found[37:93]
    'none of 9,500 unflagged cases of before and none of 9,50'
    """
    sides = found.before, found.after
    expected = " and ".join(f"{found.expected(side):,.0f}" for side in sides)
    certain = all(not int(side.fp) for side in sides)
    lost = "recall and precision are" if certain else "recall is"
    return (
        f"whether labels follow the decisions: {_positive(found.before)} unflagged cases {before} "
        f"and {_positive(found.after)} {after} are labelled positive, where a recall of "
        f"{MODEST_RECALL:g} would leave about {expected}; if only flagged cases are looked at, "
        f"{lost} not known from these labels. An audit of {found.audits:,} unflagged cases, drawn "
        "at random, shows it: at that recall it finds a missed positive with a probability of 95 %"
    )


def _positive(counts: ConfusionCounts) -> str:
    missed = int(counts.fn)
    return f"{f'{missed:,}' if missed else 'none'} of {int(counts.predicted_negative):,}"
