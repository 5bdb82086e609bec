"""The ids that a batch touches, through the columnar join for the length of the batch."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.distributed.group_codes import GroupName, TaskGroups, catalogue_of
from monitor.distributed.model_clocks import TaskClock
from monitor.distributed.page_rules import PageRules
from monitor.distributed.tallies import Tally, tally_of
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array, KeyArray, Labels, Predictions
from monitor.events.known_groups import UNKNOWN_GROUP
from monitor.events.renumbering import Numbers
from monitor.join import Join
from monitor.join import packing as words
from monitor.labels.forwarding import Forwarding

KEY, WHEN, WHAT = range(3)
"""Words of a stored prediction, see `monitor.join.packing`; groups are codes of the task."""
WORDS = 3
HELD = np.dtype([("key", "<u8"), ("time", "<i8"), ("value", "<i8"), ("probability", "<f8")])
"""A label that waits for its prediction, 32 bytes."""

_COLUMNS = {"sampling_probability": "probability"}
_HELD_NAMES = ("key", "time", "value", "sampling_probability")


class IdStates(NamedTuple):
    """The state of some ids.

    Attributes:
        rows: uint64 (predictions, 3), in the order of keys.
        held: rows of `HELD`, in the order of keys.
    """

    rows: KeyArray
    held: NDArray[np.void]

    def __len__(self) -> int:
        """Number of predictions and waiting labels."""
        return len(self.rows) + len(self.held)


class TouchedIds:
    """Applies events to the ids that they touch.

    Args:
        rules: settings of the job.
        codes: codes of the groups.
        clock: event time of the task.
    """

    def __init__(self, rules: PageRules, codes: TaskGroups, clock: TaskClock) -> None:
        self._rules = rules
        self._codes = codes
        self._clock = clock

    def take(
        self, predictions: Predictions, labels: Labels, known: IdStates
    ) -> tuple[IdStates, Tally]:
        """Apply events; return the new state of their ids, and the changes of the counts.

        Args:
            predictions: in their order; groups are codes.
            labels: in their order.
            known: the state of all ids of these events.
        """
        used = np.union1d(predictions.group, words.groups_of(known.rows[:, WHEN]))
        names: list[GroupName] = self._codes.names(used)
        catalogue, numbers = catalogue_of(self._rules.config, names)
        number_of = np.full(int(used.max(initial=0)) + 1, UNKNOWN_GROUP, dtype=np.int64)
        number_of[used] = numbers
        join = Join(catalogue, len(known) + len(predictions))
        counts = Forwarding(catalogue, join, self._rules.config.pane)
        counts.switch(on=True)
        waited = _restore(join, catalogue, known, number_of)
        over = self._clock.over(catalogue.models, join.forgetting)
        join.advance(over)
        group = number_of[predictions.group]
        columns = {name: getattr(predictions, name) for name in predictions.names()}
        for deltas in join.steps(Predictions(**columns | {"group": group}), labels, over):
            counts.add(deltas)
        books = _books(join, join.held - waited)
        code_of = np.zeros(len(catalogue.group_values()), dtype=np.int64)
        named = numbers != UNKNOWN_GROUP
        code_of[numbers[named]] = used[named]
        return _state(join, code_of), tally_of(counts.take({}), books=books)


def _restore(join: Join, catalogue: Catalogue, known: IdStates, number_of: Int64Array) -> int:
    """Give the join the state of ids; return the number of labels that wait."""
    number = number_of[words.groups_of(known.rows[:, WHEN])]
    left = np.flatnonzero(number != UNKNOWN_GROUP)  # of models that are configured
    rows = known.rows.take(left, axis=0)
    rows[:, WHEN] = words.when_words(words.times_of(rows[:, WHEN]), number[left])
    held = {name: known.held[_COLUMNS.get(name, name)] for name in _HELD_NAMES}
    groups = np.arange(len(catalogue.group_values()))
    numbers = Numbers(np.arange(len(catalogue.models)), np.arange(0), groups)
    join.restore({**join.state(), "predictions": rows, "held": held}, numbers)
    return join.held


def _state(join: Join, code_of: Int64Array) -> IdStates:
    """Return the state of the ids that the join remembers, by key."""
    state = join.state()
    rows: KeyArray = state["predictions"]
    rows = rows.take(np.flatnonzero(rows[:, KEY]), axis=0)
    rows = rows.take(np.argsort(rows[:, KEY]), axis=0)
    code = code_of[words.groups_of(rows[:, WHEN])]
    rows[:, WHEN] = words.when_words(words.times_of(rows[:, WHEN]), code)
    columns = state["held"]
    held = np.empty(len(columns["key"]), dtype=HELD)
    for name in _HELD_NAMES:
        held[_COLUMNS.get(name, name)] = columns[name]
    return IdStates(rows, held[np.argsort(held["key"], kind="stable")])


def _books(join: Join, held: int) -> dict[str, int]:
    """Return the counters of the join, by name."""
    counted = join.books
    books = {
        "duplicates": int(counted.duplicates.sum()),
        "dropped": int(counted.dropped.sum()),
        "applied": int(counted.applied.sum()),
        "held": held,
        "duplicate_labels": counted.duplicate_labels,
        "late": counted.late,
        "orphaned": counted.orphaned,
    }
    return {name: count for name, count in books.items() if count}
