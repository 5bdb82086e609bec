"""Names the class of cases that two stretches of time lack."""

from __future__ import annotations

from monitor.counts import ConfusionCounts


def missing_class(before: ConfusionCounts, after: ConfusionCounts) -> str:
    """Return which class of cases is missing, and where; "" where both stretches have both.

    Args:
        before: outcomes, a scalar.
        after: outcomes, a scalar.

    >>> some = ConfusionCounts(tp=8, fp=5, fn=2, tn=85)
    >>> missing_class(some, ConfusionCounts(tp=0, fp=5, fn=0, tn=85))
    'no positives after'
    >>> missing_class(some, some)
    ''
    """
    lacks = {
        name: [where for where, counts in (("before", before), ("after", after)) if not of(counts)]
        for name, of in (("positives", _positives), ("negatives", _negatives))
    }
    return " and ".join(f"no {name} {' or '.join(where)}" for name, where in lacks.items() if where)


def _positives(counts: ConfusionCounts) -> float:
    return float(counts.actual_positive)


def _negatives(counts: ConfusionCounts) -> float:
    return float(counts.actual_negative)
