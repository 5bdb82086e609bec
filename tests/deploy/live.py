"""A monitor of the bundled flights behind a real Prometheus that evaluates our rules."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import NamedTuple

from conservation import Scraper
from ports import free_port

from monitor.clock import SystemClock
from monitor.config import Config
from monitor.demo.flights import MODEL, flights, flights_config
from monitor.demo.playback import playback
from monitor.engine import Monitor
from monitor.exporter.app import create_app
from monitor.prometheus.feed_series import FEED_SERIES
from monitor.prometheus.forward_series import FORWARD_SERIES
from monitor.prometheus.process_series import (
    PROCESS_SERIES,
    SCRAPE_DURATION,
    SERIES_LEFT_OUT,
    ProcessCollector,
)
from monitor.prometheus.rules import Scope, as_prometheus, groups
from monitor.snapshot import Snapshot
from monitor.web.server import BackgroundServer

UNTIL_MS = int(datetime(2013, 10, 1, tzinfo=UTC).timestamp()) * 1000
"""The end of September, when fewer flights were late than before."""

CONFIG = """
global: {{scrape_interval: 1s, scrape_timeout: 1s, evaluation_interval: 500ms}}
rule_files: [{rules}]
scrape_configs:
  - job_name: precision-monitor
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class Live(NamedTuple):
    """Address of a running Prometheus, and the instance that it scrapes."""

    api: str
    instance: str


def config() -> Config:
    """Settings of the flights, with objectives that are out of reach."""
    known = flights_config()
    settings = known.models[MODEL].model_dump(exclude_unset=True)
    objective = {
        "precision": 0.9,
        "balanced_precision": 0.95,
        "recall": 0.95,
        "false_positive_rate": 0.01,
    }
    return Config(models={MODEL: settings | {"objective": objective}}, windows=known.windows)


def snapshot() -> Snapshot:
    """Return the snapshot at the end of September."""
    settings = config()
    monitor = Monitor(settings)
    for batch in playback(flights(settings), seconds=0, clock=SystemClock()):
        monitor.apply(batch)
        if (monitor.watermark_ms or 0) >= UNTIL_MS:
            break
    return monitor.snapshot()


@contextmanager
def live(program: str, folder: Path) -> Iterator[Live]:
    """The monitor, scraped."""
    state = snapshot()
    rules, path, port = folder / "rules.yml", folder / "prometheus.yml", free_port()
    rules.write_text(as_prometheus(groups(Scope.of(config()))))
    # What only a running service knows: each series that it exports, with some value.
    service = ProcessCollector(
        {
            series: partial(dict, {("some",) * len(series.labels): 1.0})
            for series in (*PROCESS_SERIES, *FEED_SERIES, *FORWARD_SERIES)
            if series not in (SCRAPE_DURATION, SERIES_LEFT_OUT)
        }
    )
    app = create_app(lambda: state, ready=lambda: True, collectors=[service])
    with BackgroundServer(app) as server:
        scrape = Scraper(server.url)  # what Prometheus scrapes obeys the laws
        scrape()
        path.write_text(CONFIG.format(rules=rules, port=server.port))
        command = [program, f"--config.file={path}", f"--storage.tsdb.path={folder / 'data'}"]
        command += [f"--web.listen-address=127.0.0.1:{port}", "--log.level=error"]
        with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
            try:
                yield Live(f"http://127.0.0.1:{port}/api/v1", f"127.0.0.1:{server.port}")
                scrape()
            finally:
                process.terminate()
                process.wait(20)
