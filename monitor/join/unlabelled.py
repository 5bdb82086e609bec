"""Counts predictions without a label, before and after their label timeout.

These functions scan the chunks of the table that are old enough. They run for a
snapshot, not for each batch.
"""

from __future__ import annotations

import numpy as np

from monitor.counts import Outcome
from monitor.events.columns import NO_TIME, BoolArray, Int64Array, KeyArray
from monitor.join import packing as words
from monitor.join.deltas import CELLS, PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.join.table import PredictionTable

NO_OUTCOME = -1
# [label 0, label 1, retracted, none came] x [predicted negative, predicted positive]
OUTCOME = np.array(
    [
        [Outcome.TN, Outcome.FP],
        [Outcome.FN, Outcome.TP],
        [NO_OUTCOME, NO_OUTCOME],
        [NO_OUTCOME, NO_OUTCOME],
    ],
    dtype=np.int64,
)
"""The outcome by label and predicted class."""


def outcomes_of(what: KeyArray) -> Int64Array:
    """Return the outcome of rows by their `what`; `NO_OUTCOME` without a label in force."""
    predicted = words.predicted_positive_of(what).astype(np.int64)
    return OUTCOME[words.label_values_of(what), predicted]


def expired(table: PredictionTable, model_of_group: Int64Array, since: Int64Array) -> Int64Array:
    """Return remembered predictions without an outcome that are older than the label timeout.

    Args:
        table: of predictions.
        model_of_group: model number of each group.
        since: moment by model, epoch milliseconds, from which on predictions are younger.

    Returns:
        Counts by model.
    """
    counts = np.zeros(len(since), dtype=np.int64)
    for slots in table.chunks(before=int(since.max(initial=NO_TIME))):
        when, what = table.when(slots), table.what(slots)
        model = model_of_group[words.groups_of(when)]
        over = words.times_of(when) < since[model]
        unmatched = outcomes_of(what) == NO_OUTCOME
        counts += np.bincount(model[over & unmatched], minlength=len(counts))
    return counts


def young(
    table: PredictionTable,
    model_of_group: Int64Array,
    since: Int64Array,
    before: Int64Array,
) -> Int64Array:
    """Count the remembered predictions made in a range of time, which may differ by model.

    Args:
        table: of predictions.
        model_of_group: model number of each group.
        since: start of the range by model, epoch milliseconds.
        before: end of the range by model, exclusive, epoch milliseconds.

    Returns:
        Counts by group and cell (see `monitor.join.deltas`).
    """
    cells = np.zeros((len(model_of_group), CELLS), dtype=np.int64)
    for slots in table.chunks(before=int(before.max())):
        when, what = table.when(slots), table.what(slots)
        time, group = words.times_of(when), words.groups_of(when)
        model = model_of_group[group]
        chosen = np.flatnonzero((time >= since[model]) & (time < before[model]))
        _count(cells, group[chosen], what[chosen])
    return cells


def is_waiting(when: KeyArray, timeout: Int64Array, now: Int64Array) -> BoolArray:
    """Return whether a label could still come in time.

    Args:
        when: first word of each prediction, see `packing`.
        timeout: label timeout of each, milliseconds.
        now: time of the model of each, epoch milliseconds.
    """
    waiting: BoolArray = words.times_of(when) + timeout >= now
    return waiting


def _count(cells: Int64Array, group: Int64Array, what: KeyArray) -> None:
    called = words.predicted_positive_of(what)
    np.add.at(cells, (group, np.where(called, PREDICTED_POSITIVE, PREDICTED_NEGATIVE)), 1)
    outcome = outcomes_of(what)
    labelled = np.flatnonzero(outcome != NO_OUTCOME)
    np.add.at(cells, (group[labelled], outcome[labelled]), 1)
