"""How many pages a job gets: the least cost, by pages that are touched as a draw shows."""

import numpy as np
import pytest

from monitor.config import Config
from monitor.distributed.sizing import (
    EVENT_SECONDS,
    LARGEST_PAGE,
    MOST_DOUBLINGS,
    MOST_PAGES,
    PAGE_SECONDS,
    PREDICTION_BYTES,
    READ_SECONDS,
    WRITE_SECONDS,
    Load,
    check_pages,
    pages_for,
    why_so_many,
)
from monitor.errors import MonitorError

DAY = 86_400
LOADS = [
    Load(rate, days * DAY, batch) for rate in (10, 1000) for days in (1, 30) for batch in (10, 600)
]


@pytest.mark.parametrize("pages", [8, 1024, 100_000])
def test_a_batch_touches_as_many_pages_as_a_draw_of_its_events(pages):
    load = Load(rate=1000, remembered=DAY, batch=10)
    drawn = np.random.default_rng(1).integers(pages, size=round(load.events))
    assert load.touched(pages) == pytest.approx(len(np.unique(drawn)), rel=0.01)


@pytest.mark.parametrize("load", LOADS)
def test_no_other_number_of_pages_that_are_not_too_large_costs_less(load):
    chosen = pages_for(load, 8)
    others = [8 << doublings for doublings in range(MOST_DOUBLINGS + 1)]
    fit = [n for n in others if load.pending * PREDICTION_BYTES / n <= LARGEST_PAGE]
    assert chosen in fit
    assert all(load.cost(chosen) <= load.cost(other) for other in fit)


def test_a_task_has_no_more_pages_than_a_batch_can_search():
    small_batches = Load(rate=500, remembered=30 * DAY, batch=10)
    assert pages_for(small_batches, 8) == 8 * MOST_PAGES
    assert small_batches.cost(16 * MOST_PAGES) < small_batches.cost(8 * MOST_PAGES)


def test_too_few_tasks_are_refused_with_a_number_that_does():
    load = Load(rate=250_000, remembered=30 * DAY, batch=600)
    with pytest.raises(MonitorError, match=r"^--partitions 8: .*; give at least --partitions 29,"):
        pages_for(load, 8)
    assert pages_for(load, 29) == 29 * MOST_PAGES
    with pytest.raises(MonitorError, match=r"--buckets 524289: .* or at least --partitions 9"):
        check_pages(8 * MOST_PAGES + 1, 8)
    check_pages(8 * MOST_PAGES, 8)


def test_a_search_reads_the_pages_that_the_batch_has_not_touched_and_writes_all():
    all_touched = Load(rate=1000, remembered=DAY, batch=600)
    assert all_touched.search_cost(256) == pytest.approx(all_touched.pending * WRITE_SECONDS)
    few_touched = Load(rate=1, remembered=DAY, batch=1)
    rows = few_touched.pending / 64
    untouched = 64 - few_touched.touched(64)
    assert few_touched.search_cost(64) == pytest.approx(
        untouched * (PAGE_SECONDS + rows * READ_SECONDS) + few_touched.pending * WRITE_SECONDS
    )
    long_batch = Load(rate=1, remembered=DAY, batch=DAY)
    assert (few_touched.searches, long_batch.searches) == (pytest.approx(16 / DAY), 1)


def test_small_pages_are_not_said_to_be_of_no_bytes():
    load = Load(rate=1, remembered=DAY, batch=10)
    assert "84 in each, 2.0 kB (2.3 kB as stored)" in why_so_many(load, 1024)


def test_a_load_that_one_core_cannot_keep_up_with_is_named():
    heavy = Load(100_000, 2 * 86_400, 60)
    pages = pages_for(heavy, 8)
    cores = (heavy.cost(pages) + heavy.events * EVENT_SECONDS) / 60
    assert cores > 1
    said = why_so_many(heavy, pages, "; assumed")
    assert f": {cores:,.1f} cores keep up with it, fewer with a longer --every; assumed" in said


def test_every_task_has_as_many_pages_as_the_others():
    assert all(pages_for(load, tasks) % tasks == 0 for load in LOADS for tasks in (1, 3, 16))


def test_the_longest_horizon_counts_and_an_endless_one_as_thirty_days():
    models = {"a": {"label_timeout": "1d", "horizon": "2d"}, "b": {"label_timeout": "5d"}}
    assert Load.of(Config(models=models), rate=1, batch=1).remembered == 5 * DAY
    models["a"] |= {"label_timeout": "9d"}
    assert Load.of(Config(models=models), rate=1, batch=1).remembered == 9 * DAY
    assert Load.of(Config(), rate=2, batch=1).pending == 2 * 30 * DAY
