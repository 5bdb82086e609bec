"""The index against a dictionary, with keys that do their worst."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.join import index
from monitor.join.index import KeyIndex
from monitor.kernel import compiled_module

_INVERSE = np.uint64(pow(int(index._MULTIPLIER), -1, 2**64))
_ANOTHER = 0x9E3779B97F4A7C15
"""A multiplier that is not that of this process."""


@pytest.fixture(autouse=True, scope="module")
def _few_places():
    """So few that they have to grow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "LEAST_PLACES", 1024)
        yield


by_each_kernel = pytest.mark.parametrize("compiled", [False, *[True] * bool(compiled_module())])


class Rows:
    """A table in small: rows of keys, in chunks; searched in Python, or by the kernel."""

    def __init__(self, chunk: int = 64, *, compiled: bool = False) -> None:
        self.keys = np.zeros(1 << 20, dtype=np.uint64)
        self.chunk, self.count = chunk, 0
        self.looked_at = 0
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("PRECISION_MONITOR_KERNEL", "c" if compiled else "python")
            self.index = KeyIndex(self.keys_at, self.slots_of, lambda: self.keys[:, None])

    def keys_at(self, slots):
        self.looked_at += len(slots)
        return self.keys.take(slots)

    def slots_of(self, chunk):
        first = chunk * self.chunk
        return np.arange(first, min(first + self.chunk, self.count))

    def enter(self, keys):
        chunks = range(-(-self.count // self.chunk))
        self.index.make_room(len(keys), chunks, self.count, self.count + len(keys))
        slots = np.arange(self.count, self.count + len(keys))
        self.keys[slots], self.count = keys, self.count + len(keys)
        self.index.enter(keys, slots)


def _distinct(keys):
    return np.array(list(dict.fromkeys(keys.tolist())), dtype=np.uint64)


KINDS = {
    "hashes": lambda n: np.random.default_rng(n).integers(1, 2**63, n).astype(np.uint64),
    "numbers in a row": lambda n: np.arange(1, n + 1, dtype=np.uint64),
    "high bits alone": lambda n: np.arange(1, n + 1, dtype=np.uint64) << np.uint64(40),
    # The index multiplies by an odd number: its inverse makes keys that fall where one wants.
    # Nobody outside the process knows it.
    "one mark": lambda n: (np.arange(1, n + 1, dtype=np.uint64) << np.uint64(32)) * _INVERSE,
    "one group": lambda n: np.arange(1, n + 1, dtype=np.uint64) * _INVERSE,
}


@pytest.mark.slow
@by_each_kernel
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("batch", [1, 7, 500])
def test_whatever_the_keys_are_each_is_found_where_it_was_put(kind, batch, compiled):
    keys = _distinct(KINDS[kind](2_000 if kind == "one group" else 8_000))
    keys = keys[: {1: 700, 7: 2_100}.get(batch)]
    if not compiled and batch < 500:  # a second for each thousand of keys that fall in one place
        keys = keys[: len(keys) // 3]
    rows = Rows(compiled=compiled)
    for first in range(0, len(keys), batch):
        part = keys[first : first + batch]
        assert (rows.index.find(part) == -1).all()
        rows.enter(part)
        seen = keys[: first + len(part)]
        sample = seen[:: max(1, len(seen) // 50)]
        assert rows.keys[rows.index.find(sample)].tolist() == sample.tolist()
    assert rows.index.find(keys).tolist() == list(range(len(keys)))


@by_each_kernel
@given(
    keys=st.lists(st.integers(1, 2**64 - 1), unique=True, max_size=300), batch=st.integers(1, 40)
)
def test_it_equals_a_dictionary(keys, batch, compiled):
    keys, rows = np.array(keys, dtype=np.uint64), Rows(compiled=compiled)
    half = keys[: len(keys) // 2]
    for first in range(0, len(half), batch):
        rows.enter(half[first : first + batch])
    truth = {key: slot for slot, key in enumerate(half.tolist())}
    assert rows.index.find(keys).tolist() == [truth.get(key, -1) for key in keys.tolist()]


def test_rows_that_are_anothers_are_hardly_ever_looked_at():
    rows = Rows()
    keys = _distinct(KINDS["hashes"](200_000))
    for first in range(0, 100_000, 1_000):
        rows.enter(keys[first : first + 1_000])
    rows.looked_at = 0
    assert (rows.index.find(keys[100_000:]) == -1).all()
    assert rows.looked_at < 0.1 * len(keys[100_000:])


def groups_searched(keys, monkeypatch):
    """Groups that are searched, for each key, while keys enter and are found."""
    searched = []
    onward = index._Places._next

    def counting(places, group, step):
        searched.append(len(group))
        return onward(places, group, step)

    with monkeypatch.context() as patch:
        patch.setattr(index._Places, "_next", counting)
        rows = Rows()
        for first in range(0, len(keys), 500):
            rows.enter(keys[first : first + 500])
        assert rows.index.find(keys).tolist() == list(range(len(keys)))
    return sum(searched) / len(keys)


def test_keys_that_crowd_for_another_multiplier_crowd_no_more_than_hashes(monkeypatch):
    """In the median over multipliers: a rare one crowds these keys as well."""
    inverse = np.uint64(pow(_ANOTHER, -1, 2**64))
    crowded = np.arange(1, 6_001, dtype=np.uint64) * inverse
    usual = groups_searched(KINDS["hashes"](6_000), monkeypatch)
    searched = []
    for drawn in np.random.default_rng(8).integers(2**64, size=9, dtype=np.uint64):
        monkeypatch.setattr(index, "_MULTIPLIER", drawn | np.uint64(1))
        searched.append(groups_searched(crowded, monkeypatch))
    assert np.median(searched) < 1.5 * usual
    monkeypatch.setattr(index, "_MULTIPLIER", np.uint64(_ANOTHER))
    assert groups_searched(crowded, monkeypatch) > 10 * usual


def test_slots_beyond_what_a_place_can_name_begin_fresh_places():
    rows = Rows()
    rows.enter(np.arange(1, 101, dtype=np.uint64))
    far = np.arange(1_000_000, 1_000_010)
    chunks = range(-(-rows.count // rows.chunk))
    rows.index.make_room(10, chunks, rows.count, 1_000_010)
    more = np.arange(1_000, 1_010, dtype=np.uint64)
    rows.keys[far] = more
    rows.index.enter(more, far)
    assert rows.index.find(more).tolist() == far.tolist()
    assert rows.index.find(np.arange(1, 101, dtype=np.uint64)).tolist() == list(range(100))


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
@pytest.mark.parametrize("kind", KINDS)
def test_each_kernel_finds_what_the_other_entered(kind):
    keys = _distinct(KINDS[kind](800))
    rows, slots = keys[:, None], np.arange(len(keys))
    by_python, by_kernel = (
        index._Places(1024, 1024),
        index._CompiledPlaces(1024, 1024, lambda: rows),
    )
    by_kernel._places = by_python._places  # the same memory
    for first in range(0, len(keys), 50):
        writer = (by_python, by_kernel)[first // 50 % 2]
        writer.enter(keys[first : first + 50], slots[first : first + 50])
    for reader in (by_python, by_kernel):
        assert reader.find(keys, keys.take).tolist() == slots.tolist()
        assert (reader.find(keys + np.uint64(1 << 63), keys.take) == -1).all()
