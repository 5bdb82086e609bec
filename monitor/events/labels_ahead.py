"""How far the labels of recorded predictions reach beyond the predictions themselves.

The label in the record of its prediction moves no time: records come in the order of their
predictions, and time goes with these. Once a recording has ended, its labels show how much
later it was made.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.config import Config
from monitor.events.audit_marks import are_audits
from monitor.events.columns import NO_TIME, EventBatch, Int64Array

_RANK = 3
"""The third-highest time of a label counts, as of events: two stray records move nothing."""
_NONE = np.full(_RANK, NO_TIME, dtype=np.int64)


class LabelsAhead:
    """Finds the time that the labels in the records of predictions reach, by model.

    Args:
        config: models, whose labels count until their timeout.
    """

    def __init__(self, config: Config) -> None:
        self._config = config
        self._highest: dict[str, Int64Array] = {}

    def add(self, batch: EventBatch) -> None:
        """Note the labels of the next records.

        Args:
            batch: as decoding gives it.
        """
        for group, made, labelled in _with_labels(batch):
            for number in np.unique(group).tolist():
                name = batch.groups[number].model
                timeout = self._config.model(name).label_timeout
                chosen = group == number
                if timeout is not None:
                    chosen &= labelled - made <= timeout
                times = np.append(self._highest.get(name, _NONE), labelled[chosen])
                self._highest[name] = np.sort(times)[-_RANK:]

    def reached(self) -> dict[str, int]:
        """Return the time by model, epoch milliseconds; none for one of fewer than three labels."""
        times = {name: int(highest[0]) for name, highest in self._highest.items()}
        return {name: time for name, time in times.items() if time != NO_TIME}


def _with_labels(batch: EventBatch) -> Iterator[tuple[Int64Array, Int64Array, Int64Array]]:
    """Yield groups, times and times of labels of the records that hold both."""
    outcomes, predictions, labels = batch.outcomes, batch.predictions, batch.labels
    if len(outcomes):
        yield outcomes.group, outcomes.time, outcomes.label_time
    own = np.flatnonzero(~labels.alone & ~are_audits(labels))
    if not len(own) or not len(predictions):
        return
    order = np.argsort(predictions.row, kind="stable")
    place = np.searchsorted(predictions.row, labels.row[own], sorter=order)
    found = order[np.minimum(place, len(order) - 1)]
    both = predictions.row[found] == labels.row[own]
    found, own = found[both], own[both]
    yield predictions.group[found], labels.prediction_time[own], labels.time[own]
