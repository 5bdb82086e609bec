"""Predictions of each version of recorded events, whether or not the version is a segment."""

from __future__ import annotations

import math
from collections import Counter, defaultdict

import numpy as np

from monitor.clock import HOUR_MS
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Int64Array

_MOST_REPEATED = 0.005
"""Share of predictions that may repeat an id; more could move a share by a percent."""


class PredictedVersions:
    """Counts the predictions of each version by hour, those that repeat an id included.

    Args:
        monitor: counts the same events; each prediction once.
    """

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._made: defaultdict[tuple[str, str], Counter[int]] = defaultdict(Counter)

    def add(self, batch: EventBatch) -> None:
        """Count the predictions of a batch."""
        for columns in (batch.predictions, batch.outcomes):
            self._count(batch, columns.group, columns.time, np.ones_like(columns.time))
        counts = batch.counts
        self._count(batch, counts.group, counts.time, counts.population.sum(axis=1))

    def share(self, model: str, version: str, first: int, ended: int | None) -> float:
        """Return the share of a model's predictions while a version was in use that it made.

        Args:
            model: its name.
            version: its name.
            first: its first prediction, epoch milliseconds; see `VersionNews.share`.
            ended: its last prediction; None where it is in use.

        Returns:
            NaN where many predictions repeat an id, as where two versions score the same cases.
        """
        states = {one.name: one for one in self._monitor.snapshot().models}
        found, number = states[model], self._monitor.models.index(model)
        distinct = found.predictions_positive + found.predictions_negative
        if found.duplicates > _MOST_REPEATED * distinct:
            return math.nan
        made = self._made[model, version].total()
        share = self._monitor.news.share(number, first, made, ended)
        return min(share, 1.0) if math.isfinite(share) else share

    def names_in(self, model: str, opens: int, closes: int) -> frozenset[str]:
        """Return the versions with a prediction in the hours of a stretch of time.

        Args:
            model: its name.
            opens: first moment, epoch milliseconds.
            closes: first moment after it.
        """
        first, last = opens // HOUR_MS, (closes - 1) // HOUR_MS
        return frozenset(
            version
            for (name, version), hours in self._made.items()
            if name == model and any(n > 0 and first <= hour <= last for hour, n in hours.items())
        )

    def _count(
        self, batch: EventBatch, group: Int64Array, time: Int64Array, made: Int64Array
    ) -> None:
        """Add rows of some groups, each with its time and how many predictions it stands for."""
        key = time // HOUR_MS * len(batch.groups) + group
        keys, place = np.unique(key, return_inverse=True)
        sums = np.bincount(place, made, minlength=len(keys))
        for one, count in zip(keys.tolist(), sums.tolist(), strict=True):
            hour, number = divmod(one, len(batch.groups))
            of = batch.groups[number]
            if of.version:
                self._made[of.model, of.version][hour] += int(count)
