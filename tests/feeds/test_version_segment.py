"""The segment key `version`: the field of that name, in every format of events."""

import json
from datetime import UTC, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor import Monitor
from monitor.config import parse_config
from monitor.events.batches import concatenate
from monitor.events.columns import Group
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.settings import ModelFields
from monitor.feeds.files import read

SETTINGS = DecodeSettings(default=ModelFields(None, ("region", "version")))
ROWS = [
    {"type": "prediction", "id": "a", "ts": 5, "prediction": 1, "version": "7"},
    {"type": "prediction", "id": "b", "ts": 6, "prediction": 0},
    {"type": "outcome", "ts": 7, "prediction": 1, "label": 0, "version": "6"},
]
GROUPS = {("7", "7"), ("", "__missing__"), ("6", "6")}
CONFIG = "defaults: {segments: [version]}"


def found(path):
    groups = concatenate(list(read([path], Decoder(SETTINGS)))).groups
    assert {group.values[0] for group in groups} == {"__missing__"}
    return {(group.version, group.values[1]) for group in groups}


def as_lines(path):
    path.write_text("".join(f"{json.dumps(row)}\n" for row in ROWS))


def as_csv(path):
    names = ["type", "id", "ts", "prediction", "version", "label"]
    lines = [",".join(str(row.get(name, "")) for name in names) for row in ROWS]
    path.write_text("\n".join([",".join(names), *lines]))


def as_parquet(path):
    names = ["type", "id", "ts", "prediction", "version", "label"]
    pq.write_table(pa.table({name: [row.get(name) for row in ROWS] for name in names}), path)


@pytest.mark.parametrize(
    ("name", "write"),
    [("a.ndjson", as_lines), ("a.csv", as_csv), ("a.parquet", as_parquet)],
)
def test_the_version_is_the_value_where_the_segment_has_none(tmp_path, name, write):
    write(tmp_path / name)
    assert found(tmp_path / name) == GROUPS


def test_a_segment_of_that_name_is_the_version_of_a_record_without_one(tmp_path):
    path = tmp_path / "a.ndjson"
    rows = [row | {"segment": {"version": "blue"}} for row in ROWS[:2]]
    path.write_text("\n".join(map(json.dumps, rows)))
    assert found(path) == {("7", "7"), ("blue", "blue")}


def test_counts_of_a_version_count_in_its_segment():
    counts = {"type": "counts", "ts": 5, "tp": 3, "fp": 1, "fn": 0, "tn": 9, "version": "7"}
    batch = Decoder(SETTINGS).decode_fields([counts], position=str, record=lambda _: b"")
    assert batch.groups == (Group("default", "7", ("__missing__", "7")),)


def values_of(monitor):
    return {series.value for series in monitor.snapshot().series if series.segment == "version"}


def test_predict_and_frames_have_it_as_well():
    monitor = Monitor(parse_config(CONFIG, "monitor.yaml"))
    monitor.predict("a", ts=5, prediction=True, version="7")
    monitor.predict("b", ts=6, prediction=True)
    table = {"ts": [datetime(2026, 7, 1, tzinfo=UTC)], "p": [1], "y": [1], "v": ["8"]}
    monitor.feed(table, prediction="p", label="y", version="v")
    assert values_of(monitor) == {"7", "8", "__missing__"}


def test_without_the_key_nothing_is_added():
    batch = Decoder(DecodeSettings()).decode_fields(ROWS[:1], position=str, record=lambda _: b"")
    assert batch.groups == (Group("default", "7", ()),)
