"""Splits a batch into rounds where the order of the records of an id matters.

Most ids have one prediction in a batch and any number of labels, and their order does not
matter. If an id has several predictions, the effect of a label depends on which of them came
before it. In each round, an id has one prediction, so that columns can be applied at once.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.events.columns import BoolArray, Int64Array, KeyArray, Labels, Predictions

Round = tuple[Predictions, Labels]


def rounds_of(
    predictions: Predictions, labels: Labels, keys: KeyArray, remembered: KeyArray
) -> Iterator[Round]:
    """Split a batch into rounds, in each of which an id has one prediction, before its labels.

    Args:
        predictions: of the batch.
        labels: of the batch.
        keys: ids with several predictions; all events of other ids are in the first round.
        remembered: ids that are remembered from before the batch.

    Yields:
        Predictions and labels of each round, in order.
    """
    chosen = np.isin(predictions.key, keys), np.isin(labels.key, keys)
    turn, label_turn = _turns(predictions, labels, chosen, remembered)
    for number in range(int(max(turn.max(initial=0), label_turn.max(initial=0))) + 1):
        yield predictions.take(turn == number), labels.take(label_turn == number)


def _turns(
    predictions: Predictions,
    labels: Labels,
    both: tuple[BoolArray, BoolArray],
    remembered: KeyArray,
) -> tuple[Int64Array, Int64Array]:
    """Return the round of each prediction and label, from 0 on.

    It is how many predictions of its id came up to it, less one where the first of them is
    new or comes first: so new ids are remembered in the order of all predictions.
    """
    chosen, labels_chosen = both
    turn = np.zeros(len(predictions), dtype=np.int64)
    label_turn = np.zeros(len(labels), dtype=np.int64)
    key = np.concatenate([predictions.key[chosen], labels.key[labels_chosen]])
    row = np.concatenate([predictions.row[chosen], labels.row[labels_chosen]])
    is_label = np.concatenate(
        [np.zeros(chosen.sum(), np.int64), np.ones(labels_chosen.sum(), np.int64)]
    )
    order = np.lexsort((is_label, row, key))
    so_far = np.cumsum(1 - is_label[order])
    opens = np.flatnonzero(np.concatenate([[True], key[order][1:] != key[order][:-1]]))
    before = so_far[opens] - (1 - is_label[order][opens])
    lengths = np.diff(np.append(opens, len(order)))
    found = np.empty(len(order), dtype=np.int64)
    begins = (is_label[order][opens] == 0) | ~np.isin(key[order][opens], remembered)
    found[order] = np.maximum(so_far - np.repeat(before + begins, lengths), 0)
    turn[chosen], label_turn[labels_chosen] = found[: chosen.sum()], found[chosen.sum() :]
    return turn, label_turn
