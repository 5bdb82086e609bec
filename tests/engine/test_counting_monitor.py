"""A monitor that judges nothing counts as one that does."""

from dataclasses import replace

import pytest
from same import differences
from streams import flights, in_batches

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor

SEGMENTS = ("origin", "part_of_day")
CONFIG = Config(defaults={"segments": SEGMENTS}, windows=["1d", "7d"])


@pytest.fixture(scope="module")
def both():
    """A monitor that judges and one that counts, with a month of flights."""
    monitors = Monitor(CONFIG), CountingMonitor(CONFIG)
    for batch in in_batches(flights()[:12_000], 1_000, SEGMENTS):
        for monitor in monitors:
            monitor.apply(batch)
    return monitors


def test_the_state_differs_in_what_is_judged_alone(both):
    judging, counting = (monitor.state() for monitor in both)
    for judged in ("watch", "day_cuts"):
        assert judging.pop(judged) != counting.pop(judged)
    assert not [*differences(judging, counting)]


def test_the_counts_and_books_are_those_of_a_monitor_that_judges(both):
    judging, counting = (monitor.snapshot() for monitor in both)
    (judged,), (counted,) = judging.models, counting.models
    of_reference = {"watched": counted.watched, "scores": counted.scores}
    same = replace(judging, models=(replace(judged, **of_reference),))
    assert not [*differences(same, counting)]


def test_nothing_is_judged(both):
    judging, counting = (monitor.snapshot().models[0].watched for monitor in both)
    assert judging.verdicts
    assert judging.reference is not None
    assert not counting.verdicts
    assert counting.reference is None
    assert not counting.predictions.known
