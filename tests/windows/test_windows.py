import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Group
from monitor.join import Deltas
from monitor.windows import Windows
from monitor.windows.panes import PaneRing

MINUTE, HOUR, DAY = 60_000, 3_600_000, 86_400_000


def deltas(rows):
    """Deltas of (time, cell, count) or (time, cell, count, label_time) rows of group 0."""
    columns = list(zip(*[(*row, row[0])[:4] for row in rows], strict=True)) or [()] * 4
    time, cell, count, label_time = (np.array(column, np.int64) for column in columns)
    zeros = np.zeros(len(time), np.int64)
    return Deltas(
        time=time, label_time=label_time, group=zeros, cell=cell, score_bin=zeros, count=count
    )


def windows_of(maturity="0s", names=("5m", "1h", "1d"), **settings):
    config = Config(defaults={"maturity": maturity, **settings}, windows=list(names))
    catalogue = Catalogue(config)
    catalogue.groups_of([Group("m")])
    return Windows(config, catalogue)


def recount(rows, opens, closes):
    total = [0] * 6
    for time, cell, count, *_ in rows:
        if opens <= time < closes:
            total[cell] += count
    return total


def look(windows, name, now, maturity=0):
    bounds, sums = windows.view(name, np.array([now]), np.array([maturity]))
    return *bounds[0].tolist(), sums[0].tolist()


times = st.integers(0, 3 * DAY)
steps = st.lists(
    st.tuples(times, st.integers(0, 5), st.sampled_from([1, 1, 1, 5])), min_size=1, max_size=30
)


@settings(max_examples=75, deadline=None)
@given(st.lists(steps, min_size=1, max_size=8), st.sampled_from([0, 10 * MINUTE, 30 * HOUR]))
def test_windows_equal_the_recount_after_every_step(batches, maturity):
    windows, rows, newest = windows_of(), [], 0
    for batch in batches:
        newest = max(newest, *(time for time, _, _ in batch))
        windows.advance(newest)
        windows.apply(deltas(batch))
        rows += batch
        for name, length in (("5m", 5 * MINUTE), ("1h", HOUR), ("1d", DAY)):
            opens, closes, sums = look(windows, name, newest, maturity)
            assert closes - opens == length
            assert closes <= newest - maturity < closes + HOUR
            assert sums == recount(rows, opens, closes)
    assert windows.lifetime[0].tolist() == recount(rows, -DAY, 9 * DAY)


def test_fine_windows_move_by_the_pane_and_mature_ones_by_the_hour():
    windows = windows_of(names=("1h", "7d"))
    windows.advance(20 * DAY + 90_000)
    assert look(windows, "1h", 20 * DAY + 90_000)[1] == 20 * DAY + MINUTE
    assert look(windows, "7d", 20 * DAY + 90_000)[1] == 20 * DAY
    assert look(windows, "1h", 20 * DAY + 90_000, 10 * DAY)[1] == 10 * DAY


def test_windows_move_on_while_nothing_comes():
    windows = windows_of()
    windows.advance(10 * MINUTE)
    windows.apply(deltas([(9 * MINUTE, 0, 1)]))
    assert look(windows, "5m", 10 * MINUTE)[2][0] == 1
    assert look(windows, "5m", 14 * MINUTE)[2][0] == 1
    assert look(windows, "5m", 15 * MINUTE)[2][0] == 0


def test_what_lies_ahead_of_the_watermark_counts_as_soon_as_a_window_gets_there():
    windows = windows_of()
    windows.advance(0)
    windows.apply(deltas([(7 * MINUTE, 0, 1), (400 * DAY, 1, 1)]))
    assert look(windows, "5m", 5 * MINUTE)[2][0] == 0
    assert look(windows, "5m", 8 * MINUTE)[2][0] == 1
    windows.advance(8 * MINUTE)
    assert look(windows, "5m", 8 * MINUTE)[2][0] == 1
    assert windows.lifetime[0, :2].tolist() == [1, 1]


def test_taking_back_leaves_no_residue():
    windows = windows_of()
    windows.advance(DAY)
    rows = [(DAY - HOUR, cell, 3) for cell in range(6)]
    windows.apply(deltas(rows))
    look(windows, "1d", DAY)
    windows.apply(deltas([(time, cell, -count) for time, cell, count in rows]))
    assert look(windows, "1d", DAY)[2] == [0] * 6
    assert not windows.lifetime.any()


def test_a_label_clock_counts_outcomes_by_the_time_of_their_label():
    windows = windows_of(clock="label")
    windows.advance(DAY)
    windows.apply(deltas([(2 * HOUR, 0, 1, DAY - MINUTE), (2 * HOUR, 4, 1, 2 * HOUR)]))
    assert look(windows, "5m", DAY)[2] == [1, 0, 0, 0, 0, 0]


def test_history_keeps_a_model_by_the_hour():
    windows = windows_of()
    windows.advance(DAY)
    windows.apply(deltas([(5 * HOUR + 1, 0, 2), (6 * HOUR, 1, 1)]))
    history = windows.past.history(0)
    hours = {int(t) // HOUR: c.tolist() for t, c in zip(*history, strict=True) if c.any()}
    assert hours == {5: [2, 0, 0, 0, 0, 0], 6: [0, 1, 0, 0, 0, 0]}


@pytest.mark.parametrize("now", [10 * DAY, 11 * DAY, 300 * DAY])
def test_a_long_leap_empties_the_panes_that_are_left_behind(now):
    windows = windows_of(names=("1h", "1d"))
    windows.advance(10 * DAY)
    windows.apply(deltas([(10 * DAY - HOUR, 0, 1)]))
    look(windows, "1d", 10 * DAY)
    windows.advance(now)
    opens, closes, sums = look(windows, "1d", now)
    assert sums == recount([(10 * DAY - HOUR, 0, 1)], opens, closes)


def test_a_pane_is_emptied_when_its_place_is_taken_again():
    ring = PaneRing(width=10, span=4, cells=1)
    ring.ensure(np.zeros(1, np.int64))
    one, zero = np.ones(1, np.int64), np.zeros(1, np.int64)
    for pane in range(20):
        ring.advance(pane * 10)
        ring.add(np.array([pane]), zero, zero, one)
        assert ring.sum(pane - 3, pane + 1, zero)[0, 0] == min(pane + 1, 4)


def test_many_models_each_with_its_own_maturity():
    config = Config(windows=["1h"])
    catalogue = Catalogue(config)
    catalogue.groups_of([Group("a"), Group("b")])
    windows = Windows(config, catalogue)
    windows.advance(2 * HOUR)
    at = np.array([HOUR - 1, HOUR - 1], np.int64)
    windows.apply(
        Deltas(
            time=at,
            label_time=at,
            group=np.array([0, 1]),
            cell=np.array([0, 1]),
            score_bin=np.zeros(2, np.int64),
            count=np.ones(2, np.int64),
        )
    )
    bounds, sums = windows.view("1h", np.array([2 * HOUR] * 2), np.array([0, HOUR]))
    assert bounds.tolist() == [[HOUR, 2 * HOUR], [0, HOUR]]
    assert sums[:, :2].tolist() == [[0, 0], [0, 1]]


def test_counts_beyond_32_bits_stay_exact():
    windows, rows = windows_of(names=("1h",)), []
    windows.advance(HOUR)
    for _ in range(5):
        rows.append((30 * MINUTE, 0, 2**31 - 1))
        windows.apply(deltas(rows[-1:]))
    assert look(windows, "1h", HOUR)[2][0] == 5 * (2**31 - 1)
    assert windows.past.history(0).cells.sum() == 5 * (2**31 - 1)
