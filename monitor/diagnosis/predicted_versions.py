"""Predictions of each version of recorded events, whether or not the version is a segment."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np

from monitor.engine import Monitor
from monitor.events.columns import EventBatch

_MOST_REPEATED = 0.005
"""Share of predictions that may repeat an id; more could move a share by a percent."""


class PredictedVersions:
    """Counts the predictions of each version, those that repeat an id included.

    Args:
        monitor: counts the same events; each prediction once.
    """

    def __init__(self, monitor: Monitor) -> None:
        self._monitor = monitor
        self._made: Counter[tuple[str, str]] = Counter()

    def add(self, batch: EventBatch) -> None:
        """Count the predictions of a batch."""
        made = np.zeros(len(batch.groups))
        for columns in (batch.predictions, batch.outcomes):
            made += np.bincount(columns.group, minlength=len(made))
        np.add.at(made, batch.counts.group, batch.counts.population.sum(axis=1))
        for group, count in zip(batch.groups, made.tolist(), strict=True):
            if group.version:
                self._made[group.model, group.version] += int(count)

    def share(self, model: str, version: str, first: int) -> float:
        """Return the share of a model's predictions since a version's first that it made.

        Args:
            model: its name.
            version: its name.
            first: its first prediction, epoch milliseconds; see `VersionNews.share`.

        Returns:
            NaN where many predictions repeat an id, as where two versions score the same cases.
        """
        states = {one.name: one for one in self._monitor.snapshot().models}
        found, number = states[model], self._monitor.models.index(model)
        distinct = found.predictions_positive + found.predictions_negative
        if found.duplicates > _MOST_REPEATED * distinct:
            return math.nan
        share = self._monitor.news.share(number, first, self._made[model, version])
        return min(share, 1.0) if math.isfinite(share) else share
