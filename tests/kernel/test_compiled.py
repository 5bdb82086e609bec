"""The extension module by itself: what it takes, and what it does with wrong arguments."""

import json
from contextlib import suppress
from typing import Any

import msgspec
import numpy as np
import pytest
import xxhash
from hypothesis import example, given
from hypothesis import strategies as st

from monitor.events.columns import LATEST_MS
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.kernel import compiled_module

pytest.importorskip("monitor.kernel.compiled", reason="no compiled kernel is installed")
COMPILED: Any = compiled_module()
PYTHON, C = (Decoder(DecodeSettings(), kernel=kernel) for kernel in ("python", "c"))
LABEL = b'{"type":"label","id":"a","ts":1,"label":1}\n'
PREDICTION = {"type": "prediction", "id": "a", "ts": 1, "prediction": 1}


def columns(rows: int) -> list[Any]:
    """Columns for so many lines."""
    kinds = [tuple(np.zeros(rows, np.int64) for _ in range(count)) for count in (7, 6, 7)]
    return [*kinds, np.zeros(rows + 1, np.int64), np.zeros(rows, np.int64)]


def scanned(block: bytes, arrays: list[Any]) -> tuple[Any, ...]:
    return COMPILED.scan(block, 0, 65536, LATEST_MS, (), *arrays)


def taken(line: bytes) -> bool:
    """Whether the kernel takes a line, or leaves it."""
    return scanned(line, columns(1))[4] == 1


def test_the_installed_kernel_is_that_of_this_source():
    assert COMPILED is not None, "a C file has changed: install this checkout again"


def keys(names: list[bytes], seed: int, before: bytes = b"") -> tuple[list[int], list[int]]:
    """Keys of ids that lie one after another, and the rows that are left."""
    offsets = np.cumsum([len(before), *map(len, names)], dtype=np.int64)
    written = np.full(len(names), 9, np.uint64)
    left = COMPILED.keys_of(before + b"".join(names), offsets, seed, written)
    return written.tolist(), left


@given(st.lists(st.binary(max_size=240)), st.integers(0, 2**64 - 1), st.binary())
def test_a_key_is_xxh3_of_the_id(names, seed, before):
    expected = [xxhash.xxh3_64_intdigest(name, seed) if name else 0 for name in names]
    assert keys(names, seed, before) == (expected, [])


def test_a_key_is_xxh3_for_each_length():
    names = [bytes(range(7, 7 + length)) for length in range(1, 241)]
    assert keys(names, 3) == ([xxhash.xxh3_64_intdigest(name, 3) for name in names], [])


def test_keys_of_long_ids_are_left_to_python():
    found, left = keys([b"a", b"b" * 241, b"", b"c" * 240], 5)
    assert left == [1]
    assert found == [
        xxhash.xxh3_64_intdigest(b"a", 5), 9, 0, xxhash.xxh3_64_intdigest(b"c" * 240, 5)
    ]  # fmt: skip


@pytest.mark.parametrize("offsets", [[0, 2, 1], [0, 4, 9], [-1, 2, 4], [0, -(2**63), 4]])
def test_ids_outside_of_their_texts_are_refused(offsets):
    with pytest.raises(ValueError, match=r"row \d lies outside of the texts"):
        COMPILED.keys_of(b"abcd", np.array(offsets, np.int64), 0, np.zeros(2, np.uint64))


def test_columns_of_keys_that_are_too_short_are_refused():
    with pytest.raises(ValueError, match="must have 2 rows or more"):
        COMPILED.keys_of(b"ab", np.array([0, 1, 2]), 0, np.zeros(1, np.uint64))
    with pytest.raises(ValueError, match="must have a bound"):
        COMPILED.keys_of(b"ab", np.zeros(0, np.int64), 0, np.zeros(1, np.uint64))


def test_lines_are_counted_in_blocks_of_every_length():
    for length in (0, 1, 254, 255, 256, 509, 510, 511, 70_000):
        for block in (b"\n" * length, b"a" * length, (b"a\n\n" * length)[:length]):
            assert COMPILED.count_lines(block) == block.count(b"\n")


def test_columns_with_too_few_rows_are_refused():
    block = 3 * LABEL
    assert scanned(block, columns(2)) is None
    assert scanned(block, columns(3))[:5] == (0, 3, 0, 0, 3)
    for place in range(4):
        arrays, short = columns(3), columns(2)
        arrays[place] = short[place]
        with pytest.raises(ValueError, match=r"must have . rows or more"):
            scanned(block, arrays)


def test_columns_of_another_type_are_refused():
    arrays = columns(3)
    for wrong in (np.zeros(3, np.int32), np.zeros(6, np.int64)[::2], (np.zeros(3),), b"x" * 24):
        with pytest.raises((ValueError, TypeError, BufferError)):
            scanned(LABEL, [*arrays[:4], wrong])
    with pytest.raises(ValueError, match="must be a tuple of 7 arrays"):
        scanned(LABEL, [arrays[0][:6], *arrays[1:]])


@pytest.mark.parametrize(
    "fields",
    [
        {"id": "x" * 240},
        {"id": 'ü"\\\n💥\0'},
        {"id": -1234567890123456789},
        {"ts": "2026-11-22T10:00:00.123456+05:30"},
        {"ts": "2024-02-29 23:59:59z"},
        {"ts": -0.5},
        {"score": 0.12345678901234567},
        {"score": 1.2345678901234567e-11},
        {"score": None, "model": None, "version": None, "segment": None},
        {"prediction": 1.0},
        {"prediction": 0.0},
        {"segment": {"a": 1, "b": [{}, [], {"c": None}]}},
        {"extra": {"a": [1, -2.5e-3, "x", True, None, {}]}},
    ],
    ids=str,
)
def test_every_usual_spelling_is_taken(fields):
    for spaces in ((",", ":"), (" , \t", " : ")):
        for ascii_only in (True, False):
            record = {**fields, **{k: v for k, v in PREDICTION.items() if k not in fields}}
            line = json.dumps(record, separators=spaces, ensure_ascii=ascii_only).encode()
            assert taken(line), line
            assert taken(b" " + line + b"\t\r\n")


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"{}",
        b'{"type":"label","id":"a","ts":1,"label":1',
        b'{"type":"label","id":"a","ts":1,"label":1,}',
        b'{"type":"label","id":"a","ts":1,"label":1} 2',
        b'{"type":"label","id":"a","ts":1,"label":1,"label":1}',
        b'{"type":"label","id":"a","ts":1,"label":1.00}',
        b'{"type":"label","id":"a","ts":1,"label":1e0}',
        b'{"type":"label","id":"a","ts":1,"label":-0.0}',
        b'{"type":"label","id":"a","ts":1,"label":0.1}',
        b'{"type":"label","id":"a","ts":1,"label":10}',
        b'{"type":"label","id":"a","ts":01,"label":1}',
        b'{"type":"label","id":"a","ts":1.,"label":1}',
        b'{"type":"label","id":"a","ts":"2023-02-29T00:00:00Z","label":1}',
        b'{"type":"label","id":"a","ts":"2024-02-29T24:00:00Z","label":1}',
        b'{"type":"label","id":"a","ts":"2024-02-29T00:00:00","label":1}',
        b'{"type":"label","id":"\xff","ts":1,"label":1}',
        b'{"type":"label","id":"\xed\xa0\x80","ts":1,"label":1}',
        b'{"type":"label","id":"\\ud800","ts":1,"label":1}',
        b'{"type":"label","id":"a\x01","ts":1,"label":1}',
        b'{"type":"label","i\\u0064":"a","ts":1,"label":1}',
        b'{"type":"label","id":"","ts":1,"label":1}',
        b'{"type":"label","id":-0,"ts":1,"label":1}',
        b'{"type":"label","id":1.0,"ts":1,"label":1}',
        b'{"id":"a","ts":1,"label":1}',
        b'{"type":"counts","ts":1,"tp":1,"fp":0,"fn":0,"tn":0}',
        b'{"type":"prediction","id":"a","ts":1}',
        b'{"type":"label","id":"a","ts":1,"label":1,"x":' + b"[" * 20 + b"]" * 20 + b"}",
        b'{"type":"label","id":"a","ts":1,"label":1,"x":NaN}',
        b'{"type":"label","id":"' + b"a" * 241 + b'","ts":1,"label":1}',
    ],
    ids=str,
)
def test_every_other_line_is_left(line):
    assert not taken(line)


def test_each_end_of_a_line_is_an_end_of_the_bytes_that_are_read():
    line = json.dumps(PREDICTION | {"ts": "2026-11-22T10:00:00Z", "segment": {"a": "b"}}).encode()
    assert taken(line)
    assert not any(taken(line[:end]) for end in range(len(line)))


_DIGITS = st.text("0123456789", min_size=1, max_size=22)
_NUMBERS = st.builds(
    "".join,
    st.tuples(
        st.sampled_from(["", "-"]),
        st.one_of(_DIGITS, st.just("0")),
        st.one_of(st.just(""), _DIGITS.map(".{}".format)),
        st.one_of(st.just(""), st.integers(-40, 40).map("e{}".format), _DIGITS.map("E+{}".format)),
    ),
)


@given(st.one_of(_NUMBERS, st.floats(0, 1).map(repr), st.floats(-1e10, 1e10).map(repr)))
@example("0.500000000000000166533453694")  # the nearest of two floats by its last digit
@example("9007199254740993e-16")  # half-way between two floats
@example("0.1e-0")
@example("-0")
@example("-0.0")
def test_a_number_is_read_as_the_same_float(text):
    line = b'{"type":"prediction","id":"a","ts":1,"prediction":1,"score":%s}\n' % text.encode()
    found, expected = (d.decode_lines(line, source="t").predictions for d in (C, PYTHON))
    assert found.score.tobytes() == expected.score.tobytes()
    with suppress(msgspec.DecodeError):
        score = msgspec.json.decode(text, type=float)
        assert expected.score.tolist() == ([score] if 0 <= score <= 1 else [])


@given(st.one_of(_NUMBERS, st.floats(-1e10, 1e10).map(repr)))
def test_a_time_is_read_as_the_same_millisecond(text):
    line = b'{"type":"label","id":"a","ts":%s,"label":0}\n' % text.encode()
    found, expected = (d.decode_lines(line, source="t") for d in (C, PYTHON))
    assert found.labels.time.tolist() == expected.labels.time.tolist()
    assert found.rejected == expected.rejected


def test_a_key_is_found_in_the_row_that_it_was_entered_with():
    keys = np.arange(1, 1001, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    places, found = np.zeros((512, 8), np.uint32), np.empty(1000, np.int64)
    slots = np.random.default_rng(1).permutation(1024)[:1000]
    rows = np.zeros((1024, 3), np.uint64)
    rows[slots, 0] = keys
    COMPILED.find(places, 1024, 7, keys, rows, found)
    assert (found == -1).all()
    COMPILED.enter(places, 1024, 7, keys, slots)
    COMPILED.find(places, 1024, 7, keys, rows, found)
    assert found.tolist() == slots.tolist()
    rows[slots[:500], 0] = 0  # forgotten
    COMPILED.find(places, 1024, 7, keys, rows, found)
    assert found.tolist() == [-1] * 500 + slots[500:].tolist()


def test_rows_and_slots_out_of_bounds_are_not_touched():
    keys, places = np.arange(1, 9, dtype=np.uint64), np.zeros((1, 8), np.uint32)
    slots, found = np.arange(8), np.empty(8, np.int64)
    for wrong in (slots - 1, slots + 9, slots[:7]):
        with pytest.raises(ValueError, match="a key has no slot in bounds"):
            COMPILED.enter(np.zeros((2, 8), np.uint32), 16, 1, keys, wrong)
    COMPILED.enter(places, 16, 1, keys, slots)
    with pytest.raises(ValueError, match="no place is free"):
        COMPILED.enter(places, 16, 1, keys, slots)
    COMPILED.find(places, 16, 1, keys, np.zeros((0, 3), np.uint64), found)
    assert (found == -1).all()
    for arguments in (
        (places[:0], 16, 1, keys, keys[:, None], found),
        (places, 15, 1, keys, keys[:, None], found),
        (places, 0, 1, keys, keys[:, None], found),
        (places, 16, 1, keys, keys, found),
        (places, 16, 1, keys, keys[:, None], found[:7]),
        (places.astype(np.uint64), 16, 1, keys, keys[:, None], found),
    ):
        with pytest.raises(ValueError, match="must"):
            COMPILED.find(*arguments)


def counted_delays(deltas: Any) -> Any:
    """Count the deltas of one model in one group."""
    rings = tuple(
        (
            np.zeros((3, 1, cells), np.int64),
            np.zeros(3, np.bool_),
            np.zeros(1, np.int64),
            np.zeros(1, np.int64),
            1_000,
        )
        for cells in (8, 1, 1)
    )
    counts, total_ms = np.zeros((1, 4, 2), np.int64), np.zeros((1, 4), np.int64)
    edges, models, changes = np.array([1.0, np.inf]), np.zeros(1, np.int64), np.zeros(1, np.int64)
    COMPILED.count_delays(deltas, models, edges, 1, counts, total_ms, changes, rings)
    return counts, total_ms


def test_deltas_are_five_columns_of_one_length_in_one_order():
    time, label_time, group, cell, count = (np.array([n], np.int64) for n in (500, 2_500, 0, 2, 1))
    counts, total_ms = counted_delays((time, label_time, group, cell, count))
    assert counts.tolist() == [[[0, 0], [0, 0], [0, 1], [0, 0]]]
    assert total_ms.tolist() == [[0, 0, 2_000, 0]]
    for wrong in ((time, label_time, group, cell), [time, label_time, group, cell, count]):
        with pytest.raises(ValueError, match="deltas must be a tuple of five columns"):
            counted_delays(wrong)
    for place in range(5):
        columns = [time, label_time, group, cell, count]
        columns[place] = np.zeros(3 if place == 0 else 0, np.int64)
        with pytest.raises(ValueError, match="must"):
            counted_delays(tuple(columns))


def test_times_with_up_to_three_decimals_are_those_of_their_floats():
    chance = np.random.default_rng(5)
    whole = np.concatenate([chance.integers(0, 1 << 33, 3000), (1 << 32) + np.arange(-900, 900)])
    fractions = chance.integers(0, 1000, len(whole))
    texts = [
        f"{second}.{fraction:03}"[: chance.integers(10, 15)].rstrip(".")
        for second, fraction in zip(whole.tolist(), fractions.tolist(), strict=True)
    ]
    block = b"".join(b'{"type":"label","id":"a","ts":%s,"label":1}\n' % t.encode() for t in texts)
    found, expected = (each.decode_lines(block, source="") for each in (C, PYTHON))
    assert len(found.labels) + len(found.rejected) == len(texts)
    assert found.labels.time.tolist() == expected.labels.time.tolist()
    last = [json.loads(text) for text in texts if json.loads(text) < 1 << 32]
    assert len(last) > 1000


def test_models_are_told_apart_by_each_byte_of_their_names():
    names = [f"{'x' * length}{middle}{'y' * length}" for length in range(9) for middle in "abc"]
    names += [f"model-{number}" for number in range(200)] + ["abcd" * 4, "abcd" * 2, "abcd"]
    lines = [json.dumps(PREDICTION | {"model": name}).encode() for name in names * 3]
    found, expected = (each.decode_lines(b"\n".join(lines), source="") for each in (C, PYTHON))
    assert [found.groups[number].model for number in found.predictions.group] == names * 3
    assert found.groups == expected.groups


def test_a_model_that_came_before_is_another_group_with_a_version():
    records = [PREDICTION | {"model": "model-1"} | more for more in ({}, {"version": "2"}, {})]
    found = C.decode_lines(b"\n".join(json.dumps(one).encode() for one in records), source="")
    assert [found.groups[number].version for number in found.predictions.group] == ["", "2", ""]
