"""Tables of any kind count alike: frames, Arrow tables, arrays by name, with pyarrow or without."""

from datetime import datetime, timedelta
from importlib import import_module
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from python.claim_frames import FRAME, ROWS

from monitor import Config, ConfusionCounts, Monitor
from monitor.config import parse_config
from monitor.python import tables

COLUMNS = {"id": "claim", "ts": "timestamp", "score": "proba", "prediction": "decision"}
LABELLED = {**COLUMNS, "label": "fraud"}
BY_HAND = ConfusionCounts.from_labels(FRAME["fraud"], FRAME["decision"])


def lists(table):
    return {name: table[name].tolist() for name in table}


def arrays(table):
    return {name: table[name].to_numpy() for name in table}


KINDS = {
    "pandas": lambda t: t,
    "pandas of Arrow types": lambda t: t.convert_dtypes(dtype_backend="pyarrow"),
    "pandas, nullable": lambda t: t.convert_dtypes(),
    "pandas, categories": lambda t: t.astype({"region": "category"}),
    "pandas, ids as text": lambda t: t.astype({"claim": str}),
    "pandas, times as text": lambda t: t.assign(timestamp=t["timestamp"].map(str)),
    "pandas, times without a zone": lambda t: t.assign(
        timestamp=t["timestamp"].dt.tz_localize(None)
    ),
    "Arrow": pa.Table.from_pandas,
    "a batch of Arrow": pa.RecordBatch.from_pandas,
    "lists": lists,
    "arrays": arrays,
}


def fed(table, **changed):
    config = parse_config("defaults: {segments: [region], label_timeout: none}", "monitor.yaml")
    monitor = Monitor(config)
    found = monitor.feed(table, **(LABELLED | changed))
    assert (found.rows, found.rejected) == (ROWS, {})
    return monitor


@pytest.fixture(params=[True, False], ids=["with pyarrow", "without pyarrow"])
def maybe_without_pyarrow(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(tables, "_pyarrow", lambda: None)


@pytest.mark.usefixtures("maybe_without_pyarrow")
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_every_kind_of_table_counts_alike(kind):
    monitor = fed(kind(FRAME))
    expected = fed(FRAME)
    assert monitor["default"]["all"].counts == BY_HAND
    assert monitor.state()["windows"].keys() == expected.state()["windows"].keys()
    found, wanted = monitor["default"], expected["default"]
    assert found.status == wanted.status
    assert found["all"].by("region").keys() == {"eu", "us"}


@pytest.mark.dev("polars")
@pytest.mark.usefixtures("maybe_without_pyarrow")
def test_a_frame_of_polars_counts_alike():
    polars = import_module("polars")
    assert fed(polars.from_pandas(FRAME))["default"].status == fed(FRAME)["default"].status


@pytest.mark.dev("duckdb")
def test_whatever_offers_a_stream_of_arrow_counts_alike():
    duckdb = import_module("duckdb")
    rows = pa.Table.from_pandas(FRAME)
    relation = duckdb.connect().from_arrow(rows)
    assert fed(relation)["default"].status == fed(FRAME)["default"].status


def test_a_reader_of_arrow_counts_as_its_table():
    assert fed(pa.Table.from_pandas(FRAME).to_reader())["default"].status == (
        fed(FRAME)["default"].status
    )


@pytest.mark.usefixtures("maybe_without_pyarrow")
def test_columns_of_pandas_may_have_numbers_for_names():
    numbered = pd.DataFrame({0: [0.0, 60.0], 1: [1, 0], 2: [1, 1]})
    monitor = Monitor()
    monitor.feed(numbered, ts="0", prediction="1", label="2")
    assert monitor["default"]["all"].counts == ConfusionCounts(tp=1, fp=0, fn=1, tn=0)


CELL = st.tuples(
    st.none() | st.sampled_from(["a", "b", ""]),
    st.none() | st.sampled_from([1.0, 1.5e9, -1e12]),
    st.none() | st.sampled_from([0.0, 0.5, 2.0]),
    st.sampled_from([0, 1, 2, None]),
    st.sampled_from([0, 1, None]),
)


@given(st.lists(CELL, min_size=1, max_size=12))
def test_columns_and_rows_are_rejected_for_the_same_reasons(cells):
    names = ("id", "ts", "score", "prediction", "label")
    table = dict(zip(names, map(list, zip(*cells, strict=True)), strict=True))
    whole = tables.TableReader(table, tables.mapping_of({}, None, None), Monitor()._events.decoder)
    by_rows = [r for batch in whole._by_rows() for r in batch.rejected]
    by_columns = [r for batch in whole.batches() for r in batch.rejected]
    assert [(r.position, r.reason, r.detail) for r in by_columns] == [
        (r.position, r.reason, r.detail) for r in by_rows
    ]


def test_values_zone_unit_constants_and_segments_are_given_as_in_a_file():
    berlin = ZoneInfo("Europe/Berlin")
    moment = datetime(2026, 7, 1, 12, tzinfo=berlin)
    table = {
        "when": [moment.replace(tzinfo=None) + timedelta(minutes=n) for n in range(3)],
        "verdict": ["deny", "pay", "deny"],
        "truth": ["fraud", "ok", "pending"],
        "addr": ["eu", "us", "eu"],
        "n": [7, 8, 9],
    }
    config = parse_config("models: {claims: {segments: [region]}}", "monitor.yaml")
    monitor = Monitor(config)
    monitor.feed(
        table,
        ts="when",
        id="n",
        prediction="verdict",
        label="truth",
        model={"value": "claims"},
        segment={"region": "addr"},
        values={
            "prediction": {"positive": "deny", "negative": "pay"},
            "label": {"positive": ["fraud"], "negative": ["ok"], "missing": ["pending"]},
        },
        time={"zone": "Europe/Berlin"},
    )
    view = monitor["claims"]
    assert view["all"].counts == ConfusionCounts(tp=1, fp=0, fn=0, tn=1)
    assert view.status.last_prediction == "2026-07-01T10:03:00Z"
    assert view["all"].by("region")["eu"].predictions == 2
    again = Monitor()
    again.feed(
        {"ts": [1_780_000_000_000] * 3, "prediction": [1] * 3, "label": [1] * 3},
        time={"unit": "ms"},
    )
    assert again["default"]["all"].counts.tp == 3


def test_common_names_are_taken_where_they_leave_no_doubt_and_noted():
    table = {"timestamp": [0.0, 60.0], "y_pred": [1, 0], "y_true": [1, 0]}
    found = Monitor().feed(table)
    assert found.note == (
        "table: reads timestamp as ts, y_pred as prediction, y_true as label; to make this mapping "
        "permanent, write ts='timestamp', prediction='y_pred', label='y_true'"
    )
    assert len(repr(found).splitlines()) <= 10


UUIDS = [UUID(int=number) for number in range(3)]
UUID_TABLE = {"id": UUIDS, "ts": [0, 60, 120], "prediction": [1, 0, 1], "label": [1, 0, 0]}


@pytest.mark.usefixtures("maybe_without_pyarrow")
@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_ids_that_are_uuids_are_their_text(form):
    monitor = Monitor()
    assert monitor.feed(form(UUID_TABLE)).rejected == {}
    monitor.label(str(UUIDS[2]), ts=180, label=1)
    assert monitor["default"]["all"].counts == ConfusionCounts(tp=2, fp=0, fn=0, tn=1)


def test_uuids_of_arrow_are_their_text():
    column = pa.array([value.bytes for value in UUIDS], pa.uuid())
    monitor = Monitor()
    assert monitor.feed(pa.table({**UUID_TABLE, "id": column})).rejected == {}
    monitor.label(str(UUIDS[2]), ts=180, label=1)
    assert monitor["default"]["all"].counts == ConfusionCounts(tp=2, fp=0, fn=0, tn=1)


@pytest.mark.dev("polars")
def test_objects_in_a_frame_of_polars_are_read_by_row():
    monitor = Monitor()
    assert monitor.feed(import_module("polars").DataFrame(UUID_TABLE)).rejected == {}
    monitor.label(str(UUIDS[2]), ts=180, label=1)
    assert monitor["default"]["all"].counts == ConfusionCounts(tp=2, fp=0, fn=0, tn=1)


@pytest.mark.dev("polars")
def test_a_lazy_frame_is_refused_with_what_to_do():
    lazy = import_module("polars").LazyFrame({"ts": [0], "prediction": [1], "label": [1]})
    with pytest.raises(ValueError, match=r"table: .* got LazyFrame, .* give its \.collect\(\)"):
        Monitor().feed(lazy)


@pytest.mark.usefixtures("maybe_without_pyarrow")
def test_rows_of_ids_that_came_before_are_duplicates():
    monitor, part = Monitor(), FRAME.iloc[:300]
    assert monitor.feed(part, **LABELLED).duplicates == 0
    again = monitor.feed(FRAME, **LABELLED)
    assert (again.rows, again.duplicates) == (ROWS, 300)
    assert repr(again).startswith("500 rows read, 0 rejected, 300 duplicates")
    assert monitor["default"]["all"].counts == BY_HAND
    twice = pd.concat([FRAME.iloc[:1]] * 2)
    assert repr(Monitor().feed(twice, **LABELLED)).startswith(
        "2 rows read, 0 rejected, 1 duplicate"
    )


def test_labels_of_ids_that_had_one_are_duplicates_in_a_table_of_labels_alone():
    monitor = Monitor()
    monitor.feed(FRAME, **COLUMNS)
    labels = {"id": "claim", "ts": "timestamp", "label": "fraud"}
    assert monitor.feed(FRAME.iloc[:40], **labels).duplicates == 0
    assert monitor.feed(FRAME.iloc[:50], **labels).duplicates == 40
    assert monitor.feed(FRAME, **LABELLED).duplicates == ROWS
    assert monitor["default"]["all"].counts == BY_HAND


def test_rows_without_an_id_are_no_duplicates():
    monitor = Monitor()
    outcomes = {"ts": "timestamp", "prediction": "decision", "label": "fraud"}
    table = FRAME.drop(columns="claim")
    assert [monitor.feed(table, **outcomes).duplicates for _ in range(2)] == [0, 0]


def test_duplicates_of_a_model_that_was_forgotten_meanwhile_are_known():
    config = Config(forget_after="80d", windows=["1d"], defaults={"label_timeout": "1d"})
    days = [0, 0, *range(120)]
    models = ["gone", "gone", *["left"] * 120]
    ids = ["a", "a", *map(str, range(120))]
    table = {"id": ids, "ts": [86_400 * day for day in days], "model": models}
    monitor = Monitor(config)
    assert monitor.feed({**table, "prediction": [1] * 122}).duplicates == 1
    assert list(monitor) == ["left"]


def test_scores_without_predictions_or_a_threshold_say_what_to_write():
    rows = {"ts": [0], "score": [0.7], "label": [1]}
    with pytest.raises(ValueError, match="prediction='COLUMN', or give the model a threshold"):
        Monitor().feed(rows)
    assert Monitor(Config(defaults={"threshold": 0.5})).feed(rows).rejected == {}


@pytest.mark.parametrize("kind", ["pandas", "polars", "Arrow", "arrays", "lists", "scalars"])
def test_nan_is_nothing_in_every_table(kind):
    nan = float("nan")
    rows = {"ts": [0.0, 60.0, 120.0], "score": [0.5, nan, 0.5], "label": [1.0, 0.0, nan]}
    rows |= {"id": ["a", "b", "c"], "prediction": [1.0, 1.0, 1.0]}
    given = {
        "pandas": pd.DataFrame,
        "polars": pytest.importorskip("polars").DataFrame,
        "Arrow": pa.table,
        "arrays": lambda table: {name: np.array(values) for name, values in table.items()},
        "lists": dict,
        "scalars": lambda table: table | {"label": [1, 0, np.float32(nan)]},
    }[kind](rows)
    monitor = Monitor()
    assert monitor.feed(given).rejected == {}
    status = monitor["default"].status
    assert (status.predictions, status.labelled, status.pending) == (3, 2, 1)


@pytest.mark.parametrize(("label", "warned"), [(["F", "ok"], True), (["ok", "ok"], False)])
def test_positive_values_that_contradict_the_rows_are_a_warning(label, warned, recwarn):
    table = {"ts": [0, 1], "prediction": [1, 0], "label": label}
    Monitor().feed(table, values={"label": {"positive": ["f"]}})
    said = ["table: label: no record has the positive value 'f'; records have 'F', 'ok'"]
    assert [str(one.message) for one in recwarn] == (said if warned else [])
    assert all(one.filename == __file__ for one in recwarn)
