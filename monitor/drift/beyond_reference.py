"""Outcomes since the reference in a window that reaches back into it, judged on their own.

Such a window is not compared, as it shares outcomes with what it would be compared with. What
lies beyond the reference is apart from it: it excludes falls of recall, and may show a change.
"""

from __future__ import annotations

from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.drift.attribution import Attribution
from monitor.drift.recall_evidence import Because
from monitor.drift.verdict import MOVED_RATES, Judgement, Verdict
from monitor.drift.worse_values import WorseValue
from monitor.metrics.rates import false_positive_rate, recall


class BeyondReference(NamedTuple):
    """What lies beyond the reference in a window that reaches back into it.

    Attributes:
        length_ms: from the end of the reference to the end of the window, milliseconds.
        verdict: on these outcomes alone.
        because: why it is `insufficient_evidence`; None for any other.
        judgement: what it rests on; None where nothing could be judged.
        rests_on: outcomes in the smallest cell that it rests on.
        outcomes: all of them, a scalar.
        attribution: what moved precision; None where nothing could be judged.
        visible_recall: recall at which a fall would have been called one, with 80 %
            probability; NaN where nothing could be judged.
        worse_values: segment values in which a rate certainly became worse.
    """

    length_ms: int
    verdict: Verdict
    because: Because | None
    judgement: Judgement | None
    rests_on: int
    outcomes: ConfusionCounts
    attribution: Attribution | None
    visible_recall: float
    worse_values: tuple[WorseValue, ...] = ()

    @property
    def rates(self) -> tuple[float, float]:
        """Recall and the false-positive rate; NaN where undefined."""
        return float(recall(self.outcomes)), float(false_positive_rate(self.outcomes))

    @property
    def days(self) -> float:
        """Length in days."""
        return self.length_ms / DAY_MS

    @property
    def has_moved(self) -> bool:
        """True where recall or the false-positive rate changed."""
        return self.verdict in MOVED_RATES

    @property
    def is_quiet(self) -> bool:
        """True where nothing certainly changed."""
        open_ = self.verdict is Verdict.INSUFFICIENT_EVIDENCE
        return self.because is not Because.MOVED if open_ else self.verdict is Verdict.NO_CHANGE
