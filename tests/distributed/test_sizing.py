"""How many pages a job gets: the least cost, by pages that are touched as a draw shows."""

import numpy as np
import pytest

from monitor.config import Config
from monitor.distributed.sizing import LARGEST_PAGE, PREDICTION_BYTES, Load, pages_for

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
    others = [8 << doublings for doublings in range(24)]
    fit = [n for n in others if load.pending * PREDICTION_BYTES / n <= LARGEST_PAGE]
    assert chosen in fit
    assert all(load.cost(chosen) <= load.cost(other) for other in fit)


def test_every_task_has_as_many_pages_as_the_others():
    assert all(pages_for(load, tasks) % tasks == 0 for load in LOADS for tasks in (1, 3, 16))


def test_the_longest_horizon_counts_and_an_endless_one_as_thirty_days():
    models = {"a": {"label_timeout": "1d", "horizon": "2d"}, "b": {"label_timeout": "5d"}}
    assert Load.of(Config(models=models), rate=1, batch=1).remembered == 5 * DAY
    assert Load.of(Config(), rate=2, batch=1).pending == 2 * 30 * DAY
