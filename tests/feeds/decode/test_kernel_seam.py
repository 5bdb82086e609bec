"""The seam for a compiled kernel: bytes in, arrays out, then the join; two decoders compared.

The Python decoder is the reference. The hot path is two calls:
`Decoder.decode_lines(bytes) -> EventBatch`, and `Join.steps(arrays)`, which yields `Deltas`.
Whatever takes the place of the first must give the same rows bit for bit, in the same sequence, and
the join behind it the same deltas and the same state. Free are the numbers of groups, and those of
rows as long as their order is the same: no count depends on them. To test another one, add it to
`ALTERNATIVES`.
"""

import json
import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields, replace

import numpy as np
import pytest
from feeds.decode.strategies import labels, predictions, streams
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.batches import concatenate, in_sequence
from monitor.events.catalogue import Catalogue
from monitor.events.columns import EventBatch, Group, Labels
from monitor.events.keys import keys_of
from monitor.events.sourced_labels import SourcedLabels
from monitor.feeds.decode import Decoder, DecodeSettings, ModelFields
from monitor.feeds.decode.scanning import Scanner
from monitor.join import BEFORE_ALL, Deltas, Join, Over
from monitor.kernel import compiled_module

CONFIG = Config(
    models={
        "fraud": {"threshold": 0.5, "segments": ["region", "channel"]},
        "spam": {"segments": ["channel"]},
    }
)
SETTINGS = DecodeSettings.from_config(CONFIG)
DECODER = Decoder(SETTINGS, kernel="python")
BY_KERNEL = Decoder(SETTINGS, kernel="c")
Decode = Callable[[bytes], EventBatch]
"""A block of whole NDJSON lines in, its events out; positions are `t:line`."""


def present(data: bytes) -> EventBatch:
    return DECODER.decode_lines(data, source="t")


def line_by_line(data: bytes) -> EventBatch:
    """Each line as a block of its own."""
    return by_line(data, lambda _: None)


def rows(data: bytes) -> EventBatch:
    """JSON by the standard library, then the path that rows of tables take."""
    return by_line(data, _row)


def scanner(data: bytes) -> EventBatch:
    """As a kernel may be: it knows labels in one spelling."""
    return by_line(data, _scanned)


def kernel(data: bytes) -> EventBatch:
    """The compiled kernel."""
    return BY_KERNEL.decode_lines(data, source="t")


def by_line(data: bytes, known: Callable[[bytes], EventBatch | None]) -> EventBatch:
    """Each line by a decoder that need not know it; then by the present one."""
    parts = []
    for number, line in enumerate(data.split(b"\n"), 1):
        batch = known(line)
        if batch is None or batch.rejected:
            batch = DECODER.decode_lines(line + b"\n", source="t", first_line=number)
        parts.append(batch)
    return concatenate(parts)


def _row(line: bytes) -> EventBatch | None:
    try:
        found = json.loads(line.decode(), parse_constant=_refused)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    return DECODER.decode_fields([found], position=str, record=lambda _: line)


def _refused(constant: str) -> None:
    raise ValueError(constant)


_LABEL = re.compile(
    rb'\{"type": "label", "id": "([ -!#-\[\]-~]{1,256})", "ts": (1\d{9}), "label": ([01])\}'
)


def _scanned(line: bytes) -> EventBatch | None:
    if not (match := _LABEL.fullmatch(line)):
        return None
    name, ts, label = match.groups()
    found = Labels(
        key=keys_of([name.decode()]),
        time=np.array([int(ts) * 1000]),
        value=np.array([int(label)]),
        sampling_probability=np.array([np.nan]),
    )
    return EventBatch(labels=found, records=1)


ALTERNATIVES: dict[str, Decode] = {
    "line by line": line_by_line,
    "rows": rows,
    "scanner": scanner,
}
if compiled_module():
    ALTERNATIVES["compiled kernel"] = kernel
every_alternative = pytest.mark.parametrize("other", ALTERNATIVES.values(), ids=ALTERNATIVES)


def assert_same_columns(found, expected):
    """Equal bit for bit; NaN equals NaN."""
    assert len(found) == len(expected)
    for field in fields(expected) if len(expected) else ():
        if field.name == "row":  # see `in_sequence`
            continue
        mine, theirs = getattr(found, field.name), getattr(expected, field.name)
        assert mine.dtype.kind == theirs.dtype.kind, field.name
        np.testing.assert_array_equal(mine, theirs, err_msg=field.name)


def in_order(columns):
    """The rows sorted, where their order is free."""
    return columns.take(np.lexsort([getattr(columns, field.name) for field in fields(columns)]))


def with_groups_of(columns, batch, groups):
    """Columns of a batch, their groups numbered as in this list."""
    number = np.array([groups.index(group) for group in batch.groups], np.int64)
    return replace(columns, group=number[columns.group]) if len(columns) else columns


def assert_same_batch(found: EventBatch, expected: EventBatch) -> None:
    assert found.records == expected.records
    assert set(found.groups) == set(expected.groups)
    assert in_sequence(found).tolist() == in_sequence(expected).tolist()
    labels = (batch.labels.widened(SourcedLabels) for batch in (found, expected))
    assert_same_columns(*labels)
    for kind in ("predictions", "outcomes", "counts"):
        mine = with_groups_of(getattr(found, kind), found, expected.groups)
        assert_same_columns(mine, getattr(expected, kind))
    assert [(r.position, r.record) for r in found.rejected] == [
        (r.position, r.record) for r in expected.rejected
    ]


def joined(decode: Decode, blocks: list[bytes]):
    """The deltas of the join for each block, and its state after the last."""
    catalogue = Catalogue(CONFIG)
    join, reported, watermark = Join(catalogue, 100), [], BEFORE_ALL
    for block in blocks:
        batch = decode(block)
        groups = sorted(batch.groups)
        given = with_groups_of(batch.predictions, batch, groups)
        numbers, _ = catalogue.groups_of(groups)
        if len(given):
            given = replace(given, group=numbers[given.group])
        times = np.full(len(catalogue.models), watermark)
        over = join.forgetting.over(times, watermark)
        reported.append(Deltas.concatenate([*join.steps(given, batch.labels, over)]))
        times = np.concatenate([batch.predictions.time, batch.labels.time])
        watermark = max(watermark, int(times.max(initial=BEFORE_ALL)))
    return reported, join.state()


def assert_same_state(found, expected):
    if isinstance(expected, dict):
        assert found.keys() == expected.keys()
        for name in expected:
            assert_same_state(found[name], expected[name])
    elif isinstance(expected, list | tuple):
        assert len(found) == len(expected)
        for mine, theirs in zip(found, expected, strict=True):
            assert_same_state(mine, theirs)
    else:
        np.testing.assert_array_equal(found, expected)


def as_lines(records) -> bytes:
    return b"".join(json.dumps(record).encode() + b"\n" for record in records)


@every_alternative
@settings(max_examples=30, deadline=None)  # a machine may be busy
@given(data=streams)
def test_another_decoder_gives_the_same_batch_for_good_and_bad_lines(other, data):
    assert_same_batch(other(data), present(data))


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
@settings(max_examples=80, deadline=None)  # a machine may be busy
@given(data=streams, cut=st.tuples(st.integers(0, 200), st.integers(0, 200)))
def test_the_kernel_gives_the_same_positions_and_reasons_for_blocks_cut_anywhere(data, cut):
    block = data[cut[0] : len(data) - cut[1]]
    found, expected = kernel(block), present(block)
    assert_same_batch(found, expected)
    assert found.rejected == expected.rejected
    for kind in ("predictions", "labels", "outcomes", "counts"):
        assert getattr(found, kind).row.tolist() == getattr(expected, kind).row.tolist()


SPELLINGS = st.sampled_from(
    [
        *(
            "1600000000",
            "1600000000.5",
            "1600000000.123456",
            "16e8",
            "-1",
            "-0",
            "01",
            "1.",
            "2e15",
        ),
        *(
            "12345678901234567890",
            "0.30000000000000004",
            "0.5",
            "0",
            "1",
            "1.0",
            "1e-7",
            "+1",
            "NaN",
        ),
        *('"a"', '"ab"', '""', '"\\u0061"', '"\\n"', '"é"', '"\\ud800"', '"a\tb"', '"a', 'a"'),
        *('"fraud"', '"spam"', '"2026-11-22T10:00:00Z"', '"prediction"', '"1' + "0" * 250 + '"'),
        *("null", "true", "false", "nul", "[]", "{}", '{"a": 1}', "", " ", '1, "ts": 2'),
    ]
)


@st.composite
def lines_of_few_forms(draw):
    """Lines that differ in a value or two, as most lines of a stream do; ends of all kinds."""
    forms = [
        {"type": '"prediction"', "id": '"p1"', "ts": "1600000000", "score": "0.25"},
        {"type": '"prediction"', "prediction": "true", "model": '"fraud"', "id": "7", "ts": "1"},
        {"id": '"p1"', "type": '"label"', "ts": "1600000009.5", "label": "1", "note": '"x"'},
        {"type": '"outcome"', "ts": "1", "label": "0", "prediction": "1", "version": "null"},
        {"type": '"prediction"', "id": '"s"', "ts": "2", "prediction": "0", "model": '"fraud"'}
        | {"segment": '{"region": %s, "x": %s}'},
    ]
    made = []
    for _ in range(draw(st.integers(1, 25))):
        one = dict(draw(st.sampled_from(forms)))
        for name in draw(st.lists(st.sampled_from(sorted(one)), max_size=2)):
            if name not in ("type", "segment"):
                one[name] = draw(SPELLINGS)
        if "segment" in one:
            one["segment"] %= (
                ('"eu"', '"y"') if draw(st.booleans()) else draw(st.tuples(SPELLINGS, SPELLINGS))
            )
        line = "{" + ", ".join(f'"{name}": {value}' for name, value in one.items()) + "}"
        made.append(line + draw(st.sampled_from(["\n", "\n", "\n", "\r\n", " \n", "\r", " 1\n"])))
    return "".join(made).encode()


@pytest.mark.skipif(compiled_module() is None, reason="no compiled kernel is installed")
@settings(max_examples=60, deadline=None)  # a machine may be busy
@given(data=lines_of_few_forms(), cut=st.integers(0, 9))
def test_the_kernel_takes_lines_of_known_forms_as_any_others(data, cut):
    block = data[: len(data) - cut]
    found, expected = kernel(block), present(block)
    assert_same_batch(found, expected)
    assert found.rejected == expected.rejected
    for kind in ("predictions", "labels", "outcomes"):
        assert getattr(found, kind).row.tolist() == getattr(expected, kind).row.tolist()


@every_alternative
@settings(max_examples=15, deadline=None)  # a machine may be busy
@given(blocks=st.lists(streams, max_size=3))
def test_another_decoder_before_the_join_gives_the_same_deltas_and_state(other, blocks):
    found, state = joined(other, blocks)
    expected, expected_state = joined(present, blocks)
    for mine, theirs in zip(found, expected, strict=True):
        assert_same_columns(in_order(mine), in_order(theirs))
    assert_same_state(state, expected_state)


@every_alternative
@settings(max_examples=15, deadline=None)  # a machine may be busy
@given(records=st.lists(st.one_of(predictions, labels), max_size=12))
def test_another_decoder_before_the_monitor_gives_the_same_state(other, records):
    data = as_lines(records) + b'{"type": "label", "id": "7", "ts": 1600000000, "label": 1}\n{\n'
    monitors = [Monitor(CONFIG), Monitor(CONFIG)]
    for monitor, decode in zip(monitors, (other, present), strict=True):
        monitor.apply(decode(data))
    assert_same_state(*(monitor.state() for monitor in monitors))


def test_the_seam_passes_arrays_and_nothing_else():
    batch = present(as_lines([{"type": "label", "id": "a", "ts": 1, "label": 1}]))
    for columns in (batch.predictions, batch.labels, batch.outcomes, batch.counts):
        assert all(isinstance(getattr(columns, f.name), np.ndarray) for f in fields(columns))
    join = Join(Catalogue(CONFIG), 10)
    (deltas,) = join.steps(batch.predictions, batch.labels, Over.nothing())
    assert all(isinstance(getattr(deltas, f.name), np.ndarray) for f in fields(deltas))


@every_alternative
def test_threads_that_decode_at_once_do_not_disturb_each_other(other):
    blocks = [
        as_lines(
            {"type": "prediction", "id": f"{block}-{i}", "ts": 1_600_000_000 + i, "prediction": 1}
            | {"model": "fraud", "segment": {"region": f"r{(block * i) % 7}"}}
            for i in range(100)
        )
        for block in range(20)
    ]
    expected = [present(block) for block in blocks]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(3):
            for found, wanted in zip(pool.map(other, blocks), expected, strict=True):
                assert_same_batch(found, wanted)


@pytest.mark.skipif(compiled_module() is None, reason="the kernel is not compiled")
def test_the_kernel_takes_names_that_are_integers():
    scanner = Scanner(compiled_module(), DecodeSettings(default=ModelFields(None, ("shop",))))
    names = {"id": 1, "model": 7, "version": -3, "segment": {"shop": 12}}
    scanned = scanner.scan(
        as_lines([{"type": "prediction", "ts": 1, "prediction": 1, **names}]), None
    )
    assert scanned.left == b""
    assert scanned.batch.groups == (Group("7", "-3", ("12",)),)


def test_a_decoder_that_differs_is_found_out():
    def wrong(data: bytes) -> EventBatch:
        batch = present(data)
        return replace(batch, labels=replace(batch.labels, value=1 - batch.labels.value))

    data = as_lines([{"type": "label", "id": "a", "ts": 1, "label": 1}])
    with pytest.raises(AssertionError):
        assert_same_batch(wrong(data), present(data))
