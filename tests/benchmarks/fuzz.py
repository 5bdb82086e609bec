"""Feeds every parser of bytes from outside with bytes that libFuzzer makes up as it learns.

python tests/benchmarks/fuzz.py -max_total_time=3600

The first byte chooses: the decoder and its envelopes below, and the formats of `fuzz_formats.py`.
Nothing but a refusal may come out as an error, every record that goes in is an event or has
its reason, and what was counted can be written down and parsed.
"""

from __future__ import annotations

import asyncio
import gc
import sys
import tempfile
import zlib
from pathlib import Path

import atheris

sys.path.insert(0, str(Path(__file__).parents[1]))

with atheris.instrument_imports(
    include=[f"monitor.{part}" for part in ("feeds", "events", "config", "state", "exporter")]
):
    import monitor.exporter.app  # these six are for `fuzz_formats`: their branches are recorded
    import monitor.feeds.arrow.decoding
    import monitor.feeds.csv_file
    import monitor.feeds.http.arrow_bodies
    import monitor.state.encoding
    import monitor.state.segment_reading  # noqa: F401  # of which no name is used here
    from monitor.feeds.decode import Decoder, DecodeSettings
    from monitor.feeds.http.cloudevents import CloudEvent, InvalidEvent, read_events, record_lines
    from monitor.feeds.http.inference_events import InferenceEvents
    from monitor.feeds.http.inference_payloads import PayloadError
    from monitor.feeds.http.json_bodies import event_lines, feedback_lines
    from monitor.feeds.http.responses import RefusedError

from benchmarks.fuzz_formats import FORMATS, seeds
from prometheus_client.parser import text_string_to_metric_families

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.config.inference import InferenceConfig
from monitor.engine import Monitor
from monitor.events.columns import EventBatch
from monitor.prometheus.text import TextWriter

CONFIG = Config(defaults={"threshold": 0.5, "segments": ["region"]})
DECODER = Decoder(DecodeSettings.from_config(CONFIG))
INFERENCE = InferenceEvents(
    InferenceConfig(score={}, prediction={"name": "p", "positive": "1"}), ManualClock()
)
KINDS = [
    "application/json",
    "application/x-ndjson",
    "application/cloudevents+json",
    "application/cloudevents-batch+json",
]
BINARY = {"ce-specversion": "1.0", "ce-id": "a", "ce-source": "s"}
TYPES = ["label", "x.inference.response"]
NO_RECORD = b"x\n"
SEEDS = [
    b'\x00{"type":"prediction","id":"a","ts":1,"score":0.5,"segment":{"region":"x"}}\n',
    b'\x01[{"type":"label","id":"a","ts":"2026-11-01T00:00:00Z","label":null}]',
    b'\x04{"specversion":"1.0","id":"a","source":"s","type":"label","data":{"label":1}}',
    b'\x06{"outputs":[{"name":"p","shape":[2,1],"data":[0.1,0.9]}]}',
    b'\x07{"predictions":[[0.1],{"p":1},0.5]}',
]


ENVELOPES = 8


def lines_of(choice: int, body: bytes) -> bytes:
    if choice == 0:
        return body
    if choice == 1:
        return event_lines(body, KINDS[len(body) % 2])
    if choice == 2:
        return feedback_lines(body, KINDS[len(body) % 2], now=1.0)
    kind = TYPES[choice % 2]
    headers = {**BINARY, "ce-type": kind} if choice >= 6 else {"content-type": KINDS[choice - 2]}
    return b"".join(map(_lines, read_events(headers, body)))


def _lines(event: CloudEvent | InvalidEvent) -> bytes:
    if isinstance(event, InvalidEvent):
        return NO_RECORD
    if event.role == "response":
        try:
            return asyncio.run(INFERENCE.lines(event, 1.0))
        except PayloadError:
            return NO_RECORD
    return record_lines(event)


def one(data: bytes) -> None:
    choice = data[0] % (ENVELOPES + len(FORMATS)) if data else 0
    if choice >= ENVELOPES:
        FORMATS[choice - ENVELOPES](data[1:])
    else:
        one_of_lines(choice, data[1:])


def one_of_lines(choice: int, data: bytes) -> None:
    try:
        lines = lines_of(choice, data)
    except RefusedError as error:
        refused = error.status
    else:
        refused = None
    if refused is not None:
        assert 400 <= refused < 500
        return
    batch = DECODER.decode_lines(lines, source="x")
    events = [batch.predictions, batch.labels, batch.outcomes, batch.counts]
    assert batch.records <= sum(map(len, events)) + len(batch.rejected)
    if zlib.crc32(data) % 256 == 0:  # slow
        count(batch)


def count(batch: EventBatch) -> None:
    monitor = Monitor(CONFIG)
    monitor.apply(batch)
    snapshot = monitor.snapshot()
    assert snapshot.records == batch.records
    text = TextWriter().write(snapshot, openmetrics=False).decode()
    list(text_string_to_metric_families(text))


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as corpus:
        others = [bytes([ENVELOPES + at]) + one for at, some in enumerate(seeds()) for one in some]
        for number, seed in enumerate([*SEEDS, *others]):
            one(seed)
            (Path(corpus) / str(number)).write_bytes(seed)
        atheris.Setup([*sys.argv, corpus], one)
        gc.collect()
        gc.freeze()  # what is imported is not searched again for garbage
        atheris.Fuzz()
