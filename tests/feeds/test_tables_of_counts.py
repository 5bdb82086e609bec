"""Counts in tables are told apart as those in NDJSON are."""

import csv
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from monitor.config import Config
from monitor.config.mapping import MappedRecords
from monitor.engine import CountingMonitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.files import read

CONFIG = Config(models={"m": {"segments": ["region"], "label_timeout": None}})
ROWS = [
    {"region": region, "desk": desk, "floor": floor, "tp": 10**at}
    for at, (region, desk, floor) in enumerate(
        [("eu", "a", 1), ("eu", "b", 1), ("eu", "b", 2), ("us", "b", None), (None, None, None)]
    )
]
RENAMED = {"segment.region": "where.region", "segment.desk": "where.desk", "segment.floor": "level"}


def records(names):
    for row in ROWS:
        segment = {names[f"segment.{key}"]: row[key] for key in ("region", "desk", "floor")}
        cells = {"tp": row["tp"], "fp": 0, "fn": 0, "tn": 0}
        yield {"ts": 0, "model": "m", "source": "s", "batch": "1", **cells, **segment}


def written(path, names):
    rows = [*records(names)]
    if path.suffix == ".csv":
        text = io.StringIO()
        table = csv.DictWriter(text, rows[0])
        table.writeheader()
        table.writerows(rows)
        path.write_text(text.getvalue())
    elif path.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        table = pa.Table.from_pylist(rows)
        with pa.ipc.new_file(path, table.schema) as stream:
            stream.write_table(table)
    return path


def taken(monitor, path, mapping):
    """Count a file, and return the true positives of the total and of each value."""
    decoder = Decoder(DecodeSettings.from_config(CONFIG))
    mappings = {} if mapping is None else {str(path): mapping}
    for batch in read([str(path)], decoder, mappings=mappings):
        assert not batch.rejected
        monitor.apply(batch)
    snapshot = monitor.snapshot()
    pairs = zip(snapshot.series, snapshot.lifetime.counts, strict=True)
    return {series[1:]: int(counts.cells[0]) for series, counts in pairs}


@pytest.mark.parametrize("mapped", [False, True])
@pytest.mark.parametrize("ending", ["csv", "parquet", "arrow"])
def test_rows_that_differ_by_a_segment_key_that_is_not_configured_add_up(tmp_path, ending, mapped):
    names = RENAMED if mapped else {name: name for name in RENAMED}
    path = written(tmp_path / f"counts.{ending}", names)
    mapping = MappedRecords(fields=RENAMED) if mapped else None
    monitor = CountingMonitor(CONFIG)
    expected = {
        (None, None): 11_111,
        ("region", "eu"): 111,
        ("region", "us"): 1_000,
        ("region", "__missing__"): 10_000,
    }
    for _ in range(2):
        assert taken(monitor, path, mapping) == expected
    again = b"".join(json_line(row) for row in ROWS)
    batch = Decoder(DecodeSettings.from_config(CONFIG)).decode_lines(again, source="again")
    monitor.apply(batch)
    assert int(monitor.snapshot().lifetime.counts[0].cells[0]) == 11_111


def json_line(row):
    segment = {key: row[key] for key in ("region", "desk", "floor")}
    cells = {"tp": row["tp"], "fp": 0, "fn": 0, "tn": 0}
    named = {"type": "counts", "model": "m", "source": "s", "batch": "1", "segment": segment}
    return json.dumps({"ts": 0, **named, **cells}).encode() + b"\n"
