"""Versions that share a range: they are parts of it, and no key of its mix."""

from types import SimpleNamespace

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.counts import ConfusionCounts
from monitor.diagnosis.segments import both_by_key, by_day_and_version
from monitor.events.columns import Series

BLOCKS = ConfusionCounts(tp=[6, 2], fp=[2, 0], fn=[2, 2], tn=[18, 8])
"""Two blocks of twelve hours."""


def period(**shares):
    """A range of a day, of which versions have so large a share of each outcome."""
    halves = {
        Series("m", "region", name): ConfusionCounts.from_cells(BLOCKS.cells // 2) for name in "ab"
    }
    versions = {
        Series("m", "version", name): ConfusionCounts.from_cells(BLOCKS.cells * share)
        for name, share in shares.items()
    }
    return SimpleNamespace(
        blocks=BLOCKS,
        days_or_blocks=BLOCKS.sum()[None],
        block_ms=12 * HOUR_MS,
        segments={**halves, **versions},
    )


def test_their_outcomes_are_those_of_days():
    found = by_day_and_version(period(six=1.0), period(six=0.5, seven=0.5))
    day = BLOCKS.cells.sum(axis=0)
    assert 2 * period().block_ms == DAY_MS
    assert found.before.cells.tolist() == [[day.tolist()]]
    assert found.after.cells.tolist() == [[(day / 2).tolist()]] * 2


def test_where_not_all_outcomes_are_those_of_a_version_days_alone_count():
    found = by_day_and_version(period(), period(six=0.5, seven=0.5))
    assert found.before.cells.shape == (1, 4)
    assert by_day_and_version(period(six=0.5), period(six=0.5)) is None


def test_the_version_is_no_key_of_the_mix():
    keys = list(both_by_key(period(six=1.0), period(seven=1.0)))
    assert len(keys) == 1
    assert np.array_equal(keys[0].after.cells.sum(axis=0), BLOCKS.cells)
