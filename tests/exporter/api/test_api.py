"""The API over a real monitor: the same numbers as /metrics, replay and diagnose."""

import json
from contextlib import contextmanager

import httpx
import jsonschema
import numpy as np
import pytest
from cli.commands import ran
from prometheus.snapshots import snapshot as made_up
from prometheus_client.parser import text_string_to_metric_families
from streams import flights_of

from monitor.demo.flights import MODEL, flights_config
from monitor.engine import Monitor
from monitor.exporter.api.series import SeriesContext, series_answer
from monitor.exporter.api.series_answer import MetricSeries
from monitor.exporter.app import create_app
from monitor.feeds import files
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.labels.regime import LabelRegime
from monitor.report.answer_parts import MetricIntervals
from monitor.report.diagnosis_answer import ComparedSide
from monitor.report.vocabulary import JSON_METRICS
from monitor.web.server import BackgroundServer

JULY, SEPTEMBER = "2013-07", "2013-09-01..2013-10-01"
JUNE, END = 1_371_686_400, 1_380_672_000
API = "/api/v1"


@pytest.fixture(
    scope="module",
    params=[JUNE, pytest.param(0, marks=pytest.mark.slow)],
    ids=["since June", "since the first"],
)
def since(request):
    """Event time of the first flight."""
    return request.param


@pytest.fixture(scope="module")
def recorded(since, tmp_path_factory):
    """The flights up to 2 October, as a file."""
    path = tmp_path_factory.mktemp("flights") / "flights.ndjson"
    events = [event for event in flights_of(since, END) if event["ts"] < END]
    path.write_text("".join(f"{json.dumps(event)}\n" for event in events))
    return path


@pytest.fixture(scope="module")
def fed(recorded):
    config = flights_config()
    monitor = Monitor(config)
    for batch in files.read([recorded], Decoder(DecodeSettings.from_config(config))):
        monitor.apply(batch)
    return monitor


@pytest.fixture(scope="module")
def client(fed):
    state = fed.snapshot()
    app = create_app(lambda: state, ready=lambda: True, read_engine=lambda read: read(fed))
    with served(app) as client:
        yield client


@contextmanager
def served(app):
    with BackgroundServer(app) as server, httpx.Client(base_url=server.url) as client:
        yield client


def got(client, path, **query):
    answer = client.get(f"{API}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_status_has_the_numbers_of_the_series(client):
    (model,) = got(client, "status")["models"]
    families = text_string_to_metric_families(client.get("/metrics").text)
    samples = {
        (s.name, s.labels.get("window"), s.labels.get("outcome")): s.value
        for family in families
        for s in family.samples
        if s.labels.get("model") == MODEL and "segment" not in s.labels
    }
    series_of = {
        "precision": "classifier_precision",
        "balanced_precision": "classifier_balanced_precision",
        "recall": "classifier_recall",
        "false_positive_rate": "classifier_false_positive",
        "prevalence": "classifier_prevalence",
    }
    for window, shown in model["windows"].items():
        for metric, name in series_of.items():
            for end, suffix in {"estimate": "", "lower": "_lower", "upper": "_upper"}.items():
                served = samples[f"{name}{suffix}_ratio", window, None]
                assert shown["metrics"][metric][end] == pytest.approx(served, rel=1e-12)
        for cell, count in shown["outcomes"].items():
            assert samples["classifier_window_outcomes", window, cell] == count


def test_a_comparison_is_what_diagnose_says_of_the_recorded_events(client, recorded, capsys):
    segments = "origin,carrier,part_of_day"
    words = ["--before", JULY, "--after", SEPTEMBER, "--segments", segments, "--json"]
    done = ran(capsys, "diagnose", "--feed", recorded, "-c", "config/flights.yaml", *words)
    live = got(client, "diagnosis", before=JULY, after=SEPTEMBER)
    of_feed = json.loads(done.out)
    of_days, of_weeks = (one.pop("scores")["before"] for one in (of_feed, live))
    of_values = [
        {(part["segment"], part["value"]): part.pop("curve", None) for part in one["segments"]}
        for one in (of_feed, live)
    ]
    *live["notes"], weeks = live["notes"]
    assert live == of_feed
    assert weeks.startswith(
        "scores of before that are older than 62 days are those of whole weeks (UTC, from Thursday "
        "on): 2013-07-04T00:00:00Z..2013-08-01T00:00:00Z, "
    )
    assert (of_days["days"], of_weeks["days"]) == (31, 4)
    for one, curve in of_values[0].items():  # of the whole weeks, from wider bins
        for side in ("scores_before", "scores_after"):
            assert 0.6 * curve[side] <= of_values[1][one][side] <= curve[side]
    assert of_weeks["roc_auc"]["estimate"] == pytest.approx(
        of_days["roc_auc"]["estimate"], abs=0.01
    )
    assert of_feed["below_reference_curve"] is None  # neither rate certainly moved
    assert live["change"]["points"] == pytest.approx(-0.234, abs=0.001)
    assert live["attribution"]["prevalence"]["points"] == pytest.approx(-0.234, abs=0.01)


def test_without_ranges_the_window_that_decides_is_compared_with_the_reference(client):
    found = got(client, "diagnosis")
    (model,) = got(client, "status")["models"]
    window = model["windows"][model["verdict_window"]]
    assert [found["after"][end] for end in ("open", "close")] == [window["open"], window["close"]]
    assert found["after"]["outcomes"] == window["outcomes"]
    assert found["before"]["outcomes"] == model["reference"]["outcomes"]
    assert found["main_driver"]["cause"] == window["judgement"]["main_driver"]["cause"]
    assert (found["verdict"], found["verdict_because"]) == (
        window["verdict"],
        window["verdict_because"],
    )
    for cause, part in window["attribution"]["causes"].items():
        for number, value in part.items():
            assert found["attribution"][cause][number] == pytest.approx(value, rel=0.02, abs=5e-3)


def test_a_diagnosis_can_be_read_as_text(client):
    query = {"before": JULY, "after": SEPTEMBER}
    answer = client.get(f"{API}/diagnosis", params=query, headers={"Accept": "text/plain"})
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.text.startswith("Precision fell .457 → .223:")


def test_a_series_by_days_adds_up_to_what_was_counted(client, fed):
    found = got(client, "series", step="1d")
    assert found["step_seconds"] == 86_400
    history = fed.history(MODEL).cells
    assert sum(found["predictions"]) == history[:, 4:].sum()
    assert [sum(found["outcomes"][cell]) for cell in ("tp", "fp", "fn", "tn")] == (
        history[:, :4].sum(axis=0).tolist()
    )
    first = {cell: counts[0] for cell, counts in found["outcomes"].items()}
    precision = found["metrics"]["precision"]
    assert precision["estimate"][0] == first["tp"] / (first["tp"] + first["fp"])
    assert precision["lower"][0] < precision["estimate"][0] < precision["upper"][0]


def test_what_is_not_mature_has_no_metric_and_keeps_its_counts(client):
    found = got(client, "series", step="1h")
    young = [i for i, moment in enumerate(found["open"]) if moment >= found["mature_until"]]
    assert young
    assert all(found["metrics"]["recall"]["estimate"][i] is None for i in young)
    assert any(found["predictions"][i] for i in young)


def test_the_class_ratio_from_predictions_is_left_out_where_its_record_is_poor(client, fed, since):
    found = got(client, "series", step="7d")
    assert set(found["class_ratio_from_predictions"]) == {None}
    context = SeriesContext(
        model=MODEL,
        regime=LabelRegime(),
        mature_until=END * 1000,
        reference=fed.snapshot().models[0].watched.reference.counts,
    )
    with_it = series_answer(fed.history(MODEL), context, step=7 * 86_400_000)
    labelled = np.array(with_it.metrics.class_ratio.estimate, float)
    guessed = np.array(with_it.class_ratio_from_predictions, float)
    both = np.isfinite(labelled) & np.isfinite(guessed)
    assert both.sum() > (7 if since == JUNE else 10)
    assert np.corrcoef(np.log(labelled[both]), np.log(guessed[both]))[0, 1] > 0.6


def test_an_estimate_is_withheld_where_the_counted_window_ends_later(client):
    window = got(client, "status")["models"][0]["windows"]["7d"]
    assert window["nowcast"]["close"] <= window["close"]
    for name in ("prevalence", "precision"):
        rate = window["nowcast"][name]
        assert rate["withheld"] == "labels_reach_as_far"
        assert (rate["estimate"], rate["lower"], rate["upper"]) == (None, None, None)
        assert rate["comparisons"] > 20
        assert "its mature labels reach further than the last whole day" in rate["rests_on"]


def test_the_curve_goes_through_what_each_threshold_gives(client, fed):
    found = got(client, "curve", before=JULY, after=SEPTEMBER)
    scores = fed.scores(MODEL, 1_377_993_600_000, 1_380_585_600_000)
    middle = len(found["threshold"]) // 2
    counts = scores.counts[round(found["threshold"][middle] * scores.bins)]
    assert found["recall"][middle] == pytest.approx(counts.tp / counts.actual_positive)
    assert found["precision"][middle] == pytest.approx(counts.tp / counts.predicted_positive)
    assert found["objective"] == pytest.approx(0.4566, abs=1e-4)
    assert found["choice"]["precision"]["estimate"] >= found["objective"]
    assert found["choice"]["recall"]["estimate"] < 0.5


@pytest.mark.parametrize(
    ("path", "query", "status", "reported"),
    [
        ("series", {"model": "nobody"}, 404, "no such model, got 'nobody'"),
        ("series", {"model": MODEL[:-1]}, 404, f"; did you mean {MODEL!r}?"),
        ("series", {"step": "2h"}, 400, "step: must be one of 1h, 6h, 1d, 7d, 28d, 364d, got '2h'"),
        ("status", {"limit": "-1"}, 400, "limit: must be a whole number up to 1000, got '-1'"),
        ("status", {"offset": "٣"}, 400, "offset: must be"),
        ("diagnosis", {"before": "x"}, 400, "before: must be a range, got 'x'"),
        ("diagnosis", {"after": "2013-07-01T00:30:00Z..2013-07-02"}, 400, "whole hours"),
        ("diagnosis", {"before": JULY, "after": JULY}, 400, "before and after: overlap by 31d"),
        ("diagnosis", {"before": SEPTEMBER, "after": JULY}, 400, "swap them"),
        ("diagnosis", {"before": "1950", "after": JULY}, 400, "before: must be a range"),
        ("diagnosis", {"before": "1950-01", "after": JULY}, 400, "further back"),
        ("diagnosis", {"before": JULY, "after": "2014-07"}, 400, "nothing was predicted"),
    ],
)
def test_an_error_names_what_is_allowed(client, path, query, status, reported):
    answer = client.get(f"{API}/{path}", params=query)
    assert answer.status_code == status
    assert reported in answer.json()["error"]


def schema_of(document, path, status):
    """The schema of an answer, in which no object may have a key that it does not name."""
    answer = document["paths"][f"{API}/{path}"]["get"]["responses"][str(status)]
    schemas = {
        name: {**schema, "additionalProperties": False} if "properties" in schema else schema
        for name, schema in document["components"]["schemas"].items()
    }
    return {"components": {"schemas": schemas}, **answer["content"]["application/json"]["schema"]}


def test_every_answer_is_what_the_document_says(client):
    document = client.get("/openapi.json").json()
    for path, query in {
        "status": {},
        "series": {},
        "diagnosis": {"before": JULY, "after": SEPTEMBER},
        "curve": {},
    }.items():
        jsonschema.validate(got(client, path, **query), schema_of(document, path, 200))
        error = client.get(f"{API}/{path}", params={"model": "nobody", "limit": "x"})
        assert error.status_code in (400, 404)
        jsonschema.validate(error.json(), schema_of(document, path, error.status_code))


def test_every_field_of_the_document_has_a_description(client):
    schemas = client.get("/openapi.json").json()["components"]["schemas"]
    assert {"StatusAnswer", "SeriesAnswer", "DiagnosisAnswer", "CurveAnswer"} <= set(schemas)
    for name, schema in schemas.items():
        assert schema["description"], name
        for field, described in schema.get("properties", {}).items():
            assert described.get("description"), f"{name}.{field}"


def test_the_answers_hold_the_metrics_of_the_vocabulary():
    assert MetricIntervals.__struct_fields__ == JSON_METRICS
    assert MetricSeries.__struct_fields__ == JSON_METRICS
    period = ("open", "close", "source", "predictions", "predicted_positive_rate", "outcomes")
    own = (*period, "if_labels_wrong")
    assert ComparedSide.__struct_fields__ == (*own, *JSON_METRICS)


def test_what_the_document_bounds_is_what_is_taken(client):
    paths = client.get("/openapi.json").json()["paths"]
    bounds = {
        (path.rpartition("/")[2], given["name"]): given["schema"]
        for path, route in paths.items()
        for given in route["get"].get("parameters", [])
    }
    for name in ("offset", "limit"):
        most = bounds["status", name]["maximum"]
        assert got(client, "status", **{name: most})["total"] == 1
        assert client.get(f"{API}/status", params={name: most + 1}).status_code == 400
    for step in bounds["series", "step"]["enum"]:
        assert got(client, "series", step=step)["step_seconds"] > 0


def test_many_models_come_a_page_at_a_time_the_worst_first():
    state = made_up(models=[f"m{i:04}" for i in range(200)], segments=())
    with served(create_app(lambda: state, ready=lambda: True)) as client:
        found = got(client, "status", limit=20, offset=40)
        assert (found["total"], len(found["models"])) == (200, 20)
        assert found["models"][0]["name"] == "m0040"
        assert got(client, "status", q="M00", limit=5)["total"] == 100
        assert [m["name"] for m in got(client, "status", model="m0007")["models"]] == ["m0007"]
        several = client.get(f"{API}/series")
        assert several.status_code == 400
        assert "one must be named; there are 200: m0000, " in several.json()["error"]
        assert several.json()["error"].endswith("m0004, …; see /api/v1/status")


def test_without_a_way_to_ask_the_history_is_not_served():
    state = made_up()
    with served(create_app(lambda: state, ready=lambda: True)) as client:
        answer = client.get(f"{API}/series")
        assert answer.status_code == 503
        assert answer.headers["retry-after"] == "2"


def test_many_who_look_at_the_same_ask_the_monitor_once(fed):
    state, asked = fed.snapshot(), []

    def ask(read):
        asked.append(read)
        return read(fed)

    with served(create_app(lambda: state, ready=lambda: True, read_engine=ask)) as client:
        for _ in range(5):
            got(client, "diagnosis", before=JULY, after=SEPTEMBER)
            got(client, "series")
        # For the outcomes of both periods, and for the history; no rate certainly changed.
        assert len(asked) == 2
