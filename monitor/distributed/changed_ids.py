"""The ids of pages: as the pages were last written whole, and what has changed since."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.distributed.touched_ids import KEY, WHEN, WORDS, IdStates
from monitor.events.columns import BoolArray, Int64Array, KeyArray
from monitor.join.packing import LAST_WHEN


class ChangedIds(NamedTuple):
    """Ids of some pages next to each other.

    Attributes:
        whole: as the pages were last written whole.
        since: ids that have changed since: a row and the waiting labels of each. The row of
            an id without a prediction is blank: its `when` is `LAST_WHEN`.
    """

    whole: IdStates
    since: IdStates

    def of(self, keys: KeyArray) -> IdStates:
        """Return the state of some ids.

        Args:
            keys: distinct, in order.
        """
        if not len(self.since):
            return _of(self.whole, keys)
        changed = is_among(keys, self.since.rows[:, KEY])
        new, old = _of(self.since, keys[changed]), _of(self.whole, keys[~changed])
        held = np.concatenate([old.held, new.held])
        return IdStates(_merged(old.rows, _with_prediction(new.rows)), _by_key(held))

    def after(self, keys: KeyArray, then: IdStates) -> ChangedIds:
        """Return what is to be stored after some ids have changed.

        Args:
            keys: the ids, distinct, in order.
            then: their new state.
        """
        without = keys[~is_among(keys, then.rows[:, KEY])]
        some = is_among(without, self.whole.rows[:, KEY])
        for held in (self.whole.held, then.held):
            some |= is_among(without, held["key"])
        blank = np.full((int(some.sum()), WORDS), LAST_WHEN, dtype=np.uint64)
        blank[:, KEY] = without[some]
        come = IdStates(_merged(then.rows, blank), then.held)
        return ChangedIds(self.whole, _replaced(self.since, keys, come))

    def merged(self) -> IdStates:
        """Return the state of all ids, as pages are written whole."""
        if not len(self.since):
            return self.whole
        come = IdStates(_with_prediction(self.since.rows), self.since.held)
        return _replaced(self.whole, self.since.rows[:, KEY], come)


def distinct(*keys: KeyArray) -> KeyArray:
    """Return distinct keys in order; faster than `np.unique`, which hashes them first."""
    ordered = np.sort(np.concatenate(keys))
    differs: BoolArray = np.append(True, ordered[1:] != ordered[:-1])
    found: KeyArray = ordered[differs[: len(ordered)]]
    return found


def is_among(keys: KeyArray, some: KeyArray) -> BoolArray:
    """Return which of some keys are among others.

    Args:
        keys: to look for.
        some: the others, in order.
    """
    at = np.minimum(np.searchsorted(some, keys), max(len(some) - 1, 0))
    found: BoolArray = some[at] == keys if len(some) else np.zeros(len(keys), dtype=np.bool_)
    return found


def _of(ids: IdStates, keys: KeyArray) -> IdStates:
    """Return the state of some ids.

    Args:
        ids: all of them.
        keys: distinct, in order.
    """
    rows = ids.rows.take(_rows_of(keys, ids.rows[:, KEY]), axis=0)
    return IdStates(rows, ids.held[is_among(ids.held["key"], keys)])


def _with_prediction(rows: KeyArray) -> KeyArray:
    return rows.take(np.flatnonzero(rows[:, WHEN] != LAST_WHEN), axis=0)


def _rows_of(keys: KeyArray, stored: KeyArray) -> Int64Array:
    """Return the rows of those keys that are stored.

    Args:
        keys: distinct, in order.
        stored: keys of the rows, distinct, in order.
    """
    at = np.searchsorted(stored, keys)
    some = np.flatnonzero(at < len(stored))
    found: Int64Array = at[some[stored[at[some]] == keys[some]]]
    return found


def _replaced(ids: IdStates, keys: KeyArray, come: IdStates) -> IdStates:
    """Return ids, those of some keys with another state.

    Args:
        ids: all ids, in the order of keys.
        keys: distinct, in order.
        come: the state of these, in the order of keys.
    """
    stays = np.ones(len(ids.rows), dtype=np.bool_)
    stays[_rows_of(keys, ids.rows[:, KEY])] = False
    rows = _merged(ids.rows.take(np.flatnonzero(stays), axis=0), come.rows)
    held = np.concatenate([ids.held[~is_among(ids.held["key"], keys)], come.held])
    return IdStates(rows, _by_key(held))


def _merged(rows: KeyArray, more: KeyArray) -> KeyArray:
    """Return rows of distinct keys in the order of keys, of two arrays in that order."""
    if not len(rows) or not len(more):
        return rows if len(rows) else more
    at = np.searchsorted(rows[:, KEY], more[:, KEY]) + np.arange(len(more))
    found = np.empty((len(rows) + len(more), WORDS), dtype=np.uint64)
    is_old = np.ones(len(found), dtype=np.bool_)
    is_old[at] = False
    found[np.flatnonzero(is_old)] = rows
    found[at] = more
    return found


def _by_key(held: NDArray[np.void]) -> NDArray[np.void]:
    return held[np.argsort(held["key"], kind="stable")]
