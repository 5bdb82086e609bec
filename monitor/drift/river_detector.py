"""River's drift detectors behind the same protocol, for those who prefer them.

They are fed the same three structural streams as ours, never raw precision or
errors: labels; predictions given an actual positive; predictions given an actual
negative. River is imported when one is made, and not before.
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
    """ADWIN, PageHinkley, KSWIN or another of `river.drift` on the structural streams.

    Their drifts have two sides; a page is a fall of recall or a rise of the false
    positive rate, told by the recent panes against all since the last drift.
    Cost and memory are river's: every event is passed on, and nothing is
    guaranteed about the run length. After a restart they begin anew, since
    river keeps no plain state.

    Args:
        name: a class of `river.drift`.
        options: its arguments; `seed` is 0 where it takes one.

    Raises:
        UsageError: river is not installed, has no such detector, or that does not
            take these options.

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
        """Never: river's detectors take what comes first as normal."""
        return self._shaped(np.zeros(self._drifted.shape[1], dtype=np.bool_))

    @property
    def evidence(self) -> FloatArray:
        """1 for series in alarm, else 0: river tells no more."""
        return self._alarms().astype(np.float64)

    @property
    def class_ratio_moved(self) -> BoolArray:
        """Series whose class ratio drifted, either way, in the last pane: no page."""
        return self._shaped(np.not_equal(self._drifted[0], 0))

    def update(self, counts: ConfusionCounts, *, opened: float = 0.0) -> BoolArray:
        """Pass on every event of one closed pane, evenly mixed.

        Args:
            counts: outcomes of the pane, a series for each index; fractions are rounded.
            opened: event time of the pane; of no use here.

        Returns:
            Series whose recall fell or whose false positive rate rose, by a drift
            that river found in this pane.

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
        """Nothing: see the class."""
        return {}

    def restore(self, state: Mapping[str, NDArray[np.float64]]) -> None:
        """Begin anew: see the class."""
        del state
        self._shape, self._series = None, []


class _Series:
    """Three detectors of one series, and the rates that tell the side of a drift."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._detectors = [make() for _ in _STREAMS]
        self._recent = np.zeros((3, 2))
        self._all = np.zeros((3, 2))

    def update(self, pairs: NDArray[np.int64]) -> list[int]:
        """Side of the drift in each stream: -1, 0 or 1."""
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
    """Make one, so that options that cannot be are known at once."""
    try:
        make()
    except (TypeError, ValueError) as error:
        raise UsageError(f"detector: river.drift.{name} cannot be made: {error}") from error
