"""Counting of delays into the tables of `LabelDelays`: in Python, and by the compiled kernel."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from monitor.counts import Outcome, add_at, add_once
from monitor.events.columns import BoolArray, FloatArray, Int64Array
from monitor.join import Deltas
from monitor.labels.latest import LatestLabels
from monitor.windows.compiled_tallies import compiled_tallies, tallied
from monitor.windows.panes import PaneRing


class DelayTables(NamedTuple):
    """What delays are counted into; each table is added to in place.

    Attributes:
        edges: upper edges of the bins of delays, seconds; the last is infinite.
        actual_positive: of each `Outcome`, whether its label is positive.
        counts: (models, outcomes, bins).
        total_ms: (models, outcomes), sum of the delays, milliseconds.
        changes: of each model, how often its delays have changed.
        cohorts: delays by the time of the prediction.
        latest: labels by their hour.
        reports: positive labels by their time.
    """

    edges: FloatArray
    actual_positive: BoolArray
    counts: Int64Array
    total_ms: Int64Array
    changes: Int64Array
    cohorts: PaneRing
    latest: LatestLabels
    reports: PaneRing


class DelayCounter:
    """Counts delays with the kernel of this process."""

    def __init__(self) -> None:
        self._compiled = compiled_tallies()

    def count(self, deltas: Deltas, model_of_group: Int64Array, tables: DelayTables) -> None:
        """Count the delays of outcomes that were added or removed.

        Args:
            deltas: the changes.
            model_of_group: model number of each group.
            tables: added to.
        """
        if self._compiled is None or not _tallied(self._compiled, deltas, model_of_group, tables):
            _count(deltas, model_of_group, tables)


def _tallied(
    compiled: Any, deltas: Deltas, model_of_group: Int64Array, tables: DelayTables
) -> bool:
    """Count with the kernel; return False if it leaves that to Python."""
    return tallied(
        compiled.count_delays,
        deltas,
        "label_time",
        model_of_group,
        tables.edges,
        int.from_bytes(np.packbits(tables.actual_positive, bitorder="little"), "little"),
        tables.counts,
        tables.total_ms,
        tables.changes,
        rings=(tables.cohorts, tables.latest.hours, tables.reports),
    )


def _count(deltas: Deltas, model_of_group: Int64Array, tables: DelayTables) -> None:
    rows = np.flatnonzero(deltas.cell < len(Outcome))
    if not len(rows):
        return
    model, bins = model_of_group[deltas.group[rows]], len(tables.edges)
    add_once(tables.changes, model)
    time, cell, count = deltas.time[rows], deltas.cell[rows], deltas.count[rows]
    delay = np.maximum(deltas.label_time[rows] - time, 0)
    kind = cell * bins + np.searchsorted(tables.edges, delay / 1000)
    np.add.at(tables.counts.reshape(-1), model * (len(Outcome) * bins) + kind, count)
    add_at(tables.total_ms, model, cell, count * delay)
    tables.cohorts.add(tables.cohorts.pane_of(time), model, kind, count)
    tables.latest.add(model, deltas.label_time[rows], count)
    positive = np.flatnonzero(tables.actual_positive[cell])
    when = tables.reports.pane_of(deltas.label_time[rows][positive])
    tables.reports.add(when, model[positive], np.zeros_like(when), count[positive])
