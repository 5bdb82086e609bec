"""Ids that have changed since their page was written whole, against plain dictionaries."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from monitor.distributed.changed_ids import ChangedIds
from monitor.distributed.touched_ids import HELD, WORDS, IdStates

keys = st.integers(1, 12)
states = st.tuples(
    st.none() | st.tuples(st.integers(0, 5), st.integers(0, 5)),
    st.lists(st.integers(0, 9), max_size=2),
)
"""Of an id: two words of its prediction, or None; and times of labels that wait."""
all_states = st.dictionaries(keys, states, max_size=10)


def ids_of(found):
    """Ids in the order of their keys."""
    ordered = sorted(found.items())
    rows = [(key, *words) for key, (words, _) in ordered if words is not None]
    held = [(key, time, 1, 0.5) for key, (_, times) in ordered for time in times]
    return IdStates(np.array(rows, dtype=np.uint64).reshape(-1, WORDS), np.array(held, dtype=HELD))


def plain(ids):
    return ids.rows.tolist(), ids.held.tolist()


@given(all_states, st.lists(all_states, max_size=4), st.sets(keys))
def test_changes_one_after_another_equal_a_dictionary_that_is_updated(first, later, asked):
    found, known = ChangedIds(ids_of(first), ids_of({})), dict(first)
    for some in later:
        touched = np.array(sorted(some), dtype=np.uint64)
        before = ids_of({key: known[key] for key in some if key in known})
        assert plain(found.of(touched)) == plain(before)
        found = found.after(touched, ids_of(some))
        known |= some
    assert plain(found.merged()) == plain(ids_of(known))
    some = ids_of({key: state for key, state in known.items() if key in asked})
    assert plain(found.of(np.array(sorted(asked), dtype=np.uint64))) == plain(some)


@given(all_states, all_states)
def test_only_ids_that_were_touched_are_stored_again(first, some):
    touched = np.array(sorted(some), dtype=np.uint64)
    found = ChangedIds(ids_of(first), ids_of({})).after(touched, ids_of(some))
    assert found.whole.rows.tolist() == ids_of(first).rows.tolist()
    assert set(found.since.rows[:, 0].tolist()) <= set(some)
    assert set(found.since.held["key"].tolist()) <= set(found.since.rows[:, 0].tolist())
