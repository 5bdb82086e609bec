"""The window that decides the verdict of a model, by the verdicts of all its windows."""

from dataclasses import replace

import numpy as np
import pytest

from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, judge
from monitor.drift.recall_evidence import FEWEST_OUTCOMES
from monitor.report.deciding_window import deciding_window
from monitor.snapshot import ModelState
from monitor.verdicts import Watched, WindowVerdict

TABLE = ConfusionCounts(tp=80, fp=50, fn=20, tn=850)
ASTRAY = Verdict.LABELS_NOT_TRUSTWORTHY
NAMES = ["1h", "1d", "7d", "28d"]


def model_with(**verdicts):
    found = {name: verdict for name, verdict in verdicts.items() if verdict is not None}
    nothing = np.zeros((5, 5), np.int64)
    return ModelState(
        name="m",
        version="",
        row=0,
        predictions_positive=0,
        predictions_negative=0,
        labels={},
        labelled=0,
        matched=0,
        pending=0,
        expired=0,
        evicted=0,
        duplicates=0,
        transitions=nothing,
        maturity_ms=0,
        delay_counts=nothing,
        delay_sum=np.zeros(2),
        segments=(),
        watched=Watched(verdicts={f"{name[1:]}": v for name, v in found.items()}),
    )


def window_with(verdict, fault=""):
    return WindowVerdict(verdict=verdict, label_fault=fault, rests_on=FEWEST_OUTCOMES)


def test_a_fault_of_the_present_speaks_whatever_a_longer_window_says():
    fault = window_with(ASTRAY, "positives_missing")
    for other in (Verdict.NO_CHANGE, Verdict.PREVALENCE_SHIFT, Verdict.MODEL_DEGRADED):
        assert deciding_window(model_with(w1d=fault, w7d=window_with(other)), ["7d", "1d"]) == "1d"
    few = window_with(Verdict.INSUFFICIENT_EVIDENCE)
    assert deciding_window(model_with(w1h=few, w7d=fault), ["1h", "7d"]) == "7d"
    shift = window_with(Verdict.PREVALENCE_SHIFT)
    assert deciding_window(model_with(w1h=shift, w7d=fault), ["1h", "7d"]) == "7d"
    assert deciding_window(model_with(), ["1h", "7d"]) == "7d"


def test_a_label_fault_of_an_hour_does_not_speak_for_the_model():
    """Labels had stopped, and `diagnose` compared an hour without any: too few outcomes to tell."""
    fault, steady = window_with(ASTRAY, "labels_missing"), window_with(Verdict.NO_CHANGE)
    assert deciding_window(model_with(w1h=fault, w1d=fault, w7d=steady), NAMES[:3]) == "1d"
    assert deciding_window(model_with(w1h=fault, w1d=steady, w7d=steady), NAMES[:3]) == "7d"
    assert deciding_window(model_with(w1h=fault), ["1h"]) == "1h"


def test_no_window_under_a_day_and_none_of_few_outcomes_decides():
    few = window_with(Verdict.INSUFFICIENT_EVIDENCE)
    shift = window_with(Verdict.PREVALENCE_SHIFT)
    assert deciding_window(model_with(w1h=shift, w7d=few), ["1h", "7d"]) == "7d"
    assert deciding_window(model_with(w1d=shift, w7d=few), ["1d", "7d"]) == "1d"
    assert deciding_window(model_with(w1h=shift, w5m=few), ["1h", "5m"]) == "1h", "there is no day"
    hour = replace(few, judgement=judge(TABLE, TABLE))
    assert deciding_window(model_with(w1h=hour, w1d=few, w7d=few), ["1h", "1d", "7d"]) == "7d"
    six = replace(shift, rests_on=6)
    compared = replace(few, judgement=judge(TABLE, TABLE))
    alone = model_with(w1d=shift, w7d=compared)
    agreed = replace(alone, watched=replace(alone.watched, prevalence_shift_detected=True))
    assert deciding_window(alone, ["1d", "7d"]) == "7d", "a day alone may be a weekend"
    assert deciding_window(agreed, ["1d", "7d"]) == "1d"
    worse = model_with(w1d=window_with(Verdict.MODEL_DEGRADED), w7d=compared)
    assert deciding_window(worse, ["1d", "7d"]) == "7d", "the model does not page"
    paging = replace(worse, watched=replace(worse.watched, degradation_detected=True))
    assert deciding_window(paging, ["1d", "7d"]) == "1d"
    assert deciding_window(model_with(w1d=six, w7d=few), ["1d", "7d"]) == "7d"


@pytest.mark.parametrize("verdict", [Verdict.PREVALENCE_SHIFT, Verdict.OPERATING_POINT_MOVED])
def test_of_windows_with_one_verdict_the_shortest_of_a_week_decides(verdict):
    moved, few = window_with(verdict), window_with(Verdict.INSUFFICIENT_EVIDENCE)
    agreed = model_with(w1d=moved, w7d=moved, w28d=moved)
    agreed = replace(agreed, watched=replace(agreed.watched, prevalence_shift_detected=True))
    assert deciding_window(agreed, NAMES) == "7d", "28 days hold three weeks from before"
    assert deciding_window(model_with(w1d=moved, w7d=few, w28d=moved), NAMES) == "28d"
    other = window_with(Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED)
    assert deciding_window(model_with(w7d=other, w28d=moved), NAMES) == "28d"
    compared = replace(moved, judgement=judge(TABLE, TABLE))
    model = model_with(w1d=compared, w7d=compared, w28d=compared)
    assert deciding_window(model, NAMES) == "7d"
    six = replace(compared, rests_on=6)
    assert deciding_window(model_with(w7d=six, w28d=compared), NAMES) == "28d"


def test_where_nothing_changed_the_longest_window_decides():
    same = window_with(Verdict.NO_CHANGE)
    assert deciding_window(model_with(w1d=same, w7d=same, w28d=same), NAMES) == "28d"


def test_a_model_that_pages_is_shown_by_the_last_week():
    worse = window_with(Verdict.MODEL_DEGRADED)
    model = model_with(w1d=worse, w7d=worse, w28d=worse)
    paging = replace(model, watched=replace(model.watched, degradation_detected=True))
    assert deciding_window(paging, NAMES) == "7d"
    slid = model_with(w7d=worse, w28d=window_with(Verdict.OPERATING_POINT_MOVED))
    paging = replace(slid, watched=replace(slid.watched, degradation_detected=True))
    assert deciding_window(paging, NAMES) == "7d", "28 days are partly from before the fault"
