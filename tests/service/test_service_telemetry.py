"""Telemetry of the running process: queues, pauses, requests, connections."""

import socket
import sys

import httpx
import pytest
from cli.test_cli_run import config_of, until
from cli.test_cli_run import running as started
from conservation import Scraper, samples_of, total
from prometheus_client import CollectorRegistry, generate_latest
from service.test_service_intake import NOW, events, running

from monitor.prometheus.process_series import ProcessCollector
from monitor.web.listener_telemetry import open_connections


def read(service):
    registry = CollectorRegistry()
    registry.register(ProcessCollector(service.pushed.readings))
    return samples_of(generate_latest(registry).decode())


def value(service, name, **labels):
    return total(read(service), name, **labels)


def test_the_queue_is_what_is_on_disk_and_not_yet_counted(tmp_path):
    with running(tmp_path) as service:
        service.until_ready()
        assert value(service, "precision_monitor_queue_requests") == 0
        oldest = ("precision_monitor_queue_oldest_timestamp_seconds", frozenset())
        assert oldest not in read(service), "none waits"
        service.post(events(1))
        service.clock.sleep(30)
        service.post(events(2))
        assert value(service, "precision_monitor_queue_requests") == 2
        assert value(service, "precision_monitor_queue_bytes") == len(events(1) + events(2))
        assert read(service)[oldest] == NOW
        service.counted()
        assert oldest not in read(service)
        assert value(service, "precision_monitor_queue_requests") == 0
        assert value(service, "precision_monitor_queue_bytes") == 0
        journal = sum(path.stat().st_size for path in (tmp_path / "journal").iterdir())
        assert value(service, "precision_monitor_journal_bytes") == journal


def test_a_full_queue_is_paused_until_it_is_counted(tmp_path):
    name = "precision_monitor_ingest_paused_seconds_total"
    body = events(1)
    limits = {"max_body_bytes": len(body), "max_queue_bytes": len(body)}
    with running(tmp_path, **limits) as service:
        service.until_ready()
        assert service.post(body).status_code == 200
        service.clock.sleep(5)
        assert value(service, name) == 0, "full, but no request was refused"
        assert service.post(body).status_code == 429
        service.clock.sleep(7)
        assert value(service, name, cause="queue_full") == 7
        service.counted()
        was = value(service, name, cause="queue_full")
        service.clock.sleep(7)
        assert value(service, name, cause="queue_full") == was
        assert value(service, name, cause="disk_full") == 0


@pytest.mark.skipif(sys.platform != "linux", reason="the kernel's tables are Linux's")
def test_connections_are_those_that_the_kernel_holds():
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        assert open_connections({port, 1}) == {port: 0, 1: 0}
        clients = [socket.create_connection(("127.0.0.1", port)) for _ in range(3)]
        assert open_connections({port}) == {port: 3}
        for client in clients:
            client.close()


def test_the_service_counts_its_requests_by_listener_and_code(tmp_path):
    config = config_of(tmp_path, feeds='[{type: http, listen: "127.0.0.1:0"}]')
    with started(config) as (_, exporter, reported):
        feed = reported.partition("reading ")[2].partition("/v1")[0]
        until(lambda: httpx.get(f"{exporter}/readyz").status_code == 200)
        scrape = Scraper(exporter)
        own, other = feed.removeprefix("http://"), exporter.removeprefix("http://")
        name = "precision_monitor_http_requests_total"
        httpx.post(f"{feed}/v1/events", content=events(1))
        httpx.post(f"{feed}/v1/events", content=b"[1")
        httpx.get(f"{feed}/nowhere")
        assert scrape.value(name, listener=own, code="200") == 1
        assert scrape.value(name, listener=own, code="400") == 1
        assert scrape.value(name, listener=own, code="404") == 1
        before = scrape.value(name, listener=other, code="200")
        assert scrape.value(name, listener=other, code="200") == before + 1
        assert scrape.value("precision_monitor_http_requests_in_progress", listener=other) == 1
        with socket.create_connection(("127.0.0.1", int(own.rpartition(":")[2]))):
            name = "precision_monitor_http_connections"
            until(lambda: scrape.value(name, listener=own) >= 1)
