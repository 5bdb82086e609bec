"""All objects are searched for garbage between turns alone, and rarely."""

import gc

import pytest
from service.test_service_loop import StoredRejections

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.service.garbage import EVERY_SECONDS, GarbageSearch
from monitor.service.loop import Service

SLOW = 3.0
"""Seconds that a search takes."""


@pytest.fixture
def clock():
    return ManualClock()


def test_new_objects_do_not_start_a_search_of_all(clock):
    with GarbageSearch(clock):
        before = gc.get_stats()[2]["collections"]
        kept = [[number] for number in range(500_000)]
        assert gc.get_stats()[2]["collections"] == before
    assert len(kept) == 500_000


def test_the_usual_settings_return(clock):
    usual = gc.get_threshold()
    with GarbageSearch(clock):
        assert gc.get_threshold() != usual
        assert gc.get_freeze_count()
    assert (gc.get_threshold(), gc.get_freeze_count()) == (usual, 0)


def test_the_loop_searches_once_a_minute_and_less_where_it_takes_long(clock):
    searched = []

    def search():
        searched.append(clock.monotonic())
        clock.sleep(SLOW)

    service = Service(
        Config(),
        [],
        clock=clock,
        rejected=StoredRejections(),
        say=lambda _line: None,
        garbage=GarbageSearch(clock, search),
    )
    service.run(lambda: clock.monotonic() > 10 * EVERY_SECONDS)
    assert searched == pytest.approx([60, 363], abs=1)
