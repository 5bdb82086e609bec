"""Accepted bodies of all formats, and the responses to them."""

import gzip
import json

import jsonschema
import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st
from starlette.routing import Route

from monitor.config import Config
from monitor.config.counting_settings import counting_settings
from monitor.config.mapping import MappedRecords
from monitor.errors import MonitorError
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.http.feed_settings import SETTINGS_HEADER, STATE_HEADER
from monitor.feeds.http.json_bodies import event_lines
from monitor.feeds.http.openapi import DOCUMENT
from monitor.feeds.http.record_limit import MAX_RECORDS
from monitor.feeds.http.responses import MAX_FAULTS, RefusedError
from monitor.feeds.http.senders import SENDER_HEADER

NOW = 1_700_000_000
PREDICTION = {"type": "prediction", "id": "a", "ts": NOW, "prediction": 1}
LABEL = {"type": "label", "id": "a", "ts": NOW + 60, "label": 0}
BOTH = [PREDICTION, LABEL]
NDJSON = "".join(json.dumps(event) + "\n" for event in BOTH).encode()

json_values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


def checked(answer):
    """The JSON of a response, validated against the OpenAPI document."""
    path = answer.request.url.path
    responses = DOCUMENT["paths"][path]["post"]["responses"]
    schema = responses[str(answer.status_code)]["content"]["application/json"]["schema"]
    jsonschema.validate(answer.json(), {**schema, "components": DOCUMENT["components"]})
    return answer.json()


@pytest.mark.parametrize(
    ("body", "kind"),
    [
        (NDJSON, "application/x-ndjson"),
        (NDJSON.rstrip(b"\n"), "application/x-ndjson; charset=utf-8"),
        (NDJSON.replace(b"\n", b"\r\n"), "text/plain"),
        (b"\xef\xbb\xbf" + NDJSON, "application/jsonl"),
        (NDJSON, "application/x-www-form-urlencoded"),
        (NDJSON, "application/json"),
        (NDJSON, ""),
        (json.dumps(BOTH).encode(), "application/json"),
        (json.dumps(BOTH, indent=2).encode(), "APPLICATION/JSON"),
        (b"\n " + json.dumps(BOTH).encode(), "application/octet-stream"),
    ],
)
def test_events_are_accepted_in_every_format(feed, body, kind):
    answer = feed.post(body, content_type=kind)
    assert answer.status_code == 200
    assert checked(answer) == {"accepted": 2, "rejected": {}, "faults": []}
    assert [json.loads(line) for line in feed.intake.lines.splitlines()] == BOTH


@pytest.mark.parametrize("indent", [None, 1])
def test_one_object_is_one_event(feed, indent):
    assert checked(feed.post(json.dumps(LABEL, indent=indent)))["accepted"] == 1
    assert feed.intake.lines.count(b"\n") == 1


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", gzip.compress(NDJSON, mtime=0)),
        ("gzip", gzip.compress(NDJSON[:50], mtime=0) + gzip.compress(NDJSON[50:], mtime=0)),
        ("zstd", zstandard.compress(NDJSON)),
        ("zstd", zstandard.ZstdCompressor(write_content_size=False).compress(NDJSON)),
        ("zstd", zstandard.compress(NDJSON[:50]) + zstandard.compress(NDJSON[50:])),
    ],
)
def test_a_compressed_body_is_decompressed(feed, encoding, body):
    answer = feed.post(body, content_encoding=encoding)
    assert checked(answer)["accepted"] == 2
    assert feed.intake.lines == NDJSON


@pytest.mark.parametrize("body", [b"", b"\n\n", b"[]"])
def test_a_body_without_events_is_accepted_and_releases_its_memory(feed, body):
    assert checked(feed.post(body))["accepted"] == 0
    assert feed.intake.posted == []
    assert feed.budget.left == 400_000


def test_rejected_records_are_counted_by_reason_with_their_line(feed):
    body = NDJSON + b'no json\n\n{"type":"label"}\n'
    answer = checked(feed.post(body))
    assert answer["accepted"] == 2
    assert answer["rejected"] == {"malformed": 1, "missing_field": 1}
    assert [(fault["line"], fault["reason"]) for fault in answer["faults"]] == [
        (3, "malformed"),
        (5, "missing_field"),
    ]
    (posted,) = feed.intake.posted
    assert posted.batch.rejected[0].position == "feed/v1/events:3"


def test_a_name_that_is_no_class_is_answered_with_the_classes_and_the_line_to_configure(make_feed):
    config = Config(models={"mail": {"classes": ["card", "loan", "other"]}})
    event = {"id": "a", "ts": NOW, "model": "mail", "prediction": "cash"}
    label = {"type": "label", "id": "a", "ts": NOW, "label": "cash"}
    lines = [{"type": "prediction", **event}, label]
    body = "".join(json.dumps(line) + "\n" for line in lines).encode()
    answer = checked(make_feed(decoding=DecodeSettings.from_config(config)).post(body))
    assert (answer["accepted"], answer["rejected"]) == (0, {"bad_value": 2})
    line = "if it is a class, configure classes: [card, loan, other, cash]"
    assert [fault["detail"] for fault in answer["faults"]] == [
        f"prediction: must be 'card', 'loan' or 'other', got \"cash\"; {line}",
        f"label: must be 'card', 'loan', 'other' or null, got \"cash\"; {line}",
    ]


def test_the_faults_in_an_answer_are_the_first_few(feed):
    answer = checked(feed.post(b"x\n" * 100, content_type="application/x-ndjson"))
    assert answer["rejected"] == {"malformed": 100}
    assert [fault["line"] for fault in answer["faults"]] == list(range(1, MAX_FAULTS + 1))


def test_an_event_more_than_an_hour_ahead_of_the_clock_is_rejected(feed):
    late = {**LABEL, "ts": NOW + 3_601}
    assert checked(feed.post(json.dumps([LABEL, late])))["rejected"] == {
        "timestamp_out_of_range": 1
    }
    feed.clock.sleep(2)
    assert checked(feed.post(json.dumps(late)))["rejected"] == {}
    assert [posted.arrival_ms for posted in feed.intake.posted] == [
        NOW * 1000,
        NOW * 1000 + 2000,
    ]


def test_feedback_needs_only_id_and_label(feed):
    body = b'{"id":"a","label":1}\n{"id":"b","label":null,"ts":5}\n'
    assert checked(feed.post(body, "/v1/feedback"))["accepted"] == 2
    assert [json.loads(line) for line in feed.intake.lines.splitlines()] == [
        {"type": "label", "id": "a", "label": 1, "ts": NOW},
        {"type": "label", "id": "b", "label": None, "ts": 5},
    ]


def test_rejected_feedback_has_its_reason(feed):
    body = b'{"id":"a"}\n[1]\nx\n'
    answer = checked(feed.post(body, "/v1/feedback", content_type="application/x-ndjson"))
    assert answer["rejected"] == {"missing_field": 1, "malformed": 2}
    assert [fault["line"] for fault in answer["faults"]] == [1, 2, 3]


@pytest.mark.parametrize("body", [b"[1, 2", b"[{}] x", b"[" * 5000, b"hello", b"12", b'"a"'])
def test_a_body_without_any_json_object_is_400(feed, body):
    answer = feed.post(body, content_type="application/json")
    assert answer.status_code == 400
    checked(answer)
    assert feed.intake.posted == []


@pytest.mark.parametrize(
    ("encoding", "packed"),
    [("gzip", gzip.compress(NDJSON, mtime=0)), ("zstd", zstandard.compress(NDJSON))],
)
def test_a_damaged_compressed_body_is_400(feed, encoding, packed):
    for body in (packed[:-3], b"plain", packed[:20] + b"x" * 20, packed + b"rest"):
        answer = feed.post(body, content_encoding=encoding)
        assert answer.status_code == 400
        assert encoding in checked(answer)["error"]


@pytest.mark.parametrize(
    "headers",
    [
        {"content_type": "multipart/form-data"},
        {"content_type": "text/csv"},
        {"content_encoding": "br"},
        {"content_encoding": "gzip, gzip"},
    ],
)
def test_another_type_or_encoding_is_415(feed, headers):
    answer = feed.post(NDJSON, **headers)
    assert answer.status_code == 415
    checked(answer)


@pytest.mark.parametrize(
    "body", [b"x\n" * (MAX_RECORDS + 1), b"[" + b"{}," * (2 * MAX_RECORDS + 1)]
)
def test_too_many_records_are_413(make_feed, body):
    feed = make_feed(max_bytes=10**6, budget=10**9)
    answer = feed.post(body, content_type="application/x-ndjson" if body[0] != 91 else "")
    assert answer.status_code == 413
    assert "records" in checked(answer)["error"]


def test_the_routes_are_those_of_the_document(feed):
    assert feed.client.get("/openapi.json").json() == DOCUMENT
    routes = {route.path for route in feed.app.routes if isinstance(route, Route)}
    assert routes - {"/openapi.json"} == set(DOCUMENT["paths"])


def test_the_health_probe_succeeds_while_no_events_are_accepted(feed):
    feed.intake.ready = False
    assert feed.client.get("/healthz").status_code == 200


@given(events=st.lists(st.dictionaries(st.text(), json_values), max_size=5))
@settings(max_examples=30, deadline=None)
def test_an_array_is_the_same_as_its_lines(events):
    array = event_lines(json.dumps(events, indent=1).encode(), "application/json")
    lines = "".join(json.dumps(event) + "\n" for event in events).encode()
    assert [json.loads(line) for line in array.splitlines()] == events
    decoder = Decoder(DecodeSettings())
    found = [decoder.decode_lines(data, source="x") for data in (array, lines)]
    assert [r.reason for r in found[0].rejected] == [r.reason for r in found[1].rejected]


@given(body=st.binary(max_size=200), kind=st.sampled_from(["", "application/x-ndjson"]))
@settings(max_examples=100, deadline=None)
def test_any_bytes_are_lines_or_refused(body, kind):
    try:
        lines = event_lines(body, kind)
    except (RefusedError, MonitorError) as error:
        lines = b""
        assert 400 <= error.status < 500  # noqa: PT017  # either is fine
    assert lines == b"" or lines.endswith(b"\n")
    Decoder(DecodeSettings()).decode_lines(lines, source="x")


def test_posted_records_are_mapped(make_feed):
    mapping = MappedRecords(
        fields={"id": "claim.id", "ts": "at", "prediction": "decision", "label": "fraud"},
        values={"prediction": {"positive": ["deny"]}},
        time={"unit": "ms"},
    )
    feed = make_feed(mapping=mapping)
    record = {"claim": {"id": 7}, "at": NOW * 1000, "decision": "deny", "fraud": 1}
    odd = {"claim": {"id": 8}, "at": NOW * 1000, "decision": "deny", "fraud": "maybe"}
    answer = feed.client.post("/v1/events", json=[record, odd]).json()
    assert (answer["accepted"], answer["rejected"]) == (1, {"bad_value": 1})
    stored = [json.loads(line) for line in feed.intake.lines.splitlines()]
    assert stored[0] == {
        "type": "outcome", "id": "7", "ts": NOW, "prediction": 1, "label": 1,
    }  # fmt: skip


def test_a_process_of_a_shard_is_refused_once_another_one_sends(make_feed):
    feed = make_feed(state_id="abc")

    def sent(sender):
        headers = {SENDER_HEADER: sender, "Content-Type": "application/x-ndjson"}
        return feed.client.post("/v1/events", content=NDJSON, headers=headers)

    named = ["s1 a", "s1 a", "s2 a", "s1 b", "s1 a", "s1 b", "s2 a", ""]
    answers = [sent(sender) for sender in named]
    assert [one.status_code for one in answers] == [200, 200, 200, 200, 409, 200, 200, 200]
    assert "its state directory was copied" in checked(answers[4])["error"]
    assert answers[4].headers[STATE_HEADER] == "abc"
    assert len(feed.intake.posted) == 7


def test_answers_name_the_state_and_the_settings_by_which_events_count(make_feed):
    counting = counting_settings(Config(pane="5m", models={"a": {"segments": ["k"]}}))
    feed = make_feed(state_id="abc", counting=counting)
    named = {STATE_HEADER: "abc", SETTINGS_HEADER: counting.digest}
    answer = feed.post(NDJSON)
    other = feed.client.post("/v1/events", content=b"", headers={STATE_HEADER: "?"})
    assert (answer.status_code, other.status_code) == (200, 412)
    for each in (answer, other):
        assert {name: each.headers.get(name) for name in named} == named
    assert checked(other)["settings"] == counting.values
    assert len(feed.intake.posted) == 1
