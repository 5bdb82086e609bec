"""A fall while a reference stands in for longer days: said at once, paged once all days show it.

Hourly counts of about 720 cases a day, 8 % positives, recall .8 that falls to .5 on day 12.
"""

import numpy as np
import pytest
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.cli.replay_text import replay_text
from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.service.announce import announcements

MODEL = {"label_timeout": "2d", "maturity": "0s"}
CONFIG = Config(models={"m": MODEL})
FALL, DAYS = 12, 20
STOPS = (14, 15, 16)
"""Days before which the state of a monitor that goes on is stored."""
WHOM = "a provisional reference pages dead models alone; others are paged once all of their days"


def hours(*, fall=FALL, then=0.5, seed=0, days=DAYS, until=None):
    hourly = rates(24 * days, prevalence=0.08)
    hourly[24 * fall : None if until is None else 24 * until, 1] = then
    return stream(30, hourly, seed)


def feed(monitor, cells, first=0, *, size=24):
    for start in range(24 * first, len(cells), size):
        times = np.arange(start, min(start + size, len(cells)), dtype=np.int64)
        monitor.apply(batch_of_counts(times * HOUR, {(): cells[times[0] : times[-1] + 1]}))
    return monitor


def watched(monitor):
    (model,) = monitor.snapshot().models
    return model.watched


def pages(found):
    return [one.at / DAY for one in found.detections if one.kind == "model_degraded"]


@pytest.fixture(scope="module")
def run_on():
    """What a monitor finds that never stops, and its states on some days."""
    monitor, cells, states, first = Monitor(CONFIG), hours(), {}, 0
    for stop in STOPS:
        states[stop] = feed(monitor, cells[: 24 * stop], first).state()
        first = stop
    return watched(feed(monitor, cells, first)), states


@pytest.mark.parametrize(("fall", "seed"), [(8, 1), (10, 0), (12, 0), (15, 0), (20, 0)])
def test_a_fall_ends_the_reference_before_it_and_pages_within_six_days(fall, seed):
    found = watched(feed(Monitor(CONFIG), hours(fall=fall, seed=seed, days=fall + 7)))
    assert found.reference.closes == found.reference.cut_short == pytest.approx(fall * DAY, abs=DAY)
    assert [fall + 3 <= at <= fall + 6 for at in pages(found)] == [True]
    assert found.degradation_detected
    assert not found.reference.provisional


@pytest.mark.parametrize(("day", "answer"), [(14, "yes"), (15, "not_shown")])
def test_before_that_it_is_said_and_pages_nobody(day, answer):
    monitor = feed(Monitor(CONFIG), hours()[: 24 * day])
    snapshot = monitor.snapshot()
    (status,) = status_answer(snapshot, limit=1).models
    assert status.worse.answer == answer
    said = "compared with a provisional reference, which does not page yet"
    assert said in status.worse.text
    assert status.headline.endswith("The reference is provisional: no page yet.")
    assert not status.detectors.degradation_detected
    assert WHOM in status.reference.provisional.text
    text = " ".join(replay_text(snapshot).split())
    assert (said in text, WHOM in text) == (True, True)
    assert any(WHOM in line for line in announcements(Monitor(CONFIG).snapshot(), snapshot))
    assert pages(watched(monitor)) == []


def test_a_page_names_no_provisional_reference(run_on):
    _, states = run_on
    monitor = feed(Monitor(CONFIG, states[16]), hours(), 16)
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    assert status.detectors.degradation_detected
    assert "provisional" not in status.worse.text + status.headline


@pytest.mark.parametrize("stop", STOPS)
def test_a_restart_changes_nothing(stop, run_on):
    whole, states = run_on
    again = watched(feed(Monitor(CONFIG, states[stop]), hours(), stop))
    assert again.reference == whole.reference
    assert again.detections == whole.detections


def test_a_restart_tests_no_days_again_of_which_labels_have_come_since():
    """Days close at 5:00; what comes late counts in their test behind the next one."""
    config = Config(models={"m": {"label_timeout": "6d", "maturity": "5h"}})
    cells, stop = hours(fall=DAYS)[: 24 * 14 + 8], 24 * 13 + 10
    monitor = feed(Monitor(config), cells[:stop], size=1)
    assert watched(monitor).reference.closes == 7 * DAY
    times = np.arange(24 * 8, 24 * 13)
    misses = np.tile([0, 0, 3, 0], (len(times), 1))
    monitor.apply(batch_of_counts(times * HOUR, {(): misses}))
    restarted, found = Monitor(config, monitor.state()), []
    for hour in range(stop, len(cells)):
        batch = batch_of_counts(np.array([hour]) * HOUR, {(): cells[hour : hour + 1]})
        for one in (monitor, restarted):
            one.apply(batch)
        found.append([watched(one).reference.closes // DAY for one in (monitor, restarted)])
    assert found == [[7, 7]] * 21 + [[8, 8]]


@pytest.mark.parametrize("size", [10, 168, pytest.param(1, marks=pytest.mark.slow), 24 * DAYS])
def test_batches_of_other_sizes_end_it_and_page_at_the_same_moment(size, run_on):
    whole, _ = run_on
    other = watched(feed(Monitor(CONFIG), hours(), size=size))
    assert other.reference == whole.reference
    assert other.detections == whole.detections


@pytest.mark.parametrize("seed", [0, 4, 6])
def test_a_healthy_model_whose_first_week_was_better_by_chance_pages_nobody(seed):
    """Days that scatter by .2 in log-odds and hang together: from day 10 to 17 most are worse."""
    days, rng = 26, np.random.default_rng([901, 20])
    each = rng.normal(0, 0.2, (days, 3))
    deviation = each.copy()
    for day in range(1, days):
        deviation[day] = 0.5 * deviation[day - 1] + np.sqrt(0.75) * each[day]
    level = deviation + np.log([0.08 / 0.92, 4.0, 0.035 / 0.965])
    hourly = np.repeat(1 / (1 + np.exp(-level)), 24, axis=0)
    found = watched(feed(Monitor(CONFIG), stream(29, hourly, seed)))
    assert (pages(found), found.reference.closes) == ([], 7 * DAY)


def test_a_fall_that_is_not_certain_holds_the_longer_reference_back():
    cells = hours(fall=20, then=0.72, seed=5, days=60)
    found = watched(feed(Monitor(CONFIG), cells[: 24 * 36])).reference
    assert (found.closes, found.provisional) == (7 * DAY, True)
    assert found.held_back.until == 63 * DAY


@pytest.mark.parametrize("seed", [8, 10, 12])
def test_a_fall_that_becomes_certain_while_longer_days_are_held_back_pages(seed):
    """The first panes are stored no longer by then: the longer first days are, and are cut."""
    monitor, cells = Monitor(CONFIG), hours(fall=20, then=0.7, seed=seed, days=60)
    assert watched(feed(monitor, cells[: 24 * 36])).reference.held_back
    state = feed(monitor, cells[: 24 * 40], 36).state()
    found = watched(feed(monitor, cells[: 24 * 52], 40))
    assert found.reference.closes == found.reference.cut_short == 20 * DAY
    assert found.reference.counts.cells.tolist() == cells[: 24 * 20].sum(axis=0).tolist()
    assert [36 < at < 52 for at in pages(found)] == [True]
    assert found.reference.held_back is None
    again = watched(feed(Monitor(CONFIG, state), cells[: 24 * 52], 40))
    assert (again.reference, again.detections) == (found.reference, found.detections)


def test_a_fall_behind_the_longer_days_that_are_held_back_leaves_them_whole():
    cells = hours(fall=28, then=0.65, seed=6, days=60)
    monitor = feed(Monitor(CONFIG), cells[: 24 * 36])
    assert watched(monitor).reference.held_back
    found = watched(feed(monitor, cells, 36))
    assert (found.reference.closes, found.reference.cut_short) == (28 * DAY, None)
    assert found.reference.counts.cells.tolist() == cells[: 24 * 28].sum(axis=0).tolist()
    assert len(pages(found)) == 1


def test_labels_that_are_a_sample_page_against_a_provisional_reference():
    """Days of estimated outcomes are not tested for a fall, so that its detectors page."""
    cells = hours(fall=10, then=0.2, days=18)
    config = Config(models={"m": MODEL | {"labelling": "sampled"}})
    found = watched(feed(Monitor(config), cells))
    assert not found.reference.provisional
    assert (len(pages(found)), found.reference.closes) == (1, 7 * DAY)
