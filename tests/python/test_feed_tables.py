"""Tables that Monitor.feed and compare take: rows as dicts, columns of several types."""

import re
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from monitor import ConfusionCounts, Monitor, compare
from monitor.config import Config
from monitor.python import tables

ROWS = [
    {"id": 1, "ts": 0, "score": 0.9, "prediction": 1, "label": 1},
    {"id": 2, "ts": 60, "score": 0.1, "prediction": 0, "label": 0},
    {"id": 3, "ts": 120, "score": 0.8, "prediction": 1, "label": 0},
]
FRAME = pd.DataFrame(ROWS)
COUNTS = ConfusionCounts(tp=1, fp=1, fn=0, tn=1)
CASES = {"prediction": "prediction", "label": "label"}


@pytest.fixture(params=[True, False], ids=["with pyarrow", "without pyarrow"])
def maybe_without_pyarrow(request, monkeypatch):
    if not request.param:
        monkeypatch.setattr(tables, "_pyarrow", lambda: None)


def fed(table, **columns):
    monitor = Monitor()
    assert monitor.feed(table, **columns).rejected == {}
    return monitor


@pytest.mark.usefixtures("maybe_without_pyarrow")
@pytest.mark.parametrize(
    "rows", [ROWS, FRAME.to_records(index=False), FRAME.to_records(index=False).view(np.ndarray)]
)
def test_rows_are_taken_as_the_table_of_their_columns(rows):
    assert fed(rows)["default"].status == fed(FRAME)["default"].status
    assert compare(rows, rows, **CASES).before.counts == COUNTS
    assert compare(rows, rows, **CASES).to_dict() == compare(FRAME, FRAME, **CASES).to_dict()


def test_a_dict_without_a_column_has_nothing_there():
    monitor = fed([*ROWS[:2], {"id": 3, "ts": 120, "prediction": 1}])
    assert (monitor["default"].status.labelled, monitor["default"].status.pending) == (2, 1)


def test_columns_of_dicts_in_dicts_have_names_with_dots():
    rows = [
        {"ts": row["ts"], "label": row["label"], "out": {"flag": row["prediction"]}} for row in ROWS
    ]
    assert fed(rows, prediction="out.flag")["default"]["all"].counts == COUNTS


@pytest.mark.usefixtures("maybe_without_pyarrow")
@pytest.mark.parametrize("form", [dict, pd.DataFrame])
def test_integers_of_any_size_are_ids_as_of_single_events(form):
    ids = [10**30 + row for row in range(len(ROWS))]
    monitor = fed(form(FRAME.drop(columns="label").to_dict("list") | {"id": ids}))
    for row, identity in zip(ROWS, ids, strict=True):
        monitor.label(identity, ts=180, label=row["label"])
    assert monitor["default"]["all"].counts == COUNTS


@pytest.mark.usefixtures("maybe_without_pyarrow")
@pytest.mark.parametrize("form", [dict, pd.DataFrame])
@pytest.mark.parametrize("labels", [[1, "0", 0.0], ["1", False, 0]])
def test_a_column_of_text_and_numbers_is_read_by_value(form, labels):
    monitor = fed(form(FRAME.to_dict("list") | {"label": labels}))
    assert monitor["default"]["all"].counts == COUNTS
    listed = {"label": {"positive": ["fraud", 1], "negative": [0]}}
    rows = FRAME.to_dict("list") | {"label": ["fraud", 0, 0]}
    assert fed(form(rows), values=listed)["default"]["all"].counts == COUNTS


TWICE = pd.concat([FRAME, FRAME[["label"]]], axis=1)
ARROW = pa.Table.from_pandas(FRAME)


@pytest.mark.parametrize(
    ("table", "advice"),
    [
        (TWICE, "keep or rename one, in pandas table.loc[:, ~table.columns.duplicated()]"),
        (ARROW.append_column("label", ARROW["label"]), "keep or rename one"),
        (pd.DataFrame([[0, 1, 1, 1]], columns=["ts", "prediction", 1, "1"]), "keep or rename one"),
    ],
)
def test_a_column_that_is_there_twice_is_named_with_what_to_write(table, advice):
    column = "label" if "label" in tables.own_names(table) else "1"
    with pytest.raises(ValueError, match=re.escape(f"label: the table has 2 columns '{column}'; ")):
        Monitor().feed(table, label=column)
    with pytest.raises(ValueError, match=re.escape(advice)):
        compare(table, table, prediction="prediction", label=column)


@pytest.mark.parametrize(
    "table",
    [
        pd.concat([FRAME, FRAME.assign(note=1)[["note"]], FRAME.assign(note=1)[["note"]]], axis=1),
        ARROW.append_column("note", ARROW["label"]).append_column("note", ARROW["label"]),
    ],
    ids=["pandas", "Arrow"],
)
def test_a_column_that_is_there_twice_and_not_read_does_not_matter(table):
    assert fed(table)["default"]["all"].counts == COUNTS


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([], "table: has no rows and no columns, got []; give a list that has rows"),
        ([1, 2], "a list of dicts or arrays by name, got a list of int"),
        ([ROWS[0], None], "arrays by name, got a list of NoneType"),
        (iter(ROWS), "got list_iterator; give list(rows)"),
        ("a.csv", "got str; read the file first, as pandas.read_csv('a.csv') does"),
        (Path("a.csv"), "read the file first, as pandas.read_csv('a.csv') does"),
        (np.ones((2, 2)), "a list of dicts or arrays by name, got ndarray"),
    ],
)
def test_what_is_no_table_is_refused_with_what_to_give(given, message):
    with pytest.raises(ValueError, match=re.escape(message)):
        Monitor().feed(given)


@pytest.mark.dev("polars")
def test_a_column_that_arrow_does_not_have_is_a_value_error():
    polars = import_module("polars")
    wide = polars.DataFrame(ROWS).with_columns(polars.col("id").cast(polars.Int128))
    with pytest.raises(ValueError, match="table: a column cannot be read: "):
        Monitor().feed(wide)


@pytest.mark.usefixtures("maybe_without_pyarrow")
def test_rows_that_are_not_in_the_order_of_time_are_a_warning(recwarn):
    frame = pd.DataFrame({"time": np.arange(600) * 3_600, "flagged": 1, "fraud": 0})
    Monitor().feed(frame, ts="time", prediction="flagged", label="fraud")
    assert not recwarn.list
    with pytest.warns(UserWarning, match="follow the order of the records; sort them by time"):
        Monitor().feed(frame[::-1], ts="time", prediction="flagged", label="fraud")


def test_labels_of_a_second_table_that_come_after_the_label_timeout_are_a_warning(recwarn):
    config = Config(models={"default": {"label_timeout": "2d"}})
    made = pd.DataFrame({"id": range(600), "ts": np.arange(600) * 3_600, "prediction": 1})
    labels = pd.DataFrame({"id": range(600), "ts": np.arange(600) * 3_600 + 60, "label": 1})
    monitor = Monitor(config)
    monitor.feed(made)
    with pytest.warns(UserWarning, match="of 600 labels are more than a day older"):
        monitor.feed(labels)
    monitor = Monitor(config)
    for start in range(0, 600, 12):
        monitor.feed(made[start : start + 12])
        monitor.feed(labels[start : start + 12])
    assert not recwarn.list
    assert monitor["default"].status.labelled == 600


@pytest.mark.parametrize("text", ["NA", "None", "unknown"])
def test_labels_that_seem_to_stand_for_none_are_a_warning_however_few(text):
    ids = {"id": range(9), "ts": range(9), "prediction": [1] * 9}
    table = {**ids, "label": ["1", "0", *["1"] * 6, text]}
    with pytest.warns(UserWarning, match="1 of 9 rows were rejected") as warned:
        found = Monitor().feed(table)
    advice = f"values={{'label': {{'missing': ['', '{text}']}}}}"
    assert advice in str(warned[0].message)
    assert advice in repr(found)
    assert fed(table, values={"label": {"missing": ["", text]}})["default"].status.pending == 1


def test_other_rejected_rows_say_what_to_write_without_a_warning(recwarn):
    table = {"ts": range(9), "prediction": [1] * 9, "label": [1] * 9, "score": [0.5] * 8 + [50]}
    assert "percentages divided by 100" in repr(Monitor().feed(table))
    assert not recwarn.list
