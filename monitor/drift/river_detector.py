"""Drift detectors of river behind the protocol of `detectors.Detector`.

They read the same streams as the built-in detectors, never raw precision or errors:
labels, predictions given an actual positive, and predictions given an actual negative.
River is imported when the first detector is created.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.counts import ConfusionCounts
from monitor.errors import UsageError
from monitor.metrics.ratio import FloatArray

BoolArray = NDArray[np.bool_]

_STREAMS = ("class_ratio", "recall", "false_positive_rate")
_RECENT = 0.2  # weight of the newest pane in the recent rate: about ten panes


class RiverDetector:
    """A detector of `river.drift`, such as ADWIN, PageHinkley or KSWIN, on three streams.

    The drifts of river have no direction. A drift alarms where recall fell or the
    false-positive rate rose, by the recent panes compared with all since the last drift.
    Every event is passed to river, at river's cost and memory, and the run length between
    false alarms is not bounded. River has no serializable state, so that the detectors
    start afresh after a restart.

    Args:
        name: name of a class of `river.drift`.
        options: its arguments; `seed` defaults to 0 where the class takes one.

    Raises:
        UsageError: river is not installed or has no such detector, or the detector does
            not take these options.

    >>> detector = RiverDetector("ADWIN", delta=1e-4)
    >>> good = ConfusionCounts(tp=80, fp=45, fn=20, tn=855)
    >>> worse = ConfusionCounts(tp=40, fp=45, fn=60, tn=855)
    >>> bool(any(detector.update(good) for _ in range(20)))
    False
    >>> bool(any(detector.update(worse) for _ in range(20)))
    True
    """

    def __init__(self, name: str, **options: Any) -> None:
        self._make = _factory(name, options)
        _made(name, self._make)
        self._series: list[_Series] = []
        self._shape: tuple[int, ...] | None = None
        self._drifted = np.zeros((3, 0), dtype=np.int64)

    @property
    def warming_up(self) -> BoolArray:
        """False for every series: river's detectors take the first events as normal."""
        return self._shaped(np.zeros(self._drifted.shape[1], dtype=np.bool_))

    @property
    def evidence(self) -> FloatArray:
        """1 for series in alarm, else 0; river has no statistic in common."""
        return self._alarms().astype(np.float64)

    @property
    def class_ratio_moved(self) -> BoolArray:
        """True for series whose class ratio drifted in the last pane; this never alarms."""
        return self._shaped(np.not_equal(self._drifted[0], 0))

    def update(self, counts: ConfusionCounts, *, opened: float = 0.0) -> BoolArray:
        """Pass every event of one closed pane to river, evenly mixed.

        Args:
            counts: outcomes of the pane, one series for each index; fractions are rounded.
            opened: event time of the pane; not used.

        Returns:
            Bool array in the shape of the series: True where river found a drift in this
            pane, by which recall fell or the false-positive rate rose.

        Raises:
            ValueError: the shape differs from that of earlier panes.
        """
        del opened
        if self._shape is None:
            self._shape = counts.shape
            self._series = [_Series(self._make) for _ in range(counts.tp.size)]
        elif counts.shape != self._shape:
            raise ValueError(
                f"RiverDetector: a pane must keep the shape of those before it, "
                f"{self._shape}, got {counts.shape}"
            )
        hits = [counts.actual_positive, counts.tp, counts.fp]
        trials = [counts.total, counts.actual_positive, counts.actual_negative]
        pairs = np.rint(np.stack([hits, trials], axis=-1)).astype(np.int64).reshape(3, -1, 2)
        drifts = [series.update(pairs[:, index]) for index, series in enumerate(self._series)]
        self._drifted = np.array(drifts, dtype=np.int64).reshape(-1, 3).T
        return self._alarms()

    def _alarms(self) -> BoolArray:
        _, recall, false = self._drifted
        return self._shaped(np.less(recall, 0) | np.greater(false, 0))

    def _shaped(self, values: BoolArray) -> BoolArray:
        return values if self._shape is None else values.reshape(self._shape)

    def state(self) -> Mapping[str, NDArray[np.float64]]:
        """Return an empty state, since river has none to serialize."""
        return {}

    def restore(self, state: Mapping[str, NDArray[np.float64]]) -> None:
        """Start afresh; the state is ignored."""
        del state
        self._shape, self._series = None, []


class _Series:
    """The three detectors of one series, and the rates that give a drift its direction."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._detectors = [make() for _ in _STREAMS]
        self._recent = np.zeros((3, 2))
        self._all = np.zeros((3, 2))

    def update(self, pairs: NDArray[np.int64]) -> list[int]:
        """Return the direction of a drift in each stream, -1 or 1; 0 without a drift."""
        self._recent += _RECENT * (pairs - self._recent)
        self._all += pairs
        return [
            self._side(row) if self._feed(detector, *pairs[row].tolist()) else 0
            for row, detector in enumerate(self._detectors)
        ]

    @staticmethod
    def _feed(detector: Any, hits: int, trials: int) -> bool:
        drifted = False
        steps = np.arange(trials + 1) * hits // max(trials, 1)
        for bit in np.diff(steps).tolist():
            detector.update(bit)
            drifted |= detector.drift_detected
        return drifted

    def _side(self, row: int) -> int:
        (recent_hits, recent_trials), (hits, trials) = self._recent[row], self._all[row]
        side = int(np.sign(recent_hits * trials - hits * recent_trials))
        self._all[row] = self._recent[row] = 0
        return side


def _factory(name: str, options: dict[str, Any]) -> Callable[[], Any]:
    try:
        module = import_module("river.drift")
    except ImportError as error:
        raise UsageError(
            f"detector: river is not installed, got {name!r}; install it, or use the built-in one"
        ) from error
    found = getattr(module, name, None)
    if not inspect.isclass(found):
        raise UsageError(
            f"detector: river.drift has no detector {name!r}; one of {', '.join(module.__all__)}"
        )
    if "seed" in inspect.signature(found).parameters:
        options = {"seed": 0, **options}
    return lambda: found(**options)


def _made(name: str, make: Callable[[], Any]) -> None:
    """Create one detector, so that wrong options fail at once."""
    try:
        make()
    except (TypeError, ValueError) as error:
        raise UsageError(f"detector: river.drift.{name} cannot be made: {error}") from error
