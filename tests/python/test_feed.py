"""Tables of any kind count alike: frames, Arrow tables, arrays by name, with pyarrow or without."""

import re
from datetime import UTC, datetime, timedelta
from importlib import import_module
from uuid import UUID
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor import Config, ConfusionCounts, Monitor
from monitor.config import parse_config
from monitor.python import tables

COLUMNS = {"id": "claim", "ts": "timestamp", "score": "proba", "prediction": "decision"}
LABELLED = {**COLUMNS, "label": "fraud"}
ROWS = 500


def frame(rows=ROWS):
    rng = np.random.default_rng(6)
    proba = rng.random(rows).round(4)
    moments = pd.date_range("2026-10-01", periods=rows, freq="7min", tz=UTC)
    return pd.DataFrame(
        {
            "timestamp": moments.as_unit("us"),
            "claim": np.arange(rows),
            "proba": proba,
            "decision": (proba > 0.6).astype(int),
            "fraud": (rng.random(rows) < proba / 2).astype(int),
            "region": np.where(np.arange(rows) % 3 == 0, "eu", "us"),
            "note": [f"n{i}" for i in range(rows)],
        }
    )


FRAME = frame()
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
    whole = tables.TableReader(table, tables.mapping_of({}, None, None), Monitor()._decoder)
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


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        ([1, 2], {}, "table: must be a frame, an Arrow table, a list of dicts or "),
        ({"a": [1]}, {}, "table: has no column 'ts', got a; say which column is which: write ts="),
        (FRAME, {"ts": "timestamps"}, "ts: there is no column 'timestamps'; did you mean"),
        (FRAME, {"tss": "timestamp"}, "tss: is no field of an event, .*did you mean 'ts'"),
        (FRAME, {"ts": 5}, "ts: must be a column, got 5"),
        (FRAME, {"segment": ["region"]}, "segment: must be a column of objects, or the column of"),
        (FRAME, {"segment": 5}, "segment: must be a column of objects, or the column of"),
        (FRAME, {"model": "claims"}, r"column 'claims'; .*one model.* --constant model=claims"),
        (FRAME, {"time": {"zome": "x"}}, "zome: is not known, got 'x'; it is one of zone, .*unit"),
        (FRAME, {"values": {"label": {"plus": 1}}}, "plus: is not known, got 1; .* positive, neg"),
        ({"ts": [1, 2], "prediction": [1], "label": [0, 1]}, {}, "equally long|same length"),
        ({"ts": [0], "prediction": ["yes"], "label": [1]}, {}, "prediction: must be 0, 1, true"),
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_value_error_with_the_name_of_the_field(table, columns, message):
    with pytest.raises(ValueError, match=message):
        Monitor().feed(table, **columns)


@pytest.mark.parametrize(
    ("column", "value", "hint"),
    [
        ("ts", "2026-03-01 12:00:00", {"time": {"zone": "Europe/Berlin"}}),
        ("ts", 1_772_323_200_000, {"time": {"unit": "ms"}}),
        ("ts", 1_772_323_200_000_000, {"time": {"unit": "us"}}),
        ("ts", 1_772_323_200_000_000_000, {"time": {"unit": "ns"}}),
        ("label", "VALUE", {"values": {"label": {"positive": ["VALUE"]}}}),
        ("prediction", "VALUE", {"values": {"prediction": {"positive": ["VALUE"]}}}),
    ],
)
def test_where_every_row_is_rejected_the_message_says_what_to_write(column, value, hint):
    table = {"ts": [1_772_323_200], "prediction": [1], "label": [1], column: [value]}
    ((keyword, written),) = hint.items()
    with pytest.raises(ValueError, match=re.escape(f"{keyword}={written!r}\n1 row read")):
        Monitor().feed(table)
    assert Monitor().feed(table, **hint).rejected == {}


def test_the_unit_to_write_is_counted_from_the_one_that_was_given():
    table = {"ts": [1_772_323_200_000_000], "prediction": [1], "label": [1]}
    with pytest.raises(ValueError, match=r"time=\{'unit': 'us'\}"):
        Monitor().feed(table, time={"unit": "ms"})


def test_a_field_that_is_like_none_is_answered_with_the_list():
    with pytest.raises(ValueError, match=r"decision: is no field .*; it is one of type, id, "):
        Monitor().feed(FRAME, decision="decision")


@pytest.mark.parametrize(
    ("column", "values", "hint"),
    [
        (
            "ts",
            ["13/07/2026 10:00"],
            "give ts as times, pd.to_datetime(df['ts'], dayfirst=True)",
        ),
        ("ts", ["yesterday"], ""),
        ("type", ["card"], "type={'value': ''}"),
        (
            "id",
            [None],
            (
                "column 'id' has no id in 1 row: leave these rows out, in pandas "
                "df.dropna(subset=['id']), or name another column, id='COLUMN'"
            ),
        ),
        (
            "prediction",
            [float("inf")],
            "; predictions are not finite: give 0 or 1, or None where there is none",
        ),
        (
            "prediction",
            [0.3],
            (
                "; predictions between 0 and 1 seem to be scores: write "
                "score='prediction', and give the model a threshold, "
                "Monitor(Config(defaults={'threshold': 0.5}))"
            ),
        ),
        ("label", [0.3], "seem to be scores: name the column that holds classes, label='COLUMN'"),
        ("label", ["n/a"], "stand for no label, values={'label': {'missing': ['', 'n/a']}}"),
        ("segment", ["eu"], "column of each segment key, segment={'segment': 'segment'}"),
        ("score", ["0,7"], "as numbers, as pandas.read_csv(PATH, decimal=',') reads 0,5"),
        ("score", [87.0], "give scores from 0 to 1, percentages divided by 100"),
    ],
)
def test_a_hint_is_of_the_values_that_came(column, values, hint):
    table = {"ts": [1_772_323_200], "prediction": [1], "id": ["a"], column: values}
    with pytest.raises(ValueError, match="every row was rejected") as raised:
        Monitor().feed(table)
    assert raised.value.args[0].splitlines()[0].endswith(hint or "every row was rejected")


@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_a_field_whose_constant_is_empty_is_left_out(form):
    columns = {"id": ["x", "x"], "ts": [0, 60], "prediction": [1, 0], "label": [1, 0]}
    table = form({**columns, "type": ["card", "transfer"], "region": ["eu", "us"]})
    monitor = Monitor(Config(defaults={"segments": ["region"]}))
    left_out = {"value": ""}
    found = monitor.feed(table, type=left_out, id=left_out, segment={"region": left_out})
    assert (found.rows, found.rejected, found.duplicates) == (2, {}, 0)
    assert monitor["default"]["all"].counts == ConfusionCounts(tp=1, fp=0, fn=0, tn=1)
    assert set(monitor["default"]["all"].by("region")) == {"__missing__"}


INDEXED = pd.DataFrame({"id": [1, 2], "ts": [0, 60], "prediction": [1, 0]})


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (INDEXED.set_index("id"), "id='COLUMN', or label, .*has 'id', .*table.reset_index"),
        (INDEXED.set_index("ts"), "has no column 'ts', .* its index has 'ts', .*reset_index"),
        (INDEXED.set_index(["id", "ts"]), "its index has 'id', 'ts', and is no column"),
        (
            INDEXED[["id", "prediction"]].set_index(pd.to_datetime([0, 60], unit="s")),
            r"give table.rename_axis\('ts'\).reset_index\(\)$",
        ),
        (pd.DataFrame({"ts": [0], "label": [1]}), "where a row has both and needs no id$"),
    ],
)
def test_an_index_that_holds_fields_is_named_with_what_to_write(table, message):
    with pytest.raises(ValueError, match=message):
        Monitor().feed(table)


def test_more_than_half_of_the_rows_rejected_is_a_warning_with_what_to_write():
    table = {"ts": [0, 60, 120, 180], "prediction": [1, 0, 1, 1], "label": [1, "open", "open", 0]}
    with pytest.warns(UserWarning, match="rejected") as warned:
        found = Monitor().feed({**table, "ts": [0, None, None, None]})
    assert (found.rows, found.rejected) == (4, {"missing_field": 3})
    first, *rest = str(warned[0].message).splitlines()
    assert first == (
        "table: 3 of 4 rows were rejected; column 'ts' has no ts in 3 rows: leave these rows out, "
        "in pandas df.dropna(subset=['ts']), or name another column, ts='COLUMN'"
    )
    assert rest == repr(found).splitlines()
    assert warned[0].filename == __file__
    assert Monitor().feed(table).rejected == {"bad_value": 2}


def test_a_hint_names_the_column_of_a_field():
    columns = {"prediction": "called", "label": "fraud"}
    table = {"day": ["01.02.2026"], "area": ["eu"], "called": [1], "fraud": [None]}
    with pytest.raises(ValueError, match=r"pd.to_datetime\(df\['day'\], dayfirst=True\)"):
        Monitor().feed(table, ts="day", **columns)
    table["day"] = [0]
    with pytest.raises(ValueError, match=r"segment=\{'area': 'area'\}"):
        Monitor().feed(table, ts="day", segment="area", **columns)
    with pytest.raises(ValueError, match=r"column 'fraud' has no label in 1 row: .* id='COL"):
        Monitor().feed(table, ts="day", **columns)


def test_an_empty_table_is_read_without_a_warning():
    assert Monitor().feed({"ts": [], "prediction": [], "label": []}).rows == 0


def test_some_rejected_rows_are_counted_and_shown():
    table = {"ts": [0, None, 60, 90], "prediction": [1, 1, 7, 1], "label": [1, 0, 0, 1]}
    found = Monitor().feed(table)
    assert found.rejected == {"missing_field": 1, "bad_value": 1}
    assert "row:3: prediction: must be 0, 1, true or false, got 7" in repr(found)


def test_single_events_before_a_table_are_counted_before_it():
    monitor = Monitor()
    monitor.predict("a", ts=0, prediction=1)
    monitor.feed({"id": ["a"], "ts": [60], "label": [1]})
    assert monitor["default"]["all"].counts == ConfusionCounts(tp=1, fp=0, fn=0, tn=0)


@pytest.mark.parametrize("form", [dict, pd.DataFrame, pa.table])
def test_a_segment_key_that_no_model_keeps_is_a_note(form):
    table = form({"ts": [0, 60], "prediction": [1, 0], "label": [1, 0], "region": ["eu", "us"]})
    found = Monitor().feed(table, segment={"region": "region"})
    assert found.rows == 2
    assert found.note == (
        "segment: no model keeps 'region'; name the keys in the configuration: "
        "Monitor(Config(defaults={'segments': ['region']}))"
    )
    monitor = Monitor(Config(defaults={"segments": ["region"]}))
    assert monitor.feed(table, segment={"region": "region"}).note == ""
    assert set(monitor["default"]["all"].by("region")) == {"eu", "us"}


def test_periods_of_pandas_are_refused_instead_of_read_as_seconds():
    """Their numbers count days since 1970."""
    days = pd.Series(pd.date_range("2026-07-01", periods=3, freq="D"))
    table = pd.DataFrame({"day": days.dt.to_period("D"), "called": 1, "label": 1})
    with pytest.raises(ValueError, match=r"^ts: is a column of periods.*to_timestamp"):
        Monitor().feed(table, ts="day", prediction="called", label="label")
    times = table.assign(day=table.day.dt.to_timestamp())
    assert Monitor().feed(times, ts="day", prediction="called", label="label").rejected == {}


@pytest.mark.filterwarnings("ignore:table. label. no record has the positive value")
@pytest.mark.parametrize("form", [dict, pd.DataFrame, pa.table])
def test_a_positive_value_that_no_row_has_is_a_note_of_that_table(form):
    monitor = Monitor()
    table = form({"ts": [0, 60], "prediction": [1, 0], "label": ["yes", "no"]})
    missed = monitor.feed(table, values={"label": {"positive": ["Yes"]}})
    assert missed.note == (
        "label: no record has the positive value 'Yes'; records have 'yes', 'no'"
    )
    assert monitor.feed(table, values={"label": {"positive": ["yes"]}}).note == ""


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
