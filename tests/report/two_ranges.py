"""Findings on two ranges of outcomes, for tests of the answers."""

import math

from monitor.counts import ConfusionCounts
from monitor.diagnosis import Period, diagnose
from monitor.drift.recall_evidence import UNKNOWN_RECALL, Because
from monitor.drift.verdict import Verdict
from monitor.report.compared import Compared
from monitor.report.findings import of_diagnosis
from monitor.report.moved_precision import Points
from monitor.report.two_answers import is_model_worse, what_moved_precision

BEFORE = (80_000, 45_000, 20_000, 855_000)


def found_on(before, after):
    """What is found on outcomes (tp, fp, fn, tn) of two periods without a time."""
    periods = [
        Period.given(ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn))
        for tp, fp, fn, tn in (before, after)
    ]
    return of_diagnosis(diagnose(*periods))


def answers(before, after):
    """Both answers on outcomes of two periods."""
    found = found_on(before, after)
    return what_moved_precision(found), is_model_worse(found)


def nothing_found(obstacle):
    unknown = Points(math.nan, math.nan, math.nan)
    return Compared(
        verdict=Verdict.INSUFFICIENT_EVIDENCE,
        judgement=None,
        because=Because.NO_REFERENCE,
        change=unknown,
        parts={},
        rates={},
        recall=UNKNOWN_RECALL,
        false_positive_rate_above=math.nan,
        recall_visible=math.nan,
        obstacle=obstacle,
    )
