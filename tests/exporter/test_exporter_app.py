import threading
import time
import zlib
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from prometheus.snapshots import snapshot
from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.openmetrics.parser import text_string_to_metric_families as parse_openmetrics
from prometheus_client.parser import text_string_to_metric_families as parse_text

from monitor.exporter.app import create_app
from monitor.prometheus.collector import SnapshotCollector
from monitor.snapshot import Snapshot
from monitor.web.server import BackgroundServer

OPENMETRICS = {"Accept": "application/openmetrics-text;version=1.0.0"}
PLAIN = {"Accept-Encoding": "identity"}


def expected(state: Snapshot) -> bytes:
    registry = CollectorRegistry()
    registry.register(SnapshotCollector(lambda: state))
    return generate_latest(registry)


def without_process(text: bytes) -> bytes:
    """The part of a scrape that does not change with every scrape."""
    return text.partition(b"# HELP precision_monitor_scrape_duration")[0]


@contextmanager
def served(
    read: Callable[[], Snapshot], *, ready: Callable[[], bool] = lambda: True, **settings: Any
) -> Iterator[httpx.Client]:
    app = create_app(read, ready=ready, **settings)
    with BackgroundServer(app) as server, httpx.Client(base_url=server.url) as client:
        yield client


@pytest.fixture
def state() -> Snapshot:
    return snapshot()


@pytest.fixture
def client(state: Snapshot) -> Iterator[httpx.Client]:
    with served(lambda: state) as client:
        yield client


def test_a_scrape_is_the_snapshot_followed_by_the_process(
    client: httpx.Client, state: Snapshot
) -> None:
    answer = client.get("/metrics", headers=PLAIN)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.content.startswith(expected(state))
    names = {family.name for family in parse_text(answer.text)}
    assert {"process_resident_memory_bytes", "precision_monitor_scrape_duration_seconds"} <= names


def test_openmetrics_is_whole_to_its_end(client: httpx.Client) -> None:
    answer = client.get("/metrics", headers=OPENMETRICS | PLAIN)
    assert answer.headers["content-type"].startswith("application/openmetrics-text; version=1.0.0")
    families = [family.name for family in parse_openmetrics(answer.text)]
    assert len(set(families)) == len(families)


@pytest.mark.parametrize("headers", [{}, OPENMETRICS])
def test_a_compressed_scrape_is_one_gzip_member_of_the_same(
    client: httpx.Client, headers: dict[str, str]
) -> None:
    plain = client.get("/metrics", headers=headers | PLAIN).content
    for _ in range(2):
        with client.stream("GET", "/metrics", headers=headers) as answer:
            raw = b"".join(answer.iter_raw())
        assert answer.headers["content-encoding"] == "gzip"
        assert answer.headers["vary"] == "Accept, Accept-Encoding"
        member = zlib.decompressobj(31)
        text = member.decompress(raw)
        assert member.eof
        assert not member.unused_data
        assert without_process(text) == without_process(plain)


def test_a_scrape_counts_the_ones_before_it(client: httpx.Client) -> None:
    name = 'precision_monitor_scrape_duration_seconds_count{format="text"}'
    for before in range(3):
        assert f"{name} {before}.0\n" in client.get("/metrics").text


def test_a_new_snapshot_shows_at_once(state: Snapshot) -> None:
    states = [state]
    with served(lambda: states[0]) as client:
        first = client.get("/metrics", headers=PLAIN).content
        states[0] = snapshot(seed=2)
        second = client.get("/metrics").content
    assert first.startswith(expected(state))
    assert second.startswith(expected(states[0]))


def test_further_collectors_are_served(state: Snapshot) -> None:
    class Queue:
        def collect(self) -> Iterator[Metric]:
            yield GaugeMetricFamily("precision_monitor_queue", "Waiting.", value=5)

    with served(lambda: state, collectors=[Queue()]) as client:
        assert "precision_monitor_queue 5.0\n" in client.get("/metrics").text


def test_scrapes_at_the_same_time_share_one_rendering(state: Snapshot) -> None:
    began, release, reads = threading.Event(), threading.Event(), []

    def read() -> Snapshot:
        reads.append(1)
        began.set()
        release.wait(10)
        return state

    with (
        served(read) as client,
        ThreadPoolExecutor(10) as pool,
    ):
        scrapes = [pool.submit(client.get, "/metrics") for _ in range(10)]
        began.wait(10)
        assert client.get("/healthz").status_code == 200  # the loop is free meanwhile
        deadline = time.monotonic() + 0.2
        while time.monotonic() < deadline and len(reads) == 1:
            time.sleep(0.01)
        release.set()
        assert {scrape.result().status_code for scrape in scrapes} == {200}
    assert len(reads) < 10


def test_a_rendering_that_fails_is_one_failed_scrape_and_not_the_last() -> None:
    states = []

    def read() -> Snapshot:
        return states[0]

    with served(read) as client:
        failed = client.get("/metrics")
        assert failed.status_code == 500
        assert "nosniff" in failed.headers["x-content-type-options"]
        states.append(snapshot())
        assert client.get("/metrics").status_code == 200


def test_readiness_follows_the_state(state: Snapshot) -> None:
    ready = [False]
    with served(lambda: state, ready=lambda: ready[0]) as client:
        assert (client.get("/readyz").status_code, client.get("/healthz").status_code) == (503, 200)
        ready[0] = True
        assert client.get("/readyz").status_code == 200


def test_before_the_state_is_restored_a_scrape_fails(state: Snapshot) -> None:
    restored = [False]
    with served(lambda: state, restored=lambda: restored[0]) as client:
        early = client.get("/metrics")
        assert (early.status_code, early.headers["retry-after"]) == (503, "1")
        assert early.text == "the state is being restored; try again\n"
        assert client.get("/healthz").status_code == 200
        restored[0] = True
        assert client.get("/metrics").status_code == 200


@pytest.mark.parametrize("path", ["/metrics", "/healthz", "/readyz", "/"])
def test_only_reading_is_allowed(client: httpx.Client, path: str) -> None:
    for method in ("POST", "PUT", "DELETE", "PATCH"):
        answer = client.request(method, path)
        assert answer.status_code == 405
        assert "GET" in answer.headers["allow"]
    assert client.head(path).status_code == 200
    assert client.head(path).content == b""


@pytest.mark.parametrize("path", ["/nothing", "/metrics/", "/../etc/passwd", "/%00", "/a?b=%ff"])
def test_what_is_not_there_is_not_found(client: httpx.Client, path: str) -> None:
    answer = client.get(path, follow_redirects=True)
    assert answer.status_code in (200, 404)
    assert answer.headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in answer.headers["content-security-policy"]


header_values = st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=80).map(
    str.strip
)


@settings(
    deadline=None,
    max_examples=200,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(accept=header_values, encoding=header_values)
def test_no_accept_header_fails_a_scrape(client: httpx.Client, accept: str, encoding: str) -> None:
    answer = client.get("/metrics", headers={"Accept": accept, "Accept-Encoding": encoding})
    assert answer.status_code == 200
    assert "classifier_window_outcomes" in answer.text
