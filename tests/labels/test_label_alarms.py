"""Labels without a fault raise no label alarm, however prevalence changes."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.label_alarms import SHAPES, false_alarms, until_said

from monitor.demo.faults.simulation import NORMAL, RARER, DailyEvents, config
from monitor.drift import Verdict
from monitor.engine import Monitor


@pytest.mark.parametrize("name", ["uniform 1-5 h", "working hours", "workdays 3 d", "by the night"])
@pytest.mark.parametrize("world", ["halves", "swings"])
def test_labels_in_order_raise_no_alarm(name, world):
    for per_cohort in (50, 500):
        looks, alarms, doubts = false_alarms(name, world, per_cohort, 1)
        assert alarms == 0
        assert doubts <= 0.05 * looks


@pytest.mark.parametrize("name", ["uniform 1-5 h", "lognormal 4 d"])
def test_positives_half_as_slow_again_do(name):
    (reported,) = until_said(name, 5000, 1)
    days = SHAPES[name].width / 86_400
    assert reported * days <= {"uniform 1-5 h": 0.5, "lognormal 4 d": 15}[name]


def spread(events):
    """The same under keys spread as those of ids are."""
    odd = np.uint64(0x9E3779B97F4A7C15)
    predictions, labels = events.predictions, events.labels
    return replace(
        events,
        predictions=replace(predictions, key=(predictions.key + np.uint64(1)) * odd),
        labels=replace(labels, key=(labels.key + np.uint64(1)) * odd),
    )


def test_rarer_positives_are_a_shift_on_every_day_that_is_judged():
    monitor, days = Monitor(config()), DailyEvents()
    for day in range(1, 20):
        monitor.apply(spread(days.next(NORMAL if day <= 10 else RARER)))
        if day >= 17:
            found = monitor.snapshot().models[0].watched.verdicts
            reported = {name: verdict.verdict for name, verdict in found.items()}
            assert reported == dict.fromkeys(("1d", "7d"), Verdict.PREVALENCE_SHIFT), day
