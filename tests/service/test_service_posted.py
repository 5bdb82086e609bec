"""The real command, posted to."""

import signal
import socket
import subprocess
import sys
import time
from argparse import Namespace
from contextlib import closing

import httpx
import pytest
from benchmarks.kills import Service, killed, until

from monitor.cli.run import run
from monitor.errors import ConfigError

EVENT = b'{"type":"label","id":"a","ts":1,"label":1}\n'


@pytest.fixture
def service(tmp_path):
    (tmp_path / "events.ndjson").touch()  # the file that it follows
    made = Service(tmp_path)
    made.start()
    made.until_ready()
    yield made
    made.kill()
    made.close()


@pytest.mark.parametrize(
    ("kills", "ready", "rotations", "checkpoints"),
    [(3, 1, 0, 1), pytest.param(24, 13, 2, 6, marks=pytest.mark.slow)],
)
def test_after_kills_nothing_is_lost_and_nothing_counted_twice(
    tmp_path, kills, ready, rotations, checkpoints
):
    result = killed(kills, seed=7, folder=tmp_path, most=0.2)
    assert result.found == result.restarted == result.expected
    assert {key[0] for key in result.expected} == {"cell", "class", "pair", "audit", "event"}
    assert result.events > 100 * kills
    assert result.rotations >= rotations
    assert result.ready_kills >= ready
    assert result.checkpoints >= checkpoints
    assert result.faults == 0


def test_a_monitor_of_the_benchmarks_ends_with_the_process_that_started_it(tmp_path):
    (tmp_path / "events.ndjson").touch()
    with closing(Service(tmp_path)) as service:
        service.start()
        service.until_ready()
        service.forks.kill()
        until(lambda: not service.is_ready())


def test_clients_that_are_stuck_at_both_listeners_hold_it_up_for_ten_seconds_at_most(service):
    stuck = []
    for url in [service.feed, service.exporter] * 10:
        address = ("127.0.0.1", httpx.URL(url).port)
        stuck.append(socket.create_connection(address))
        stuck[-1].sendall(b"POST /v1/events HTTP/1.1\r\nHost: x\r\nContent-Length: 99\r\n\r\n{")
    assert httpx.post(f"{service.feed}/v1/events", content=EVENT).status_code == 200
    began = time.monotonic()
    assert service.kill(signal.SIGTERM) == 0
    assert time.monotonic() - began < 30
    for client in stuck:
        client.close()


def test_reading_and_writing_are_on_listeners_of_their_own(service):
    assert httpx.post(f"{service.exporter}/v1/events", content=EVENT).status_code == 404
    assert httpx.get(f"{service.feed}/metrics").status_code == 404


def config_of(folder, listen):
    path = folder / "monitor.yaml"
    path.write_text(
        f'feeds: [{{type: http, listen: "{listen}"}}]\nexporter: {{listen: "127.0.0.1:0"}}\n'
        f"state: {{directory: {folder}/state}}\n"
    )
    return str(path)


def test_an_address_that_others_reach_is_refused_without_tokens(tmp_path):
    path = config_of(tmp_path, "0.0.0.0:9109")
    with pytest.raises(ConfigError) as refused:
        run(Namespace(config=path))
    assert str(refused.value) == (
        f"{path}: feeds[0].listen: is open to other machines without authentication, got "
        "'0.0.0.0:9109'; add token_files or web_config, listen on 127.0.0.1, or run with --insecure"
    )
    assert not (tmp_path / "state").exists()


def test_insecure_lets_it_listen_there(tmp_path):
    with socket.create_server(("0.0.0.0", 0)) as taken:  # noqa: S104  # so that it ends there
        path = config_of(tmp_path, f"0.0.0.0:{taken.getsockname()[1]}")
        done = subprocess.run(
            [sys.executable, "-m", "monitor", "run", "--insecure", "-c", path],
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
    assert done.returncode == 2
    assert "cannot listen" in done.stderr


def test_a_damaged_journal_is_one_line_and_no_numbers(tmp_path):
    path = config_of(tmp_path, "127.0.0.1:0")
    (tmp_path / "state" / "journal").mkdir(parents=True)
    segment = tmp_path / "state" / "journal" / "00000001.journal"
    segment.write_bytes(b"x" * 100)
    done = subprocess.run(
        [sys.executable, "-m", "monitor", "run", "-c", path],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 2
    assert done.stderr.startswith(f"precision-monitor: {segment}: offset 0: is damaged")
    assert done.stderr.count("\n") == 1
