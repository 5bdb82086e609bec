"""What is pushed is what a scrape shows, decoded by a receiver."""

import signal
import socket
from importlib.util import find_spec

import httpx
import pytest
from cli.commands import ran
from cli.test_cli_run import DEADLINE, EVENT, running, until
from conservation import Scraper
from prometheus.snapshots import snapshot
from prometheus_client import CollectorRegistry
from prometheus_client.parser import text_string_to_metric_families

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.exporter.otlp import availability
from monitor.extras import install_command
from monitor.prometheus.exposition import Exposition
from monitor.prometheus.process_series import ProcessCollector, ScrapeTelemetry, SeriesDescription

PACKAGE = "opentelemetry"
pytestmark = pytest.mark.dev(PACKAGE)

if find_spec(PACKAGE):
    from exporter.otlp.receiver import metrics_of, receiving, samples_of
    from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE

    from monitor.exporter.otlp.pusher import OtlpPusher

BEGAN = 1_790_000_000.0
NUMBERS = SeriesDescription("some_numbers", "gauge", ("of",), "Numbers.")


@pytest.fixture
def receiver():
    with receiving() as (found, url):
        found.url = url
        yield found


class Pushing:
    """A pusher over a snapshot made by hand."""

    def __init__(self, url, state, *, ready=lambda: True, limit=10**9, **otlp):
        self.config = Config(exporter={"otlp": {"endpoint": url, "timeout": "2s", **otlp}})
        self.clock, self.said = ManualClock(), []
        registry = CollectorRegistry()
        scrapes = ScrapeTelemetry(["text"])
        scrapes.observe("text", seconds=0.5)
        self.numbers = {("b",): 2.5}
        registry.register(scrapes)
        registry.register(ProcessCollector({NUMBERS: lambda: self.numbers}))
        self.exposition = Exposition(lambda: state, registry, limit=lambda: limit)
        self.pusher = OtlpPusher(
            self.config,
            self.exposition,
            self.clock,
            self.said.append,
            began=BEGAN,
            ready=ready,
        )

    def outcomes(self):
        (read,) = self.pusher.readings.values()
        return {outcome: number for (outcome,), number in read().items()}


def scraped(exposition):
    """The samples of a scrape that are defined, as Prometheus parses them."""
    found = {}
    for family in text_string_to_metric_families(exposition.render().decode()):
        for sample in family.samples:
            labels = dict(sample.labels)
            if "le" in labels and sample.name.endswith("_bucket"):
                labels["le"] = float(labels["le"])
            if sample.value == sample.value:  # NaN
                found[sample.name, frozenset(labels.items())] = sample.value
    return found


@pytest.mark.parametrize("seed", range(3))
def test_the_same_names_labels_and_numbers_as_a_scrape(receiver, seed):
    pushing = Pushing(receiver.url, snapshot(seed=seed, undefined=0.3))
    pushing.pusher.push()
    (request,) = receiver.requests
    found, expected = samples_of(request), scraped(pushing.exposition)
    assert found.keys() == expected.keys()
    assert {key: found[key] for key in expected} == pytest.approx(expected, nan_ok=False)
    assert receiver.paths == ["/v1/metrics"]
    assert pushing.outcomes() == {"sent": 1, "failed": 0}


def test_what_is_undefined_is_absent_and_never_0(receiver):
    pushing = Pushing(receiver.url, snapshot(undefined=1.0))
    pushing.numbers = {("a",): float("nan"), ("b",): 0.0}
    pushing.pusher.push()
    metrics = metrics_of(receiver.requests[0])
    assert "classifier_precision_ratio" not in metrics
    (point,) = metrics["some_numbers"].gauge.data_points
    assert point.attributes[0].value.string_value == "b"


def test_counters_are_cumulative_sums_since_the_state_began_and_gauges_are_gauges(receiver):
    pushing = Pushing(receiver.url, snapshot())
    pushing.clock.sleep(30)
    pushing.pusher.push()
    metrics = metrics_of(receiver.requests[0])
    counter = metrics["classifier_predictions_total"].sum
    assert counter.is_monotonic
    assert counter.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE
    point = counter.data_points[0]
    assert point.start_time_unix_nano == int(BEGAN) * 10**9
    assert point.time_unix_nano == round(pushing.clock.now() * 10**9)
    delays = metrics["classifier_label_delay_seconds"].histogram
    assert delays.aggregation_temporality == AGGREGATION_TEMPORALITY_CUMULATIVE
    assert not delays.data_points[0].HasField("min")
    assert metrics["classifier_precision_ratio"].WhichOneof("data") == "gauge"
    assert metrics["classifier_window_info"].gauge.data_points[0].as_double == 1
    own = metrics["precision_monitor_scrape_duration_seconds_count"].sum
    assert own.data_points[0].start_time_unix_nano == round((pushing.clock.now() - 30) * 10**9)


def test_the_limit_of_series_holds_for_pushes(receiver):
    state = snapshot()
    Pushing(receiver.url, state).pusher.push()
    Pushing(receiver.url, state, limit=200).pusher.push()
    whole, limited = map(samples_of, receiver.requests)
    assert len(limited) <= 200 < len(whole)
    assert limited.items() <= whole.items()


def test_headers_and_attributes_are_sent_and_headers_are_hidden(receiver):
    pushing = Pushing(
        f"{receiver.url}/otlp/v1/metrics/",
        snapshot(),
        headers={"Authorization": "Bearer s3cret"},
        attributes={"service.name": "fraud", "deployment.environment": "test"},
    )
    pushing.pusher.push()
    assert receiver.headers[0]["authorization"] == "Bearer s3cret"
    assert receiver.paths == ["/otlp/v1/metrics"]
    resource = receiver.requests[0].resource_metrics[0].resource
    attributes = {a.key: a.value.string_value for a in resource.attributes}
    assert attributes["service.name"] == "fraud"
    assert attributes["deployment.environment"] == "test"
    assert attributes["service.instance.id"].endswith(":9108")
    assert "s3cret" not in pushing.config.model_dump_json()


def test_failing_pushes_are_counted_and_logged_once(receiver, capsys):
    pushing = Pushing(receiver.url, snapshot())
    receiver.status = 400
    pushing.pusher.push()
    pushing.pusher.push()
    receiver.status = 200
    pushing.pusher.push()
    assert pushing.outcomes() == {"sent": 1, "failed": 2}
    where = f"otlp {receiver.url}/v1/metrics"
    assert len(pushing.said) == 2
    assert pushing.said[0] == f"{where}: a push failed: HTTP 400 Bad Request; retrying"
    assert pushing.said[1] == f"{where}: pushes are taken again"
    assert capsys.readouterr().err == ""


def test_a_busy_receiver_is_asked_again_within_the_timeout_and_logged_once(receiver, capsys):
    pushing = Pushing(receiver.url, snapshot())
    receiver.status = 503
    pushing.pusher.push()
    asked = len(receiver.paths)
    assert asked >= 1
    pushing.numbers = {("b",): 3.5}
    receiver.status = 200
    pushing.pusher.push()
    assert len(receiver.paths) == asked + 1, "the numbers of the failed push are not sent again"
    assert samples_of(receiver.requests[0])["some_numbers", frozenset({("of", "b")})] == 3.5
    assert pushing.outcomes() == {"sent": 1, "failed": 1}
    where = f"otlp {receiver.url}/v1/metrics"
    assert pushing.said == [
        f"{where}: a push failed: HTTP 503 Service Unavailable; retrying",
        f"{where}: pushes are taken again",
    ]
    assert capsys.readouterr().err == ""


def test_a_push_that_fails_for_another_reason_is_logged_again(receiver):
    pushing = Pushing(receiver.url, snapshot(), timeout="100ms")
    for receiver.status in (400, 400, 401, 401, 200):
        pushing.pusher.push()
    failed = f"otlp {receiver.url}/v1/metrics: a push failed: HTTP "
    assert [line.removeprefix(failed).partition(";")[0] for line in pushing.said[:2]] == [
        "400 Bad Request",
        "401 Unauthorized",
    ]
    assert pushing.said[2].endswith(": pushes are taken again")
    assert pushing.outcomes() == {"sent": 1, "failed": 4}


def test_a_receiver_that_is_away_is_told_with_the_cause():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"http://127.0.0.1:{taken.getsockname()[1]}"
    pushing = Pushing(address, snapshot(), timeout="500ms")
    pushing.pusher.push()
    assert len(pushing.said) == 1
    assert "refused" in pushing.said[0]


def test_a_fault_of_the_monitor_fails_the_push_and_not_the_pushes_after_it(receiver):
    pushing = Pushing(receiver.url, snapshot())
    pushing.numbers = None
    pushing.pusher.push()
    pushing.numbers = {("b",): 2.5}
    pushing.pusher.push()
    assert pushing.outcomes() == {"sent": 1, "failed": 1}
    assert "a push failed: AttributeError: " in pushing.said[0]


def test_nothing_is_pushed_before_the_state_is_restored(receiver):
    Pushing(receiver.url, snapshot(), ready=lambda: False).pusher.push()
    assert receiver.requests == []


def test_run_pushes_what_it_serves(receiver, tmp_path):
    path = tmp_path / "monitor.yaml"
    (tmp_path / "events.ndjson").write_text(EVENT * 3)
    path.write_text(
        f"feeds: [{{type: file, path: {tmp_path}/events.ndjson, follow: true}}]\n"
        f'exporter: {{listen: "127.0.0.1:0", otlp: {{endpoint: "{receiver.url}", every: 100ms}}}}\n'
        f"state: {{directory: {tmp_path}/state}}\n"
    )
    name = ("precision_monitor_events_total", frozenset({("type", "prediction")}))
    with running(path) as (process, url, _):
        until(lambda: receiver.requests and samples_of(receiver.requests[-1]).get(name) == 3)
        pushed = 'precision_monitor_otlp_pushes_total{outcome="sent"}'
        assert pushed in Scraper(url)()
        receiver.status = 503
        until(lambda: httpx.get(f"{url}/healthz").status_code == 200)
        process.send_signal(signal.SIGTERM)
        assert process.wait(DEADLINE) == 0


def test_without_the_extra_check_config_says_so(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(availability, "is_installed", lambda: False)
    path = tmp_path / "monitor.yaml"
    path.write_text('exporter: {otlp: {endpoint: "http://collector:4318"}}\n')
    checked = ran(capsys, "check-config", path)
    assert checked.code == 2
    told = f"exporter.otlp: needs packages that are not installed; {install_command('otlp')}\n"
    assert f"`run` would stop: {told}" in checked.err
    where = "http on 127.0.0.1:9108, pushed to http://collector:4318/v1/metrics every 1m."
    assert f"Exporter: {where}" in checked.out
