import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.events.columns import EARLIEST_MS, LATEST_MS, RETRACTED
from monitor.events.score_bins import NO_SCORE
from monitor.join import index
from monitor.join import packing as words
from monitor.join.table import CHUNK, PredictionTable


@pytest.fixture(autouse=True, scope="module")
def _few_places():
    """So few that they have to grow."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(index, "LEAST_PLACES", 1024)
        yield


def _words(n, seed=0):
    rng = np.random.default_rng(seed)
    time = rng.integers(EARLIEST_MS, LATEST_MS, n)
    group = rng.integers(0, 1 << 20, n)
    what = words.what_words(rng.random(n) < 0.5, rng.random(n))
    return time, group, words.when_words(time, group), what


def test_words_give_back_what_went_in():
    time, group, when, _ = _words(1000)
    assert np.array_equal(words.times_of(when), time)
    assert np.array_equal(words.groups_of(when), group)
    score = np.array([0.0, 0.005, 0.5, 0.9999, 1.0, np.nan])
    what = words.what_words(np.array([True, False] * 3), score)
    assert words.score_bins_of(what).tolist() == [0, 5, 500, 999, 999, NO_SCORE]
    assert words.predicted_positive_of(what).tolist() == [True, False] * 3
    assert (words.label_values_of(what) == -1).all()


def test_a_label_word_wins_by_time_then_null_then_one_then_zero():
    word = {
        (time, value): int(words.label_words(np.array([time]), np.array([value]))[0])
        for time in (EARLIEST_MS, 0, LATEST_MS - 1)
        for value in (0, 1, RETRACTED)
    }
    assert sorted(word, key=word.__getitem__) == sorted(word)
    assert min(word.values()) > int(words.what_words(np.array([True]), np.array([np.nan]))[0])


@settings(max_examples=30, deadline=None)
@given(
    st.lists(st.tuples(st.sampled_from("afff"), st.integers(1, 6000)), min_size=1, max_size=25),
    st.integers(0, 2**32),
)
def test_the_table_equals_a_dictionary(operations, seed):
    rng = np.random.default_rng(seed)
    table, truth, order = PredictionTable(), {}, []
    for kind, n in operations:
        if kind == "a":
            keys = np.unique(rng.integers(0, 2**63, n).astype(np.uint64))
            keys = np.array([k for k in keys if int(k) not in truth], np.uint64)
            when = rng.integers(0, 2**60, len(keys)).astype(np.uint64)
            table.append(keys, when, when >> np.uint64(3))
            truth |= dict(zip(keys.tolist(), when.tolist(), strict=True))
            order += keys.tolist()
        else:
            gone = np.array([order.pop(0) for _ in range(min(n, len(order)))], np.uint64)
            table.forget(table.find(gone))
            for key in gone.tolist():
                del truth[key]
            while table.free_front():
                pass
    known = np.array(list(truth), np.uint64)
    slots = table.find(known)
    assert (slots >= 0).all()
    assert table.when(slots).tolist() == list(truth.values())
    strangers = rng.integers(2**63, 2**64, 500, dtype=np.uint64)
    assert (table.find(strangers) == -1).all()
    assert len(table.rows()) == len(truth)


def test_a_straggler_does_not_keep_its_chunk():
    table = PredictionTable()
    keys = np.arange(1, 4 * CHUNK + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    table.append(keys, keys, keys)
    straggler = keys[5:6]
    table.forget(table.find(np.delete(keys, 5)))
    while table.free_front():
        pass
    assert table.find(straggler)[0] >= 0
    assert table.when(table.find(straggler))[0] == straggler[0]
    assert len(table) < CHUNK


def test_the_table_reuses_its_room_forever():
    table = PredictionTable()
    rng = np.random.default_rng(1)
    for _ in range(200):
        keys = rng.integers(1, 2**63, 5000).astype(np.uint64)
        table.append(keys, keys, keys)
        while len(table.front()) and len(table) > 4 * CHUNK:
            table.forget(table.front())
            table.free_front()
    assert table.nbytes < 5_000_000


def test_key_zero_is_stored():
    table = PredictionTable()
    table.append(np.zeros(1, np.uint64), np.ones(1, np.uint64), np.ones(1, np.uint64))
    assert table.find(np.zeros(1, np.uint64)).tolist() == [0]


def test_state_holds_every_chunk_in_the_order_of_arrival_and_gives_it_back():
    rows, table = 3 * CHUNK + 100, PredictionTable()
    keys = np.arange(1, rows + 1, dtype=np.uint64)
    table.append(keys, keys + np.uint64(7), keys + np.uint64(9))
    state = table.state()
    assert np.array_equal(state, np.stack([keys, keys + np.uint64(7), keys + np.uint64(9)], axis=1))
    restored = PredictionTable()
    restored.restore(state)
    found = restored.find(keys)
    assert np.array_equal(restored.when(found), keys + np.uint64(7))
    assert np.array_equal(restored.what(found), keys + np.uint64(9))
