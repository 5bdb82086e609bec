"""Payloads of inference servers that CloudEvents carry: requests and their responses."""

import asyncio
import json

import httpx
import pytest
from cloudevents.core.bindings.http import to_binary_event
from feeds.http.cloud_events import PATH, PREDICTION, event, post, stored
from feeds.http.test_feed_events import checked

from monitor.config import Config
from monitor.config.inference import InferenceConfig
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.decode.settings import ModelFields
from monitor.feeds.http import inference_events as pairing

# What KServe's logger sends (pkg/logger/worker.go): binary events that reservation an id.
REQUEST = "org.kubeflow.serving.inference.request"
RESPONSE = "org.kubeflow.serving.inference.response"


def logged(feed, kind, payload, name="r1", **attributes):
    given = {"inferenceservicename": "fraud", "namespace": "prod", **attributes}
    message = to_binary_event(event(payload, id=name, type=kind, **given))
    return post(feed, message)


def v1(*rows):
    return {"predictions": list(rows)}


def v2(shape, data, name="p", **fields):
    tensor = {"name": name, "shape": shape, "datatype": "FP32", "data": data}
    return {"model_name": "fraud", "outputs": [tensor], **fields}


def config(**settings):
    return InferenceConfig(**settings)


SCORE_1 = {"score": {"index": 1}}


@pytest.mark.parametrize(
    ("settings", "payload", "expected"),
    [
        ({"score": {}}, v1(0.25), [{"score": 0.25}]),
        (SCORE_1, v1([0.75, 0.25]), [{"score": 0.25}]),
        (
            {
                "score": {"name": "proba", "index": 1},
                "prediction": {"name": "label", "positive": "bad"},
            },
            v1({"proba": [0.2, 0.8], "label": "bad"}, {"proba": [0.9, 0.1], "label": "good"}),
            [{"score": 0.8, "prediction": 1}, {"score": 0.1, "prediction": 0}],
        ),
        ({"prediction": {}}, v1(1, 0, 1.0, True), [{"prediction": p} for p in (1, 0, 1, True)]),
        (SCORE_1, v2([2, 2], [0.1, 0.9, 0.6, 0.4]), [{"score": 0.9}, {"score": 0.4}]),
        (SCORE_1, v2([2, 2], [[0.1, 0.9], [0.6, 0.4]]), [{"score": 0.9}, {"score": 0.4}]),
        ({"score": {"name": "p"}}, v2([2], [0.9, 0.4]), [{"score": 0.9}, {"score": 0.4}]),
        ({"score": {}}, v2([1, 1], [0.5], model_version="7"), [{"score": 0.5, "version": "7"}]),
        ({"score": {}}, v2([1, 1], [0.5], model_version=7), [{"score": 0.5, "version": "7"}]),
    ],
)
def test_a_response_is_a_prediction_a_row(make_feed, settings, payload, expected):
    feed = make_feed(inference=config(model="m", **settings))
    answer = logged(feed, RESPONSE, payload)
    assert answer.status_code == 200
    found = stored(feed)
    ids = ["r1"] if len(expected) == 1 else [f"r1/{row}" for row in range(len(expected))]
    assert [record.pop("id") for record in found] == ids
    assert {record.pop("type") for record in found} == {"prediction"}
    assert {record.pop("model") for record in found} == {"m"}
    assert [record.pop("ts") for record in found]
    assert found == expected


CLASSES = ("card", "loan", "other")


@pytest.mark.parametrize(
    ("scores", "payload"),
    [
        ({}, v2([2, 3], [0.1, 0.7, 0.2, 0.6, 0.3, 0.1])),
        ({"name": "p"}, v2([2, 3], [[0.1, 0.7, 0.2], [0.6, 0.3, 0.1]])),
        ({}, v1([0.1, 0.7, 0.2], [0.6, 0.3, 0.1])),
        ({"name": "proba"}, v1({"proba": [0.1, 0.7, 0.2]}, {"proba": [0.6, 0.3, 0.1]})),
    ],
)
def test_the_highest_of_the_scores_of_all_classes_is_predicted(make_feed, scores, payload):
    models = {"m": {"classes": CLASSES}}
    decoding = DecodeSettings.from_config(Config(models=models))
    feed = make_feed(decoding=decoding, inference=config(model="m", scores=scores))
    assert checked(logged(feed, RESPONSE, payload))["accepted"] == 2
    assert [one["scores"] for one in stored(feed)] == [[0.1, 0.7, 0.2], [0.6, 0.3, 0.1]]
    monitor = Monitor(Config(models=models))
    for posted in feed.intake.posted:
        monitor.apply(posted.batch)
    assert monitor.snapshot().models[0].classes["all"].predictions.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("payload", "detail"),
    [
        (v1(0.5), "nothing at the first tensor"),
        (
            v2([1, 2], [0.1, 0.9]),
            "scores: must have a finite number for each class, and no other",
        ),
    ],
)
def test_scores_that_are_not_those_of_all_classes_have_their_reason(make_feed, payload, detail):
    decoding = DecodeSettings.from_config(Config(models={"m": {"classes": CLASSES}}))
    feed = make_feed(decoding=decoding, inference=config(model="m", scores={}))
    answer = checked(logged(feed, RESPONSE, payload))
    assert answer["accepted"] == 0
    assert detail in answer["faults"][0]["detail"]


@pytest.mark.parametrize(
    "payload",
    [
        {},
        {"error": "boom"},
        v1({"other": 1}),
        v1([0.5]),
        v2([3, 2], [0.1]),
        v2("x", [0.1]),
        v1(None),
        [],
        5,
    ],
)
def test_a_response_without_a_score_has_its_reason(make_feed, payload):
    feed = make_feed(inference=config(**SCORE_1))
    answer = checked(logged(feed, RESPONSE, payload))
    assert answer["accepted"] == 0
    assert sum(answer["rejected"].values()) == 1


@pytest.mark.parametrize(
    ("settings", "detail"),
    [
        ({"score": {"name": "p", "index": 1}}, "nothing at index 1 of p"),
        ({"score": {"index": 1}}, "nothing at index 1 of the first tensor"),
        ({"prediction": {"name": "label"}}, "no 'label', only 'p'"),
        (
            {"score": {"name": "s"}, "prediction": {"name": "c"}},
            "no 's', only 'p' and no 'c', only 'p'",
        ),
    ],
)
def test_a_wrong_location_says_where_nothing_is(make_feed, settings, detail):
    feed = make_feed(threshold=0.5, inference=config(model="m", **settings))
    answer = checked(logged(feed, RESPONSE, v2([2], [0.9, 0.4])))
    assert answer["rejected"] == {"malformed": 1}
    assert detail in answer["faults"][0]["detail"]


def test_a_wrong_key_of_a_row_names_the_first_keys_that_are_there(make_feed):
    feed = make_feed(threshold=0.5, inference=config(model="m", score={"name": "p"}))
    row = {"proba": 0.5, **{f"feature {n}": n for n in range(9)}}
    answer = checked(logged(feed, RESPONSE, v1(row)))
    assert answer["faults"][0]["detail"] == (
        "inference response: no 'p', only 'proba', 'feature 0', 'feature 1', 'feature 2', "
        "'feature 3'"
    )


def test_a_response_alone_needs_no_request(make_feed):
    feed = make_feed(threshold=0.5, inference=config(score={}))
    assert checked(logged(feed, REQUEST, {"instances": [[1, 2]]}))["accepted"] == 0
    assert checked(logged(feed, RESPONSE, v1(0.5)))["accepted"] == 1
    assert stored(feed)[0]["model"] == "fraud", "the inference service"


FROM_REQUEST = {
    "score": {},
    "id": {"name": "transaction"},
    "segments": {"region": {"name": "region"}, "shop": {"name": "shop", "index": 1}},
}
ASKED_V1 = {
    "instances": [
        {"transaction": "t1", "region": "eu", "shop": [0, 7], "amount": 3},
        {"transaction": 12.0, "region": True, "shop": [1]},
    ]
}
ASKED_V2 = {
    "inputs": [
        {"name": "transaction", "shape": [2], "datatype": "BYTES", "data": ["t1", "12"]},
        {"name": "region", "shape": [2], "datatype": "BYTES", "data": ["eu", "true"]},
        {"name": "shop", "shape": [2, 2], "datatype": "INT64", "data": [[0, 7], [1, 8]]},
    ]
}


@pytest.mark.parametrize("asked", [ASKED_V1, ASKED_V2])
def test_a_request_gives_the_ids_and_segments_of_its_response(make_feed, asked):
    feed = make_feed(threshold=0.5, inference=config(**FROM_REQUEST))
    assert logged(feed, REQUEST, asked).status_code == 200
    answer = logged(feed, RESPONSE, v2([2], [0.9, 0.1]))
    assert checked(answer)["accepted"] == 2
    found = stored(feed)
    assert [record["id"] for record in found] == ["t1", "12"]
    assert found[0]["segment"] == {"region": "eu", "shop": "7"}
    assert found[1]["segment"]["region"] == "true"


def test_the_version_that_a_server_names_is_a_segment(make_feed):
    feed = make_feed(threshold=0.5, inference=config(score={}))
    logged(feed, RESPONSE, v2([1], [0.9], model_version="3"))
    decoder = Decoder(DecodeSettings(default=ModelFields(0.5, ("version",))))
    batch = decoder.decode_fields(stored(feed), position=str, record=lambda _: b"")
    assert [group.values for group in batch.groups] == [("3",)]


def both(feed, first, second):
    """Two posts, the second once the first is on its way."""

    async def ask():
        transport = httpx.ASGITransport(app=feed.app)
        async with httpx.AsyncClient(transport=transport, base_url="http://x") as client:
            messages = [to_binary_event(event(p, id="r1", type=k)) for k, p in (first, second)]
            posts = []
            for message in messages:
                post = client.post(PATH, content=message.body, headers=message.headers)
                posts.append(asyncio.create_task(post))
                await asyncio.sleep(0.05)
            return await asyncio.gather(*posts)

    return asyncio.run(ask())


def test_a_response_waits_for_its_request(make_feed):
    feed = make_feed(threshold=0.5, inference=config(**FROM_REQUEST))
    answers = both(feed, (RESPONSE, v2([2], [0.9, 0.1])), (REQUEST, ASKED_V1))
    assert [answer.json()["accepted"] for answer in answers] == [2, 0]
    assert [record["id"] for record in stored(feed)] == ["t1", "12"]


def test_a_response_whose_request_never_comes_is_counted_without_it(make_feed, monkeypatch):
    monkeypatch.setattr(pairing, "WAIT_SECONDS", 0.01)
    feed = make_feed(
        threshold=0.5, inference=config(score={}, segments={"region": {"name": "region"}})
    )
    answer = logged(feed, RESPONSE, v1(0.5))
    assert checked(answer)["accepted"] == 1
    assert "segment" not in stored(feed)[0]


def test_requests_are_forgotten_when_they_are_old_or_too_many(make_feed, monkeypatch):
    monkeypatch.setattr(pairing, "MAX_REQUEST_BYTES", 4_000)
    feed = make_feed(threshold=0.5, inference=config(**FROM_REQUEST))
    inference = feed.inference_events()
    for number in range(20):
        logged(feed, REQUEST, ASKED_V1, name=f"r{number}")
    assert 0 < len(inference._requests) < 10
    assert "r19" in inference._requests
    assert inference._size <= 4_000
    feed.clock.sleep(pairing.REQUEST_SECONDS + 1)
    logged(feed, REQUEST, ASKED_V1, name="last")
    assert list(inference._requests) == ["last"]


def test_without_configuration_payloads_are_refused(feed):
    answer = logged(feed, RESPONSE, v1(0.5))
    assert answer.status_code == 400
    assert "feeds[].inference" in checked(answer)["error"]


def test_a_payload_of_a_million_values_is_refused_before_it_is_read(make_feed):
    feed = make_feed(threshold=0.5, inference=config(score={}), max_bytes=10**7, budget=10**8)
    answer = logged(feed, RESPONSE, {"predictions": [0] * 1_200_000})
    assert sum(checked(answer)["rejected"].values()) == 1


@pytest.mark.parametrize(
    ("kind", "payload", "fault_text"),
    [
        (RESPONSE, {"x": 1}, "inference response: has neither predictions nor outputs"),
        (RESPONSE, PREDICTION, "inference response: has neither predictions nor outputs"),
        (REQUEST, {"x": 1}, "inference request: has neither instances nor inputs"),
        (REQUEST, [], "inference request: is not an object"),
    ],
)
def test_a_payload_that_cannot_be_read_has_its_reason(
    make_feed, monkeypatch, kind, payload, fault_text
):
    monkeypatch.setattr(pairing, "WAIT_SECONDS", 0.01)
    feed = make_feed(threshold=0.5, inference=config(**FROM_REQUEST))
    answer = checked(logged(feed, kind, json.dumps(payload).encode()))
    assert (answer["accepted"], answer["rejected"]) == (0, {"malformed": 1})
    assert answer["faults"][0]["detail"] == fault_text
