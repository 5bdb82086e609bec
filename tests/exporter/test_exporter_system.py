"""The real programs: promtool checks an exposition, Prometheus scrapes one and answers."""

import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from ports import free_port
from prometheus.snapshots import nothing, snapshot

from monitor.exporter.app import create_app
from monitor.prometheus.collector import SnapshotCollector
from monitor.snapshot import Snapshot
from monitor.web.server import BackgroundServer

pytestmark = pytest.mark.system

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: precision-monitor
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""
DEADLINE = 120


@pytest.mark.parametrize("state", [snapshot(), nothing()], ids=["full", "nothing"])
def test_promtool_finds_no_fault(system_program: Callable[[str], str], state: Snapshot) -> None:
    with BackgroundServer(create_app(lambda: state, ready=lambda: True)) as server:
        text = httpx.get(f"{server.url}/metrics").content
    command = [system_program("promtool"), "check", "metrics"]
    checked = subprocess.run(command, input=text, capture_output=True, check=False, timeout=300)
    assert (checked.returncode, checked.stdout, checked.stderr) == (0, b"", b"")


@contextmanager
def prometheus(program: str, folder: Path, target: int) -> Iterator[str]:
    config, port = folder / "prometheus.yml", free_port()
    config.write_text(CONFIG.format(port=target))
    command = [program, f"--config.file={config}", f"--storage.tsdb.path={folder / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            yield f"http://127.0.0.1:{port}/api/v1"
        finally:
            process.terminate()
            process.wait(DEADLINE)


def query(api: str, expression: str) -> list[dict[str, Any]]:
    try:
        answer = httpx.get(f"{api}/query", params={"query": expression}, timeout=60)
    except httpx.TransportError:
        return []
    return answer.json()["data"]["result"] if answer.status_code == 200 else []


def until(condition: Callable[[], list[Any]]) -> list[Any]:
    deadline = time.monotonic() + DEADLINE
    while not (result := condition()):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    return result


def identity(labels: dict[str, str]) -> tuple[tuple[str, str], ...]:
    """A series as Prometheus keeps it: an empty label is none, and the target's labels aside."""
    return tuple(
        sorted((k, v) for k, v in labels.items() if v and k not in ("__name__", "instance", "job"))
    )


@pytest.mark.slow
def test_prometheus_answers_with_the_same_numbers(
    system_program: Callable[[str], str], tmp_path: Path
) -> None:
    program = system_program("prometheus")
    state = snapshot(models=("fraud", 'we"ird\\na\nme\x00 é😀'), version="", undefined=0.3)
    app = create_app(lambda: state, ready=lambda: True)
    with (
        BackgroundServer(app) as server,
        prometheus(program, tmp_path, server.port) as api,
    ):
        scrapes = "precision_monitor_scrape_duration_seconds_count"
        until(lambda: query(api, f'{scrapes}{{format="openmetrics"}} > 0'))
        assert query(api, "max_over_time(up[5m])")[0]["value"][1] == "1"
        for metric in SnapshotCollector(lambda: state).collect():
            for name in {sample.name for sample in metric.samples}:
                found = {
                    identity(row["metric"]): float(row["value"][1])
                    for row in query(api, f'last_over_time({{__name__="{name}"}}[5m])')
                }
                assert found == {
                    identity(sample.labels): sample.value
                    for sample in metric.samples
                    if sample.name == name
                }
        totals = 'classifier_window_outcomes{model="fraud",window="1h",segment="",outcome="tp"}'
        assert len(query(api, f"last_over_time({totals}[5m])")) == 1
        labels = "sum(last_over_time(precision_monitor_labels[5m]))"  # a scrape may have failed
        assert query(api, labels)[0]["value"][1] == "15"
