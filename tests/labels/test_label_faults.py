"""Faults of the labels are not reported as a prevalence shift or a degradation."""

import numpy as np
import pytest
from labelled import DAY, stream

from monitor.config import Config
from monitor.drift import Verdict
from monitor.engine import Monitor
from monitor.labels.checks import OF_A_WINDOW, OF_LATE, label_fault
from monitor.labels.faults import LabelFault

STOPPED, BACK, END = 68, 78, 88


def outage(kind):
    """Days whose labels of one kind stop from day 68 to 78, with what becomes of them."""
    events = stream(END, 5000, 3, prevalence=0.1, fpr=0.05, delays=(0.5, 0.3, 0.5, 0.3))
    arrival = events.time / DAY + events.delay
    hit = (arrival > STOPPED) & (arrival < BACK)
    if kind == "positives lost":
        events.delay[hit & events.actual] = np.inf
    if kind == "positives late":
        hit &= events.actual
        events.delay[hit] = BACK + 0.1 - events.time[hit] / DAY
    if kind == "all lost":
        events.delay[hit] = np.inf
    return events


def verdicts(events, **settings):
    """Verdict and fault of the day and the week at the end of each day; and the last model."""
    config = Config(defaults={"label_timeout": "20d", **settings}, windows=["1d", "7d"])
    monitor, found = Monitor(config), {}
    for day, batch in enumerate(events.batches(END)):
        monitor.apply(batch)
        if day >= STOPPED - 3:
            watched = monitor.snapshot().models[0].watched
            found[day + 1] = {
                name: (v.verdict, v.label_fault) for name, v in watched.verdicts.items()
            }
    return found, monitor.snapshot().models[0]


@pytest.mark.parametrize(
    ("kind", "fault"),
    [
        ("positives lost", LabelFault.POSITIVES_MISSING),
        pytest.param("positives late", LabelFault.POSITIVES_MISSING, marks=pytest.mark.slow),
        ("all lost", LabelFault.LABELS_MISSING),
    ],
)
def test_labels_that_stop_are_named_within_two_maturities_and_are_no_shift(kind, fault):
    found, model = verdicts(outage(kind))
    assert found[STOPPED]["7d"] == (Verdict.NO_CHANGE, "")
    within = STOPPED + 4  # the age of maturity is 1.8 days
    for day in range(within, BACK + 1):
        for name in ("1d", "7d"):
            assert found[day][name] == (Verdict.LABELS_NOT_TRUSTWORTHY, fault), (day, name)
    for day, by_window in found.items():
        for verdict, _ in by_window.values():
            assert verdict in {
                Verdict.NO_CHANGE,
                Verdict.INSUFFICIENT_EVIDENCE,
                Verdict.LABELS_NOT_TRUSTWORTHY,
            }, day
    assert model.watched.detections == ()
    assert found[BACK + 4]["1d"][0] != Verdict.LABELS_NOT_TRUSTWORTHY
    assert found[END]["7d"] == (Verdict.NO_CHANGE, "")


def test_a_true_shift_of_prevalence_is_still_one():
    halved = lambda day: np.where(day < STOPPED, 0.1, 0.05)  # noqa: E731  # a rate by the day
    events = stream(END, 5000, 4, prevalence=halved, fpr=0.05, delays=(0.5, 0.3, 0.5, 0.3))
    found, model = verdicts(events)
    assert found[END]["7d"] == (Verdict.PREVALENCE_SHIFT, "")
    assert {d.kind for d in model.watched.detections} == {"prevalence_shift"}


def test_labels_that_miss_at_random_are_no_fault():
    events = stream(
        END, 5000, 5, prevalence=0.1, fpr=0.05, delays=(0.5, 0.3, 0.5, 0.3), labelled=(0.6,) * 4
    )
    found, _ = verdicts(events)
    assert {fault for by_window in found.values() for _, fault in by_window.values()} == {""}
    assert found[END]["7d"][0] == Verdict.NO_CHANGE


def window(days, *, missing=(0, 0, 0, 0), seed=0, labelled=1.0, prevalence=0.1):
    """Counts by day of 5,000 predictions a day, of whose labels these shares are missing."""
    rng = np.random.default_rng(seed)
    positive = rng.binomial(5000, prevalence, days)
    tp = rng.binomial(positive, 0.8)
    fp = rng.binomial(5000 - positive, 0.05)
    cells = np.stack([tp, fp, positive - tp, 5000 - positive - fp], axis=1)
    came = rng.binomial(cells, labelled * (1 - np.array(missing)))
    called = cells[:, 0] + cells[:, 1]
    return np.concatenate([came, called[:, None], (5000 - called)[:, None]], axis=1)


@pytest.mark.parametrize("labelled", [1.0, 0.97, 0.9, 0.5])
@pytest.mark.parametrize("prevalence", [0.1, 0.05, 0.2, 0.0005, 0.0, 1.0])
def test_no_fault_is_seen_where_labels_miss_at_random_whatever_prevalence_does(
    labelled, prevalence
):
    before = window(30, labelled=labelled)
    faults = [
        label_fault(before, window(24, labelled=labelled, prevalence=prevalence, seed=seed), strict)
        for seed in range(1, 101)
        for strict in (OF_A_WINDOW, OF_LATE)
    ]
    assert sum(fault is not None for fault in faults) <= 1


@pytest.mark.parametrize("labelled", [1.0, 0.7])
@pytest.mark.parametrize(
    ("missing", "fault"),
    [
        ((0.3, 0, 0.3, 0), LabelFault.POSITIVES_MISSING),
        ((1, 0, 1, 0), LabelFault.POSITIVES_MISSING),
        ((0, 0.3, 0, 0.3), LabelFault.NEGATIVES_MISSING),
        ((0.5, 0.5, 0.5, 0.5), LabelFault.LABELS_MISSING),
        ((1, 1, 1, 1), LabelFault.LABELS_MISSING),
    ],
)
def test_each_lack_has_its_name(labelled, missing, fault):
    before = window(30, labelled=labelled)
    for seed in range(1, 11):
        after = window(24, missing=missing, labelled=labelled, seed=seed)
        assert label_fault(before, after, OF_A_WINDOW) == fault


def test_too_little_to_say_is_no_fault():
    nothing = np.zeros((0, 6), dtype=np.int64)
    assert label_fault(window(30), window(2, missing=(1, 1, 1, 1)), OF_A_WINDOW) is None
    assert label_fault(nothing, window(30), OF_A_WINDOW) is None
    assert label_fault(window(30), nothing, OF_A_WINDOW) is None


def test_a_given_reference_knows_no_coverage():
    before = window(30).sum(axis=0, keepdims=True)
    half = window(24, missing=(0.5,) * 4, seed=1)
    assert label_fault(before, half, OF_A_WINDOW, given=True) is None
    assert label_fault(before, half, OF_A_WINDOW) == LabelFault.LABELS_MISSING


def test_labels_of_flagged_cases_alone_are_reported_though_nothing_changed():
    flagged = window(30)
    flagged[:, 2:4] = 0
    assert label_fault(flagged, flagged, OF_A_WINDOW) == LabelFault.ONE_SIDE_LABELLED
    assert label_fault(window(30), window(24, seed=3), OF_A_WINDOW) is None
