"""Bodies of the largest size whose records are all rejected, or are as dear as they can be.

    python -m tests.benchmarks.rejected_bodies [--only KIND ...]

CPU time of the service, all its threads, for one request of 8 MiB, from its first byte until
nothing is left to do: reading, decoding, the journal, the response, counting, the dead-letter
file. A body has 100,000 records, which is the most, or as many as fit. The goal is a second.
"""

from __future__ import annotations

import argparse
import gzip
import json
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import httpx
import pyarrow as pa

from .hostile_clients import ports
from .pending import process_seconds

MOST_BYTES = 8 * 1024 * 1024
MOST_RECORDS = 100_000
GOAL_SECONDS = 1.0
NDJSON, JSON = "application/x-ndjson", "application/json"
ARROW = "application/vnd.apache.arrow.stream"
EVENT, EVENTS = "application/cloudevents+json", "application/cloudevents-batch+json"
_PAUSE, _PAUSES = 0.4, 2

CONFIG = """\
feeds: [{{type: http, listen: "127.0.0.1:0"{inference}}}]
exporter: {{listen: "127.0.0.1:0"}}
state: {{directory: {folder}/state, checkpoint_every: 1h}}
dead_letter: {{max_bytes: 4GiB}}
{models}
"""
INFERENCE = ", inference: {prediction: {name: p}}"
MODELS = {
    "any": "",
    "one": """\
models:
  fraud: {segments: [region, channel, shop], threshold: 0.5}
""",
    "classes": """\
models:
  card: {classes: [a, b, c, d]}
  loan: {classes: [a, b, e]}
""",
    "learned": """\
models:
  card: {classes: learned}
""",
}


class Body(NamedTuple):
    """A body and how it is sent."""

    data: bytes
    kind: str = NDJSON
    path: str = "/v1/events"
    encoding: str = "identity"


def lines(template: str) -> bytes:
    """As many lines as fit, with their number in the place of #."""
    size = len(template.replace("#", "99999").encode("utf-8", "surrogateescape")) + 1
    count = min(MOST_RECORDS, MOST_BYTES // size)
    made = ((template.replace("#", str(number)) + "\n") for number in range(count))
    return "".join(made).encode("utf-8", "surrogateescape")


def array(template: str) -> bytes:
    """The lines as an array, without the last, for its brackets."""
    return b"[" + lines(template).removesuffix(b"\n").replace(b"\n", b",")[: MOST_BYTES - 2] + b"]"


def arrow(columns: dict[str, list[object]]) -> bytes:
    """A stream with these columns."""
    arrays = [pa.array(values) for values in columns.values()]
    batch = pa.record_batch(arrays, names=list(columns))
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, batch.schema) as writer:
        writer.write_batch(batch)
    return sink.getvalue().to_pybytes()


def events(template: str) -> Body:
    """CloudEvents in a batch."""
    return Body(array(template), EVENTS, "/v1/cloudevents")


def event(last: str, data: str) -> Body:
    """One CloudEvent with much data."""
    return Body(CLOUD.format(1, last, data).encode(), EVENT, "/v1/cloudevents")


DEEP = "[" * 31 + "]" * 31
CLOUD = '{{"specversion":"1.0","id":"{}","source":"s","type":"x.{}","data":{}}}'
MILLIONS = b"[" + b"1," * 4_194_000 + b"1]"
LINES: dict[str, tuple[str, str]] = {
    "not JSON: x": ("any", "x"),
    "not JSON: cut": ("any", '{"type":"prediction","id":"#","ts":0,"sco'),
    "not UTF-8": ("any", '{"id":"\udcff"}'),
    "number: 1": ("any", "1"),
    "object: {}": ("any", "{}"),
    "unknown type": ("any", '{"type":"x","id":"#"}'),
    "type is a list": ("any", '{"type":["x"],"id":"#"}'),
    "no id": ("any", '{"type":"prediction","ts":#}'),
    "label without id": ("any", '{"type":"label","ts":#,"label":1}'),
    "no label": ("any", '{"type":"label","ts":0,"id":"#"}'),
    "id is a list": ("any", '{"type":"label","id":["#"],"ts":0,"label":1}'),
    "score out of range": ("one", '{"type":"prediction","id":"#","ts":0,"score":#2}'),
    "score is text": ("one", '{"type":"prediction","id":"#","ts":0,"score":"x"}'),
    "label is 7": ("any", '{"type":"label","id":"#","ts":0,"label":7}'),
    "time is no time": ("any", '{"type":"label","id":"#","ts":"yesterday #","label":1}'),
    "time without zone": ("any", '{"type":"label","id":"#","ts":"2026-01-01T00:00:00","label":1}'),
    "times without zone": (
        "any",
        '{"ts":"2026-01-01T00:00:00","label_ts":"2026-01-01T00:00:01","label":1,"id":#}',
    ),
    "time in milliseconds": ("any", '{"type":"label","id":"#","ts":1700000000000,"label":1}'),
    "time in 2300": ("any", '{"type":"label","id":"#","ts":10413792000,"label":1}'),
    "time far ahead": ("any", '{"type":"label","id":"#","ts":7258032000,"label":1}'),
    "no type, id is a number": ("any", '{"id":#,"ts":0,"score":3}'),
    "lone surrogate": ("any", '{"type":"label","id":"\\ud800#","ts":0,"label":1}'),
    "many surrogates": (
        "any",
        '{"0":"\\ud800","1":"\\ud800","2":"\\ud800","3":"\\ud800","4":"\\ud800","5":"\\ud800"}',
    ),
    "nested": ("any", '{"a":' + DEEP + "}"),
    "nested id": ("any", '{"type":"label","id":' + DEEP + "}"),
    "key twice": ("any", '{"type":"label","id":"#","id":"b","ts":0,"label":7}'),
    "type twice": ("any", '{"type":"label","id":"#","ts":0,"label":1,"type":"counts"}'),
    "NaN in a field ignored": ("any", '{"type":"label","id":"#","ts":0,"label":1,"x":NaN}'),
    "long numbers": ("any", '{"ts":' + "9" * 70 + "}"),
    "long text": ("any", '{"type":"label","id":"","x":"' + "é" * 25 + '"}'),
    "model unknown": ("one", '{"type":"prediction","id":"1","ts":0,"score":1,"model":"#"}'),
    "model has NUL": (
        "any",
        '{"type":"prediction","id":"1","ts":0,"prediction":1,"model":"\\u0000#"}',
    ),
    "segment is a list": ("one", '{"type":"prediction","id":"#","ts":0,"score":1,"segment":[1]}'),
    "segment value is a list": (
        "one",
        '{"type":"prediction","id":"#","ts":0,"score":1,"segment":{"shop":[]}}',
    ),
    "counts without cells": ("any", '{"type":"counts","ts":#,"model":"a"}'),
    "counts without batch": (
        "any",
        '{"type":"counts","ts":0,"tp":1,"fp":1,"fn":1,"tn":1,"source":"#","model":"a"}',
    ),
    "prediction of no class": (
        "classes",
        '{"type":"prediction","id":"1","ts":0,"prediction":"#","model":"card"}',
    ),
    "label of no class": ("classes", '{"type":"label","id":"1","ts":0,"label":"#"}'),
    "scores of no class": (
        "classes",
        '{"type":"prediction","id":"1","ts":0,"model":"card","scores":{"x":#}}',
    ),
    "learned: bad class": ("learned", '{"type":"prediction","id":"1","ts":0,"prediction":0.5}'),
    "taken: ids are numbers": ("any", '{"id":#,"ts":0,"label":1}'),
    "taken: ids and classes are numbers": (
        "any",
        '{"id":#,"ts":0,"label":1.0,"prediction":0.0,"version":7}',
    ),
    "taken: odd times": (
        "any",
        '{"id":#,"ts":"20260101T0000Z","label_ts":"20260101T0000Z","label":1}',
    ),
    "taken: odd times, outcome": (
        "one",
        '{"id":#,"ts":"20260101T0000Z","label_ts":"20260101T0000Z","label":1,"score":1}',
    ),
    "taken: many models": (
        "any",
        '{"type":"prediction","id":"1","ts":0,"prediction":1,"model":"#"}',
    ),
    "taken: many versions": (
        "one",
        '{"type":"prediction","id":"1","ts":0,"score":1,"version":"#"}',
    ),
    "taken: many segments": (
        "one",
        '{"type":"prediction","id":"1","ts":0,"score":1,"segment":{"shop":"#"}}',
    ),
    "taken: each earlier than the last": (
        "one",
        '{"type":"prediction","id":"1","ts":-#,"score":1}',
    ),
    "taken: many times": (
        "any",
        '{"type":"outcome","ts":#0000,"prediction":1,"label":1,"model":"a"}',
    ),
    "taken: counts": ("any", '{"type":"counts","ts":#00,"tp":1,"fp":1,"fn":1,"tn":1,"model":"a"}'),
    "taken: learned classes": ("learned", '{"type":"prediction","id":"#","ts":0,"prediction":"#"}'),
}
"""The configuration and a line of each kind of body that is NDJSON."""
OTHERS: dict[str, tuple[str, Callable[[], Body]]] = {
    "array of {}": ("any", lambda: Body(array("{}"), JSON)),
    "array of 4 million 1": ("any", lambda: Body(MILLIONS, JSON)),
    "packed {}": (
        "any",
        lambda: Body(gzip.compress(lines("{}" + " " * 80)), encoding="gzip"),
    ),
    "feedback {}": ("any", lambda: Body(lines("{}"), path="/v1/feedback")),
    "feedback, not JSON": ("any", lambda: Body(lines("x"), path="/v1/feedback")),
    "feedback, bad label": (
        "any",
        lambda: Body(lines('{"id":#,"label":"x"}'), path="/v1/feedback"),
    ),
    "CloudEvents {}": ("any", lambda: events("{}")),
    "CloudEvents, 4 million 1": ("any", lambda: Body(MILLIONS, EVENTS, "/v1/cloudevents")),
    "CloudEvents, no data": (
        "any",
        lambda: events('{"specversion":"1.0","id":"#","source":"s","type":"t"}'),
    ),
    "CloudEvents, bad record": ("any", lambda: events(CLOUD.format("#", "label", '{"label":7}'))),
    "CloudEvents, bad base64": (
        "any",
        lambda: events('{"specversion":"1.0","id":"#","source":"s","type":"t","data_base64":"x"}'),
    ),
    "CloudEvents, one of many": (
        "any",
        lambda: event("label", "[" + ",".join(["{}"] * MOST_RECORDS) + "]"),
    ),
    "inference, bad responses": (
        "any",
        lambda: events(CLOUD.format("#", "inference.response", "{}")),
    ),
    "inference, bad rows": (
        "any",
        lambda: event(
            "inference.response", json.dumps({"predictions": [{"p": "x"}] * MOST_RECORDS})
        ),
    ),
    "Arrow, no id": (
        "any",
        lambda: Body(arrow({"ts": [0.0] * MOST_RECORDS, "label": [1] * MOST_RECORDS}), ARROW),
    ),
    "Arrow, bad label": (
        "any",
        lambda: Body(
            arrow(
                {
                    "id": list(map(str, range(MOST_RECORDS))),
                    "ts": [0.0] * MOST_RECORDS,
                    "label": ["x"] * MOST_RECORDS,
                }
            ),
            ARROW,
        ),
    ),
}


def kinds() -> dict[str, tuple[str, Callable[[], Body]]]:
    """The configuration of each kind of body, and how it is made."""

    def posted(template: str) -> Callable[[], Body]:
        return lambda: Body(lines(template))

    return {name: (models, posted(line)) for name, (models, line) in LINES.items()} | OTHERS


def measured(body: Body, models: str) -> tuple[float, float, str]:
    """CPU seconds of a request to a service of its own, seconds until the response, and it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = folder / "monitor.yaml"
        inference = INFERENCE if models == "any" else ""
        config.write_text(CONFIG.format(folder=folder, models=MODELS[models], inference=inference))
        command = [sys.executable, "-m", "monitor", "run", "-c", config]
        with (folder / "log").open("w") as log, subprocess.Popen(command, stderr=log) as process:
            try:
                _, feed = ports(folder / "log")
                url = f"http://127.0.0.1:{feed}"
                httpx.post(f"{url}/v1/events", content=b'{"type":"x"}')
                before = settled(process.pid)
                began = time.monotonic()
                headers = {"content-type": body.kind, "content-encoding": body.encoding}
                answer = httpx.post(url + body.path, content=body.data, headers=headers, timeout=60)
                took = time.monotonic() - began
                spent = settled(process.pid) - before
            finally:
                process.send_signal(signal.SIGKILL)
    return spent, took, f"{answer.status_code} {answer.text}"


def settled(process: int) -> float:
    """CPU seconds of a process once it does nothing any more."""
    seen = [process_seconds(process)]
    while len(seen) <= _PAUSES or seen[-1] - seen[-1 - _PAUSES] > 0.02:
        time.sleep(_PAUSE)
        seen.append(process_seconds(process))
    return seen[-1]


def report(chosen: list[str]) -> None:
    """Print the table."""
    for name, (models, make) in kinds().items():
        if not chosen or any(word in name for word in chosen):
            body = make()
            spent, took, answer = measured(body, models)
            sizes = f"{len(body.data) / 1e6:5.2f} MB"
            mark = "  over the goal" if spent > GOAL_SECONDS else ""
            print(
                f"{spent:5.2f} s CPU {took:5.2f} s {sizes}  {name}: {answer[:60]}{mark}", flush=True
            )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[], metavar="KIND")
    report(parser.parse_args().only)
