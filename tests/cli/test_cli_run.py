import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from cli.commands import ran
from conservation import Scraper

EVENT = '{"type":"prediction","id":"a","ts":1,"prediction":1}\n'
DEADLINE = 300


def config_of(folder, *, port=0, feeds=None):
    path = folder / "monitor.yaml"
    feeds = feeds or f"[{{type: file, path: {folder}/events.ndjson, follow: true}}]"
    path.write_text(
        f"models: {{default: {{}}}}\nfeeds: {feeds}\n"
        f'exporter: {{listen: "127.0.0.1:{port}"}}\nstate: {{directory: {folder}/state}}\n'
    )
    return path


@contextmanager
def running(config, *words):
    """The service as a process, and its address, which it prints first."""
    command = [sys.executable, "-m", "monitor", "run", "-c", str(config), *words]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            reported = process.stderr.readline()
            url = reported.partition("serving ")[2].partition("/metrics")[0]
            yield process, url, reported
        finally:
            process.kill()


def until(condition):
    deadline = time.monotonic() + DEADLINE
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_it_serves_what_comes_until_sigterm(tmp_path):
    events = tmp_path / "events.ndjson"
    with running(config_of(tmp_path)) as (process, url, reported):
        assert f"reading {events} (once it appears)" in reported
        assert httpx.get(f"{url}/healthz").status_code == 200
        assert httpx.get(f"{url}/readyz").status_code == 503
        events.write_text(EVENT + "no json\n")
        until(lambda: "precision_monitor_records_total 2.0" in Scraper(url)())
        assert httpx.get(f"{url}/readyz").status_code == 200
        process.send_signal(signal.SIGTERM)
        rest = process.stderr.read()  # `communicate` would lose what `readline` has read ahead
        assert process.wait(DEADLINE) == 0
    assert rest == (
        f"precision-monitor: no state in {tmp_path}/state; counting begins\n"
        f"precision-monitor: {events}:2: malformed: record: is not JSON: Expecting value: "
        "line 1 column 1 (char 0); this record and further ones are in "
        f"{tmp_path}/state/dead-letter.ndjson\n"
        "precision-monitor: stopped\n"
    )
    stored = (tmp_path / "state" / "dead-letter.ndjson").read_text()
    assert f'"position":"{events}:2"' in stored


def test_a_feed_that_has_not_answered_yet_is_not_said_to_be_missing(tmp_path):
    place = f"name: labels, url: 'sqlite:///{tmp_path}/later.db', cursor: n"
    query = "SELECT * FROM labels WHERE n >= :cursor"
    config = config_of(tmp_path, feeds=f"[{{type: sql, {place}, query: '{query}'}}]")
    with running(config) as (_, _, reported):
        assert reported.endswith("reading sql labels\n")


def test_clients_that_are_stuck_hold_it_up_for_ten_seconds_at_most(tmp_path):
    with running(config_of(tmp_path)) as (process, url, _):
        address = ("127.0.0.1", httpx.URL(url).port)
        stuck = [socket.create_connection(address) for _ in range(20)]
        for client in stuck:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n")
        began = time.monotonic()
        process.send_signal(signal.SIGINT)
        assert process.wait(DEADLINE) == 0
        assert time.monotonic() - began < 30
        for client in stuck:
            client.close()


def test_a_hangup_while_it_starts_is_a_reload_once_it_runs(tmp_path):
    command = [sys.executable, "-c", _STARTED, "run", "-c", str(config_of(tmp_path))]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        said = [process.stderr.readline()]
        assert said == ["parsed\n"]
        process.send_signal(signal.SIGHUP)
        while "reloaded" not in said[-1]:
            said.append(process.stderr.readline())
            assert said[-1], said
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=DEADLINE)
    assert process.returncode == 0


def test_a_hangup_before_the_parser_is_imported_ends_nothing():
    script = """
import os, signal, sys
sys.argv = ["precision-monitor", "run", "--help"]
import monitor.cli
assert "argparse" not in sys.modules
class Hangup:
    def find_spec(self, name, path=None, target=None):
        os.kill(os.getpid(), signal.SIGHUP)
sys.meta_path.insert(0, Hangup())
sys.exit(monitor.cli.main())
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, timeout=DEADLINE, check=False
    )
    assert (done.returncode, done.stderr) == (0, b"")


_STARTED = """
import sys
from monitor.cli import entry
load = entry.import_module
def loading(name):
    print("parsed", file=sys.stderr, flush=True)
    return load(name)
entry.import_module = loading
sys.exit(entry.main())
"""


def test_an_address_that_is_taken_is_one_line_and_exit_code_2(capsys, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        failed = ran(capsys, "run", "-c", config_of(tmp_path, port=port))
    assert (failed.code, failed.out) == (2, "")
    assert f"127.0.0.1:{port}: cannot listen" in failed.err
    assert failed.err.count("\n") == 1


def test_a_feed_that_is_missing_is_one_line_and_exit_code_3(capsys, tmp_path):
    missing = tmp_path / "missing.ndjson"
    config = config_of(tmp_path, feeds=f"[{{type: file, path: {missing}}}]")
    failed = ran(capsys, "run", "-c", config)
    assert (failed.code, failed.out) == (3, "")
    assert failed.err == f"precision-monitor: {missing}: no such file; check the path\n"


@pytest.mark.parametrize(
    ("feeds", "reported"),
    [
        ("[]", "feeds: none is configured; add one"),
        (
            "[{type: kafka, brokers: ['a:1'], topics: [t]}]",
            "feeds[0].type: needs a client that is not installed, got 'kafka'; ",
        ),
        (
            '[{type: http, listen: "0.0.0.0:0"}]',
            "feeds[0].listen: is open to other machines without authentication",
        ),
    ],
)
def test_feeds_that_cannot_be_read_are_a_fault_of_the_configuration(
    capsys, tmp_path, monkeypatch, feeds, reported
):
    monkeypatch.setattr("monitor.feeds.kafka.installed.is_installed", lambda: False)
    config = config_of(tmp_path, feeds=feeds)
    failed = ran(capsys, "run", "-c", config)
    assert (failed.code, failed.out) == (2, "")
    assert failed.err.startswith(f"{config}: {reported}")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_state_directory_that_cannot_be_written_is_one_line(capsys, tmp_path: Path):
    config = config_of(tmp_path)
    tmp_path.chmod(0o500)
    failed = ran(capsys, "run", "-c", config)
    assert failed.code == 3
    assert "dead-letter file cannot be opened" in failed.err


def test_insecure_lets_a_feed_listen_where_others_reach_it(tmp_path):
    config = config_of(tmp_path, feeds='[{type: http, listen: "0.0.0.0:0"}]')
    with running(config, "--insecure") as (_, url, reported):
        assert "reading http://0.0.0.0:" in reported
        until(lambda: httpx.get(f"{url}/readyz").status_code == 200)


def test_a_second_process_is_refused_and_leaves_the_first_alone(tmp_path, capsys):
    config = config_of(tmp_path)
    with running(config) as (_, url, _):
        done = ran(capsys, "run", "-c", config)
        assert done.code != 0
        assert "is in use by another process" in done.err
        assert httpx.get(f"{url}/healthz").status_code == 200


def test_limits_of_the_labels_are_reported_in_one_line_for_each_model(tmp_path):
    config = config_of(tmp_path)
    models = "{a: {labelling: flagged_only}, b: {labelling: sampled}, c: {}}"
    config.write_text(config.read_text().replace("{default: {}}", models))
    command = [sys.executable, "-m", "monitor", "run", "-c", str(config)]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        reported = []
        while not reported or "serving " not in reported[-1]:
            reported.append(process.stderr.readline())
            assert reported[-1]
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=DEADLINE)
    refused = [line for line in reported if "labelling" in line]
    assert len(refused) == 1
    assert refused[0].startswith("a: labelling flagged_only: only predicted positives are ever")
    assert "precision alone can be known" in refused[0]


HTTP = '[{type: http, listen: "127.0.0.1:0"}]'


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """The folder of a monitor that counted two requests and stopped."""
    folder = tmp_path_factory.mktemp("stopped")
    config = config_of(folder, feeds=HTTP)
    with running(config) as (process, url, reported):
        until(lambda: httpx.get(f"{url}/readyz").status_code == 200)
        feed = reported.partition("reading ")[2].split()[0].rstrip(",")
        for _ in range(2):
            httpx.post(feed, content=EVENT).raise_for_status()
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=DEADLINE)
    return folder


@pytest.mark.parametrize("harm", ["cut", "cut after a frame", "gone"])
def test_a_journal_without_acknowledged_requests_is_found_before_anything_is_served(
    capsys, tmp_path, stopped, harm
):
    shutil.copytree(stopped / "state", tmp_path / "state")
    config = config_of(tmp_path, feeds=HTTP)
    (path,) = (tmp_path / "state" / "journal").iterdir()
    content = path.read_bytes()
    second = content.index(b"\xf1PMF", content.index(b"\xf1PMF") + 1)
    left = {"cut": content[:-1], "cut after a frame": content[:second]}.get(harm)
    path.write_bytes(left) if left else path.unlink()
    checked = ran(capsys, "state", "check", tmp_path / "state")
    assert checked.code == 1
    assert f"{path}: " in checked.out
    assert "1 damaged" in checked.out
    failed = ran(capsys, "run", "-c", config)
    assert (failed.code, failed.out) == (2, "")
    assert f"{path}: " in failed.err
    assert "acknowledged" in failed.err
    assert "never acknowledged" not in failed.err
    assert "serving" not in failed.err
    assert (path.read_bytes() if left else None) == left, "nothing was cut or made"


def test_a_failure_after_a_server_was_up_ends_with_its_exit_code(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        feeds = f'[{{type: http, listen: "127.0.0.1:{port}"}}]'
        command = [sys.executable, "-m", "monitor", "run", "-c"]
        command.append(str(config_of(tmp_path, feeds=feeds)))
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=DEADLINE, check=False
        )
    assert done.returncode == 2
    assert f"127.0.0.1:{port}: cannot listen" in done.stderr
    assert "serving" not in done.stderr
