import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.clock import DAY_MS
from monitor.windows import passed_panes
from monitor.windows.days import Days
from monitor.windows.panes import PaneRing

HOUR = DAY_MS // 24
ROW = np.array([0])


def stepped(events, times):
    """Counts by day after events, each in an hour, between which time moves on.

    Args:
        events: the hour of each.
        times: the hour that time has reached after each.
    """
    coarse = PaneRing(width=HOUR, span=48, cells=1)
    days = Days(coarse, 366)
    for ring in (coarse, days):
        ring.ensure(ROW)
    now = 0
    for hour, then in zip(events, times, strict=True):
        one = (np.array([hour]), ROW, np.array([0]), np.array([1]))
        coarse.add(*one)
        days.add_late(*one)
        now = max(now, then)
        days.advance(now * HOUR)
        coarse.advance(now * HOUR)
    return days.table(0, 30, ROW)[:, 0, 0].tolist()


def test_hours_ahead_that_a_leap_of_time_passes_over_are_in_their_days():
    found = stepped([0, 77, 78], [0, 0, 500])
    assert found == [1, 0, 0, 2, *[0] * 26]


@given(st.lists(st.tuples(st.integers(0, 700), st.integers(0, 700)), max_size=12))
def test_however_time_moves_on_each_event_is_in_its_day_once(steps):
    found = stepped(*zip(*steps, strict=True)) if steps else [0] * 30
    assert found == [sum(hour // 24 == day for hour, _ in steps) for day in range(30)]


@pytest.mark.parametrize("most", [1, 24 * 7, 1 << 16])
def test_days_are_the_same_however_many_are_read_at_once(monkeypatch, most):
    monkeypatch.setattr(passed_panes, "_MOST_CELLS", most)
    hours = [*range(0, 24 * 30, 5)]
    assert stepped(hours, hours) == [sum(h // 24 == day for h in hours) for day in range(30)]
