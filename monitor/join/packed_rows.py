"""Packed rows of predictions, and the deltas that they make."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import NO_CLASS, Int64Array, KeyArray, Outcomes, Predictions
from monitor.events.renumbering import GONE, renumbered
from monitor.events.score_bins import score_bins
from monitor.join import packing as words
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE, Deltas


def words_of(predictions: Predictions) -> tuple[KeyArray, KeyArray]:
    """Return `when` and `what` of predictions without a label, see `packing`."""
    when = words.when_words(predictions.time, predictions.group)
    return when, predicted_words(predictions)


def predicted_words(rows: Predictions | Outcomes) -> KeyArray:
    """Return `what` of predictions without a label.

    A model of many classes has the number of the class in place of the score's bin.

    Args:
        rows: predictions, or outcomes without an id.
    """
    positive, number = rows.predicted_positive, rows.predicted_class
    if number.max(initial=NO_CLASS) == NO_CLASS:
        return words.what_words(positive, rows.score)
    bins = np.where(number == NO_CLASS, score_bins(rows.score), number)
    return words.unlabelled_words(positive, bins)


def has_repeats(values: Int64Array | KeyArray) -> bool:
    """Tell whether any value occurs twice."""
    ordered = np.sort(values)
    return bool((ordered[1:] == ordered[:-1]).any())


def with_groups(table: KeyArray, left: Int64Array) -> KeyArray:
    """Give rows of the table the new numbers of their groups.

    Args:
        table: rows as `PredictionTable.state` gives them.
        left: old numbers of the groups that are left.

    Returns:
        The rows; those of groups that are gone have no key.
    """
    if np.array_equal(left, np.arange(len(left))):
        last = words.groups_of(table[:, 1]).max(initial=-1)
        if last < len(left):
            return table
    group = renumbered(words.groups_of(table[:, 1]), left)
    table = table.copy()
    table[group == GONE, 0] = 0
    table[:, 1] = words.when_words(words.times_of(table[:, 1]), np.maximum(group, 0))
    return table


def population_deltas(when: KeyArray, what: KeyArray, sign: int) -> Deltas:
    """Return the deltas of predictions in their population cells.

    Args:
        when: first word of each prediction, see `packing`.
        what: second word of each.
        sign: 1, or -1 where they cease to count.
    """
    called = words.predicted_positive_of(what)
    cell = np.where(called, PREDICTED_POSITIVE, PREDICTED_NEGATIVE)
    return outcome_deltas(when, what, words.times_of(when), cell, sign)


def outcome_deltas(
    when: KeyArray, what: KeyArray, label_time: Int64Array, cell: Int64Array, sign: int
) -> Deltas:
    """Return the deltas of predictions in given cells.

    Args:
        when: first word of each prediction, see `packing`.
        what: second word of each.
        label_time: event time of the label, epoch milliseconds.
        cell: see `deltas`.
        sign: 1, or -1 where they cease to count.
    """
    return Deltas(
        time=words.times_of(when),
        label_time=label_time,
        group=words.groups_of(when),
        cell=cell,
        score_bin=words.score_bins_of(what),
        stratum=words.strata_of(what),
        count=np.full(len(when), sign, dtype=np.int64),
    )
