"""How far event time has come by the records of each model.

A reader reports the time that all of its records have reached, and that of each model by its
predictions and outcomes; labels name no model. A stateful task derives from these reports how far
each model is behind all records. By that much later it forgets what belongs to the model, and the
counts of the model carry an earlier time. Until its next report a model goes on at the pace of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from monitor.events.columns import EventBatch, Int64Array, Outcomes, Predictions
from monitor.events.watermark import Watermark, third_highest_time
from monitor.join.forgetting import Forgetting, Over


class Reached(NamedTuple):
    """Event time that a reader has reached.

    Attributes:
        time: of all records, epoch milliseconds; None before three distinct ones came.
        models: of each model with records; of fewer than three, the earliest one.
    """

    time: int | None
    models: Mapping[str, int]


class ReaderClocks:
    """Follows the event time of a reader, in all and by model."""

    def __init__(self) -> None:
        self._all = Watermark()
        self._models: dict[str, Watermark] = {}

    @property
    def reached(self) -> Reached:
        """Event time so far."""
        times = {model: clock.time_of_few for model, clock in self._models.items()}
        known = {model: time for model, time in times.items() if time is not None}
        return Reached(self._all.time, known)

    def advance(self, batch: EventBatch) -> None:
        """Advance by all events of a batch.

        Args:
            batch: the batch.
        """
        self._all.advance(batch)
        for model, part in _latest_by_model(batch):
            self._models.setdefault(model, Watermark()).advance(part)


class ModelClock(NamedTuple):
    """Event time of a model, as a stateful task knows it.

    Attributes:
        latest: the latest time that a reader has reported, epoch milliseconds.
        lag: how far that was behind the time of all records, milliseconds.
    """

    latest: int
    lag: int


class TaskClock(NamedTuple):
    """Event time of a stateful task.

    Attributes:
        watermark: of all records of earlier batches, epoch milliseconds.
        lags: how far models are behind it, by name, milliseconds; none are not.
    """

    watermark: int
    lags: Mapping[str, int]

    def over(self, models: Sequence[str], forgetting: Forgetting) -> Over:
        """Return the moments before which horizons have ended.

        What belongs to no model, as a label without its prediction, waits for the last one.

        Args:
            models: names, by number.
            forgetting: the steps in which state is forgotten.

        >>> clock = TaskClock(1_000, {"b": 700})
        >>> clock.over(["a", "b"], Forgetting(100))
        Over(by_model=array([900, 200]), common=200)
        """
        lags = np.array([self.lags.get(model, 0) for model in models], dtype=np.int64)
        last = max(self.lags.values(), default=0)
        return forgetting.over(self.watermark - lags, self.watermark - last)


def clocks_after(
    known: Mapping[str, ModelClock], reports: Iterable[Reached], watermark: int
) -> dict[str, ModelClock]:
    """Return the clocks of models after the reports of a batch.

    Args:
        known: the clocks before.
        reports: of the readers of the batch.
        watermark: of all earlier batches, epoch milliseconds.

    >>> clocks_after({"b": ModelClock(60, 5)}, [Reached(90, {"b": 50, "c": 90})], 80)
    {'b': ModelClock(latest=60, lag=30), 'c': ModelClock(latest=90, lag=0)}
    """
    now, times, clocks = watermark, dict[str, int](), dict(known)
    for report in reports:
        now = now if report.time is None else max(now, report.time)
        for model, time in report.models.items():
            times[model] = max(time, times.get(model, time))
    for model, time in times.items():
        latest = max(time, clocks[model].latest) if model in clocks else time
        clocks[model] = ModelClock(latest, max(0, now - latest))
    return clocks


def _latest_by_model(batch: EventBatch) -> Iterator[tuple[str, EventBatch]]:
    """Yield the predictions and outcomes of each model that may be its latest three."""
    if not batch.groups:
        return
    names = list(dict.fromkeys(group.model for group in batch.groups))
    number = {name: index for index, name in enumerate(names)}
    model_of = np.array([number[group.model] for group in batch.groups], dtype=np.int64)
    kinds = batch.predictions, batch.outcomes
    rows = [_latest(columns, model_of[columns.group], len(names)) for columns in kinds]
    for name, (predictions, outcomes) in zip(names, zip(*rows, strict=True), strict=True):
        if len(predictions) or len(outcomes):
            yield (
                name,
                EventBatch(
                    predictions=batch.predictions.take(predictions),
                    outcomes=batch.outcomes.take(outcomes),
                ),
            )


def _latest(columns: Predictions | Outcomes, model: Int64Array, models: int) -> list[Int64Array]:
    """Return the rows of each model that are not earlier than its third-highest time."""
    if models == 1:
        return [_latest_rows(columns.time, np.arange(len(model)))]
    small = np.uint16 if models <= 1 << 16 else np.int64  # sorted much faster in 16 bits
    order = np.argsort(model.astype(small), kind="stable")
    each = np.split(order, np.searchsorted(model[order], np.arange(1, models)))
    return [_latest_rows(columns.time, rows) for rows in each]


def _latest_rows(times: Int64Array, rows: Int64Array) -> Int64Array:
    if not len(rows):
        return rows
    time = times[rows]
    return rows[time >= third_highest_time(time)]
