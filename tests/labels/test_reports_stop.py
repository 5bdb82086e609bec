"""Reports that stop where silence is a negative: neither the world's doing nor the model's."""

import numpy as np
import pytest
from labelled import DAY, stream

from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.labels.faults import LabelFault
from monitor.labels.stopped_reports import ReportGap, silences

STOPPED, BACK, END, TIMEOUT = 80, 88, 110, 8


def outage(kind):
    """Days whose reports end, for good or for eight days, or whose positives grow rare."""
    rare = lambda day: 0.1 * np.exp(-np.maximum(0, day - STOPPED) / 8)  # noqa: E731  # a rate by day
    prevalence = rare if kind == "rarer by and by" else 0.1
    events = stream(END, 4000, 3, prevalence=prevalence, fpr=0.05, delays=(2, 2, 2, 2))
    events.delay[~events.actual] = np.inf
    arrival = events.time / DAY + events.delay
    if kind == "for good":
        events.delay[arrival > STOPPED] = np.inf
    if kind == "lost for days":
        events.delay[(arrival > STOPPED) & (arrival < BACK)] = np.inf
    return events


def verdicts(events):
    """Verdict and fault of the day and the week at the end of each day; and the last model."""
    settings = {"label_timeout": f"{TIMEOUT}d", "labelling": "negatives_by_timeout"}
    monitor = Monitor(Config(defaults=settings, pane="1h", windows=["1d", "7d"]))
    found = {}
    for day, batch in enumerate(events.batches(END), start=1):
        monitor.apply(batch)
        if day >= STOPPED - 2:
            watched = monitor.snapshot().models[0].watched
            found[day] = {n: (v.verdict, v.label_fault) for n, v in watched.verdicts.items()}
    return found, monitor.snapshot().models[0]


FAULT = (Verdict.LABELS_NOT_TRUSTWORTHY, LabelFault.REPORTS_STOPPED)
NOTHING_SAID = {
    Verdict.NO_CHANGE,
    Verdict.INSUFFICIENT_EVIDENCE,
    Verdict.LABELS_NOT_TRUSTWORTHY,
}


def test_reports_that_stop_are_named_at_once_and_nothing_is_laid_to_the_model():
    found, model = verdicts(outage("for good"))
    assert found[STOPPED]["7d"] == (Verdict.NO_CHANGE, "")
    for day in range(STOPPED + 2, END + 1):
        assert found[day] == {"1d": FAULT, "7d": FAULT}, day
    assert {v for by_window in found.values() for v, _ in by_window.values()} <= NOTHING_SAID
    assert model.watched.detections == ()
    assert not model.watched.degradation_detected
    assert model.watched.prevalence_shift_detected is False


@pytest.mark.slow
def test_when_they_return_it_clears_once_the_windows_are_past_the_gap():
    found, model = verdicts(outage("lost for days"))
    for day in range(STOPPED + 2, BACK + TIMEOUT):
        assert found[day]["7d"] == FAULT, day
    assert {v for by_window in found.values() for v, _ in by_window.values()} <= NOTHING_SAID
    assert found[BACK + TIMEOUT + 2]["1d"][1] == ""
    cleared = BACK + TIMEOUT + 8  # the week lies behind the gap
    assert found[cleared]["7d"] == (Verdict.NO_CHANGE, "")
    assert {found[day]["7d"][1] for day in range(cleared, END + 1)} == {""}
    assert model.watched.detections == ()


@pytest.mark.slow
def test_positives_that_grow_rare_by_and_by_are_no_silence():
    found, _ = verdicts(outage("rarer by and by"))
    faults = {fault for by_window in found.values() for _, fault in by_window.values()}
    assert LabelFault.REPORTS_STOPPED not in faults
    assert found[END]["7d"][0] == Verdict.PREVALENCE_SHIFT


def reported_days(rate, seed, days=90):
    return np.random.default_rng(seed).poisson(rate(np.arange(days)))


MADE = np.full(90, 1000.0)


@pytest.mark.parametrize(
    "rate",
    [
        lambda day: 50.0 + 0 * day,
        lambda day: np.where(day % 7 >= 5, 0, 50),
        lambda day: np.where(day < 45, 50, 15),
        lambda day: np.where((day > 30) & (day < 40), 1000, 50),
        lambda day: 50 * np.exp(-np.maximum(0, day - 40) / 10),
    ],
    ids=["steady", "on workdays", "a third is left", "after a wave", "by and by"],
)
def test_reports_that_go_on_are_no_silence(rate):
    assert sum(len(silences(reported_days(rate, seed), MADE, 14)) for seed in range(20)) <= 1


def test_a_silence_of_few_reports_takes_longer_to_be_one():
    for usual in (200, 30, 5):
        for silent in range(1, 40):
            reports = np.array([usual] * 50 + [0] * silent)
            found = silences(reports, np.full(len(reports), 1000.0), 14)
            assert found in ([], [ReportGap(50, 50 + silent)])
            assert bool(found) == (np.exp(-0.1 * usual * silent) < 1e-4)


def test_reports_made_good_and_nothing_to_report_on_are_no_silence():
    reports = np.array([50] * 50 + [0] * 10 + [550] + [50] * 29)
    assert silences(reports, MADE, 14) == []
    gone = np.array([50] * 60 + [0] * 30)
    assert silences(gone, np.where(np.arange(90) < 60, 1000.0, 0.0), 14) == []
    assert silences(gone, MADE, 14) == [ReportGap(60, 90)]
