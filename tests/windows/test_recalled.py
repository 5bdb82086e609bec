"""Counts recalled from stored hours and days equal exact counts from the start."""

import numpy as np
import pytest
from streams import flights, in_batches

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config
from monitor.diagnosis import Period, block_ms_of
from monitor.engine import CountingMonitor
from monitor.events.columns import EARLIEST_MS, LATEST_MS
from monitor.windows.history import HISTORY_DAYS

JULY = (1_372_636_800_000, 1_375_315_200_000)
SEPTEMBER = (1_377_993_600_000, 1_380_585_600_000)
SUMMER_END = 1_381_000_000
KEYS = ("origin", "carrier")
CONFIG = Config(
    defaults={"segments": KEYS, "label_timeout": "2d", "reference": {"first": "7d"}},
    windows=["1d", "7d"],
)
MODEL = "delay-hgb-v1"


@pytest.fixture(scope="module")
def fed():
    """The flights up to October, and exact counts of the same by the hour."""
    monitor = CountingMonitor(CONFIG)
    exact = monitor.count_range(EARLIEST_MS, LATEST_MS, HOUR_MS)
    for batch in in_batches([e for e in flights() if e["ts"] < SUMMER_END], 5_000, KEYS):
        monitor.apply(batch)
    return monitor, exact


@pytest.mark.slow
@pytest.mark.parametrize(
    "bounds",
    [
        JULY,
        SEPTEMBER,
        (SEPTEMBER[0], SEPTEMBER[0] + 7 * DAY_MS),
        (SEPTEMBER[0] + 5 * HOUR_MS, SEPTEMBER[0] + 8 * HOUR_MS),
        (JULY[0] + HOUR_MS, JULY[1] - 7 * HOUR_MS),
    ],
    ids=["july", "september", "week", "morning", "cut within days"],
)
def test_a_stretch_is_what_was_counted_exactly(fed, bounds):
    monitor, exact = fed
    opens, closes = bounds
    width = block_ms_of(opens, closes)
    recalled = monitor.recall(MODEL, opens, closes, width)
    for series in recalled.series(MODEL):
        expected = exact.blocks(series, opens, closes, width)
        found = recalled.blocks(series, opens, closes, width)
        assert np.array_equal(found, expected[exact_blocks(exact, opens, closes, width)]), series


def exact_blocks(exact, opens, closes, width):
    totals = exact.blocks(exact.series(MODEL)[0], opens, closes, width)
    return np.flatnonzero(totals[:, 4:].any(axis=1))


def test_segments_are_stored_by_the_day_for_long_and_by_the_hour_for_weeks(fed):
    monitor, _ = fed
    whole_months = monitor.recall(MODEL, *JULY, DAY_MS)
    assert len(whole_months.columns) > 10
    assert not whole_months.without_segments
    old_hours = monitor.recall(MODEL, JULY[0], JULY[0] + DAY_MS, HOUR_MS)
    assert old_hours.without_segments
    assert [series.segment for series in old_hours.columns] == [None]


def test_both_ways_of_counting_give_one_period(fed):
    monitor, exact = fed
    width = block_ms_of(*SEPTEMBER)
    recalled = monitor.recall(MODEL, *SEPTEMBER, width)
    found, expected = (Period.counted(c, MODEL, *SEPTEMBER) for c in (recalled, exact))
    assert found.predictions == expected.predictions
    assert found.total == expected.total
    assert set(found.segments) == {s for s, c in expected.segments.items() if c.total.sum()}


@pytest.mark.parametrize(
    ("opens", "closes", "reported"),
    [
        (JULY[0] + 1, JULY[1], "whole hours"),
        (JULY[1], JULY[0], "in order"),
        (JULY[0] - 2 * HISTORY_DAYS * DAY_MS, JULY[0], "are stored"),
        (JULY[0], JULY[0] + 2 * HISTORY_DAYS * DAY_MS, "are stored"),
    ],
)
def test_what_cannot_be_recalled_is_refused(fed, opens, closes, reported):
    with pytest.raises(ValueError, match=reported):
        fed[0].recall(MODEL, opens, closes, HOUR_MS)


def test_a_copy_does_not_change_with_what_comes(fed):
    monitor, _ = fed
    recalled = monitor.recall(MODEL, *SEPTEMBER, DAY_MS)
    stored = recalled.cells.copy()
    assert not np.shares_memory(recalled.cells, monitor.recall(MODEL, *SEPTEMBER, DAY_MS).cells)
    assert np.array_equal(recalled.cells, stored)
    with pytest.raises(ValueError, match="alone"):
        recalled.blocks(recalled.columns[0], *JULY, DAY_MS)
