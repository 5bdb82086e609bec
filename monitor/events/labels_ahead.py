"""How far the labels of recorded predictions reach beyond the predictions themselves.

The label in the record of its prediction moves no time: records come in the order of their
predictions, and time goes with these. Once a recording has ended, its labels show how much
later it was made.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from monitor.config import Config
from monitor.events.audit_marks import are_audits
from monitor.events.columns import NO_TIME, EventBatch, Int64Array

_RANK = 3
"""The third-highest time of a label counts, as of events: two stray records move nothing."""
_ENDLESS = 1 << 62
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
        names = [*dict.fromkeys(group.model for group in batch.groups)]
        number = {name: at for at, name in enumerate(names)}
        model_of = np.array([number[group.model] for group in batch.groups], dtype=np.int64)
        timeouts = [self._config.model(name).label_timeout for name in names]
        timeout = np.array([_ENDLESS if one is None else one for one in timeouts], dtype=np.int64)
        for group, made, labelled in _with_labels(batch):
            model = model_of[group]
            least = np.array([self._highest.get(name, _NONE)[0] for name in names])
            later = (labelled > least[model]) & (labelled - made <= timeout[model])
            self._note(names, model[later], labelled[later])

    def _note(self, names: Sequence[str], model: Int64Array, times: Int64Array) -> None:
        """Note the times of labels, by the place of their model among the names."""
        order = np.lexsort((times, model))
        for end in np.flatnonzero(np.diff(model[order], append=len(names))).tolist():
            last = order[max(0, end + 1 - _RANK) : end + 1]
            own = times[last[model[last] == model[order[end]]]]
            name = names[model[order[end]]]
            self._highest[name] = np.sort(np.append(self._highest.get(name, _NONE), own))[-_RANK:]

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
