"""Runs Prometheus and Alertmanager on loopback, in a directory of their own."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from typing import NamedTuple

from monitor.clock import Clock
from monitor.errors import UsageError

_NAMES = {
    "Prometheus": ("prometheus",),
    "Alertmanager": ("alertmanager", "prometheus-alertmanager"),
}
_START_SECONDS, _END_SECONDS, _POLL_SECONDS = 60.0, 20.0, 0.1
_LOOKS_EVERY = "250ms"
_SHOWN = 500
_OK = 200
_UNLESS_ORPHANED = 'exec 3<&0; (read -r _ || kill $$) <&3 & exec "$@" </dev/null 3<&-'
_GUARDED = ("/bin/sh", "-c", _UNLESS_ORPHANED, "sh")
"""Command prefix: ends the command when its standard input closes without a line, so that no
program outlives this one, not even after kill -9.
"""


class ServerUrls(NamedTuple):
    """Base URLs of the two programs.

    Attributes:
        prometheus: base URL of Prometheus.
        alertmanager: base URL of Alertmanager.
    """

    prometheus: str
    alertmanager: str


def installed() -> dict[str, str]:
    """Return the paths of both programs.

    Raises:
        UsageError: a program is missing; the message tells how to install it.
    """
    found = {
        program: next((path for name in names if (path := shutil.which(name))), None)
        for program, names in _NAMES.items()
    }
    missing = [program for program, path in found.items() if path is None]
    if missing:
        raise UsageError(
            f"demo --alerts needs {' and '.join(missing)}, not found on the PATH; "
            "see https://prometheus.io/download, or on Debian and Ubuntu "
            "apt-get install prometheus prometheus-alertmanager"
        )
    return {program: path for program, path in found.items() if path is not None}


@contextmanager
def running(
    folder: Path, *, rules: str, monitor: int, webhook: str, clock: Clock
) -> Iterator[ServerUrls]:
    """Run both programs while the context is open; they are ready at its start.

    Args:
        folder: directory for their configuration, data and logs.
        rules: text of a rule file.
        monitor: port that Prometheus scrapes.
        webhook: URL that alerts are posted to.
        clock: paces the waiting.

    Raises:
        UsageError: a program is missing, or does not start; the message has its output.
    """
    paths = installed()
    port, alertmanager = _free_port(), _free_port()
    (folder / "rules.yml").write_text(rules, encoding="utf-8")
    # JSON is valid YAML.
    (folder / "prometheus.json").write_text(json.dumps(_prometheus(monitor, alertmanager)))
    (folder / "alertmanager.json").write_text(json.dumps(_alertmanager(webhook)))
    with ExitStack() as stack:
        for program, listens, words in (
            ("Alertmanager", alertmanager, ["--storage.path=am", "--cluster.listen-address="]),
            ("Prometheus", port, ["--storage.tsdb.path=data"]),
        ):
            command = [paths[program], f"--config.file={program.lower()}.json"]
            command += [f"--web.listen-address=127.0.0.1:{listens}", *words]
            stack.enter_context(_started(program, command, listens, folder, clock))
        yield ServerUrls(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{alertmanager}")


@contextmanager
def _started(
    program: str, command: Sequence[str], port: int, folder: Path, clock: Clock
) -> Iterator[None]:
    log = folder / f"{program}.log"
    with (
        log.open("wb") as output,
        subprocess.Popen(  # noqa: S603  # programs on the PATH, no user input
            [*_GUARDED, *command], cwd=folder, stdin=subprocess.PIPE, stdout=output, stderr=output
        ) as process,
    ):
        try:
            deadline = clock.monotonic() + _START_SECONDS
            while not _ready(port):
                if process.poll() is not None or clock.monotonic() > deadline:
                    text = log.read_text(errors="replace")[-_SHOWN:]
                    raise UsageError(f"demo --alerts: {program} does not start:\n{text}")
                clock.sleep(_POLL_SECONDS)
            yield
        finally:
            process.terminate()
            try:
                process.wait(_END_SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
            process.communicate(b"\n")


def _ready(port: int) -> bool:
    connection = HTTPConnection("127.0.0.1", port, timeout=_POLL_SECONDS * 10)
    try:
        connection.request("GET", "/-/ready")
        return connection.getresponse().status == _OK
    except (OSError, HTTPException):
        return False
    finally:
        connection.close()


def _prometheus(monitor: int, alertmanager: int) -> dict[str, object]:
    return {
        "global": {
            "scrape_interval": _LOOKS_EVERY,
            "scrape_timeout": _LOOKS_EVERY,
            "evaluation_interval": _LOOKS_EVERY,
        },
        "rule_files": ["rules.yml"],
        "alerting": {"alertmanagers": [_target(alertmanager)]},
        "scrape_configs": [{"job_name": "precision-monitor", **_target(monitor)}],
    }


def _target(port: int) -> dict[str, object]:
    return {"static_configs": [{"targets": [f"127.0.0.1:{port}"]}]}


def _alertmanager(webhook: str) -> dict[str, object]:
    """Return a configuration that sends each alert at once by itself, except the Watchdog."""
    at_once = {"group_wait": "0s", "group_interval": "1s"}
    return {
        "route": {
            "receiver": "nobody",
            "group_by": ["alertname"],
            **at_once,
            "routes": [{"receiver": "people", "matchers": ['severity=~"page|ticket"']}],
        },
        "receivers": [
            {"name": "nobody"},
            {"name": "people", "webhook_configs": [{"url": webhook, "send_resolved": False}]},
        ],
    }


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as probe:
        port: int = probe.getsockname()[1]
        return port
