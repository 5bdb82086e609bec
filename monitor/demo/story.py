"""Conclusion of the demo, with the figures that were counted.

Its answers are those of `diagnose` and of the page for the same months.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from textwrap import fill

from monitor import metrics
from monitor.counts import ConfusionCounts
from monitor.demo.months import Month

BEFORE, AFTER = "July", "September"
"""The months to compare."""
RANGES = ("2013-07", "2013-09")
"""The same as ranges of `diagnose` and of the page."""
PAGED_DAYS = 7
"""Days before a page whose outcomes the story gives."""
_WIDTH = 79


@dataclass(frozen=True, slots=True)
class Paged:
    """A moment at which the monitor started to page.

    Attributes:
        at: the moment, UTC.
        counts: outcomes of the last `PAGED_DAYS` days with all their labels.
    """

    at: datetime
    counts: ConfusionCounts


@dataclass(frozen=True, slots=True)
class StoryAnswers:
    """What the monitor answers about the months.

    Attributes:
        moved: to "What moved precision?", between `RANGES`.
        worse: to "Is the model worse?", between `RANGES`.
        worse_at_lowest: to the same, of `lowest(months)` compared with the reference.
        paged: when the monitor started to page, in order of time.
        pages: True if it still does.
    """

    moved: str
    worse: str
    worse_at_lowest: str
    paged: Sequence[Paged]
    pages: bool


def lowest(months: Sequence[Month]) -> Month:
    """Return the month of the lowest balanced precision."""
    return min(months, key=lambda month: float(metrics.balanced_precision(month.counts)))


def story(months: Sequence[Month], answers: StoryAnswers) -> str:
    """Return the closing text: what moved between two of the months, and what did not.

    Args:
        months: all months of the demo.
        answers: of the monitor.
    """
    counts = {f"{month.start:%B}": month.counts for month in months}
    before, after = _MonthRatios(counts[BEFORE]), _MonthRatios(counts[AFTER])
    question, answer = (fill(text, _WIDTH) for text in _texts(before, after))
    asked = {"What moved precision?": answers.moved, "Is the model worse?": answers.worse}
    answered = "\n".join(
        fill(f"{title} {text}.", _WIDTH, subsequent_indent="    ") for title, text in asked.items()
    )
    paged = [fill(_paged(answers), _WIDTH)] if answers.paged else []
    exception = fill(_exception(lowest(months), answers.worse_at_lowest), _WIDTH)
    identity = _identity(before, after)
    return "\n\n".join((question, answered, answer, identity, *paged, exception))


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
        f"{moved('balanced_precision')}. Fewer flights were late, {moved('prevalence')} (r, late "
        f"to punctual, {moved('class_ratio')}). Recall and the false positive rate fell together, "
        f"{moved('recall')} and {moved('false_positive_rate')}; in precision the two cancel out. "
        "`precision-monitor diagnose` shows the evidence. The change of logit(precision) is "
        "exactly the sum of its three parts:"
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
    return f"    change of logit(precision) {whole:+.2f}\n    = {terms}"


def _paged(answers: StoryAnswers) -> str:
    """Return when the monitor paged, and what the days before looked like."""
    days = [f"on {one.at.day} {one.at:%B}" for one in answers.paged]
    ratios = _MonthRatios(answers.paged[-1].counts)
    once = "once" if len(days) == 1 else f"{len(days)} times"
    return (
        f"The monitor paged {once}: {', '.join(days)}. In the {PAGED_DAYS} days before"
        f"{'' if len(days) == 1 else ' the last'}, the model flagged {_short(ratios.recall)} of "
        f"the late flights and {_short(ratios.false_positive_rate)} of the punctual ones; "
        f"balanced precision was {_short(ratios.balanced_precision)}. "
        + ("The page lasts." if answers.pages else "The page is over: the model recovered.")
    )


def _exception(month: Month, worse: str) -> str:
    """Return what sets the month of the lowest balanced precision apart."""
    ratios = _MonthRatios(month.counts)
    return (
        f"Balanced precision is lowest in {month.start:%B}, {_short(ratios.balanced_precision)}, "
        f"with {_short(ratios.false_positive_rate)} of the punctual flights flagged, though "
        f"precision is {_short(ratios.precision)}. Is the model worse there than in its first "
        f"four weeks? {worse}."
    )


def _logit(share: float) -> float:
    return math.log(share / (1 - share))


def _short(ratio: float) -> str:
    return f"{ratio:.3f}".removeprefix("0")
