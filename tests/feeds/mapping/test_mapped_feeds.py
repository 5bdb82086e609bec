"""A mapping means the same on every feed: files, followed files, Kafka, HTTP, standard input."""

import json
import os

import pytest

from monitor.clock import ManualClock
from monitor.config import parse_config
from monitor.config.mapping import MappedRecords
from monitor.engine import Monitor
from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder, DecodeSettings, LiveDecoder, ModelFields
from monitor.feeds.kafka.messages import Messages, decode_messages
from monitor.feeds.mapping.mapped_lines import MappedLines, canonical_lines, lines_decoder
from monitor.feeds.standard_input import StandardInput
from monitor.report.replay_json import replay_json
from monitor.service.sources import open_sources

SETTINGS = DecodeSettings(models={"claims": ModelFields(None, ("region",))})
MAPPING = MappedRecords(
    fields={
        "id": "claim.id",
        "ts": "decided_at",
        "prediction": "decision",
        "label": "outcome",
        "model": {"value": "claims"},
        "segment.region": "addr.region",
    },
    values={
        "prediction": {"positive": ["deny"], "negative": ["pay"]},
        "label": {"positive": ["fraud"], "negative": ["ok"], "missing": ["", "pending"]},
    },
    time={"zone": "Europe/Berlin", "unit": "ms"},
)
RECORDS = [
    {
        "claim": {"id": number},
        "decided_at": 1_790_000_000_000 + 60_000 * number,
        "decision": ("deny", "pay")[number % 2],
        "outcome": ("fraud", "ok", "pending")[number % 3],
        "addr": {"region": ("eu", "us")[number % 2]},
    }
    for number in range(12)
]
EVENTS = [
    {
        "type": "outcome",
        "id": str(number),
        "ts": 1_790_000_000 + 60 * number,
        "prediction": 1 - number % 2,
        "label": (1, 0, None)[number % 3],
        "model": "claims",
        "segment": {"region": ("eu", "us")[number % 2]},
    }
    for number in range(12)
]
CONFIG = """\
models: {claims: {segments: [region]}}
feeds:
  - type: file
    path: PATH
    follow: FOLLOW
    fields: {id: claim.id, ts: decided_at, prediction: decision, label: outcome,
             model: {value: claims}, segment.region: addr.region}
    values: {prediction: {positive: [deny], negative: [pay]},
             label: {positive: [fraud], negative: [ok], missing: ["", pending]}}
    time: {zone: Europe/Berlin, unit: ms}
"""


def lines(records):
    return "".join(f"{json.dumps(record)}\n" for record in records).encode()


def counted(*batches):
    monitor = Monitor(parse_config("models: {claims: {segments: [region]}}", "monitor.yaml"))
    for batch in batches:
        monitor.apply(batch)
    return replay_json(monitor.snapshot())


EXPECTED = counted(Decoder(SETTINGS).decode_lines(lines(EVENTS), source=""))


def test_lines_are_decoded_as_the_events_that_they_stand_for():
    found = MappedLines(Decoder(SETTINGS), MAPPING).decode_lines(lines(RECORDS), source="")
    assert found.rejected == ()
    assert counted(found) == EXPECTED


def test_a_live_decoder_is_mapped_by_the_settings_in_force():
    live = LiveDecoder(DecodeSettings(models={"other": ModelFields()}))
    mapped = MappedLines(live, MAPPING)
    assert len(mapped.decode_lines(lines(RECORDS), source="").rejected) == len(RECORDS)
    live.replace(SETTINGS)
    assert counted(mapped.decode_lines(lines(RECORDS), source="")) == EXPECTED


def test_without_a_mapping_the_decoder_itself_is_used():
    decoder = Decoder(SETTINGS)
    assert lines_decoder(decoder, None) is decoder
    assert lines_decoder(decoder, MappedRecords()) is decoder


def test_a_message_of_kafka_is_mapped():
    values = [json.dumps(RECORDS[0]).encode(), json.dumps(RECORDS[1:]).encode()]
    messages = Messages("claims", 0, [5, 6], values, 0, 7, sum(map(len, values)))
    decoder = MappedLines(Decoder(SETTINGS), MAPPING)
    assert counted(decode_messages([messages], decoder)) == EXPECTED
    bad = Messages("claims", 0, [5, 6], [b"{}", b"no JSON"], 0, 7, 9)
    found = decode_messages([bad], decoder).rejected
    assert [(r.position, str(r.reason)) for r in found] == [
        ("claims[0]@5", "missing_field"),
        ("claims[0]@6", "malformed"),
    ]


def test_standard_input_is_mapped():
    reading, writing = os.pipe()
    with os.fdopen(writing, "wb") as pipe:
        pipe.write(lines(RECORDS))
    source = StandardInput(MappedLines(Decoder(SETTINGS), MAPPING), reading)
    batches = []
    while not source.ended:
        batches.append(source.poll() or EventBatch())
    os.close(reading)
    assert counted(*batches) == EXPECTED


@pytest.mark.parametrize("follow", [False, True])
def test_a_configured_file_is_mapped(tmp_path, follow):
    path = tmp_path / "claims.ndjson"
    path.write_bytes(lines(RECORDS))
    text = CONFIG.replace("PATH", str(path)).replace("FOLLOW", str(follow).lower())
    config = parse_config(text, "monitor.yaml")
    (source,) = open_sources(config, Decoder(SETTINGS), ManualClock(1_790_001_000), pytest.fail)
    batches = [source.poll() for _ in range(3)]
    assert counted(concatenate([batch for batch in batches if batch is not None])) == EXPECTED
    source.close()


def test_records_become_lines_with_the_names_of_events():
    found = canonical_lines(lines(RECORDS) + b"no JSON\n[1]\n", MAPPING, Decoder(SETTINGS))
    batch = Decoder(SETTINGS).decode_lines(found, source="f")
    usable = b"".join(found.splitlines(keepends=True)[:-2])
    assert counted(Decoder(SETTINGS).decode_lines(usable, source="")) == EXPECTED
    assert [str(r.reason) for r in batch.rejected] == ["malformed", "malformed"]


def test_odd_records_are_rejected_with_the_reason_of_the_field():
    odd = [
        {**RECORDS[0], "decision": "wait"},
        {**RECORDS[0], "outcome": "unknown"},
        {**RECORDS[0], "decided_at": "yesterday"},
        {**RECORDS[0], "claim": 7},
        [1],
    ]
    found = MappedLines(Decoder(SETTINGS), MAPPING).decode_lines(lines(odd), source="f")
    assert [(r.position, r.detail) for r in found.rejected] == [
        ("f:1", 'prediction: must be 0, 1, true or false, got "wait"'),
        ("f:2", 'label: must be 0, 1, true, false or null, got "unknown"'),
        ("f:3", 'ts: must be epoch seconds or ISO 8601 with Z or an offset, got "yesterday"'),
        ("f:5", "record: must be a JSON object, got [1]"),
    ]
    assert found.records == 5


def test_posted_records_count_towards_the_warning_of_a_value_that_never_comes():
    decoder = Decoder(SETTINGS)
    values = {"label": {"positive": ["fraude"]}}
    mapping = MappedRecords(fields={"ts": "time"}, values=values)
    canonical_lines(b'{"id":"a","time":1,"label":"fraud"}\n', mapping, decoder)
    assert list(decoder.class_tally.faults()) == [
        "label: no record has the positive value 'fraude'; records have 'fraud'"
    ]
