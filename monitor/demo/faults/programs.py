"""Prometheus and Alertmanager, started on loopback in a folder of their own, and ended."""

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
"""Put before a command: it ends when its standard input does without a line, so that no program
stays behind whatever ends this one, kill -9 too."""


class Running(NamedTuple):
    """Where the two can be looked at.

    Attributes:
        prometheus: start of its URL.
        alertmanager: start of its URL.
    """

    prometheus: str
    alertmanager: str


def installed() -> dict[str, str]:
    """Paths of both programs.

    Raises:
        UsageError: one of them is not there; the text says how to get it.
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
) -> Iterator[Running]:
    """Both programs, ready; they end with the context.

    Args:
        folder: for their configuration, data and logs.
        rules: a rule file's text.
        monitor: the port that Prometheus scrapes.
        webhook: the URL that alerts are posted to.
        clock: to wait by.

    Raises:
        UsageError: one of them is missing, or does not start; then with what it said.
    """
    paths = installed()
    port, alertmanager = _free_port(), _free_port()
    (folder / "rules.yml").write_text(rules, encoding="utf-8")
    # JSON is YAML too.
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
        yield Running(f"http://127.0.0.1:{port}", f"http://127.0.0.1:{alertmanager}")


@contextmanager
def _started(
    program: str, command: Sequence[str], port: int, folder: Path, clock: Clock
) -> Iterator[None]:
    log = folder / f"{program}.log"
    with (
        log.open("wb") as said,
        subprocess.Popen(  # noqa: S603  # the program that the PATH leads to, none of its words read
            [*_GUARDED, *command], cwd=folder, stdin=subprocess.PIPE, stdout=said, stderr=said
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
    """Everything is told at once, each alert by itself; the Watchdog to nobody."""
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
