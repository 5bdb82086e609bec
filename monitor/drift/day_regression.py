"""Regression over days: rates of successive days, and fits that know how days scatter.

Generalised least squares. The covariance of the days is that of their rows, which are
independent, plus that of days, which carries over from one to the next (`day_scatter`).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from monitor.drift.components import Component
from monitor.drift.day_scatter import DayScatter
from monitor.metrics.ratio import FloatArray

_SMOOTHING = 0.5
_LEAST_VARIANCE = 1e-9
_LEAST_CARRY_OVER = 1e-6


class DayRate(NamedTuple):
    """One rate of successive days, as deviations from that of all of them.

    Attributes:
        deviation: of each day's log-odds, to first order.
        variance: of the deviation, for the day's rows.
        slope: change of the rate by its log-odds, p (1 - p).
    """

    deviation: FloatArray
    variance: FloatArray
    slope: float

    @classmethod
    def of(cls, hits: ArrayLike, misses: ArrayLike, factor: float = 1.0) -> DayRate:
        """Return the deviations of some days, each segment value from its own rate.

        Args:
            hits: (days, segment values); each day has a case.
            misses: the same shape.
            factor: variance of rows over that of independent ones, at least 1.
        """
        yes = np.asarray(hits, dtype=np.float64)
        cases = yes + np.asarray(misses, dtype=np.float64)
        rate = (yes.sum(axis=0) + _SMOOTHING) / (cases.sum(axis=0) + 2 * _SMOOTHING)
        information = (cases * rate * (1 - rate)).sum(axis=1)
        excess = (yes - cases * rate).sum(axis=1)
        slope = float(information.sum() / cases.sum())
        return cls(excess / information, factor / information, slope)


class Fits(NamedTuple):
    """Fits of a constant and one regressor each, generalised least squares.

    Attributes:
        size: estimate of each regressor's coefficient.
        information: inverse of its variance.
        of_days: share of its variance that is due to the scatter of days.
        angle: between neighbouring regressors, where they are uncorrelated, radians.
    """

    size: FloatArray
    information: FloatArray
    of_days: FloatArray
    angle: FloatArray

    @property
    def likelihood(self) -> FloatArray:
        """Twice the log likelihood ratio of each regressor against the constant alone."""
        return np.asarray(self.size**2 * self.information)

    @property
    def best(self) -> int:
        """Index of the likeliest regressor."""
        return int(self.likelihood.argmax())

    @property
    def lost(self) -> FloatArray:
        """How far the likelihood of each regressor lies below that of the likeliest."""
        return np.asarray(self.likelihood.max() - self.likelihood)


class DaySeries(NamedTuple):
    """Deviations of days in one component, and their covariance.

    Attributes:
        number: of each day, in days since 1970, ascending.
        deviation: of each day.
        rows: variance of the deviation for the day's rows, above 0.
        variance: variance between days.
        carry_over: correlation of a day's deviation with the next day's.
    """

    number: FloatArray
    deviation: FloatArray
    rows: FloatArray
    variance: float
    carry_over: float

    @classmethod
    def of(
        cls,
        number: FloatArray,
        rate: DayRate,
        scatter: DayScatter,
        component: Component,
    ) -> DaySeries:
        """Return the days of a rate, with the scatter of its component.

        Args:
            number: of each day, from any first one.
            rate: deviations of the days.
            scatter: how days scatter.
            component: which one the rate is.
        """
        return cls(
            number,
            rate.deviation,
            rate.variance + float(scatter.weekly[component]),
            float(scatter.variance[component]),
            float(scatter.carry_over[component]),
        )

    def fits(self, regressors: FloatArray) -> Fits:
        """Fit a constant and each regressor.

        The covariance is that of a first-order autoregression plus independent rows. The
        inverse of the first is tridiagonal, also where days are missing.

        Args:
            regressors: (days, regressors).

        Source:
            Aitken 1935 (generalised least squares); Woodbury 1950 (inverse of the sum).
        """
        constant = np.ones((len(self.number), 1))
        weighted = self._weighted(np.hstack([constant, regressors]))
        total = float(weighted[:, 0].sum())
        mean = weighted[:, 1:].sum(axis=0) / total
        centred = regressors - mean
        own = weighted[:, 1:] - weighted[:, :1] * mean
        information = (centred * own).sum(axis=0)
        size = self.deviation @ own / information
        shared = (centred[:, :-1] * own[:, 1:]).sum(axis=0)
        shared = shared / np.sqrt(information[:-1] * information[1:])
        of_rows = (own**2 * self.rows[:, None]).sum(axis=0) / information
        angle = np.arccos(np.clip(shared, -1, 1))
        return Fits(size, information, np.clip(1 - of_rows, 0.0, 1.0), angle)

    def _weighted(self, columns: FloatArray) -> FloatArray:
        """Multiply by the inverse of the covariance."""
        carried = np.maximum(self.carry_over, _LEAST_CARRY_OVER) ** np.diff(self.number)
        fresh = 1 - carried**2
        precision = np.zeros((2, len(self.number)))
        precision[1] = 1.0
        precision[1, 1:] += carried**2 / fresh
        precision[1, :-1] += carried**2 / fresh
        precision[0, 1:] = -carried / fresh
        precision /= max(self.variance, _LEAST_VARIANCE)
        precision[1] += 1 / self.rows
        scaled = columns / self.rows[:, None]
        from scipy.linalg import solveh_banded  # noqa: PLC0415  # slow to import; for trends alone

        return np.asarray(scaled - solveh_banded(precision, scaled) / self.rows[:, None])
