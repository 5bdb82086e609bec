"""Splits a batch into rounds where the order of the records of an id matters.

Most ids have one prediction in a batch and any number of labels, and their order does not
matter. If an id has several predictions, the effect of a label depends on which of them came
before it. In each round, an id has predictions and then labels, so that columns can be applied at
once.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from monitor.events.columns import Int64Array, KeyArray, Labels, Predictions

Round = tuple[Predictions, Labels]
_SECOND = 2
"""Place of the prediction of a new id that may supersede the first one."""


class RepeatedIds(NamedTuple):
    """Keys of ids with several predictions in a batch, or with one that is remembered.

    Attributes:
        in_order: those of whose records the order matters.
        remembered: those that are remembered from before the batch.
        one_by_one: those of which a round has one prediction at most.
    """

    in_order: KeyArray
    remembered: KeyArray
    one_by_one: KeyArray


def rounds_of(predictions: Predictions, labels: Labels, ids: RepeatedIds) -> Iterator[Round]:
    """Split a batch into rounds, in each of which the predictions of an id come before its labels.

    A new id has one prediction in its first round.

    Args:
        predictions: of the batch.
        labels: of the batch.
        ids: all events of ids of which the order does not matter are in the first round.

    Yields:
        Predictions and labels of each round, in order.
    """
    turns = _turns(predictions, labels, ids)
    rows = [np.argsort(turn, kind="stable") for turn in turns]
    predictions, labels = predictions.take(rows[0]), labels.take(rows[1])
    number = np.arange(int(max(turn.max(initial=0) for turn in turns)) + 2)
    ends = [np.searchsorted(turn[row], number) for turn, row in zip(turns, rows, strict=True)]
    for here, there in pairwise(zip(*map(np.ndarray.tolist, ends), strict=True)):
        yield predictions.take(slice(here[0], there[0])), labels.take(slice(here[1], there[1]))


def _turns(
    predictions: Predictions, labels: Labels, ids: RepeatedIds
) -> tuple[Int64Array, Int64Array]:
    """Return the round of each prediction and label, from 0 on.

    It is how many predictions of its id begin a round up to it, less one where the id is new or
    a prediction comes first: so new ids are remembered in the order of all predictions. Those
    right behind another one begin none, but for the second of a new id, and of ids `one_by_one`.
    """
    chosen, labels_chosen = (np.isin(one.key, ids.in_order) for one in (predictions, labels))
    turn = np.zeros(len(predictions), dtype=np.int64)
    label_turn = np.zeros(len(labels), dtype=np.int64)
    key = np.concatenate([predictions.key[chosen], labels.key[labels_chosen]])
    row = np.concatenate([predictions.row[chosen], labels.row[labels_chosen]])
    is_label = np.repeat([False, True], [chosen.sum(), labels_chosen.sum()])
    order = np.lexsort((is_label, row, key))
    key, is_label = key[order], is_label[order]
    opens = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
    lengths = np.diff(opens, append=len(order))
    is_new = ~np.isin(key[opens], ids.remembered)
    nth = np.cumsum(~is_label)
    nth -= np.repeat(nth[opens] - ~is_label[opens], lengths)
    behind = np.append(False, ~is_label[:-1])
    behind[opens] = False
    apart = np.isin(key, ids.one_by_one) | (np.repeat(is_new, lengths) & (nth <= _SECOND))
    begins = ~is_label & (~behind | apart)
    so_far = np.cumsum(begins)
    before = so_far[opens] - begins[opens] + (is_new | ~is_label[opens])
    found = np.empty(len(order), dtype=np.int64)
    found[order] = np.maximum(so_far - np.repeat(before, lengths), 0)
    turn[chosen], label_turn[labels_chosen] = found[: chosen.sum()], found[chosen.sum() :]
    return turn, label_turn
