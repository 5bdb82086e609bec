"""CloudEvents as their own library writes them."""

import base64
import json

import pytest
from cloudevents.core.bindings.http import to_binary_event, to_structured_event
from feeds.http.cloud_events import NOW, PATH, PREDICTION, event, post, stored
from feeds.http.test_feed_events import checked

BATCH = "application/cloudevents-batch+json"


@pytest.mark.parametrize("write", [to_binary_event, to_structured_event])
def test_an_event_carries_a_record(feed, write):
    assert checked(post(feed, write(event(PREDICTION))))["accepted"] == 1
    assert stored(feed) == [PREDICTION]


@pytest.mark.parametrize("write", [to_binary_event, to_structured_event])
def test_id_time_and_type_default_to_those_of_the_event(feed, write):
    assert checked(post(feed, write(event({"prediction": 1}))))["accepted"] == 1
    (record,) = stored(feed)
    assert (record["id"], record["type"], record["prediction"]) == ("e1", "prediction", 1)
    (posted,) = feed.intake.posted
    assert posted.batch.predictions.time.tolist() == [NOW * 1000]


def test_a_batch_has_many_events_and_invalid_ones_have_their_reason(feed):
    events = [json.loads(to_structured_event(event({"prediction": 1}, id=i)).body) for i in "ab"]
    body = json.dumps([*events, {"no": "event"}, {**events[0], "specversion": "0.3"}, 5])
    answer = checked(feed.client.post(PATH, content=body, headers={"content-type": BATCH}))
    assert answer["accepted"] == 2
    assert sum(answer["rejected"].values()) == 3
    assert [fault["line"] for fault in answer["faults"]] == [3, 4, 5]


def test_data_may_be_base64(feed):
    fields = json.loads(to_structured_event(event({})).body)
    fields["data_base64"] = base64.b64encode(json.dumps(PREDICTION).encode()).decode()
    fields.pop("data")
    headers = {"content-type": "application/cloudevents+json; charset=utf-8"}
    answer = feed.client.post(PATH, content=json.dumps(fields), headers=headers)
    assert checked(answer)["accepted"] == 1
    assert stored(feed) == [PREDICTION]


def test_a_binary_event_may_hold_a_list_of_records(feed):
    labels = json.dumps([{"id": i, "label": 1} for i in "abc"]).encode()
    assert checked(post(feed, to_binary_event(event(labels, type="label"))))["accepted"] == 3
    assert [record["id"] for record in stored(feed)] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("headers", "body", "fault_text"),
    [
        ({}, b"{}", "specversion must be 1.0"),
        ({"ce-specversion": "0.3", "ce-id": "a"}, b"{}", "specversion must be 1.0"),
        ({"ce-specversion": "1.0", "ce-id": "a", "ce-type": "t"}, b"{}", "source is missing"),
        ({"content-type": BATCH}, b"{}", "not a JSON array"),
        ({"content-type": BATCH}, b"[", "not a JSON array"),
        ({"content-type": "application/cloudevents+json"}, b"{", "not JSON"),
    ],
)
def test_a_request_that_is_not_a_cloudevent_is_400(feed, headers, body, fault_text):
    answer = feed.client.post(PATH, content=body, headers=headers)
    assert answer.status_code == 400
    assert fault_text in checked(answer)["error"]


def test_an_attribute_that_would_fill_every_line_is_400(feed):
    answer = post(feed, to_binary_event(event({}, id="x" * 257)))
    assert (answer.status_code, "id is too long" in answer.json()["error"]) == (400, True)


LABEL = {"name": "label", "positive": "bad"}
STRUCTURED = "application/cloudevents+json"


@pytest.mark.parametrize(
    ("changes", "fault_text"),
    [
        ({"specversion": "0.3"}, "is not a CloudEvent: specversion must be 1.0"),
        ({"source": ""}, "is not a CloudEvent: source is missing"),
        ({"data_base64": "e30"}, "data_base64 cannot be read: Incorrect padding"),
        ({"data_base64": 5}, "data_base64 cannot be read: Expected `str`, got `int`"),
        # what would be a record by itself is none as an event that is none
        ({**PREDICTION, "specversion": "0.3"}, "is not a CloudEvent: specversion must be 1.0"),
    ],
)
def test_an_invalid_structured_event_has_its_fault(feed, changes, fault_text):
    good = json.loads(to_structured_event(event(PREDICTION)).body)
    for body, kind, line in (
        (good | changes, STRUCTURED, 1),
        ([good, good | changes], BATCH, 2),
    ):
        headers = {"content-type": kind}
        answer = checked(feed.client.post(PATH, content=json.dumps(body), headers=headers))
        assert answer["accepted"] == line - 1
        assert answer["rejected"] == {"malformed": 1}
        (fault,) = answer["faults"]
        assert (fault["line"], fault["detail"]) == (line, fault_text)
