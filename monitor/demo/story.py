"""Conclusion of the demo, with the figures that were counted."""

from __future__ import annotations

import math
from collections.abc import Sequence
from textwrap import fill

from monitor import metrics
from monitor.counts import ConfusionCounts
from monitor.demo.months import Month

BEFORE, AFTER = "July", "September"
"""The months to compare."""
_WIDTH = 79


def story(months: Sequence[Month]) -> str:
    """Return the closing text: what moved between two of the months, and what did not."""
    counts = {f"{month.start:%B}": month.counts for month in months}
    before, after = _MonthRatios(counts[BEFORE]), _MonthRatios(counts[AFTER])
    question, answer = (fill(text, _WIDTH) for text in _texts(before, after))
    return f"{question}\n\n{answer}\n\n{_identity(before, after)}"


class _MonthRatios:
    """Ratios of a month."""

    def __init__(self, counts: ConfusionCounts) -> None:
        self.precision = float(metrics.precision(counts))
        self.balanced_precision = float(metrics.balanced_precision(counts))
        self.prevalence = float(metrics.prevalence(counts))
        self.class_ratio = float(metrics.class_ratio(counts))
        self.recall = float(metrics.recall(counts))
        self.false_positive_rate = float(metrics.false_positive_rate(counts))


def _texts(before: _MonthRatios, after: _MonthRatios) -> tuple[str, str]:
    def moved(name: str) -> str:
        return f"{_short(getattr(before, name))} → {_short(getattr(after, name))}"

    question = (
        f"What to see: from {BEFORE} to {AFTER} precision halves, {moved('precision')}. "
        "Did the model get worse?"
    )
    answer = (
        "Balanced precision, what precision would be if half of the flights were late, holds: "
        f"{moved('balanced_precision')}. What changed is the world: fewer flights were late, "
        f"prevalence {moved('prevalence')} (r, late to punctual, {moved('class_ratio')}). "
        f"Recall and false positives fell together, {moved('recall')} and "
        f"{moved('false_positive_rate')}: fewer flights were flagged, rightly and wrongly alike, "
        "and in precision the two cancel out. The split is exact:"
    )
    return question, answer


def _identity(before: _MonthRatios, after: _MonthRatios) -> str:
    """Return the change of logit(precision) and its three parts."""
    prevalence = math.log(after.class_ratio / before.class_ratio)
    recall = math.log(after.recall / before.recall)
    false_positives = -math.log(after.false_positive_rate / before.false_positive_rate)
    whole = _logit(after.precision) - _logit(before.precision)
    parts = {"prevalence": prevalence, "recall": recall, "false positives": false_positives}
    terms = ", ".join(f"{part} {change:+.2f}" for part, change in parts.items())
    return f"    logit(precision) {whole:+.2f} = {terms}"


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _short(ratio: float) -> str:
    return f"{ratio:.3f}".removeprefix("0")
