"""Arrow files whose offsets, lengths or indices lie; without the checks they end the process."""

import io

import numpy as np
import pyarrow as pa
import pytest

from monitor.errors import FeedError
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.arrow.arrow_files import read_arrow, rows_of_table
from monitor.feeds.decode import Decoder, DecodeSettings, ModelFields
from monitor.feeds.http.arrow_bodies import arrow_lines
from monitor.feeds.http.responses import RefusedError

SILENT = {"parquet": False, "say": lambda _: None}
PLAIN = Decoder(DecodeSettings())
NAMED = Decoder(DecodeSettings(default=ModelFields(None, classes=("no", "yes"))))


def ipc(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    return sink.getvalue()


def lying(offsets: list[int]) -> pa.Array:
    """Two texts at some offsets into the bytes `abcd`."""
    buffers = [None, pa.py_buffer(np.array(offsets, np.int32)), pa.py_buffer(b"abcd")]
    return pa.Array.from_buffers(pa.string(), 2, buffers)


def table(ids: pa.Array, **more: pa.Array) -> pa.Table:
    return pa.table({"ts": [1.0, 2.0], "id": ids, "prediction": [1, 0], **more})


def rejected(data: bytes, decoder: Decoder = PLAIN) -> list[RejectReason]:
    stream = io.BytesIO(data)
    return [
        rejection.reason
        for batch, _ in read_arrow(stream, "events.arrow", decoder, **SILENT)
        for rejection in batch.rejected
    ]


GOOD = pa.array(["a", "b"])
BACKWARDS = lying([0, 1_000_000, 4])
OUTSIDE = pa.DictionaryArray.from_arrays(pa.array([0, 1 << 20], pa.int32()), GOOD, safe=False)
DAMAGED = [
    table(BACKWARDS),
    table(lying([0, -5, 4])),
    table(OUTSIDE),
    table(pa.DictionaryArray.from_arrays(pa.array([0, 1]), BACKWARDS, safe=False)),
    table(GOOD, segment=pa.StructArray.from_arrays([BACKWARDS], ["region"])),
]


@pytest.mark.parametrize("decoder", [PLAIN, NAMED], ids=["by columns", "by rows"])
@pytest.mark.parametrize("damaged", DAMAGED)
def test_a_damaged_column_is_a_fault_of_its_file(damaged, decoder):
    with pytest.raises(FeedError, match=r"^events\.arrow: (is damaged|cannot be read): "):
        rejected(ipc(damaged), decoder)


@pytest.mark.parametrize("damaged", DAMAGED)
def test_looking_at_the_first_rows_of_a_damaged_file_is_a_fault(damaged):
    with pytest.raises(FeedError, match=r"^events\.arrow: (is damaged|cannot be read): "):
        rows_of_table(io.BytesIO(ipc(damaged)), "events.arrow", parquet=False, most=5)


def test_a_damaged_column_that_no_field_is_read_from_costs_nothing():
    assert rejected(ipc(table(GOOD, note=BACKWARDS))) == []


@pytest.mark.parametrize(
    "ids",
    [
        pa.array([b"a", b"\xff"]).view(pa.string()),
        pa.array([b"a", b"\xff"], pa.large_binary()).view(pa.large_string()),
        pa.DictionaryArray.from_arrays([0, 1], pa.array([b"a", b"\xff"]).view(pa.string())),
    ],
)
def test_an_id_that_is_no_utf8_costs_its_row_alone(ids):
    assert rejected(ipc(table(ids))) == [RejectReason.MALFORMED]


def of_interval_days() -> bytes:
    """A stream whose ids are of a type that pyarrow has no class for."""
    month_day_nano = pa.array([(1, 2, 3), (4, 5, 6)], pa.month_day_nano_interval())
    sink, rows = io.BytesIO(), table(month_day_nano)
    with pa.ipc.new_stream(sink, rows.schema) as out:
        out.write_table(rows)
    found = sink.getvalue()
    for at in (at for at, byte in enumerate(found) if byte == 2):  # its unit, which becomes 1
        patched = found[:at] + b"\x01" + found[at + 1 :]
        try:
            kind = pa.ipc.open_stream(patched).schema.field("id").type
        except (pa.ArrowException, OSError):
            continue
        if str(kind) == "day_time_interval":
            return patched
    raise AssertionError("no byte is the unit")


def test_a_type_that_pyarrow_has_no_class_for_is_refused_in_files_and_bodies():
    data = of_interval_days()
    assert rejected(data) == [RejectReason.MALFORMED] * 2
    with pytest.raises(FeedError, match=r"cannot read: .*id day_time_interval"):
        rows_of_table(io.BytesIO(data), "events.arrow", parquet=False, most=5)
    with pytest.raises(RefusedError, match="column 'id' has type day_time_interval"):
        arrow_lines(data, 1 << 20)
