"""A name with dots reads a place of a list, as of the probabilities of both classes."""

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from cli.commands import ran

from monitor.config.mapping import MappedRecords
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.files import read

ROWS = [
    {"id": str(row), "ts": 1_790_000_000 + row, "prediction": row % 2, "proba": [1 - score, score]}
    for row, score in enumerate((0.125, 0.75, 0.25, 0.5))
]


def scores_of(path, place="proba.1"):
    mapping = MappedRecords(fields={"score": place})
    batches = read([path], Decoder(DecodeSettings()), mappings={str(path): mapping})
    return [score for batch in batches for score in batch.predictions.score.tolist()]


@pytest.mark.parametrize("kind", ["list", "large", "fixed"])
def test_parquet_has_the_score_at_a_place_of_its_lists(tmp_path, kind):
    path = tmp_path / "a.parquet"
    of = {
        "list": pa.list_(pa.float64()),
        "large": pa.large_list(pa.float64()),
        "fixed": pa.list_(pa.float64(), 2),
    }[kind]
    table = pa.Table.from_pylist(ROWS)
    proba = table.column("proba").cast(of)
    pq.write_table(table.set_column(table.schema.get_field_index("proba"), "proba", proba), path)
    assert scores_of(path) == [0.125, 0.75, 0.25, 0.5]


def test_a_list_that_is_shorter_or_absent_has_no_score(tmp_path):
    rows = [ROWS[0], {**ROWS[1], "proba": [0.5]}, {**ROWS[2], "proba": None}, ROWS[3]]
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / "a.parquet")
    (tmp_path / "a.ndjson").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    for name in ("a.parquet", "a.ndjson"):
        assert str(scores_of(tmp_path / name)) == "[0.125, nan, nan, 0.5]"


def test_lines_have_values_within_lists_of_lists_and_of_objects(capsys, tmp_path):
    path = tmp_path / "a.ndjson"
    rows = [
        {
            "f": [{"v": row["id"]}, {"v": str(row["ts"])}, {"v": str(row["prediction"])}],
            "response": {"ndarray": [row["proba"]]},
            "truth": 1,
        }
        for row in ROWS
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    columns = {
        "id": "f.0.v",
        "ts": "f.1.v",
        "prediction": "f.2.v",
        "score": "response.ndarray.0.1",
        "label": "truth",
    }
    options = [part for pair in columns.items() for part in ("--field", "=".join(pair))]
    done = ran(capsys, "replay", path, *options, "--json")
    assert (done.code, done.err) == (0, "")
    assert json.loads(done.out)["models"]["default"]["outcomes"] == {
        "tp": 2,
        "fp": 0,
        "fn": 2,
        "tn": 0,
    }


@pytest.mark.parametrize("form", ["ndjson", "parquet"])
def test_scores_that_are_lists_ask_for_the_place_of_the_positive_class(capsys, tmp_path, form):
    path = tmp_path / f"a.{form}"
    rows = [{**row, "label": 1, "score": row["proba"]} for row in ROWS]
    if form == "parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    done = ran(capsys, "replay", path)
    assert done.code == 3
    assert done.err.endswith(
        "scores are lists: give the place of the positive class, from 0 on: --field score=score.1\n"
    )
    assert ran(capsys, "replay", path, "--field", "score=score.1").code == 0
