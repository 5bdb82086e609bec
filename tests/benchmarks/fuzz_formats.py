"""What bytes of each kind of file, body and query may lead to: events, faults, and nothing else."""

from __future__ import annotations

import asyncio
import io
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pyarrow as pa
from pyarrow import parquet

from monitor.config import parse_config
from monitor.engine import Monitor
from monitor.errors import ConfigError, FeedError
from monitor.exporter.app import create_app
from monitor.feeds.arrow.arrow_files import read_arrow
from monitor.feeds.csv_file import read_csv
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.http.arrow_bodies import arrow_lines
from monitor.feeds.http.responses import RefusedError
from monitor.state import frame_search
from monitor.state.encoding import DamagedError, decoded, encoded
from monitor.state.segment import Body, SegmentHeader, TornSegmentError, encode_frame
from monitor.state.segment import read_header as read_segment_header
from monitor.state.segment_reading import read_frames
from monitor.state.state_errors import StateError
from monitor.web.request_pace import RequestPace

MEBIBYTE = 1 << 20
HERE = Path("fuzzed")
PATHS = ("status", "series", "diagnosis", "curve", "scores", "segments", "versions")
DECODER = Decoder(DecodeSettings())
ROWS = pa.table({"ts": [1.0, 2.0], "id": ["a", "b"], "prediction": [1, 0], "region": ["x", "y"]})
DATED = pa.table(
    {"ts": pa.array([1, 2], pa.timestamp("ms")), "id": ["a", None], "label": [1, None]}
)
CONFIG = b"""models: {fraud: {threshold: 0.5, segments: [region]}}
feeds: [{type: http, listen: "127.0.0.1:9109"}]
windows: [1h, 1d]
state: {directory: "${DIR}"}
"""


def _csv(data: bytes) -> None:
    with suppress(FeedError):
        for batch in read_csv([data], "x.csv", DECODER, MEBIBYTE, say=_silent):
            assert batch.records >= len(batch.rejected)


def _arrow_body(data: bytes) -> None:
    try:
        DECODER.decode_lines(arrow_lines(data, MEBIBYTE), source="x")
    except RefusedError as error:
        status = error.status
    else:
        status = 400
    assert 400 <= status < 500


def _arrow_file(data: bytes) -> None:
    _table(data, is_parquet=False)


def _parquet_file(data: bytes) -> None:
    _table(data, is_parquet=True)


def _table(data: bytes, *, is_parquet: bool) -> None:
    with suppress(FeedError, OSError):  # what reads files takes both for a fault of the file
        stream = io.BytesIO(data)
        for batch, _ in read_arrow(stream, "x", DECODER, parquet=is_parquet, say=_silent):
            assert batch.records >= len(batch.rejected)


def _config(data: bytes) -> None:
    with suppress(ConfigError):
        parse_config(data.decode(errors="replace"), "monitor.yaml", {"DIR": "state"})


def _checkpoint(data: bytes) -> None:
    with suppress(DamagedError, StateError):
        decoded(bytearray(data), HERE)


def _segment(data: bytes) -> None:
    file = io.BytesIO(data)
    # A search of all shifts of a block that is cut out takes half a second, many times over.
    near = patch.multiple(frame_search, _FARTHEST=1 << 8, _MOST_BYTES=1 << 14)
    with near, suppress(StateError, TornSegmentError):
        for frame in read_frames(file, HERE, read_segment_header(file, HERE).salt):
            assert frame.payload


def _query(data: bytes) -> None:
    path = PATHS[data[0] % len(PATHS)] if data else PATHS[0]
    with patch.object(RequestPace, "wait", return_value=0):  # more than one client may ask
        found = asyncio.run(_status(f"/api/v1/{path}?".encode() + data[1:]))
    assert found in (200, 400, 404, 422, 503), found


async def _status(target: bytes) -> int:
    scope = {"type": "http", "method": "GET", "headers": [], "client": ("127.0.0.1", 1)}
    path, _, query = target.partition(b"?")
    scope |= {"path": path.decode(), "raw_path": path, "query_string": query, "scheme": "http"}
    scope |= {"http_version": "1.1", "server": ("127.0.0.1", 9108), "root_path": ""}
    answers: list[Any] = []

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        answers.append(message)

    await APP(scope, receive, send)
    return int(answers[0]["status"])


def _silent(_: str) -> None:
    return


def _asked() -> Any:
    monitor = Monitor()
    for n in range(60):
        monitor.predict(f"p{n}", ts=3600.0 * n, score=n % 10 / 10, prediction=n % 2)
        monitor.label(f"p{n}", ts=3600.0 * n, label=n % 3 == 0)
    snapshot = monitor.snapshot()
    return create_app(lambda: snapshot, ready=lambda: True)


APP = _asked()
FORMATS: tuple[Callable[[bytes], None], ...] = (
    _csv,
    _arrow_body,
    _arrow_file,
    _parquet_file,
    _config,
    _checkpoint,
    _segment,
    _query,
)


def _streamed(table: pa.Table) -> bytes:
    sink = io.BytesIO()
    with pa.ipc.new_stream(sink, table.schema) as out:
        out.write_table(table)
    return sink.getvalue()


def _as_file(table: pa.Table, *, is_parquet: bool) -> bytes:
    sink = io.BytesIO()
    if is_parquet:
        parquet.write_table(table, sink)
        return sink.getvalue()
    with pa.ipc.new_file(sink, table.schema) as out:
        out.write_table(table)
    return sink.getvalue()


def seeds() -> list[list[bytes]]:
    """Return some that are good, of each of `FORMATS`."""
    header = SegmentHeader.new(1, 0)
    frame = encode_frame([Body(1, b'{"type":"label"}\n')], salt=header.salt, offset=0)
    state = b"".join(map(bytes, encoded(Monitor().state(), 1)))
    return [
        [b'ts,id,prediction,region\n1,a,1,x\n2,b,0,"y\n"\n', b"ts;type;id;label\n1;label;a;0\n"],
        [_streamed(ROWS), _streamed(DATED)],
        [_as_file(ROWS, is_parquet=False), _as_file(DATED, is_parquet=False)],
        [_as_file(ROWS, is_parquet=True), _as_file(DATED, is_parquet=True)],
        [CONFIG],
        [state],
        [header.encode() + frame],
        [b"\x01model=default&before=1d&after=7d", b"\x00order=risk&limit=3", b"\x02step=60"],
    ]
