"""One table of claims in every format."""

import csv
import io
import json
import random
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
from cli.commands import ran

COLUMNS = ("timestamp", "user_id", "proba", "decision", "fraud")
LINE = ("--field", "id=user_id", "--field", "prediction=decision", "--field", "label=fraud")
BEGIN = datetime(2026, 10, 20, tzinfo=UTC)


def made(rows=600):
    rng = random.Random(8)
    for number in range(rows):
        proba = round(rng.random(), 6)
        moment = BEGIN + timedelta(minutes=37 * number, milliseconds=rng.randrange(1000))
        fraud = None if number % 11 == 0 else int(rng.random() < proba / 2)
        yield moment, 1000 + number, proba, int(proba > 0.6), fraud


def as_json(records):
    return [{**record, "timestamp": record["timestamp"].isoformat()} for record in records]


ROWS = list(made())
RECORDS = [dict(zip(COLUMNS, row, strict=True)) for row in ROWS]
JSON = as_json(RECORDS)
TABLE = pa.Table.from_pylist(RECORDS)


def separated(separator, records=JSON):
    text = io.StringIO()
    writer = csv.DictWriter(text, records[0], delimiter=separator)
    writer.writeheader()
    writer.writerows(records)
    return text.getvalue().encode()


def parquet(table=TABLE):
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=100)
    return sink.getvalue()


def lines(records):
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def replayed(capsys, path, *words):
    done = ran(capsys, "replay", path, *words, "--json")
    assert done.code == 0, done.err
    return done
