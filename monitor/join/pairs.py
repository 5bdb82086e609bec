"""Pairs of two predictions of one id, a deciding and a shadow one, as counts.

A pair counts in one of four cells by which of the two flagged it, and once more by its label
where it has one.
"""

from __future__ import annotations

import numpy as np

from monitor.events.catalogue import MAX_GROUPS
from monitor.events.columns import BoolArray, Int64Array, KeyArray
from monitor.join import packing as words
from monitor.join.deltas import Deltas

WAYS = 4
"""Ways to flag a case: both do, the deciding version alone, the shadow alone, none."""
PAIR_CELLS = 3 * WAYS
"""Cells of pairs: of all, of actual positives, and of actual negatives, each by `WAYS`."""


def pair_deltas(
    when: KeyArray, what: KeyArray, shadow: tuple[Int64Array, BoolArray], sign: int
) -> tuple[Deltas, BoolArray]:
    """Return the deltas of pairs, and which of them have a label in force.

    Args:
        when: first word of the deciding prediction of each, see `packing`.
        what: second word of each.
        shadow: group of the shadow prediction of each, and True where it is called positive.
        sign: 1, or -1 where the pairs cease to count.
    """
    group, flagged = shadow
    way = 2 * (~words.predicted_positive_of(what)).astype(np.int64) + ~flagged
    label = words.label_values_of(what)
    known = (label == 0) | (label == 1)
    cell = np.concatenate([way, (WAYS * (2 - label) + way)[known]])
    times, pairs = words.times_of(when), pairs_of_groups(words.groups_of(when), group)
    time, pair = (np.concatenate([one, one[known]]) for one in (times, pairs))
    nothing = np.zeros(len(cell), dtype=np.int64)
    deltas = Deltas(
        time=time,
        label_time=time,
        group=pair,
        cell=cell,
        score_bin=nothing,
        count=nothing + sign,
    )
    return deltas, known


def groups_of_pairs(pairs: Int64Array) -> tuple[Int64Array, Int64Array]:
    """Return the group of the deciding prediction of each pair, and that of its shadow.

    Args:
        pairs: groups of `pair_deltas`.
    """
    return pairs // MAX_GROUPS, pairs % MAX_GROUPS


def pairs_of_groups(deciding: Int64Array, shadow: Int64Array) -> Int64Array:
    """Return what `groups_of_pairs` takes apart.

    Args:
        deciding: groups of the deciding predictions.
        shadow: groups of the shadow predictions.
    """
    return deciding * MAX_GROUPS + shadow
