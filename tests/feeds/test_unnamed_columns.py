"""Columns of CSV without a name, and proposals for names of exports."""

import json

import pytest
from cli.commands import ran


def test_the_index_of_a_frame_is_the_id_by_the_name_that_pandas_gives_it(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text(",ts,prediction,label\n" + "".join(f"{n},{n},1,\n" for n in range(3)))
    done = ran(capsys, "replay", path, "--field", "id=Unnamed: 0")
    assert (done.code, "3 events read, 0 rejected" in done.out) == (0, True)


def test_empty_columns_of_a_spreadsheet_are_no_fault(capsys, tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("ts;prediction;label;;\n" + "".join(f"{n};1;0;;\n" for n in range(3)))
    done = ran(capsys, "replay", path)
    assert (done.code, "3 events read, 0 rejected" in done.out) == (0, True)


@pytest.mark.parametrize(
    ("record", "asked"),
    [
        ({"_source": {"@timestamp": "2026-08-07T10:00:00Z"}}, "ts=_source.@timestamp"),
        ({"ts": {"$date": "2026-08-07T10:00:00Z"}}, "ts=ts.$date"),
        ({"eventMetadata": {"inferenceTime": "2026-08-07"}}, "ts=eventMetadata.inferenceTime"),
    ],
    ids=["Elasticsearch", "MongoDB", "SageMaker"],
)
def test_the_time_of_an_export_is_proposed(capsys, tmp_path, record, asked):
    path = tmp_path / "a.ndjson"
    path.write_text(json.dumps({**record, "prediction": 1, "label": 1}) + "\n")
    assert asked in ran(capsys, "replay", path).err.replace("'", "")
