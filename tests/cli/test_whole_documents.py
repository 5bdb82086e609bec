"""A file that is one JSON object around all of its records says how to write them as lines."""

import json

import pytest
from cli.commands import ran

ROWS = [{"id": f"a{n}", "ts": n, "prediction": 1, "label": n % 2} for n in range(2_000)]
BY_COLUMN = (
    "the file is one table by columns: write its rows as lines, in pandas "
    'df.to_json("NEW.ndjson", orient="records", lines=True)'
)
WRAPPED = (
    "the file is one JSON object: write its records as lines, as jq -c '.rows[]' FILE > NEW.ndjson"
)


@pytest.mark.parametrize("most", [20, 2_000], ids=["small", "too large for a record"])
@pytest.mark.parametrize(
    ("of_rows", "said"),
    [
        (lambda rows: {"rows": rows}, WRAPPED),
        (lambda rows: {"next": None, "rows": rows}, WRAPPED),
        (
            lambda rows: {"columns": [*ROWS[0]], "data": [[*row.values()] for row in rows]},
            BY_COLUMN,
        ),
    ],
    ids=["wrapped", "wrapped beside another key", "split"],
)
def test_the_records_of_one_object_are_to_be_lines(capsys, tmp_path, most, of_rows, said):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(of_rows(ROWS[:most])))
    done = ran(capsys, "replay", path)
    assert done.code == 3
    assert done.err.endswith(f"; {said}\n")


def test_a_frame_by_columns_is_to_be_lines(capsys, tmp_path):
    path = tmp_path / "a.json"
    columns = {name: {str(n): row[name] for n, row in enumerate(ROWS)} for name in ROWS[0]}
    path.write_text(json.dumps(columns, separators=(",", ":")))
    assert ran(capsys, "replay", path).err.endswith(f"; {BY_COLUMN}\n")


def test_a_record_with_a_list_of_objects_among_others_is_no_document(capsys, tmp_path):
    path = tmp_path / "a.ndjson"
    record = {"ts": 1, "prediction": 1, "items": [{"price": 3}]}
    path.write_text(f"{json.dumps(record)}\n" * 2)
    assert "one JSON object" not in ran(capsys, "replay", path).err
