"""Segment values in which the model certainly became worse, though all cases together hide it."""

from __future__ import annotations

from typing import NamedTuple

from monitor.counts import ConfusionCounts
from monitor.drift.components import Component, SmoothedRates
from monitor.drift.verdict import Verdict
from monitor.metrics.rates import false_positive_rate, recall

MAY_HIDE = frozenset({Verdict.INSUFFICIENT_EVIDENCE, Verdict.NO_CHANGE, Verdict.PREVALENCE_SHIFT})
"""Verdicts on all cases beside which a segment value that became worse is named."""
FEWEST_OF_A_CLASS = 30
"""With fewer actual positives or negatives on either side a value is a small sample."""

CERTAIN = 0.001
"""A rate of a value changed where its corrected p-value lies below this."""


class WorseValue(NamedTuple):
    """A segment value one of whose rates certainly became worse.

    Attributes:
        row: number of its series; -1 where that is named otherwise.
        rate: `recall`, which fell, or `false_positive_rate`, which rose.
        before: the rate before, in [0, 1].
        after: the rate after.
        p_value: of its change, corrected for looking at all values and rates.
    """

    row: int
    rate: str
    before: float
    after: float
    p_value: float


def worse_value(
    before: ConfusionCounts,
    after: ConfusionCounts,
    *,
    recall_p: float,
    false_positives_p: float,
    row: int = -1,
) -> WorseValue | None:
    """Return the rate of a segment value that certainly became worse; None where none did.

    That is a corrected p-value below .001: a model is looked at often, and has many values. A value
    whose odds ratio did not fall moved along a curve, as by another threshold, and is not worse.

    Args:
        before: outcomes of the value, a scalar.
        after: likewise.
        recall_p: p-value of the change of recall, corrected for looking at all values and rates.
        false_positives_p: of that of the false-positive rate, likewise.
        row: number of the series.

    >>> old = ConfusionCounts(tp=160, fp=50, fn=40, tn=2_450)
    >>> new = ConfusionCounts(tp=20, fp=17, fn=50, tn=850)
    >>> found = worse_value(old, new, recall_p=1e-9, false_positives_p=0.9)
    >>> found.rate, found.before, round(found.after, 2)
    ('recall', 0.8, 0.29)
    >>> worse_value(new, old, recall_p=1e-9, false_positives_p=0.9)
    """
    sides = (before, after)
    fewest = min(min(float(one.actual_positive), float(one.actual_negative)) for one in sides)
    old, new = (float(SmoothedRates.of(one).components()[Component.ODDS_RATIO]) for one in sides)
    if fewest < FEWEST_OF_A_CLASS or new >= old:
        return None
    changed = [
        WorseValue(row, rate, float(of(before)), float(of(after)), p_value)
        for rate, of, p_value in (
            ("recall", recall, recall_p),
            ("false_positive_rate", false_positive_rate, false_positives_p),
        )
    ]
    worse = [
        one
        for one in changed
        if one.p_value < CERTAIN and (one.after < one.before) == (one.rate == "recall")
    ]
    return min(worse, key=lambda one: one.p_value, default=None)
