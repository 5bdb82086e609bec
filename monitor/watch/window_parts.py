"""The days of a window by the age of their labels: mature ones, and younger ones.

Mature days have outcomes; of younger ones the predictions alone are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts, CountArray, Outcome
from monitor.events.columns import Int64Array
from monitor.join.deltas import PREDICTED_POSITIVE
from monitor.metrics.precision import precision
from monitor.metrics.rates import prevalence
from monitor.watch.model_days import RecentDays

_CALLED = slice(PREDICTED_POSITIVE, PREDICTED_POSITIVE + 2)


class WindowRates(NamedTuple):
    """Prevalence and precision of some outcomes; NaN where undefined."""

    prevalence: float
    precision: float


class WindowParts(NamedTuple):
    """The mature days of a window, and its younger ones.

    Attributes:
        mature: predictions of mature days: all of them, and the positive ones.
        known: rates of those days.
        young: predictions of younger days, likewise.
        series: positive and negative predictions of the younger days, (series, 2).
        first: number of the first of the younger days.
    """

    mature: tuple[int, int]
    known: WindowRates
    young: tuple[int, int]
    series: Int64Array
    first: int

    @property
    def flagged(self) -> int:
        """Positive predictions of all days of the window."""
        return self.mature[1] + self.young[1]

    def with_rates(self, young: Sequence[float]) -> list[float]:
        """Return the rates of the window; NaN where one is unknown.

        Args:
            young: rates of its younger days.
        """
        return [
            _mixed(*numbers)
            for numbers in zip(self.mature, self.known, self.young, young, strict=True)
        ]


def parts_of(window: RecentDays, first: int, first_young: int) -> WindowParts:
    """Divide the days of a window into mature and younger ones.

    Args:
        window: its days.
        first: number of the day with which it begins.
        first_young: number of the first day that is not mature.
    """
    mature = window.numbers < first_young
    known, series = window.cells[mature, 0], window.cells[~mature][..., _CALLED].sum(axis=0)
    return WindowParts(
        mature=_predictions(known[:, _CALLED].sum(axis=0)),
        known=rates_of(known),
        young=_predictions(series[0]),
        series=series,
        first=max(first_young, first),
    )


def rates_of(cells: CountArray) -> WindowRates:
    """Return the rates of the outcomes of some days.

    Args:
        cells: of each day, (days, 6): outcomes, and predictions by class.
    """
    counts = ConfusionCounts.from_cells(cells[:, : len(Outcome)].sum(axis=0))
    return WindowRates(float(prevalence(counts)), float(precision(counts)))


def _predictions(called: Int64Array) -> tuple[int, int]:
    """Return the number of predictions, and of positive ones."""
    return int(called.sum()), int(called[0])


def _mixed(mature: int, known: float, young: int, rate: float) -> float:
    """Return the rate of mature and younger predictions together; NaN where unknown."""
    if not mature or np.isnan(known):
        return rate
    return known if not young else (mature * known + young * rate) / (mature + young)
