"""The two words that store a remembered prediction, besides its key.

    when    time, ms since 1900 44 | group 20
    what    label time, ms since 1900 44 | label rank 2 | stratum 7 | score bin 10 | predicted 1

So the label in force is the one with the greater `what`: the later one, at the same time
null before 1 before 0, and of equal ones the one with the rarer sampling (see `strata`).
Without a label, the label bits are 0.

A prediction of a model of many classes has the number of its class in the bits of the score
bin, and that of the actual class in those of the stratum: such a model has neither scores
nor sampled labels. Then predicted and label are 1, and of two labels at the same time the
one of the later class in the list is in force.
"""

from __future__ import annotations

import numpy as np

from monitor.events.catalogue import MAX_GROUPS
from monitor.events.columns import (
    EARLIEST_MS,
    RETRACTED,
    BoolArray,
    FloatArray,
    Int64Array,
    KeyArray,
)
from monitor.events.score_bins import score_bins

LAST_WHEN = np.uint64(2**64 - 1)
"""No `when` is greater."""

_GROUP_BITS = np.uint64(MAX_GROUPS.bit_length() - 1)
_GROUP_MASK = np.uint64(MAX_GROUPS - 1)
_LABEL_BITS = np.uint64(18)
_STRATUM_BITS = np.uint64(11)
_STRATUM_MASK = np.uint64((1 << 7) - 1)
_PREDICTION_MASK = np.uint64((1 << 11) - 1)
_RANK_OF_VALUE = np.array([1, 2, 3], dtype=np.uint64)
_VALUE_OF_RANK = np.array([-1, 0, 1, RETRACTED], dtype=np.int64)


def when_words(time: Int64Array, group: Int64Array) -> KeyArray:
    """Pack event times and groups into `when` words.

    Args:
        time: epoch milliseconds.
        group: numbers of the catalogue.
    """
    since = (time - EARLIEST_MS).astype(np.uint64)
    return (since << _GROUP_BITS) | group.astype(np.uint64)


def what_words(predicted_positive: BoolArray, score: FloatArray) -> KeyArray:
    """Pack predictions without a label into `what` words.

    Args:
        predicted_positive: the predicted class.
        score: in [0, 1]; NaN if there is none.
    """
    return unlabelled_words(predicted_positive, score_bins(score))


def unlabelled_words(predicted_positive: BoolArray, bins: Int64Array) -> KeyArray:
    """Pack predictions without a label into `what` words, with scores that are binned already.

    Args:
        predicted_positive: the predicted class.
        bins: see `monitor.events.score_bins`.
    """
    return (bins.astype(np.uint64) << np.uint64(1)) | predicted_positive.astype(np.uint64)


def label_words(time: Int64Array, value: Int64Array, stratum: Int64Array | int = 0) -> KeyArray:
    """Pack labels into the label part of `what` words, for a bitwise or with `prediction_part`.

    Args:
        time: epoch milliseconds.
        value: 0, 1 or `RETRACTED`.
        stratum: how the label was sampled, see `monitor.join.sampling`.
    """
    since = (time - EARLIEST_MS).astype(np.uint64)
    label = ((since << np.uint64(2)) | _RANK_OF_VALUE[value]) << _LABEL_BITS
    return label | strata_words(stratum)


def strata_words(stratum: Int64Array | int) -> KeyArray:
    """Pack strata of labels into `what` words; for the label part without time and value."""
    return np.asarray(stratum).astype(np.uint64) << _STRATUM_BITS


def times_of(when: KeyArray) -> Int64Array:
    """Return event times of predictions, epoch milliseconds."""
    return (when >> _GROUP_BITS).astype(np.int64) + EARLIEST_MS


def groups_of(when: KeyArray) -> Int64Array:
    """Return groups of predictions."""
    return (when & _GROUP_MASK).astype(np.int64)


def predicted_positive_of(what: KeyArray) -> BoolArray:
    """Return the predicted classes."""
    return (what & np.uint64(1)).astype(np.bool_)


def score_bins_of(what: KeyArray) -> Int64Array:
    """Return score bins."""
    return ((what & _PREDICTION_MASK) >> np.uint64(1)).astype(np.int64)


def label_values_of(what: KeyArray) -> Int64Array:
    """Return labels in force: 0, 1, `RETRACTED`, or -1 without a label."""
    return _VALUE_OF_RANK[((what >> _LABEL_BITS) & np.uint64(3)).astype(np.int64)]


def label_times_of(what: KeyArray) -> Int64Array:
    """Return event times of labels in force, epoch milliseconds; of 1900 without a label."""
    return (what >> (_LABEL_BITS + np.uint64(2))).astype(np.int64) + EARLIEST_MS


def strata_of(what: KeyArray) -> Int64Array:
    """Return strata of labels in force; 0 without a label."""
    return ((what >> _STRATUM_BITS) & _STRATUM_MASK).astype(np.int64)


def prediction_part(what: KeyArray) -> KeyArray:
    """Return `what` without the label."""
    return what & _PREDICTION_MASK


def first_when(time: int) -> np.uint64:
    """Return the least `when` of a moment (epoch milliseconds): that of any earlier one is less."""
    since = min(max(time - EARLIEST_MS, 0), int(LAST_WHEN >> _GROUP_BITS))
    return np.uint64(since) << _GROUP_BITS


def with_label_of(labelled: KeyArray, what: KeyArray) -> KeyArray:
    """Combine the labels of some predictions with the other values of others.

    Args:
        labelled: `what` words with the labels.
        what: `what` words with the predictions.
    """
    return (labelled & ~_PREDICTION_MASK) | prediction_part(what)
