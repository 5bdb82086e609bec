"""Shiryaev-Roberts statistics over a grid of alternatives, updated pane by pane.

    M <- (1 + M) * likelihood ratio of the pane

for each alternative of the grid. Without a change, the mean of M over the grid grows by at
most one for each pane in expectation, so that it takes at least A panes on average to reach
a threshold A, whatever the grid.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from monitor.metrics.ratio import FloatArray

State = Mapping[str, NDArray[np.float64]]

_CEILING = 100.0
_LOGIT_LIMIT = 700.0  # exp() of it is finite


def gains(baseline: FloatArray, steps: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the log likelihood ratios of one hit and of one miss, for each alternative.

    Args:
        baseline: logit of the probability p0 without a change, any shape.
        steps: distance of each alternative p1 from it in log-odds, signed, one axis.

    Returns:
        log(p1/p0) and log((1 - p1)/(1 - p0)), each of shape (steps, *baseline).

    >>> hit, miss = gains(np.array(0.0), np.array([np.log(3.0)]))
    >>> float(hit[0].round(6)), float(miss[0].round(6))
    (0.405465, -0.693147)
    """
    odds = np.exp(np.clip(baseline, -_LOGIT_LIMIT, _LOGIT_LIMIT))
    steps = steps.reshape((-1,) + (1,) * baseline.ndim)
    miss = np.log((1 + odds) / (1 + odds * np.exp(steps)))
    return miss + steps, miss


class Mixture:
    """Mean of the Shiryaev-Roberts statistics over a grid of alternatives, for many series.

    The statistics are stored as log M, whose update is a softplus and a sum and does not
    overflow.

    Args:
        log_statistics: log M of shape (alternatives, *series); -inf at the start.
        ceiling: upper bound of log M.

    >>> mixture = Mixture(np.array([-np.inf]), ceiling=700.0)
    >>> [round(float(mixture.update(np.array([gain]))), 6) for gain in (0.0, 0.5)]
    [1.0, 3.297443]
    """

    def __init__(self, log_statistics: FloatArray, *, ceiling: float) -> None:
        self._ceiling = ceiling
        self.log_statistics = np.minimum(np.asarray(log_statistics, dtype=np.float64), ceiling)
        self._statistics = np.exp(self.log_statistics)

    def update(self, log_likelihood_ratios: FloatArray) -> FloatArray:
        """Add one pane, (alternatives, *series), and return the mean statistic, (*series)."""
        # log(1 + M) is faster than log1p, and its absolute error suffices here.
        np.add(self._statistics, 1.0, out=self.log_statistics)
        np.log(self.log_statistics, out=self.log_statistics)
        self.log_statistics += log_likelihood_ratios
        np.minimum(self.log_statistics, self._ceiling, out=self.log_statistics)
        np.exp(self.log_statistics, out=self._statistics)
        return self.mean

    @property
    def mean(self) -> FloatArray:
        """Mean of M over the grid, (*series)."""
        return np.asarray(self._statistics.mean(axis=0))


class TwoSidedStatistic:
    """Two mixtures, one for each direction of a change; either alarms at the threshold.

    Args:
        names: names of the two sides.
        threshold: mean statistic at which a side alarms, above 0.

    Raises:
        ValueError: the threshold is not above 0 and finite.
    """

    def __init__(self, names: tuple[str, str], threshold: float) -> None:
        if not (threshold > 0 and np.isfinite(threshold)):
            raise ValueError(
                f"detector: threshold must be above 0 and finite, got {threshold!r}; "
                "see page_threshold"
            )
        self._names = names
        self._threshold = threshold
        # A ceiling of some thresholds lets the alarm clear soon after a recovery.
        self._ceiling = min(np.log(threshold) + np.log(_CEILING), _LOGIT_LIMIT)
        self._mixtures: dict[str, Mixture] = {}

    def update(self, *log_likelihood_ratios: FloatArray) -> FloatArray:
        """Add one pane.

        Args:
            log_likelihood_ratios: (alternatives, *series), one array for each side.

        Returns:
            The evidence after it, (*series).

        Raises:
            ValueError: the shape differs from that of earlier panes.
        """
        means = []
        for name, ratios in zip(self._names, log_likelihood_ratios, strict=True):
            mixture = self._mixtures.get(name)
            if mixture is None:
                self._mixtures[name] = mixture = self._mixture(np.full(ratios.shape, -np.inf))
            elif mixture.log_statistics.shape != ratios.shape:
                raise ValueError(
                    f"detector: a pane must keep the shape of those before it, "
                    f"{mixture.log_statistics.shape[1:]}, got {ratios.shape[1:]}"
                )
            means.append(mixture.update(ratios))
        return np.asarray(np.maximum(*means) / self._threshold)

    def _mixture(self, log_statistics: FloatArray) -> Mixture:
        return Mixture(log_statistics, ceiling=self._ceiling)

    @property
    def evidence(self) -> FloatArray:
        """Larger of the two statistics over the threshold, (*series); 0 before the first pane."""
        sides = self.by_side()
        return np.maximum(*sides.values()) if sides else np.asarray(0.0)

    def by_side(self) -> dict[str, FloatArray]:
        """Return the statistic over the threshold for each side, (*series)."""
        return {name: mixture.mean / self._threshold for name, mixture in self._mixtures.items()}

    def state(self) -> State:
        """Return log M of each side, (alternatives, *series); empty before the first pane."""
        return {name: mixture.log_statistics.copy() for name, mixture in self._mixtures.items()}

    def restore(self, state: State) -> None:
        """Restore what `state` returned.

        Raises:
            ValueError: the state has other sides.
        """
        if state and set(state) != set(self._names):
            raise ValueError(
                f"detector: state must hold {sorted(self._names)}, got {sorted(state)}"
            )
        self._mixtures = {name: self._mixture(state[name]) for name in state}
