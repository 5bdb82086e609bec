"""Records of ids whose order matters, so that bulk work does what one by one does.

Most ids have one prediction in a batch and any number of labels, and it does not
matter which came first. Where a prediction takes the place of an earlier record's, what
labels do depends on which of the two they find.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.events.columns import BoolArray, Int64Array, KeyArray, Labels, Predictions

Round = tuple[Predictions, Labels]


def rounds_of(
    predictions: Predictions, labels: Labels, keys: KeyArray, remembered: KeyArray
) -> Iterator[Round]:
    """A batch as several, in each of which an id of these has one prediction, and it is first.

    Args:
        predictions: of the batch.
        labels: the same.
        keys: ids of which several predictions matter; of others all is in the first round.
        remembered: ids that are remembered from before the batch.

    Yields:
        Predictions and labels, to be taken one round after the other.
    """
    said, told = np.isin(predictions.key, keys), np.isin(labels.key, keys)
    turn, label_turn = _turns(predictions, labels, (said, told), remembered)
    for number in range(int(max(turn.max(initial=0), label_turn.max(initial=0))) + 1):
        yield predictions.take(turn == number), labels.take(label_turn == number)


def _turns(
    predictions: Predictions,
    labels: Labels,
    chosen: tuple[BoolArray, BoolArray],
    remembered: KeyArray,
) -> tuple[Int64Array, Int64Array]:
    """Return the round of each prediction and label, from 0 on.

    It is how many predictions of its id came up to it, less one where the first of them is
    new or comes first: so new ids are remembered in the order of all predictions.
    """
    said, told = chosen
    turn = np.zeros(len(predictions), dtype=np.int64)
    label_turn = np.zeros(len(labels), dtype=np.int64)
    key = np.concatenate([predictions.key[said], labels.key[told]])
    row = np.concatenate([predictions.row[said], labels.row[told]])
    is_label = np.concatenate([np.zeros(said.sum(), np.int64), np.ones(told.sum(), np.int64)])
    order = np.lexsort((is_label, row, key))
    so_far = np.cumsum(1 - is_label[order])
    opens = np.flatnonzero(np.concatenate([[True], key[order][1:] != key[order][:-1]]))
    before = so_far[opens] - (1 - is_label[order][opens])
    lengths = np.diff(np.append(opens, len(order)))
    found = np.empty(len(order), dtype=np.int64)
    begins = (is_label[order][opens] == 0) | ~np.isin(key[order][opens], remembered)
    found[order] = np.maximum(so_far - np.repeat(before + begins, lengths), 0)
    turn[said], label_turn[told] = found[: said.sum()], found[said.sum() :]
    return turn, label_turn
