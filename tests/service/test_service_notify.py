"""Notifications to systemd, over the socket that it names."""

import os
import signal
import socket
import subprocess
import sys

import pytest

from monitor.service.notify import Notify

CONFIG = """\
models: {{m: {{}}}}
feeds: [{{type: file, path: {state}/none.ndjson, follow: true}}]
exporter: {{listen: "127.0.0.1:0"}}
state: {{directory: {state}}}
"""


def test_a_service_says_that_it_serves_that_it_goes_on_and_that_it_ends(tmp_path):
    config, path = tmp_path / "monitor.yaml", tmp_path / "notify"
    config.write_text(CONFIG.format(state=tmp_path / "state"))
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(str(path))
        heard.settimeout(60)
        command = [sys.executable, "-m", "monitor", "run", "-c", config]
        environment = {**os.environ, "NOTIFY_SOCKET": str(path)}
        with subprocess.Popen(command, env=environment, stderr=subprocess.DEVNULL) as process:
            try:
                assert [heard.recv(99) for _ in range(3)] == [b"READY=1", *[b"WATCHDOG=1"] * 2]
                process.send_signal(signal.SIGTERM)
                reported = b"WATCHDOG=1"
                while reported == b"WATCHDOG=1":
                    reported = heard.recv(99)
                assert reported == b"STOPPING=1"
                assert process.wait(60) == 0
            finally:
                process.kill()


def test_a_name_may_be_abstract():
    name = f"precision-monitor-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(f"\0{name}")
        heard.settimeout(10)
        Notify({"NOTIFY_SOCKET": f"@{name}"}).ready()
        assert heard.recv(99) == b"READY=1"


@pytest.mark.parametrize("environment", [{}, {"NOTIFY_SOCKET": "/no/listener/here"}])
def test_notifications_without_a_listener_are_lost_silently(environment):
    Notify(environment).alive()
