"""One class against the others, read like a binary model whose segments are the actual classes."""

from __future__ import annotations

import numpy as np
from class_streams import DAY, ClassStream

from monitor.counts import ConfusionCounts
from monitor.engine import Monitor
from monitor.metrics.class_matrix import one_against_rest
from monitor.windows.class_view import ClassView

STREAM = ClassStream(classes=5, a_day=200, days=9)
ROWS = np.arange(STREAM.classes + 1)


def views(monitor: Monitor) -> list[ClassView]:
    windows = monitor._windows
    return [ClassView(windows, 0, c, STREAM.classes) for c in range(STREAM.classes)]


def recounted() -> np.ndarray:
    """Matrices by six hours, (panes, classes, classes)."""
    found = np.zeros((STREAM.days * 4, STREAM.classes, STREAM.classes), dtype=np.int64)
    for times, predicted, actual in STREAM.by_day():
        np.add.at(found, (times // (DAY // 4), predicted, actual), 1)
    return found


def test_the_segments_of_a_class_are_the_columns_of_the_matrix() -> None:
    monitor, recount = STREAM.applied(), recounted()
    for number, view in enumerate(views(monitor)):
        cells = view.panes(4, 32, ROWS)
        whole = ConfusionCounts.from_cells(cells[:, 0, :4])
        expected = one_against_rest(recount[4:32])
        assert whole == ConfusionCounts.from_cells(expected.cells[:, number])
        for actual in range(STREAM.classes):
            own = cells[:, actual + 1]
            hits, cases = recount[4:32, number, actual], recount[4:32, :, actual].sum(axis=1)
            place = [0, 2] if actual == number else [1, 3]
            assert (own[:, place] == np.column_stack([hits, cases - hits])).all()
            assert own[:, :4].sum() == cases.sum()
        predicted = recount[4:32, number].sum(axis=1)
        assert (cells[:, 0, 4] == predicted).all()
        assert (cells[:, 0, 4:].sum(axis=1) == recount[4:32].sum(axis=(1, 2))).all()


def test_windows_and_days_add_up_to_the_panes() -> None:
    monitor = STREAM.applied()
    now, hour = STREAM.days * DAY * 1000, 3_600_000
    for view in views(monitor):
        days = view.days(0, STREAM.days)
        assert (days == view.panes(0, STREAM.days * 4, ROWS).reshape(9, 4, 6, 6).sum(axis=1)).all()
        week = view.blocks("7d", ROWS, now, 0, 24 * hour)
        assert (week == days[-7:]).all()
        assert not view.weight_blocks("7d", ROWS, now, 0, 24 * hour).any()
