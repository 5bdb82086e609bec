"""Tables that are not read as they are: errors and notes say what to write."""

import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from python.claim_frames import FRAME

from monitor import Config, ConfusionCounts, Monitor


@pytest.mark.parametrize(
    ("table", "columns", "message"),
    [
        ([1, 2], {}, "table: must be a frame, an Arrow table, a list of dicts or "),
        ({"a": [1]}, {}, "table: has no column 'ts', got a; say which column is which: write ts="),
        (FRAME, {"ts": "timestamps"}, "ts: there is no column 'timestamps'; did you mean"),
        (FRAME, {"scores": "score"}, "scores: are not read from columns, .*highest as prediction"),
        (FRAME, {"tss": "timestamp"}, "tss: is no field of an event, .*did you mean 'ts'"),
        (FRAME, {"ts": 5}, "ts: must be a column, got 5"),
        (FRAME, {"segment": ["region"]}, "segment: must be a column of objects, or the column of"),
        (FRAME, {"segment": 5}, "segment: must be a column of objects, or the column of"),
        (FRAME, {"model": "claims"}, r"column 'claims'; .*one model.* --constant model=claims"),
        (FRAME, {"time": {"zome": "x"}}, "zome: is not known, got 'x'; it is one of zone, .*unit"),
        (FRAME, {"values": {"label": {"plus": 1}}}, "plus: is not known, got 1; .* positive, neg"),
        ({"ts": [1, 2], "prediction": [1], "label": [0, 1]}, {}, "equally long|same length"),
        ({"ts": [0], "prediction": ["yes"], "label": [1]}, {}, "prediction: must be 0, 1, true"),
        ({"ts": [0], "score": [[0.9, 0.1]], "prediction": [1], "label": [1]}, {},
         "give the place of the positive class in these lists, from 0 on, score='score.1'"),
        ({"ts": [0], "score": np.array([[0.9, 0.1]]), "prediction": [1], "label": [1]}, {},
         r"score: must be one-dimensional, got 2 .*values\[:, 1\]"),
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
            "of these times, time={'format': '%d/%m/%Y %H:%M', 'zone': 'Europe/Berlin'}",
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
        ("score", ["70,5"], "give scores from 0 to 1, percentages divided by 100"),
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
    with pytest.raises(ValueError, match=r"time={'format': '%d.%m.%Y', .* then '%m.%d.%Y'"):
        Monitor().feed(table, ts="day", **columns)
    table["day"] = [0]
    with pytest.raises(ValueError, match=r"segment=\{'area': 'area'\}"):
        Monitor().feed(table, ts="day", segment="area", **columns)
    with pytest.raises(ValueError, match=r"column 'fraud' has no label in 1 row: .* id='COL"):
        Monitor().feed(table, ts="day", **columns)


def test_an_empty_table_is_read_without_a_warning():
    assert Monitor().feed({"ts": [], "prediction": [], "label": []}).rows == 0


def test_some_rejected_rows_are_counted_and_shown():
    table = {"ts": [0, None, 60, 90], "prediction": [1, 1, -7, 1], "label": [1, 0, 0, 1]}
    found = Monitor().feed(table)
    assert found.rejected == {"missing_field": 1, "bad_value": 1}
    assert "row:3: prediction: must be 0, 1, true or false, got -7" in repr(found)


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


def test_labels_whose_ids_are_written_otherwise_are_told_to_write_them_alike():
    days = [86_400 * day for day in range(60)]
    monitor = Monitor()
    monitor.feed({"id": [f"{n:06}" for n in range(60)], "ts": days, "prediction": [1] * 60})
    with pytest.warns(UserWarning, match="none of 60 labels found .* both write ids alike"):
        monitor.feed({"id": range(60), "ts": days, "label": [1] * 60})
