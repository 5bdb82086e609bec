"""The services of the README: they observe predictions, take labels, and are scraped."""

from __future__ import annotations

import re
from threading import Thread
from typing import Any

import httpx
import pytest
from prometheus_client import CollectorRegistry, Counter
from readme_tables import ROOT

from monitor import Monitor
from monitor.web.server import BackgroundServer

README = ROOT / "monitor" / "python" / "README.md"
CASES = [(0.9, True), (0.8, False), (0.2, True), (0.1, False)]
"""Score and label: one of each outcome."""


def service(framework: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Run the README's code of a service; its names. The model returns the score it is sent."""
    text = README.read_text(encoding="utf-8")
    (code,) = re.findall(rf"```python\n([^`]*from {framework} import[^`]*)```", text)
    own = CollectorRegistry()
    Counter("payments", "Of the application itself.", registry=own).inc()
    monkeypatch.setattr("prometheus_client.REGISTRY", own)
    monkeypatch.setattr("prometheus_client.exposition.REGISTRY", own)
    code = code.replace("make_wsgi_app()", "make_wsgi_app(REGISTRY)")
    names: dict[str, Any] = {
        "__name__": "payments_service",
        "model": lambda payment: payment["score"],
    }
    exec(compile(code, f"{README}: {framework}", "exec"), names)  # noqa: S102  # the README's own
    return names


def check(client: Any, monitor: Monitor) -> None:
    """Score four payments, review them, scrape, and send what is no review.

    A review without its keys is refused, and retracts no label. A scrape needs no redirect.
    """
    for score, fraud in CASES:
        answer = client.post("/score", json={"score": score})
        assert answer.status_code == 200
        body = answer.json() if callable(answer.json) else answer.json
        assert body["fraud"] == score
        reviewed = client.post("/feedback", json={"id": body["id"], "fraud": fraud})
        assert reviewed.status_code == 200
    assert client.post("/feedback", json={"id": "x", "fraud": "perhaps"}).status_code == 422
    incomplete = {"fraud": True}, {"id": body["id"]}, {"id": body["id"], "fruad": True}
    for review in (*incomplete, [], [body["id"], True], body["id"], 7):
        assert client.post("/feedback", json=review).status_code == 422, review
    counts = monitor["default"]["all"].counts
    assert (counts.tp, counts.fp, counts.fn, counts.tn) == (1, 1, 1, 1)
    scraped = client.get("/metrics", follow_redirects=False).text
    assert "payments_total 1.0" in scraped
    assert 'precision_monitor_events_total{type="prediction"} 4.0' in scraped
    (line,) = [
        line
        for line in scraped.splitlines()
        if line.startswith("classifier_precision_ratio{") and 'window="all"' in line
    ]
    assert float(line.split()[-1]) == 0.5


@pytest.mark.dev("fastapi")
def test_a_service_of_fastapi_is_monitored(monkeypatch):
    names = service("fastapi", monkeypatch)
    with BackgroundServer(names["app"]) as server, httpx.Client(base_url=server.url) as client:
        check(client, names["monitor"])


@pytest.mark.dev("flask")
def test_a_service_of_flask_is_monitored(monkeypatch):
    names = service("flask", monkeypatch)
    check(names["app"].test_client(), names["monitor"])


def test_threads_that_feed_and_read_at_once_lose_nothing():
    """As many as a service has: each predicts and labels its own cases, one reads meanwhile."""
    monitor, each, workers = Monitor(), 3_000, 4
    reading, read = True, []

    def feed(worker: int) -> None:
        for number in range(each):
            name = f"{worker}-{number}"
            monitor.predict(name, ts=number, prediction=number % 2)
            monitor.label(name, ts=number + 1, label=number % 3 == 0)

    def look() -> None:
        while reading:
            snapshot = monitor.snapshot()
            read.append(sum(snapshot.events.values()))

    threads = [Thread(target=feed, args=(worker,)) for worker in range(workers)]
    looking = Thread(target=look)
    for thread in (looking, *threads):
        thread.start()
    for thread in threads:
        thread.join()
    reading = False
    looking.join()
    assert read == sorted(read)
    snapshot = monitor.snapshot()
    assert snapshot.events["prediction"] == snapshot.events["label"] == workers * each
    assert int(snapshot.lifetime.counts.total.sum()) == workers * each
