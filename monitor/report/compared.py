"""Findings on two stretches of time, which both answers rest on."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import NamedTuple

from monitor.drift import Judgement, Verdict
from monitor.drift.recall_evidence import Because, RecallEvidence
from monitor.report.class_findings import ClassFindings
from monitor.report.missing_evidence import day_text
from monitor.report.moved_precision import Points
from monitor.report.rate_changes import RatePairs

FLAGS_NOTHING, FLAGS_EVERYTHING = "nothing any more", "everything"
"""What a dead model flags."""


class Compared(NamedTuple):
    """Findings on two stretches of time.

    Attributes:
        verdict: what happened.
        judgement: what the verdict rests on; None where nothing could be compared.
        because: why the verdict is `insufficient_evidence`; None for any other.
        change: of precision.
        parts: of the change, by additive cause.
        rates: recall and the false positive rate, each before and after.
        recall: limits of recall after.
        false_positive_rate_above: the false positive rate after is not above this, whenever
            somebody looks; NaN where nothing is excluded.
        recall_visible: see `two_answers.WorseAnswer`.
        flags: `nothing any more` or `everything`, where that is so; "" otherwise.
        few: which outcomes are too few to say what moved, a phrase; "" where they are not.
        pages: the model pages.
        paged_since: when the page started, epoch milliseconds; None where the model does not page.
        with_version: with which version, ended by now, the change began, a clause; "" where it has
            not ended, and without one.
        stretch: what `recall` is about, such as "over the last 7d"; "" for `after`.
        mix_of: the segment key whose mix alone changed; "" where there is none.
        obstacle: why nothing can be known, a phrase; "" where something can.
        reaches_back: that the window reaches back into the reference, a phrase; "" where it
            does not. Then it is not compared, but its outcomes since then exclude falls of recall.
        classes: what was found on a model of many classes; None for any other.
        worse_lately: how the rates moved over a shorter window that is judged degraded and does
            not decide, or since the reference, a phrase; "" where they did not.
        by_predictions: what predictions alone show the model to do, such as "flags nothing any
            more"; "" where they show nothing wrong. Since when stands in the headline.
        mixed: that the reference holds a change of level, so that nothing is as before, a phrase;
            "" where it does not.
        doubted: why the labels of the answers are in doubt, a clause; "" where they are not.
        worse_version: that a version in use is worse than the one before, a phrase; "" where
            none is.
        worse_segment: how a rate of a segment value certainly became worse, a phrase; "" where none
            did, and where all cases show a worse model.
        against: what a level that is not the reference is, a phrase; "" for the reference.
        provisional: the reference is provisional: it pages dead models alone.
    """

    verdict: Verdict
    judgement: Judgement | None
    because: Because | None
    change: Points
    parts: Mapping[str, Points]
    rates: RatePairs
    recall: RecallEvidence
    false_positive_rate_above: float
    recall_visible: float
    flags: str = ""
    few: str = ""
    pages: bool = False
    stretch: str = ""
    mix_of: str = ""
    obstacle: str = ""
    reaches_back: str = ""
    classes: ClassFindings | None = None
    worse_lately: str = ""
    by_predictions: str = ""
    mixed: str = ""
    doubted: str = ""
    worse_version: str = ""
    against: str = ""
    worse_segment: str = ""
    provisional: bool = False
    paged_since: int | None = None
    with_version: str = ""

    @property
    def lasting_page(self) -> str:
        """That the page lasts, and since when, a phrase."""
        since = "" if self.paged_since is None else f" since {day_text(self.paged_since)}"
        began = f" ({self.with_version})" if self.with_version else ""
        return f"it has paged{since}{began}, and has not certainly recovered"

    @property
    def is_inverted(self) -> bool:
        """True where negatives are certainly flagged more often than positives now.

        That is an odds ratio below 1: the one before and its change, 95 %.
        """
        recall, false = (self.rates[name][0] for name in ("recall", "false_positive_rate"))
        if self.judgement is None or not (0 < recall < 1 and 0 < false < 1):
            return False
        usual = math.log(recall / (1 - recall)) - math.log(false / (1 - false))
        return usual + self.judgement.interval("odds_ratio")[1] < 0
