"""A simulated model with injected faults: events by day, the same for the same seed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config
from monitor.events.columns import EventBatch, Group, Labels, Predictions

MODEL = "demo"
REFERENCE_DAYS = 7
_START_MS = 1_767_225_600_000
"""2026-01-01, UTC."""
_PREDICTIONS_A_DAY = 12_000
_SEED = 7


class World(NamedTuple):
    """True rates of the simulated model.

    Attributes:
        prevalence: share of actual positives.
        recall: share of actual positives that the model flags.
        false_positive_rate: share of actual negatives that the model flags.
    """

    prevalence: float
    recall: float
    false_positive_rate: float


NORMAL = World(prevalence=0.10, recall=0.80, false_positive_rate=0.05)
RARER = NORMAL._replace(prevalence=NORMAL.prevalence / 2)
WORSE = RARER._replace(recall=0.60)


def config() -> Config:
    """Return the settings of the model: labels arrive within hours, so weeks mature quickly."""
    model = {
        "label_timeout": "1d",
        "maturity": "6h",
        "reference": {"first": f"{REFERENCE_DAYS}d"},
    }
    return Config(models={MODEL: model}, pane="1h", windows=["1d", "7d"])


class DailyEvents:
    """Events of successive days; labels arrive one to five hours after their predictions."""

    def __init__(self) -> None:
        self._random = np.random.default_rng(_SEED)
        self._late = Labels()
        self.done = 0

    def next(self, world: World) -> EventBatch:
        """Return the events of the next day, in order of time."""
        opens, size = _START_MS + self.done * DAY_MS, _PREDICTIONS_A_DAY
        chance = self._random.random((4, size))
        actual = chance[0] < world.prevalence
        flagged = chance[1] < np.where(actual, world.recall, world.false_positive_rate)
        time = np.sort(opens + (chance[2] * DAY_MS).astype(np.int64))
        key = np.arange(self.done * size, (self.done + 1) * size).astype(np.uint64)
        labels = Labels(
            key=key,
            time=time + ((1 + 4 * chance[3]) * HOUR_MS).astype(np.int64),
            value=actual.astype(np.int64),
            sampling_probability=np.full(size, np.nan),
        )
        due = Labels.concatenate([self._late, labels])
        today = due.time < opens + DAY_MS
        self._late = due.take(np.flatnonzero(~today))
        self.done += 1
        return EventBatch(
            predictions=Predictions(
                key=key,
                time=time,
                predicted_positive=flagged,
                score=np.full(size, np.nan),
                group=np.zeros(size, np.int64),
            ),
            labels=_in_order(due.take(np.flatnonzero(today))),
            groups=(Group(MODEL, "", ()),),
            records=size + int(today.sum()),
        )


def _in_order(labels: Labels) -> Labels:
    return labels.take(np.argsort(labels.time, kind="stable"))
