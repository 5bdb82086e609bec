"""The rules of the join for plain batches, in the compiled kernel.

Nearly every batch is plain: its labels are not weighted, and none of its predictions is past its
horizon. The kernel leaves any other batch to `prediction_rules` and
`label_rules` as a whole, and they decide all that it does.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from monitor.events.columns import Int64Array, KeyArray, Labels, Predictions
from monitor.join.deltas import Deltas
from monitor.join.forgetting import Over
from monitor.join.memory import JoinMemory
from monitor.kernel import compiled_module, kernel_in_use


class Packed(NamedTuple):
    """Predictions as rows of the table.

    Attributes:
        when: first word of each, see `packing`.
        what: second word of each.
        population: their deltas.
    """

    when: KeyArray
    what: KeyArray
    population: Deltas


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


class Met(NamedTuple):
    """What labels that met their prediction change.

    Attributes:
        changes: of the outcomes.
        labels: those whose records have no prediction.
    """

    changes: Deltas
    labels: MetLabels


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

    def packed(self, predictions: Predictions, over: Over) -> Packed | None:
        """Count predictions of new ids in the books, and return them as rows.

        Args:
            predictions: each id once.
            over: predictions that ended before these moments are not plain.

        Returns:
            None where some are not plain; then nothing has changed.
        """
        time, group, given = map(
            _integers, (predictions.time, predictions.group, predictions.predicted_class)
        )
        when, what = (np.empty(len(time), dtype=np.uint64) for _ in range(2))
        cell, score_bin = (np.empty(len(time), dtype=np.int64) for _ in range(2))
        plain = self._compiled.pack(
            (
                *(time, group, given),
                np.ascontiguousarray(predictions.score),
                np.ascontiguousarray(predictions.predicted_positive),
            ),
            (self._memory.catalogue.model_of_group, over.by_model - self._terms.longest),
            self._books.predictions,
            (when, what, cell, score_bin),
        )
        if not plain:
            return None
        ones, columns = np.ones_like(time), {"cell": cell, "score_bin": score_bin, "group": group}
        return Packed(when, what, Deltas(time=time, label_time=time, **columns, count=ones))

    def met(self, slots: Int64Array, labels: Labels, over: Over) -> Met | None:
        """Put labels in force where they win, and count them in the books.

        Args:
            slots: of their predictions; labels with -1 are skipped.
            labels: in their order, as their models have them.
            over: predictions that ended before these moments are not plain.

        Returns:
            None where some are not plain; then nothing has changed.
        """
        if self._memory.shadows.in_use or self._terms.weighted.any():
            return None
        books, count = self._books, len(labels)
        changes = [np.empty(2 * count, dtype=np.int64) for _ in Deltas.names()]
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
            tuple(changes),
            (model, time, their_key),
        )
        if found is None:
            return None
        rows, together, duplicates, late = found
        books.duplicate_labels += duplicates
        books.late += late
        columns = (column[:rows] for column in changes)
        deltas = Deltas(**dict(zip(_CHANGES, columns, strict=True)))
        return Met(deltas, MetLabels(model[:together], time[:together], their_key[:together]))


_CHANGES = ("time", "label_time", "group", "cell", "score_bin", "stratum", "count")
"""The columns of `Deltas` in the kernel's order."""


def _integers(column: Int64Array) -> Int64Array:
    return np.ascontiguousarray(column, dtype=np.int64)


def compiled_rules(memory: JoinMemory) -> CompiledRules | None:
    """Return the rules in the kernel of this process; None where that is Python.

    Args:
        memory: of the join.
    """
    return CompiledRules(compiled_module(), memory) if kernel_in_use() == "c" else None
