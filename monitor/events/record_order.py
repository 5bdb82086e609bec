"""Recorded events that are not in the order of time: how many lie far behind earlier ones."""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS
from monitor.config.quantities import count_of
from monitor.events.columns import NO_TIME, BoolArray, EventBatch, Int64Array, rows_where

_RANK = 3
"""The time reached is the third-highest so far, which two stray records do not move."""
_NO_TIMES = np.full(_RANK, NO_TIME, dtype=np.int64)
_RUN = 256
"""Records that are compared with the time reached before the first of them."""
_MANY = 0.01
"""Share of the predictions, or of the labels, from which the order is a fault."""


class RecordOrder:
    """Counts the records of a stream that are more than a day older than others before them.

    Predictions are compared with the records of this stream, labels also with those before it.

    A record with a label alone is a label, any other one a prediction: the label in the record of
    its prediction is read with it. Records of `counts` are left out, since they come in any order.

    >>> order = RecordOrder()
    >>> order.fault(0, "ts")
    ''

    Args:
        before: the three highest times before this stream, rising, epoch milliseconds.
    """

    def __init__(self, before: Int64Array = _NO_TIMES) -> None:
        self._before, self._highest = before, _NO_TIMES
        self._predictions = self._labels = 0
        self._predictions_behind = self._labels_behind = 0

    def following(self) -> RecordOrder:
        """Return what counts the records of the stream that follows this one."""
        return RecordOrder(_highest_of(self._before, self._highest))

    def add(self, batch: EventBatch) -> None:
        """Count the next records.

        Args:
            batch: as decoding gives it.
        """
        time, is_label = _in_order(batch)
        if not len(time):
            return
        self._labels += int(is_label.sum())
        self._predictions += int((~is_label).sum())
        if time.min() < max(time.max(), self._highest[0], self._before[0]) - DAY_MS:
            self._compare(time, is_label)
        else:
            self._reach(time)

    def _compare(self, time: Int64Array, is_label: BoolArray) -> None:
        for start in range(0, len(time), _RUN):
            run, labels = time[start : start + _RUN], is_label[start : start + _RUN]
            within = self._highest[0]  # `NO_TIME` leaves nothing behind
            limit = np.where(labels, max(within, self._before[0]), within) - DAY_MS
            behind = run < limit
            self._labels_behind += int((behind & labels).sum())
            self._predictions_behind += int((behind & ~labels).sum())
            self._reach(run)

    def _reach(self, time: Int64Array) -> None:
        self._highest = _highest_of(self._highest, time)

    def fault(self, lost: int, column: str) -> str:
        """Return what the order costs, and what to write; "" where it costs nothing.

        All that is judged follows the order of predictions. That of labels matters only where
        these find no prediction any more.

        Args:
            lost: labels that found no prediction that waited for one.
            column: that holds the time.
        """
        behind = "more than a day older than records before them"
        lose = f", and {count_of(lost, 'label')} found no prediction that waited for one"
        if self._predictions_behind > _MANY * self._predictions:
            of = f"{self._predictions_behind:,} of {count_of(self._predictions, 'prediction')}"
            return (
                f"{of} are {behind}{lose if lost else ''}: windows, references and verdicts "
                f"follow the order of the records; sort them by {column}"
            )
        if self._labels_behind > _MANY * self._labels and lost > _MANY * self._labels:
            of = f"{self._labels_behind:,} of {count_of(self._labels, 'label')}"
            if lost >= self._labels:
                return (
                    f"none of {count_of(self._labels, 'label')} found a prediction that waited for "
                    "one: check that both write ids alike, since 007 and 7.0 are other ids than 7; "
                    f"if they do, sort the records by {column}, those of predictions and labels "
                    "together"
                )
            return (
                f"{of} are {behind}{lose}: predictions wait until `label_timeout`; sort the "
                f"records by {column}, those of predictions and labels together"
            )
        return ""


def _highest_of(*times: Int64Array) -> Int64Array:
    """Return the three highest of some times, rising."""
    return np.sort(np.concatenate(times))[-_RANK:]


def _in_order(batch: EventBatch) -> tuple[Int64Array, BoolArray]:
    """Return the times of the predictions and labels of a batch in order, and which are labels."""
    labels = batch.labels.take(rows_where(batch.labels.alone))
    columns = (batch.predictions, batch.outcomes, labels)
    time = np.concatenate([one.time for one in columns])
    order = np.argsort(np.concatenate([one.row for one in columns]), kind="stable")
    is_label = np.arange(len(time)) >= len(time) - len(labels)
    return time[order], is_label[order]
