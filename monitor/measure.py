"""From counts to what a snapshot says of a window: metrics with their intervals.

Computed again only where counts changed.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from monitor import metrics
from monitor.counts import ConfusionCounts, Outcome
from monitor.events import FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.snapshot import METRICS, Estimate, Window

_Measure = Callable[[ConfusionCounts], tuple[FloatArray, FloatArray, FloatArray]]


class Measurements:
    """Estimates for the rows of one window, kept until the row's counts change.

    Intervals cost microseconds a row and most series stand still between two
    scrapes, so this is what makes a scrape of ten thousand series cheap.

    Args:
        name: of the window.
        class_ratios: at which precision is asked for.
    """

    def __init__(self, name: str, class_ratios: tuple[float, ...]) -> None:
        self._name = name
        self._class_ratios = class_ratios
        self._measures: dict[str | float, _Measure] = {name: _by_name(name) for name in METRICS}
        self._measures |= {ratio: _precision_at(ratio) for ratio in class_ratios}
        self._cells = np.zeros((0, len(Outcome)), dtype=np.int64)
        self._values: dict[str | float, FloatArray] = {
            name: np.zeros((3, 0)) for name in self._measures
        }

    def window(self, bounds: Int64Array, cells: Int64Array, asked: FloatArray) -> Window:
        """What the snapshot says of the window.

        Args:
            bounds: (series, 2), [open, close) in epoch milliseconds.
            cells: (series, 6), see `monitor.join.deltas`.
            asked: (series, class ratios): 1 where the series' model asks for the
                ratio, NaN where it does not.
        """
        estimates = self._of(cells[:, : len(Outcome)])
        return Window(
            name=self._name,
            open=bounds[:, 0],
            close=bounds[:, 1],
            counts=ConfusionCounts.from_cells(cells[:, : len(Outcome)]),
            predicted_positive=cells[:, PREDICTED_POSITIVE],
            predicted_negative=cells[:, PREDICTED_NEGATIVE],
            metrics={name: estimates[name] for name in METRICS},
            precision_at={
                ratio: Estimate(*(values * asked[:, i] for values in estimates[ratio]))
                for i, ratio in enumerate(self._class_ratios)
            },
        )

    def _of(self, cells: Int64Array) -> dict[str | float, Estimate]:
        changed = self._changed(cells)
        counts = ConfusionCounts.from_cells(cells[changed])
        for name, measure in self._measures.items():
            values = np.full((3, len(cells)), np.nan)
            known = self._values[name]
            values[:, : known.shape[1]] = known
            values[:, changed] = measure(counts)
            self._values[name] = values
        self._cells = cells.copy()
        return {name: Estimate(*values) for name, values in self._values.items()}

    def _changed(self, cells: Int64Array) -> Int64Array:
        known = len(self._cells)
        differs = np.ones(len(cells), dtype=np.bool_)
        differs[:known] = (cells[:known] != self._cells).any(axis=1)
        return np.flatnonzero(differs)


def _by_name(name: str) -> _Measure:
    point = getattr(metrics, name)
    return lambda counts: (point(counts), *metrics.intervals(counts, name))


def _precision_at(ratio: float) -> _Measure:
    return lambda counts: (
        metrics.precision_at(counts, class_ratio=ratio),
        *metrics.intervals(counts, "precision_at", class_ratio=ratio),
    )
