"""A feed answers any request as its OpenAPI document describes, and stored events can be scraped.

Requests are made from the OpenAPI document, fit and unfit ones; and bytes come besides,
under every type and encoding.
"""

import gzip
import json

import pytest
import zstandard
from feeds.http.conftest import Feed
from feeds.http.test_feed_events import checked
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus_client.parser import text_string_to_metric_families

from monitor.config.inference import InferenceConfig
from monitor.engine import Monitor
from monitor.prometheus.text import TextWriter

schemathesis = pytest.importorskip("schemathesis", reason="a package of the extra dev")
pytestmark = pytest.mark.dev("schemathesis")

INFERENCE = InferenceConfig(
    score={}, prediction={"name": "p"}, segments={"region": {"name": "region", "index": 1}}
)
FEED = Feed(inference=INFERENCE, budget=10**10, threshold=0.5)
SCHEMA = schemathesis.openapi.from_asgi("/openapi.json", FEED.app)
CHECKS = [schemathesis.checks.not_a_server_error]
FUZZ = settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))

TYPES = [
    "",
    "application/json",
    "application/x-ndjson",
    "application/cloudevents+json",
    "application/cloudevents-batch+json",
]
ENCODINGS = {"": bytes, "gzip": gzip.compress, "zstd": zstandard.compress}
NAMES = ["type", "id", "ts", "label", "prediction", "score", "segment", "specversion", "source"]
WORDS = st.sampled_from(
    ["prediction", "label", "outcome", "counts", "1.0", "a.inference.response", "predictions"]
)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats()
    | st.text(max_size=20)
    | WORDS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from([*NAMES, "data", "model", "outputs", "x"]), inner)
    ),
    max_leaves=12,
)
BODIES = st.binary(max_size=300) | st.lists(VALUES, max_size=4).map(
    lambda records: "\n".join(json.dumps(record) for record in records).encode()
)
ATTRIBUTES = st.dictionaries(
    st.sampled_from(["specversion", "id", "source", "type", "time", "inferenceservicename"]),
    WORDS | st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=300),
)


def scraped():
    """The events stored so far are counted, and the exposition parses."""
    if not FEED.intake.posted:
        return True
    monitor = Monitor()
    for posted in FEED.intake.posted:
        monitor.apply(posted.batch)
        posted.reservation.release()
    FEED.intake.posted.clear()
    text = TextWriter().write(monitor.snapshot(), openmetrics=False).decode()
    return list(text_string_to_metric_families(text))


@schemathesis.serializer("application/x-ndjson", "application/vnd.apache.arrow.stream")
def as_text(_, value):
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


@SCHEMA.parametrize()
@FUZZ
def test_generated_requests_are_answered_as_documented(case):
    answer = case.call()
    case.validate_response(answer, checks=CHECKS)
    if answer.status_code != 405:
        document = SCHEMA.raw_schema["paths"][case.path][case.method.lower()]["responses"]
        assert str(answer.status_code) in document
    assert scraped()


@given(
    path=st.sampled_from(["/v1/events", "/v1/feedback", "/v1/cloudevents"]),
    body=BODIES,
    kind=st.sampled_from(TYPES),
    encoded=st.tuples(st.sampled_from(list(ENCODINGS)), st.integers(0, 9)),
    attributes=ATTRIBUTES,
)
@settings(FUZZ, max_examples=70)
def test_any_bytes_are_answered_and_never_break_a_scrape(path, body, kind, encoded, attributes):
    encoding, honest = encoded
    packed = ENCODINGS[encoding](body) if honest else body
    headers = {"content-type": kind, "content-encoding": encoding}
    headers |= {f"ce-{name}": value for name, value in attributes.items()}
    answer = FEED.client.post(path, content=packed, headers=headers)
    assert answer.status_code in (200, 400, 413, 415)
    response = checked(answer)
    if answer.status_code == 200:
        stored = [posted.batch.records for posted in FEED.intake.posted]
        assert sum(stored) == response["accepted"] + sum(response["rejected"].values())
    assert scraped()
