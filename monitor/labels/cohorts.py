"""The distribution of label delays, estimated from cohorts with incomplete labels.

A cohort is the predictions of one stretch of time. A young cohort has only its quick
labels so far, so that delays of the labels in force underestimate the delay (right
truncation). The *reversed* hazard is unbiased: the share of the labels with a delay up
to d that came at d, taken from cohorts older than d. Its product from the longest delay
downwards is the distribution of delays of all labels that ever come.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from monitor.events.columns import FloatArray, Int64Array


class Coverage(NamedTuple):
    """Share of the eventual labels that have come, and its error.

    Attributes:
        share: in [0, 1]; NaN where no delays are known.
        variance: of the logarithm of the share.
    """

    share: FloatArray
    variance: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class DelayCurve:
    """The distribution of label delays, of several kinds of outcome.

    Attributes:
        edges_seconds: upper edges of the bins; the last is infinite.
        share: (kinds, bins), of the labels that ever come, those no later than the
            bin; NaN where no labels are known.
        hazard: (kinds, bins), of the labels no later than the bin, those in it.
        at_risk: (kinds, bins), labels that the hazard rests on.
    """

    edges_seconds: FloatArray
    share: FloatArray
    hazard: FloatArray
    at_risk: Int64Array

    @property
    def labels(self) -> Int64Array:
        """Number of labels behind each curve."""
        return np.asarray(self.at_risk.max(axis=1, initial=0))

    def age(self, share: float) -> FloatArray:
        """Return the age, seconds, by which a share of the labels have come, of each kind.

        This is the upper edge of a bin, so that the age is late rather than early. NaN
        where no labels are known.
        """
        reached = self.share >= share
        first = np.minimum(reached.argmax(axis=1), len(self.edges_seconds) - 2)
        return np.where(reached.any(axis=1), self.edges_seconds[first], np.nan)

    def at(self, age: float) -> FloatArray:
        """Return the share of the labels that have come by an age in seconds, of each kind."""
        return self.over(np.array([age]), np.ones(1)).share

    def over(self, ages: FloatArray, weights: FloatArray) -> Coverage:
        """Return the mean coverage of predictions of these ages.

        Args:
            ages: seconds.
            weights: how many predictions there are of each age.

        Returns:
            Coverage of each kind; its variance by the delta method from the hazards.
        """
        whole = weights.sum()
        if not whole:
            nothing = np.full(len(self.share), np.nan)
            return Coverage(nothing, nothing)
        parts = (weights / whole) @ self._interpolation(ages) * self.share
        share = parts.sum(axis=1)
        below = np.cumsum(parts, axis=1) - parts
        with np.errstate(divide="ignore", invalid="ignore"):
            touched = (below / share[:, None]) ** 2
            scatter = self.hazard / ((1 - self.hazard) * self.at_risk)
            certain = (touched == 0) | (self.hazard == 0)
            variance = np.where(certain, 0.0, touched * scatter).sum(axis=1)
        return Coverage(share, np.where(np.isnan(share), np.nan, variance))

    def _interpolation(self, ages: FloatArray) -> FloatArray:
        """Weights of the edges for each age, linear in log(1 + seconds), (ages, bins)."""
        last = len(self.edges_seconds) - 2
        scale = np.log1p(self.edges_seconds[:-1])
        at = np.log1p(np.maximum(ages, 0.0))
        upper = np.clip(np.searchsorted(scale, at), 1, last)
        part = np.clip((at - scale[upper - 1]) / (scale[upper] - scale[upper - 1]), 0, 1)
        weights = np.zeros((len(ages), len(self.edges_seconds)))
        weights[np.arange(len(ages)), upper - 1] = 1 - part
        weights[np.arange(len(ages)), upper] = part
        return weights


def delay_curve(counts: Int64Array, limits: FloatArray, edges_seconds: FloatArray) -> DelayCurve:
    """Estimate the distribution of delays from the labels of cohorts of all ages.

    Args:
        counts: labels by cohort, kind of outcome and bin of the delay.
        limits: age in seconds of each cohort's youngest prediction; labels with a longer
            delay cannot all have come.
        edges_seconds: upper edges of the bins; the last is infinite.

    Returns:
        The curves. They are relative to the longest delay that any cohort is old
        enough to show; longer delays cannot be known yet.

    Source:
        Lagakos, Barraj and De Gruttola 1988; Kalbfleisch and Lawless 1989
        (nonparametric estimation under right truncation, reversed time).

    >>> edges = np.array([0.0, 10.0, 20.0, np.inf])
    >>> old, young = [[0, 50, 50, 0]], [[0, 50, 0, 0]]
    >>> curve = delay_curve(np.array([old, young]), np.array([30.0, 10.0]), edges)
    >>> curve.share.tolist()
    [[0.0, 0.5, 1.0, 1.0]]
    """
    finite = np.append(edges_seconds[:-1], edges_seconds[-2])
    # Successive cohorts that show the same bins, as old ones do, count as one.
    shown = np.searchsorted(edges_seconds[:-1], limits, side="right")
    firsts = np.flatnonzero(np.diff(shown, prepend=-1))
    counts, limits = np.add.reduceat(counts, firsts, axis=0), limits[firsts]
    visible = limits[:, None] >= finite[None, :]
    came = np.einsum("cb,ckb->kb", visible, counts)
    at_risk = np.einsum("cb,ckb->kb", visible, np.cumsum(counts, axis=2))
    hazard = came / np.maximum(at_risk, 1)
    beyond = np.cumprod((1 - hazard)[:, ::-1], axis=1)[:, ::-1]
    share = np.concatenate([beyond[:, 1:], np.ones((len(hazard), 1))], axis=1)
    known = at_risk.max(axis=1, initial=0) > 0
    return DelayCurve(
        edges_seconds=edges_seconds,
        share=np.where(known[:, None], share, np.nan),
        hazard=hazard,
        at_risk=at_risk,
    )
