"""Times and durations that Python has no value for; PostgreSQL exports `infinity` as one."""

import io

import pyarrow as pa
import pytest
from pyarrow import parquet

from monitor.feeds.arrow.arrow_files import read_arrow, rows_of_table
from monitor.feeds.decode import Decoder, DecodeSettings

FAR = 2**62
PAID = [1_790_000_000 * 1_000_000, 1_790_000_060 * 1_000_000]
COLUMNS = {
    "a timestamp": pa.array([FAR, PAID[0]], pa.timestamp("us")),
    "with a zone": pa.array([FAR, PAID[0]], pa.timestamp("us", "Europe/Berlin")),
    "of an unknown zone": pa.array(PAID, pa.timestamp("us", "Nowhere/Town")),
    "in seconds": pa.array([FAR // 10**6, 0], pa.timestamp("s")),
    "a date": pa.array([2**31 - 1, 0], pa.date32()),
    "a duration": pa.array([FAR, 0], pa.duration("s")),
    "nested": pa.array([{"at": FAR}, {"at": 0}], pa.struct([("at", pa.timestamp("us"))])),
    "finer than a microsecond": pa.array([1, 2], pa.timestamp("ns")),
}


def file_of(ts: pa.Array, **more: pa.Array) -> io.BytesIO:
    sink = io.BytesIO()
    parquet.write_table(pa.table({"ts": ts, "prediction": [1, 0], **more}), sink)
    return io.BytesIO(sink.getvalue())


def read(file: io.BytesIO):
    decoder = Decoder(DecodeSettings())
    ((batch, _),) = read_arrow(file, "x.parquet", decoder, parquet=True, say=lambda _: None)
    return batch


NEAR = pa.array(PAID, pa.timestamp("us"))
LABELS = pa.array([1, 0])


@pytest.mark.parametrize("closed", COLUMNS.values(), ids=COLUMNS.keys())
def test_a_column_that_no_field_is_read_from_may_hold_them(closed):
    batch = read(file_of(NEAR, label=LABELS, closed=closed))
    assert (batch.records, len(batch.outcomes), batch.rejected) == (2, 2, ())


@pytest.mark.parametrize("closed", COLUMNS.values(), ids=COLUMNS.keys())
def test_so_may_columns_that_are_looked_at_for_a_label(closed):
    rejected = read(file_of(NEAR, fraud=LABELS, closed=closed)).rejected
    assert [one.reason.value for one in rejected] == ["missing_field"] * 2


@pytest.mark.parametrize("closed", COLUMNS.values(), ids=COLUMNS.keys())
def test_the_first_rows_are_shown(closed):
    found = rows_of_table(file_of(NEAR, closed=closed), "x", parquet=True, most=5)
    assert [row["prediction"] for row in found] == [1, 0]


def test_a_time_of_an_event_that_is_so_far_costs_its_row_alone():
    batch = read(file_of(pa.array([PAID[0], FAR], pa.timestamp("us")), label=LABELS))
    assert len(batch.outcomes) == 1
    assert [one.reason.value for one in batch.rejected] == ["timestamp_out_of_range"]


def test_such_a_cell_is_shown_as_none_and_times_with_a_zone_in_utc():
    far, zoned = COLUMNS["a timestamp"], COLUMNS["of an unknown zone"]
    found = rows_of_table(file_of(NEAR, far=far, zoned=zoned), "x", parquet=True, most=5)
    assert [row["far"] for row in found] == [None, far[1].as_py()]
    assert [row["zoned"].timestamp() * 1e6 for row in found] == PAID
