"""Labels of one batch for the same prediction, in the order of arrival.

A batch leaves one label in force for each prediction. How often the label in force changed
within the batch follows from the order of arrival. So the counters of the join do not
depend on the sizes of batches.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.events.columns import BoolArray, Int64Array, KeyArray


class Succession(NamedTuple):
    """One row for each label, those of a prediction in their order.

    Attributes:
        slots: of the prediction.
        before: its `what` before the label.
        after: its `what` after it.
        outranked: True for labels of a lower rank than the one before.
    """

    slots: Int64Array
    before: KeyArray
    after: KeyArray
    outranked: BoolArray


def succession(
    slots: Int64Array,
    given: KeyArray,
    own: KeyArray,
    ranks: tuple[Int64Array | int, Int64Array | int] = (0, 0),
) -> Succession:
    """Return the state that each label finds, and the state it leaves.

    That is the one of the higher rank; of those of one rank the greater word.

    Args:
        slots: of the predictions that labels are for, in the order of arrival.
        given: `what` as each label would have it.
        own: `what` of each slot before the first of them.
        ranks: of `given`, and of `own`.

    >>> found = succession(np.array([4, 9, 4, 4]), np.array([3, 5, 7, 6], np.uint64),
    ...                    np.array([1, 8, 1, 1], np.uint64))
    >>> found.slots.tolist(), found.before.tolist(), found.after.tolist()
    ([4, 4, 4, 9], [1, 3, 7, 8], [3, 7, 7, 8])
    """
    order = np.argsort(slots, kind="stable")
    rank_given, rank_own = (np.broadcast_to(rank, len(slots))[order] for rank in ranks)
    slots, given, own = slots[order], given[order], own[order]
    opens: BoolArray = np.concatenate([[True], slots[1:] != slots[:-1]])[: len(slots)]
    starts = np.flatnonzero(opens)
    group = np.cumsum(opens) - 1
    words = np.insert(given, starts, own[starts])
    ranked = np.insert(rank_given, starts, rank_own[starts])
    of = np.insert(group, starts, np.arange(len(starts)))
    by_place = np.lexsort((words, ranked))
    place = np.empty(len(words), dtype=np.int64)
    place[by_place] = np.arange(len(words))
    highest = by_place[np.maximum.accumulate(of * len(words) + place) - of * len(words)]
    labels = np.delete(np.arange(len(words)), starts + np.arange(len(starts)))
    before, after = highest[labels - 1], highest[labels]
    outranked = ranked[labels] < ranked[before]
    return Succession(slots, words[before], words[after], outranked)
