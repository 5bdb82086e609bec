"""Pairs of two predictions of one id as counts: a deciding and a shadow one, or two shadows.

A pair counts in one of four cells by which of the two flagged it, and once more by its label
where it has one. Two shadow predictions are a pair where each is one with the same deciding
prediction, whose time, segments and label are those of all three pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.events.catalogue import MAX_GROUPS
from monitor.events.columns import BoolArray, Int64Array, KeyArray
from monitor.join import packing as words
from monitor.join.deltas import Deltas

WAYS = 4
"""Ways to flag a case: both do, the first alone, the second alone, none."""
PAIR_CELLS = 3 * WAYS
"""Cells of pairs: of all, of actual positives, and of actual negatives, each by `WAYS`."""


class ShadowSide(NamedTuple):
    """The predictions of a shadow version in some pairs.

    Attributes:
        group: of each.
        flagged: True where it is called positive.
    """

    group: Int64Array
    flagged: BoolArray

    def take(self, rows: Int64Array) -> ShadowSide:
        """Return those of some pairs.

        Args:
            rows: which.
        """
        return ShadowSide(self.group[rows], self.flagged[rows])


def pair_deltas(
    when: KeyArray, what: KeyArray, first: ShadowSide | None, second: ShadowSide, sign: int
) -> tuple[Deltas, BoolArray]:
    """Return the deltas of pairs, and which of them have a label in force.

    Args:
        when: first word of the deciding prediction of each, see `packing`.
        what: second word of each.
        first: None where it is the deciding prediction.
        second: the other one.
        sign: 1, or -1 where the pairs cease to count.
    """
    flagged = words.predicted_positive_of(what) if first is None else first.flagged
    way = 2 * (~flagged).astype(np.int64) + ~second.flagged
    label = words.label_values_of(what)
    known = (label == 0) | (label == 1)
    cell = np.concatenate([way, (WAYS * (2 - label) + way)[known]])
    deciding = words.groups_of(when)
    own = deciding if first is None else first.group
    times, pairs = words.times_of(when), pairs_of_groups(deciding, own, second.group)
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


def groups_of_pairs(pairs: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return the groups of the deciding, the first and the second prediction of each pair.

    The first is the deciding prediction itself, or a shadow one.

    Args:
        pairs: groups of `pair_deltas`.
    """
    both, second = np.divmod(pairs, MAX_GROUPS)
    first, deciding = np.divmod(both, MAX_GROUPS)
    return deciding, np.where(first == 0, deciding, first - 1), second


def pairs_of_groups(deciding: Int64Array, first: Int64Array, second: Int64Array) -> Int64Array:
    """Return what `groups_of_pairs` takes apart.

    Args:
        deciding: groups of the deciding predictions.
        first: groups of the first predictions; those of `deciding` where these are the first.
        second: groups of the second predictions.
    """
    shadow = np.where(first == deciding, 0, first + 1)
    return np.asarray((shadow * MAX_GROUPS + deciding) * MAX_GROUPS + second)
