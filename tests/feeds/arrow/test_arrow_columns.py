"""Arrow's columns say the same in whatever form they come: beside lines, and beside themselves."""

import json

import numpy as np
import pyarrow as pa
import pytest
from feeds.decode.oracle import rows_of
from feeds.decode.test_decode import DECODER
from feeds.test_tables import ANY, ROWS, SCHEMA, as_json, by_arrow, by_lines, same
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.events.columns import Group, Labels, Outcomes, Predictions
from monitor.events.keys import PUBLIC_SEED, keys_of
from monitor.feeds.arrow.decoding import ArrowDecoder
from monitor.feeds.arrow.id_columns import IdColumns
from monitor.feeds.arrow.rows import RowReader
from monitor.kernel import compiled_module

TEXTS = ("type", "id", "model", "version", "region", "channel")
_lengths = st.integers(1, 40)
IDS = st.one_of(
    _lengths.flatmap(lambda n: st.lists(st.text("0aé", min_size=n, max_size=n), min_size=6)),
    st.lists(st.none() | st.text("a\0é\U0001f600", max_size=5) | st.just("ü" * 129), min_size=6),
    st.lists(st.uuids().map(str), min_size=6),
)
LISTS = st.lists(ROWS, min_size=1, max_size=6)
KINDS = {"predictions": Predictions, "labels": Labels, "outcomes": Outcomes}


@st.composite
def text_columns(draw, values):
    """These strings as one of the forms that Arrow has for them."""
    plain = [pa.string(), pa.large_string(), pa.string_view()]
    form = draw(st.sampled_from([*plain, pa.int8(), pa.int32(), pa.uint16()]))
    if form in plain:
        return pa.array(values, form)
    words = draw(st.permutations([*dict.fromkeys([*values, "of no use"]), None]))
    codes = [None if v is None and draw(st.booleans()) else words.index(v) for v in values]
    return pa.DictionaryArray.from_arrays(pa.array(codes, form), pa.array(words, pa.string()))


@st.composite
def batches_of(draw, rows):
    """A batch with these rows, out of the midst of a longer one."""
    before, after = draw(st.integers(0, 9)), draw(st.integers(0, 9))
    longer = [rows[0]] * before + rows + [rows[-1]] * after
    columns = {
        name: draw(text_columns([row[name] for row in longer]))
        if name in TEXTS
        else pa.array([row[name] for row in longer], SCHEMA.field(name).type)
        for name in rows[0]
    }
    return pa.record_batch(columns).slice(before, len(rows))


def decoded(batch, decoder=DECODER):
    return ArrowDecoder("t", batch.schema, decoder).decode(batch, 1)


@settings(max_examples=40)
@given(LISTS, IDS, st.data())
def test_any_form_of_columns_says_the_same_as_lines(rows, ids, data):
    rows = [{**row, "id": one} for row, one in zip(rows, ids, strict=False)]
    batch = data.draw(batches_of(rows))
    same(decoded(batch), by_lines([as_json(row) for row in rows]))


def in_order(batch):
    """The columns of a batch as they stand, with groups by name."""
    kinds = {kind: getattr(batch, kind) for kind in KINDS}
    found = {
        (kind, name): getattr(kinds[kind], name).tolist()
        for kind, columns in KINDS.items()
        for name in columns.names()
    }
    labels = kinds["labels"]
    found["labels", "source"] = [*getattr(labels, "source", np.full(len(labels), ""))]
    for kind in ("predictions", "outcomes"):
        found[kind, "group"] = [batch.groups[code] for code in kinds[kind].group]
    return json.dumps([*found.values()])


@settings(max_examples=40)
@given(LISTS, IDS, st.data())
def test_events_of_a_type_are_in_the_order_of_their_rows(rows, ids, data):
    kind = data.draw(st.sampled_from(["prediction", "label", "outcome"]))
    rows = [{**row, "id": one, "type": kind} for row, one in zip(rows, ids, strict=False)]
    batch = data.draw(batches_of(rows))
    assert in_order(decoded(batch)) == in_order(by_lines([as_json(row) for row in rows]))


READERS = [IdColumns(PUBLIC_SEED, compiled, None) for compiled in (None, compiled_module())]
READ = pytest.mark.parametrize("reader", READERS, ids=["python", "as installed"])
LONG = st.integers(239, 258).map("i".__mul__)


@given(
    st.lists(st.none() | st.text(max_size=3) | LONG, max_size=30),
    st.integers(0, 9),
    st.integers(0, 9),
)
@pytest.mark.parametrize("kind", [pa.string(), pa.large_string(), pa.string_view()])
@READ
def test_keys_are_those_of_the_ids(reader, kind, ids, before, after):
    column = pa.array(["x"] * before + ids + [None] * after, kind)
    key, size = reader.of(pa.record_batch({"id": column}).slice(before, len(ids)))
    assert key.dtype == np.uint64
    assert key[size > 0].tolist() == keys_of([one for one in ids if one]).tolist()
    assert size.tolist() == [-1 if one is None else len(one.encode()) for one in ids]


@pytest.mark.parametrize("rows", [1_999, 2_000, 2_001, 6_000])
@READ
def test_keys_of_more_ids_than_are_hashed_at_a_time_are_those_of_the_ids(reader, rows):
    ids = [f"order-{i}" for i in range(rows + 7)]
    key, size = reader.of(pa.record_batch({"id": pa.array(ids)}).slice(7))
    assert key.tolist() == keys_of(ids[7:]).tolist()
    assert size.tolist() == [len(one) for one in ids[7:]]


@READ
def test_no_id_has_a_byte(reader):
    for ids in ([], [None, None], ["", None]):
        _, size = reader.of(pa.record_batch({"id": pa.array(ids, pa.string())}))
        assert size.tolist() == [-1 if one is None else 0 for one in ids]


def hidden(values, shown, kind):
    """A column with values under its nulls, as other programs leave them there."""
    valid = pa.array([1 if one else None for one in shown]).buffers()[0]
    return pa.Array.from_buffers(kind, len(values), [valid, *pa.array(values, kind).buffers()[1:]])


def test_what_lies_under_a_null_is_not_looked_at():
    nan, shown = float("nan"), [True, False, False, True]
    codes = hidden([0, 99, -5, 1], shown, pa.int8())
    batch = pa.record_batch(
        {
            "id": ["a", "b", "c", "d"],
            "ts": [5.0] * 4,
            "label_ts": hidden([6.0, nan, 1e300, 7.0], shown, pa.float64()),
            "score": hidden([0.5, nan, 7.0, 0.25], shown, pa.float64()),
            "prediction": [1, 0, 1, 0],
            "label": hidden([1, 9, 1, 0], shown, pa.uint8()),
            "model": pa.DictionaryArray.from_arrays(codes, pa.array(["x", "y"]), safe=False),
        }
    )
    found = decoded(batch, ANY)
    assert found.rejected == ()
    assert found.predictions.score.tolist()[::3] == [0.5, 0.25]
    assert np.isnan(found.predictions.score[1:3]).all()
    assert found.labels.time.tolist() == [6000, 7000]
    assert found.labels.value.tolist() == [1, 0]
    by_row = [found.groups[code] for code in found.predictions.group]
    assert by_row == [Group("x"), Group("default"), Group("default"), Group("y")]


def test_rows_without_names_are_distinct_from_rows_with_the_only_name():
    rows = {"id": ["a", "b", "c"], "ts": [5] * 3, "prediction": [1] * 3}
    found = decoded(pa.record_batch({**rows, "version": ["1", None, "1"]}), ANY)
    versions = [found.groups[code].version for code in found.predictions.group]
    assert versions == ["1", "", "1"]


def test_ids_under_nulls_are_none():
    ids = hidden(["a", "b", "c"], [True, False, True], pa.string())
    rows = {"ts": [5] * 3, "prediction": [1] * 3, "label": [1] * 3}
    found = decoded(pa.record_batch({"id": ids, **rows}), ANY)
    assert found.predictions.key.tolist() == keys_of(["a", "c"]).tolist()
    assert len(found.outcomes) == 1


@pytest.mark.parametrize("kind", [pa.string(), pa.string_view()])
def test_fit_rows_are_never_read_one_by_one(kind, monkeypatch):
    def refused(*_):
        raise AssertionError

    monkeypatch.setattr(RowReader, "decode", refused)
    texts = {"id": pa.array(["a", "b"], kind), "model": pa.array(["x", None], kind)}
    rows = {"ts": [5, 5], "prediction": [1, None], "label": [None, 1], **texts}
    kinds = pa.array(["prediction", "label"], kind)
    found = decoded(pa.record_batch({"type": kinds, **rows}), ANY)
    assert (len(found.predictions), len(found.labels), found.records) == (1, 1, 2)
    assert found.groups == (Group("x"),)


def test_an_empty_batch_has_no_events():
    table = pa.Table.from_pylist([], SCHEMA)
    batch = pa.RecordBatch.from_pylist([], SCHEMA)
    for found in (decoded(batch), by_arrow(table)):
        assert rows_of(found) == []
        assert (found.records, found.groups, found.rejected) == (0, (), ())


def test_each_row_of_a_batch_that_is_unfit_as_a_whole_is_reported():
    rows = {"type": ["lable"] * 3, "id": ["a"] * 3, "ts": [5] * 3}
    found = decoded(pa.record_batch(rows), ANY)
    assert [r.position for r in found.rejected] == ["t:1", "t:2", "t:3"]
    assert found.records == 3


def test_labels_of_outcomes_are_in_the_order_of_their_rows_as_in_lines():
    kinds = ["outcome", "label", "prediction"]
    rows = {"id": ["a"] * 3, "ts": [5.0] * 3, "prediction": [1] * 3, "label": [0, 1, None]}
    batch = pa.record_batch({"type": kinds, **rows})
    lines = by_lines(batch.to_pylist(), ANY)
    assert decoded(batch, ANY).labels.value.tolist() == lines.labels.value.tolist() == [0, 1]


@given(
    st.lists(
        st.tuples(*[st.sampled_from(["a", "b", "c", None])] * 2, st.integers(0, 400)),
        min_size=1,
        max_size=12,
    ),
    st.booleans(),
)
def test_groups_are_numbered_in_the_order_of_the_rows_as_lines_number_them(named, many):
    rows = [
        {
            "type": "prediction",
            "id": f"{i}",
            "ts": 1.0,
            "prediction": 1,
            "model": "fraud",
            "version": f"{version if many else version % 2}",
            "region": region,
            "channel": channel,
        }
        for i, (region, channel, version) in enumerate(named)
    ]
    forms = {name: pa.string() for name in TEXTS} | {"ts": pa.float64(), "prediction": pa.int8()}
    batch = {name: pa.array([row[name] for row in rows], forms[name]) for name in rows[0]}
    lines = by_lines([as_json(row) for row in rows])
    found = decoded(pa.record_batch(batch))
    assert not found.rejected
    assert found.groups == lines.groups
    assert found.predictions.group.tolist() == lines.predictions.group.tolist()


def test_a_year_beyond_python_s_is_out_of_range_and_the_rows_beside_it_are_read():
    beyond = 700_000_000_000 * 10**6  # the year 24151
    times = pa.array([10**15, beyond, 2 * 10**15], pa.timestamp("us", "UTC"))
    columns = {"type": ["prediction"] * 3, "id": ["a", "b", "c"], "prediction": [1, 0, 1]}
    batch = pa.record_batch({**columns, "model": ["fraud"] * 3, "ts": times})
    found = decoded(batch)
    assert len(found.predictions) == 2
    (rejection,) = found.rejected
    assert (rejection.reason, rejection.position) == ("timestamp_out_of_range", "t:2")
    assert rejection.detail == "ts: must lie in 1900 to 2200"
