"""The rules of the join for plain batches, in the compiled kernel.

Nearly every batch is plain: its labels are not weighted, and none of its predictions is past its
horizon. The kernel leaves any other batch to `prediction_rules` and
`label_rules` as a whole, and they decide all that it does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import Int64Array, KeyArray, Labels, Predictions
from monitor.join.deltas import DeltaRoom
from monitor.join.forgetting import Over
from monitor.join.memory import JoinMemory
from monitor.kernel import compiled_module, kernel_in_use


class MetLabels(NamedTuple):
    """Labels that met their prediction.

    Attributes:
        model: model number of each.
        time: event time of the label, epoch milliseconds.
        key: of its id.
    """

    model: Int64Array
    time: Int64Array
    key: KeyArray


class CompiledRules:
    """Applies plain batches to the memory of the join.

    Args:
        compiled: the module `monitor.kernel.compiled`.
        memory: of the join.
    """

    def __init__(self, compiled: Any, memory: JoinMemory) -> None:
        self._compiled = compiled
        self._memory = memory
        self._terms, self._books = memory.terms, memory.books

    def remember(self, predictions: Predictions, over: Over, room: DeltaRoom) -> bool:
        """Remember predictions of new ids, and count them in the books.

        Args:
            predictions: of any ids.
            over: predictions that ended before these moments are not plain.
            room: for a row for each.

        Returns:
            False where an id is in the index or comes twice, or some are not plain; then nothing
            has changed.
        """
        table, catalogue = self._memory.table, self._memory.catalogue
        reserved = table.reserve(len(predictions))
        plain = self._compiled.remember(
            table.index_memory,
            (table.all_rows(), table.earliest, reserved.runs),
            (
                np.ascontiguousarray(predictions.key),
                *map(_integers, (predictions.time, predictions.group, predictions.predicted_class)),
                np.ascontiguousarray(predictions.score),
                np.ascontiguousarray(predictions.predicted_positive),
            ),
            (catalogue.model_of_group, over.by_model - self._terms.longest),
            self._books.predictions,
            room.left,
        )
        if not plain:
            table.give_back(reserved)
            return False
        table.fill(reserved)
        room.fill(len(predictions))
        if (shadows := self._memory.shadows).in_use:
            slots = reserved.slots
            shadows.appear(predictions.key, table.when(slots), table.what(slots))
        return True

    def meet(
        self, slots: Int64Array, labels: Labels, over: Over, room: DeltaRoom
    ) -> MetLabels | None:
        """Put labels in force where they win, and count them in the books.

        Args:
            slots: of their predictions; labels with -1 are skipped.
            labels: in their order, as their models have them.
            over: predictions that ended before these moments are not plain.
            room: for two rows for each.

        Returns:
            Those whose records have no prediction; None where some are not plain, and then
            nothing has changed.
        """
        if self._memory.shadows.in_use or self._terms.weighted.any():
            return None
        books, count = self._books, len(labels)
        model, time = (np.empty(count, dtype=np.int64) for _ in range(2))
        their_key = np.empty(count, dtype=np.uint64)
        key = np.ascontiguousarray(labels.key)
        found = self._compiled.meet(
            self._memory.table.all_rows(),
            slots,
            (key, *map(_integers, (labels.time, labels.value, labels.prediction_time))),
            (self._memory.catalogue.model_of_group, self._terms.label_timeout),
            self._terms.earliest_kept(over),
            (books.applied, books.matched, books.labels, books.transitions),
            room.left,
            (model, time, their_key),
        )
        if found is None:
            return None
        rows, together, duplicates, late = found
        books.duplicate_labels += duplicates
        books.late += late
        room.fill(rows)
        return MetLabels(model[:together], time[:together], their_key[:together])


def _integers(column: Int64Array) -> Int64Array:
    return np.ascontiguousarray(column, dtype=np.int64)


def compiled_rules(memory: JoinMemory) -> CompiledRules | None:
    """Return the rules in the kernel of this process; None where that is Python.

    Args:
        memory: of the join.
    """
    return CompiledRules(compiled_module(), memory) if kernel_in_use() == "c" else None
