"""Labels of positives that are lost, and come back: how soon the fault is reported, and ends."""

from dataclasses import replace

import numpy as np
import pytest
from labelled import DAY, stream

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.drift import Verdict, judge
from monitor.drift.recall_evidence import FEWEST_OUTCOMES
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.report.deciding_window import deciding_window, verdict_on
from monitor.report.replay_json import replay_answer
from monitor.snapshot import ModelState
from monitor.verdicts import Watched, WindowVerdict

HOURS = DAY // 24
STOPPED, BACK, END = 68 * 24, 70 * 24, 78 * 24
WINDOWS = {"1h": 1, "1d": 24, "7d": 168}
TABLE = ConfusionCounts(tp=80, fp=50, fn=20, tn=850)
ASTRAY = Verdict.LABELS_NOT_TRUSTWORTHY


@pytest.fixture(scope="module")
def hours():
    """By the hour since the start: maturity (hours), the model's verdict, fault by window."""
    delays = (0.1, 0.05, 0.1, 0.05)
    events = stream(END / 24, 12_000, 3, prevalence=0.1, fpr=0.05, delays=delays, sigma=0.3)
    arrival = events.time / HOURS + 24 * events.delay
    events.delay[(arrival > STOPPED) & (arrival < BACK) & events.actual] = np.inf
    monitor = Monitor(Config(models={"m": {"label_timeout": "10d"}}, windows=[*WINDOWS]))
    found = {}
    for hour, batch in enumerate(events.batches(END / 24, step=HOURS), start=1):
        monitor.apply(batch)
        if hour >= STOPPED and (hour % 4 == 0 or hour - STOPPED < 12 or 20 < hour - BACK < 34):
            snapshot = monitor.snapshot()
            model, (shown,) = snapshot.models[0], status_answer(snapshot, limit=1).models
            assert shown.verdict == replay_answer(snapshot).models["m"].verdict
            faults = {name: verdict_on(model, name).label_fault for name in WINDOWS}
            found[hour] = model.maturity_ms / HOURS, shown, faults
    assert model.watched.detections == ()
    return found


@pytest.mark.slow
def test_the_model_has_untrusted_labels_within_two_maturities(hours):
    maturity = hours[STOPPED][0]
    first = min(hour for hour, (_, shown, _) in hours.items() if shown.verdict == ASTRAY)
    assert STOPPED < first <= STOPPED + 2 * maturity
    for hour in set(hours) & set(range(first, BACK)):
        assert hours[hour][1].verdict == ASTRAY, hour
        assert hours[hour][1].headline.startswith("Labels cannot be trusted")


def test_a_window_clears_once_it_lies_behind_the_return(hours):
    for name, length in WINDOWS.items():
        last = max(hour for hour, (_, _, faults) in hours.items() if faults[name])
        assert last <= BACK + length + hours[BACK][0] + 1, name


def test_the_model_clears_a_day_and_a_maturity_after_the_return(hours):
    astray = [hour for hour, (_, shown, _) in hours.items() if shown.verdict == ASTRAY]
    assert max(astray) <= BACK + 24 + hours[BACK][0]
    assert hours[max(astray) + 1][2]["7d"]
    a_day = {shown.verdict for hour, (_, shown, _) in hours.items() if hour > max(astray)}
    assert a_day <= {Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE}, "a day shows little"
    assert (hours[END][1].verdict, hours[END][1].verdict_window) == (Verdict.NO_CHANGE, "7d")


def test_neither_a_shift_nor_a_degradation_is_reported_meanwhile(hours):
    seen = {shown.verdict for _, shown, _ in hours.values()}
    assert seen <= {Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE, ASTRAY}
    for name in ("1d", "7d"):
        by_window = {shown.windows[name].verdict for _, shown, _ in hours.values()}
        assert by_window <= {Verdict.NO_CHANGE, Verdict.INSUFFICIENT_EVIDENCE, ASTRAY}


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
        assert deciding_window(model_with(w1h=fault, w7d=window_with(other)), ["7d", "1h"]) == "1h"
    few = window_with(Verdict.INSUFFICIENT_EVIDENCE)
    assert deciding_window(model_with(w1h=few, w7d=fault), ["1h", "7d"]) == "7d"
    shift = window_with(Verdict.PREVALENCE_SHIFT)
    assert deciding_window(model_with(w1h=shift, w7d=fault), ["1h", "7d"]) == "7d"
    assert deciding_window(model_with(), ["1h", "7d"]) == "7d"


def test_no_window_under_a_day_and_none_of_few_outcomes_decides():
    few = window_with(Verdict.INSUFFICIENT_EVIDENCE)
    shift = window_with(Verdict.PREVALENCE_SHIFT)
    assert deciding_window(model_with(w1h=shift, w7d=few), ["1h", "7d"]) == "7d"
    assert deciding_window(model_with(w1d=shift, w7d=few), ["1d", "7d"]) == "1d"
    assert deciding_window(model_with(w1h=shift, w5m=few), ["1h", "5m"]) == "1h", "there is no day"
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
