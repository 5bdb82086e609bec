"""Labels of positives that are lost, and come back: how soon the fault is reported, and ends."""

import numpy as np
import pytest
from labelled import DAY, stream

from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.report.deciding_window import verdict_on
from monitor.report.replay_json import replay_answer

pytestmark = pytest.mark.slow

HOURS = DAY // 24
STOPPED, BACK, END = 68 * 24, 70 * 24, 78 * 24
WINDOWS = {"1h": 1, "1d": 24, "7d": 168}
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
