"""A fall inside the first week: the days after the reference show it, and the reference ends there.

Hourly counts of about 720 cases a day, 8 % positives, recall .8 that falls to .5.
"""

import numpy as np
import pytest
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.config import Config
from monitor.counts import ConfusionCounts
from monitor.engine import Monitor
from monitor.report.reference_text import mixed_text
from monitor.watch.young_reference import YOUNG_DAYS, change_inside, days_since

CONFIG = Config(models={"m": {"label_timeout": "2d", "maturity": "0s"}})
FALL, DAYS = 4, 16
STOPS = (7, 8, 9, 12)
"""Days before which the state of a monitor that goes on is stored."""


def hours(*, fall=None, seed=0, days=DAYS, recall=0.8, then=0.5):
    hourly = rates(24 * days, prevalence=0.08, recall=recall)
    if fall is not None:
        hourly[24 * fall :, 1] = then
    return stream(30, hourly, seed)


def feed(monitor, cells, first=0, *, size=24, late=0):
    for start in range(24 * first, len(cells), size):
        times = np.arange(start, min(start + size, len(cells)), dtype=np.int64)
        monitor.apply(batch_of_counts((late + times) * HOUR, {(): cells[times[0] : times[-1] + 1]}))
    return monitor


def watched(monitor):
    (model,) = monitor.snapshot().models
    return model.watched


@pytest.mark.parametrize(("fall", "seed"), [(2, 2), (3, 2), (4, 0), (5, 0), (6, 0)])
def test_a_fall_inside_the_first_reference_ends_it_there_and_pages(fall, seed):
    found = watched(feed(Monitor(CONFIG), hours(fall=fall, seed=seed)))
    assert found.reference.closes == found.reference.cut_short == pytest.approx(fall * DAY, abs=DAY)
    assert found.reference.version == 2
    assert found.reference.level_change is None
    pages = [one.at / DAY for one in found.detections if one.kind == "model_degraded"]
    assert [fall < at <= 11 for at in pages] == [True]
    assert found.began is not None
    assert found.began.at == pytest.approx(fall * DAY, abs=DAY)
    assert "the reference ends before a change about" in mixed_text(found.reference)


def test_a_model_as_ever_loses_none_of_its_reference():
    monitors = [feed(Monitor(CONFIG), hours(seed=seed)) for seed in range(5)]
    assert {watched(one).reference.closes for one in monitors} == {7 * DAY}
    assert {watched(one).reference.cut_short for one in monitors} == {None}


def test_two_worse_days_at_the_start_are_not_the_reference():
    found = watched(feed(Monitor(CONFIG), hours(fall=2, seed=1, recall=0.5, then=0.8)))
    assert (found.reference.closes, found.reference.cut_short) == (7 * DAY, None)
    later = watched(feed(Monitor(CONFIG), hours(fall=3, seed=1, recall=0.5, then=0.8)))
    assert later.reference.cut_short == 3 * DAY


def test_two_days_without_a_miss_before_a_better_model_are_not_the_reference():
    """As of a model that learns online: it flags every case at first, so that it misses none."""
    first = [[13, 11, 0, 0], [9, 5, 0, 10]]
    days = ConfusionCounts.from_cells(first + [[9, 2, 1, 12]] * 20)
    assert change_inside(days, 14) is None
    three = ConfusionCounts.from_cells([*first, [9, 8, 0, 7]] + [[9, 2, 1, 12]] * 20)
    assert change_inside(three, 14) == 3


def test_a_fall_after_the_reference_leaves_it_as_it_is():
    found = watched(feed(Monitor(CONFIG), hours(fall=9, days=11)))
    assert (found.reference.closes, found.reference.cut_short) == (7 * DAY, None)


def test_a_configured_range_of_time_stays_as_it_is():
    window = {"length": "7d", "end": "1970-01-08"}
    model = {"label_timeout": "2d", "maturity": "0s", "reference": {"window": window}}
    found = watched(feed(Monitor(Config(models={"m": model})), hours(fall=FALL)))
    assert (found.reference.closes, found.reference.cut_short) == (7 * DAY, None)


@pytest.mark.parametrize(
    ("fall", "seed", "late"),
    [
        (4, 1, 0),
        pytest.param(4, 3, 0, marks=pytest.mark.slow),
        pytest.param(5, 1, 10, marks=pytest.mark.slow),
    ],
)
def test_batches_of_other_sizes_cut_it_and_page_at_the_same_moment(fall, seed, late):
    cells = hours(fall=fall, seed=seed)
    sizes = (1, 10, 24, 168, len(cells))
    hourly, *others = [
        watched(feed(Monitor(CONFIG), cells, size=size, late=late)) for size in sizes
    ]
    assert hourly.reference.cut_short == (24 * fall + late) * HOUR
    assert [one.kind for one in hourly.detections] == ["model_degraded"]
    for other in others:
        assert other.reference == hourly.reference
        assert other.detections == hourly.detections


@pytest.fixture(scope="module")
def run_on():
    """What a monitor finds that never stops, and its states on some days."""
    monitor, cells, states, first = Monitor(CONFIG), hours(fall=FALL), {}, 0
    for stop in STOPS:
        states[stop] = feed(monitor, cells[: 24 * stop], first).state()
        first = stop
    return watched(feed(monitor, cells, first)), states


@pytest.mark.parametrize("stop", STOPS)
def test_a_restart_changes_nothing(stop, run_on):
    whole, states = run_on
    again = watched(feed(Monitor(CONFIG, states[stop]), hours(fall=FALL), stop))
    assert again.reference == whole.reference
    assert again.detections == whole.detections


def test_days_are_tested_for_a_week_and_a_change_must_show_on_two_of_them():
    assert [days_since(0, moment) for moment in (DAY - 1, DAY, 7 * DAY, 8 * DAY)] == [
        None,
        1,
        YOUNG_DAYS,
        None,
    ]
    fallen = np.array([[45, 32, 11, 612]] * 6 + [[28, 32, 28, 612]] * 2)
    days = ConfusionCounts.from_cells(fallen)
    assert change_inside(days, 7) is None
    longer = ConfusionCounts.from_cells(np.concatenate([fallen, fallen[-2:]]))
    assert change_inside(longer, 7) == 6
