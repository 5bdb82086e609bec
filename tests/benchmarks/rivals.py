"""Compares the detectors with other monitors on the same streams; needs river.

    python -m tests.benchmarks.rivals

The others: a fixed threshold on precision, ADWIN on the error stream, and three sigma over
chunks. Seeded, as in `detectors`.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from river.drift import ADWIN

from monitor.counts import ConfusionCounts
from tests.benchmarks.detectors import (
    EVENTS,
    Truth,
    first_alarms,
    panes,
    reference_of,
    skill_detector,
)


def rivals(length: int) -> None:
    """The same streams before four monitors: pages before a change of skill, delay after it."""
    series, change = 6, length // 2
    cases = {
        "nothing": Truth(),
        "season": Truth(season=0.7),
        "prevalence halved": Truth(0.05),
        "prevalence a tenth": Truth(0.01),
        "TPR .8 to .7": Truth(recall=0.7),
        "FPR x 1.5": Truth(false_positive_rate=0.075),
        "TPR .6, prevalence x 2": Truth(0.2, recall=0.6),
    }
    print("\nSide by side: pages in all / median delay in thousand events (- none)")
    print(
        f"{'':>24} {'precision -5pt':>16} {'3 sigma chunks':>16} {'ADWIN errors':>16} {'this':>16}"
    )
    for name, after in cases.items():
        before = Truth(season=after.season)
        reference = reference_of(21, before, series)
        monitors = {
            "fixed": _fixed(reference),
            "sigma": _three_sigma(reference),
            "adwin": _adwin(ADWIN, series),
            "this": skill_detector(reference),
        }
        row = []
        for update in monitors.values():
            stream = panes(22, before, after, series=series, length=length, change=change)
            first, raised = first_alarms(update, stream, series, change)
            late = np.median(first[first >= 0] - change + 1) if (first >= 0).any() else np.nan
            row.append(f"{raised:d} / " + ("-" if np.isnan(late) else f"{late:g}"))
        print(f"{name:>24} " + " ".join(f"{cell:>16}" for cell in row))


def _precision(counts: ConfusionCounts) -> NDArray[np.float64]:
    return np.asarray(counts.tp / np.maximum(counts.predicted_positive, 1))


def _fixed(reference: ConfusionCounts) -> Callable[[int, ConfusionCounts], NDArray[np.bool_]]:
    floor = _precision(reference.sum(axis=-1)) - 0.05
    recent: list[ConfusionCounts] = []

    def update(_: int, pane: ConfusionCounts) -> NDArray[np.bool_]:
        recent.append(pane)
        del recent[:-10]
        return _precision(sum(recent[1:], recent[0])) < floor

    return update


def _three_sigma(reference: ConfusionCounts) -> Callable[[int, ConfusionCounts], NDArray[np.bool_]]:
    chunk = 10
    cells = reference.cells.reshape(reference.shape[0], -1, chunk, 4).sum(axis=2)
    values = _precision(ConfusionCounts.from_cells(cells))
    mean, spread = values.mean(axis=1), values.std(axis=1)
    held: list[ConfusionCounts] = []
    alarm = np.zeros(reference.shape[0], dtype=bool)

    def update(_: int, pane: ConfusionCounts) -> NDArray[np.bool_]:
        nonlocal alarm
        held.append(pane)
        if len(held) == chunk:
            alarm = np.abs(_precision(sum(held[1:], held[0])) - mean) > 3 * spread
            held.clear()
        return alarm

    return update


def _adwin(
    make: Callable[[], object], series: int
) -> Callable[[int, ConfusionCounts], NDArray[np.bool_]]:
    detectors = [make() for _ in range(series)]

    def update(_: int, pane: ConfusionCounts) -> NDArray[np.bool_]:
        alarms = np.zeros(series, dtype=bool)
        for index, errors in enumerate((pane.fp + pane.fn).tolist()):
            for bit in np.diff(np.arange(EVENTS + 1) * errors // EVENTS).tolist():
                detectors[index].update(bit)
                alarms[index] |= detectors[index].drift_detected
        return alarms

    return update


if __name__ == "__main__":
    rivals(400)
