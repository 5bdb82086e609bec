"""A reference of few outcomes stays while the model looks worse, and pages the dead alone.

Hourly counts of 48 or 96 cases a day, 8 % positives, recall .8: 30 or 55 positives in a week.
"""

from dataclasses import replace

import httpx
import numpy as np
import pytest
from exporter.page.pages import plain, served
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.cli.replay_text import replay_text
from monitor.config import Config, ReferenceCounts
from monitor.drift.reference_news import HeldBack
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.prometheus.collector import SnapshotCollector
from monitor.report.reference_text import mixed_text
from monitor.service.announce import announcements
from monitor.watch.reference import MatureReference
from monitor.watch.small_reference import is_worse, pages_only_the_dead

CONFIG = Config(models={"m": {"label_timeout": "2d", "maturity": "0s"}})
FALL, DAYS = 10, 42
STOPS = (20, 36, 40)
"""Days before which the state of `held` is stored."""
END = (28 + 7 + 28) * DAY


def hours(*, then=None, per_hour=2, seed=1, days=DAYS, until=DAYS):
    hourly = rates(24 * days, prevalence=0.08)
    if then is not None:
        hourly[24 * FALL : 24 * until, 1] = then
    return stream(per_hour, hourly, seed)


def feed(monitor, cells, first=0, *, size=24):
    for start in range(24 * first, len(cells), size):
        times = np.arange(start, min(start + size, len(cells)), dtype=np.int64)
        monitor.apply(batch_of_counts(times * HOUR, {(): cells[times[0] : times[-1] + 1]}))
    return monitor


def watched(monitor):
    (model,) = monitor.snapshot().models
    return model.watched


def days_of(reference):
    return (reference.closes - reference.opens) / DAY


@pytest.fixture(scope="module")
def run_on():
    """A monitor of which a fall in the second week pages nobody, and its states on some days."""
    monitor, cells, states, first = Monitor(CONFIG), hours(then=0.4), {}, 0
    for stop in STOPS:
        states[stop] = feed(monitor, cells[: 24 * stop], first).state()
        first = stop
    return feed(monitor, cells, first), states


@pytest.fixture(scope="module")
def held(run_on):
    return run_on[0]


def test_a_fall_that_pages_nobody_does_not_become_the_reference(held):
    found = watched(held)
    assert days_of(found.reference) == 8
    assert found.reference.held_back == HeldBack(8 * DAY, until=END)
    assert found.reference.counts.actual_positive < 100
    assert found.detections == ()


def test_a_model_as_ever_gets_the_longer_reference():
    reference = watched(feed(Monitor(CONFIG), hours())).reference
    assert (days_of(reference), reference.held_back) == (28, None)


def test_a_certain_change_ends_the_longer_reference_before_it():
    reference = watched(feed(Monitor(CONFIG), hours(then=0.4, per_hour=4))).reference
    assert reference.closes == reference.cut_short == FALL * DAY
    assert reference.held_back is None


def test_the_longer_reference_is_taken_once_no_fall_is_likely():
    cells = hours(then=0.4, days=80, until=32, seed=6)
    monitor = feed(Monitor(CONFIG), cells[: 24 * 38])
    assert watched(monitor).reference.held_back
    reference = watched(feed(monitor, cells[: 24 * 60], 38)).reference
    assert (days_of(reference), reference.held_back) == (28, None)
    assert reference.counts.cells.tolist() == cells[: 24 * 28].sum(axis=0).tolist()


def test_days_are_held_back_for_four_weeks_at_most():
    """The panes of the first days are stored no longer by then."""
    cells = hours(then=0.4, days=64, until=64, seed=5)
    monitor = feed(Monitor(CONFIG), cells[: 24 * 63])
    before = watched(monitor).reference
    assert (days_of(before), before.held_back) == (7, HeldBack(7 * DAY, until=END))
    monitor = feed(Monitor(CONFIG, monitor.state()), cells, 63)
    reference = watched(monitor).reference
    assert days_of(reference) == 28
    assert reference.counts.cells.tolist() == cells[: 24 * 28].sum(axis=0).tolist()
    assert reference.held_back == HeldBack(7 * DAY, over=True)
    assert reference.version == before.version + 1
    again = Monitor(CONFIG, monitor.state())
    assert watched(again).reference == reference
    (status,) = status_answer(again.snapshot(), limit=1).models
    assert (status.reference.held_back.over, status.reference.held_back.until) == (True, None)
    assert "it has become the normal state" in status.reference.held_back.text
    assert mixed_text(reference) == reference.held_back.text
    assert held_back_samples(again.snapshot()) == [0]


def test_a_fall_that_is_likely_no_more_for_lack_of_labels_stays_held_back():
    assert is_worse(None, already=True)
    assert not is_worse(None, already=False)


def held_back_samples(snapshot):
    return [
        one.value
        for family in SnapshotCollector(lambda: snapshot).collect()
        for one in family.samples
        if one.name == "classifier_reference_held_back"
    ]


def test_why_it_stays_and_until_when_is_said_wherever_the_reference_is(held):
    snapshot = held.snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    found = status.reference.held_back
    assert (found.since, found.until) == ("1970-01-09T00:00:00Z", "1970-03-05T00:00:00Z")
    assert not found.over
    clause = watched(held).reference.held_back.text
    assert found.text == f"L{clause[1:]}."
    assert f"until about {found.until} at most" in clause
    assert clause in " ".join(replay_text(snapshot).split())
    assert held_back_samples(snapshot) == [1]
    with served(held) as url:
        page = plain(httpx.get(url, timeout=60).text)
        text = httpx.get(f"{url}/api/v1/diagnosis", headers={"accept": "text/plain"}, timeout=60)
    assert found.text.replace("`", "") in page
    assert f"- {found.text}" in " ".join(text.text.split())


def test_it_is_announced_once():
    monitor, said = Monitor(CONFIG), []
    cells, before = hours(then=0.4), None
    for day in range(DAYS):
        feed(monitor, cells[: 24 * (day + 1)], day)
        snapshot = monitor.snapshot()
        said += [] if before is None else announcements(before, snapshot)
        before = snapshot
    clause = mixed_text(watched(monitor).reference)
    assert clause == watched(monitor).reference.held_back.text
    assert [line for line in said if "are not taken as" in line] == [f"CAUTION: m: {clause}"]


@pytest.mark.parametrize(
    "size", [*(pytest.param(size, marks=pytest.mark.slow) for size in (1, 10)), 168]
)
def test_batches_of_other_sizes_hold_it_back_alike(held, size):
    other = watched(feed(Monitor(CONFIG), hours(then=0.4), size=size))
    assert other.reference == watched(held).reference


@pytest.mark.parametrize("stop", STOPS)
def test_a_restart_changes_nothing(run_on, stop):
    held, states = run_on
    again = watched(feed(Monitor(CONFIG, states[stop]), hours(then=0.4), stop))
    assert again.reference == watched(held).reference
    assert again.reference.held_back


def test_it_is_held_back_as_soon_as_it_is_restored(held):
    assert watched(Monitor(CONFIG, held.state())).reference == watched(held).reference


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_a_model_that_finds_nothing_any_more_pages_within_a_week(seed):
    found = watched(feed(Monitor(CONFIG), hours(then=0.0, seed=seed)[: 24 * 22]))
    assert found.reference.counts.actual_positive < 100
    (page,) = [one.at / DAY for one in found.detections if one.kind == "model_degraded"]
    assert FALL < page <= FALL + 7
    assert found.degradation_detected


def test_a_dead_model_that_is_back_is_paged_by_no_single_bad_day():
    """The reference of few outcomes stays: the longer one would hold the fault."""
    found = watched(feed(Monitor(CONFIG), hours(then=0.0, days=70, until=20, seed=2)))
    assert [one.kind for one in found.detections] == ["model_degraded"]
    assert not found.degradation_detected
    assert found.reference.cut_short > found.reference.closes


@pytest.mark.parametrize(
    ("cut_short", "few"), [(None, True), (9 * DAY, True), (8 * DAY, False), (6 * DAY, False)]
)
def test_a_reference_that_ends_at_a_certain_change_pages_of_others(cut_short, few):
    given = MatureReference.given(ReferenceCounts(tp=40, fp=20, fn=10, tn=600))
    reference = replace(given, source="first", opens=0, closes=8 * DAY, cut_short=cut_short)
    assert pages_only_the_dead(reference, 28 * DAY) is few
    assert not pages_only_the_dead(reference, 8 * DAY)
