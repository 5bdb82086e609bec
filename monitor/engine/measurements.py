"""Metrics of a window with their intervals, computed again only where counts change."""

from __future__ import annotations

import numpy as np

from monitor.counts import ConfusionCounts, Outcome
from monitor.events.columns import FloatArray, Int64Array
from monitor.join.deltas import CELLS, PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.labels.estimates import measure
from monitor.labels.evidence import STATUS, Evidence
from monitor.snapshot import METRIC_NAMES, Estimate, Window

_STATUS = np.array(STATUS)


class Measurements:
    """Estimates for the rows of one window, cached until the row's counts change.

    Intervals cost microseconds a row, and most series do not change between two scrapes.
    The cache makes a scrape of ten thousand series cheap.

    Args:
        name: of the window.
        class_ratios: configured under `class_ratios`.
    """

    def __init__(self, name: str, class_ratios: tuple[float, ...]) -> None:
        self._name = name
        self._class_ratios = class_ratios
        self._evidence = Evidence.complete(np.zeros((0, CELLS), dtype=np.int64))
        names: tuple[str | float, ...] = (*METRIC_NAMES, *class_ratios)
        self._values: dict[str | float, FloatArray] = {name: np.zeros((3, 0)) for name in names}

    def window(self, bounds: Int64Array, evidence: Evidence, asked: FloatArray) -> Window:
        """Return the window of the snapshot.

        Args:
            bounds: (series, 2), [open, close) in epoch milliseconds.
            evidence: of each series.
            asked: (series, class ratios): 1 where the series' model configures the
                ratio, else NaN.
        """
        cells, estimates = evidence.cells, self._of(evidence)
        return Window(
            name=self._name,
            open=bounds[:, 0],
            close=bounds[:, 1],
            counts=ConfusionCounts.from_cells(cells[:, : len(Outcome)]),
            predicted_positive=cells[:, PREDICTED_POSITIVE],
            predicted_negative=cells[:, PREDICTED_NEGATIVE],
            metrics={name: estimates[name] for name in METRIC_NAMES},
            precision_at={
                ratio: Estimate(*(values * asked[:, i] for values in estimates[ratio]))
                for i, ratio in enumerate(self._class_ratios)
            },
            status=_STATUS[evidence.kind],
            label_fault=evidence.fault,
        )

    def _of(self, evidence: Evidence) -> dict[str | float, Estimate]:
        changed = evidence.differs(self._evidence)
        some = evidence.take(changed)
        for name, known in self._values.items() if len(changed) else ():
            values = np.full((3, len(evidence)), np.nan)
            values[:, : known.shape[1]] = known
            values[:, changed] = _measured(some, name)
            self._values[name] = values
        self._evidence = evidence
        return {name: Estimate(*values) for name, values in self._values.items()}


def _measured(evidence: Evidence, name: str | float) -> FloatArray:
    if isinstance(name, str):
        return measure(evidence, name)
    return measure(evidence, "precision_at", name)
