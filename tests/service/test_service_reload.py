"""A changed configuration: all of it is applied, or nothing, and /metrics shows which."""

import os
import signal
import time
from concurrent.futures import Future

import httpx
import pytest
from cli.test_cli_run import config_of, running, until
from conservation import Scraper

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.errors import ConfigError
from monitor.exporter.app import create_app
from monitor.prometheus.process_series import ProcessCollector
from monitor.service.changes import restart_faults
from monitor.service.reloads import Reloads
from monitor.snapshot import Snapshot
from monitor.web.server import BackgroundServer

TOKEN, OTHER = "correct-horse-battery", "another-token-0123"
EVENT = b'{"type":"label","id":"a","ts":1,"label":1}\n'


class Files:
    """A configuration file that changes."""

    def __init__(self):
        self.found = Config()

    def load(self):
        if isinstance(self.found, Exception):
            raise self.found
        return self.found


@pytest.fixture
def files():
    return Files()


@pytest.fixture
def clock():
    return ManualClock(1000.0)


def numbers(reloads):
    return [
        s.value for family in ProcessCollector(reloads.readings).collect() for s in family.samples
    ]


def test_a_file_with_faults_changes_nothing_and_says_so_until_it_is_mended(files, clock):
    reported, taken = [], []
    reloads = Reloads(files.load, clock=clock, say=reported.append)
    assert numbers(reloads) == [1.0, 1000.0]
    clock.sleep(5)
    reloads.run(taken.append)
    assert (taken, reported) == ([], []), "no reload was requested"
    files.found = ConfigError(("monitor.yaml:1: a fault", "monitor.yaml:2: another"))
    failed = reloads.ask()
    reloads.run(taken.append)
    assert isinstance(failed.exception(0), ConfigError)
    assert numbers(reloads) == [0.0, 1000.0]
    (line,) = reported
    assert line.splitlines() == [
        "configuration not reloaded, the previous one stays in force:",
        "monitor.yaml:1: a fault",
        "monitor.yaml:2: another",
    ]
    files.found = Config()
    done = [reloads.ask(), reloads.ask()]
    reloads.run(taken.append)
    assert [one.result(0) for one in done] == [None, None]
    assert len(taken) == 1, "once for all who asked"
    assert numbers(reloads) == [1.0, 1005.0]


def test_what_cannot_be_taken_is_a_failure_too(files, clock):
    def refuse(_):
        raise ConfigError(("exporter.listen: cannot be changed",))

    reloads = Reloads(files.load, clock=clock, say=lambda _: None)
    reloads.ask()
    reloads.run(refuse)
    assert numbers(reloads)[0] == 0.0


FEED = {"type": "http", "listen": "127.0.0.1:9109"}
FORWARD = {
    "feeds": [FEED],
    "state": {"directory": "x"},
    "forward": {"to": "http://r:1", "headers": {"Authorization": f"Bearer {TOKEN}"}},
}
ROTATED = {**FORWARD, "forward": {"to": "http://r:1", "headers": {"Authorization": OTHER}}}
SLOWER = {**FEED, "header_timeout": "9s"}


@pytest.mark.parametrize(
    ("old", "new", "keys"),
    [
        ({}, {}, []),
        ({}, {"exporter": {"listen": "127.0.0.1:1"}}, ["exporter.listen"]),
        ({}, {"feeds": [FEED]}, ["feeds"]),
        ({"feeds": [FEED]}, {"feeds": [{**FEED, "max_body_bytes": "1MiB"}]}, []),
        ({"feeds": [FEED]}, {"feeds": [{**FEED, "token_files": ["a"]}]}, []),
        (
            {"feeds": [FEED]},
            {"feeds": [{**FEED, "header_timeout": "1s"}]},
            ["feeds[0].header_timeout"],
        ),
        (
            {"feeds": [FEED]},
            {"feeds": [{"type": "file", "path": "x"}]},
            ["feeds[0]"],
        ),
        ({}, {"state": {"directory": "elsewhere"}}, ["state.directory"]),
        ({}, {"state": {"checkpoint_every": "1m"}}, []),
        ({}, {"exporter": {"external_url": "https://monitor.example.org"}}, []),
        (FORWARD, FORWARD, []),
        (FORWARD, ROTATED, ["forward.headers.Authorization"]),
        ({}, {"models": {"a": {}}, "windows": ["1h"], "pane": "5m"}, []),
    ],
)
def test_what_needs_a_restart_is_named(old, new, keys):
    faults = restart_faults(Config(**old), Config(**new))
    assert [fault.partition(": ")[0] for fault in faults] == keys
    assert all(fault.endswith("; restart the monitor") for fault in faults)
    assert not any(secret in fault for fault in faults for secret in (TOKEN, OTHER))


def app_of(reload):
    return create_app(lambda: Snapshot, ready=lambda: True, reload=reload)


@pytest.mark.parametrize(
    ("error", "status"), [(None, 200), (ConfigError(("a: fault", "b: fault")), 400)]
)
def test_the_route_answers_what_came_of_it(error, status):
    def reload():
        done = Future()
        if error:
            done.set_exception(error)
        else:
            done.set_result(None)
        return done

    with BackgroundServer(app_of(reload)) as server:
        answer = httpx.post(f"{server.url}/-/reload")
        assert answer.status_code == status
        assert answer.text == ("reloaded\n" if error is None else "a: fault\nb: fault\n")
        assert httpx.get(f"{server.url}/-/reload").status_code == 405
        page = httpx.post(f"{server.url}/-/reload", headers={"Origin": "http://evil.example"})
        assert page.status_code == 403


def test_there_is_no_such_route_unless_asked_for():
    with BackgroundServer(app_of(None)) as server:
        assert httpx.post(f"{server.url}/-/reload").status_code == 404


def successful(url):
    return Scraper(url).value("precision_monitor_config_last_reload_successful")


def test_the_service_reloads_on_sighup_and_on_request(tmp_path):
    tokens = tmp_path / "tokens"
    tokens.write_text(TOKEN)
    feeds = f'[{{type: http, listen: "127.0.0.1:0", token_files: [{tokens}]}}]'
    path = config_of(tmp_path, feeds=feeds)
    path.write_text(path.read_text().replace("exporter: {", "exporter: {allow_reload: true, "))
    good = path.read_text()
    with running(path) as (process, url, reported):
        feed = reported.partition("reading ")[2].strip()
        until(lambda: httpx.get(f"{url}/readyz").status_code == 200)

        def posted(token):
            headers = {"Authorization": f"Bearer {token}"}
            return httpx.post(feed, content=EVENT, headers=headers).status_code

        assert (posted(TOKEN), posted(OTHER)) == (200, 401)
        tokens.write_text(OTHER)
        assert httpx.post(f"{url}/-/reload").text == "reloaded\n"
        assert (posted(TOKEN), posted(OTHER)) == (401, 200)

        path.write_text(good.replace("allow_reload: true", "allow_relod: true"))
        process.send_signal(signal.SIGHUP)
        until(lambda: successful(url) == 0)
        answer = httpx.post(f"{url}/-/reload")
        assert answer.status_code == 400
        assert answer.text.startswith(f"{path}:3: unknown key 'allow_relod'; did you mean")
        assert posted(OTHER) == 200, "the configuration before is in force"

        path.write_text(good)
        before = time.time()
        process.send_signal(signal.SIGHUP)
        until(lambda: successful(url) == 1)
        stamp = "precision_monitor_config_last_reload_success_timestamp_seconds"
        assert Scraper(url).value(stamp) >= before - 1
        os.kill(process.pid, signal.SIGTERM)
        assert process.wait(20) == 0
