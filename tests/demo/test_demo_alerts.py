"""The demo of the difference: alerts for rarer positives, and for a worse model."""

import os
import re
import signal
import socket
import subprocess
import sys

import pytest
import yaml
from cli.commands import ran
from exporter.test_exporter_system import until

from monitor.cli import demo_alerts
from monitor.cli.demo_alerts import PAGE, TICKET, _SimulatedDays
from monitor.clock import ManualClock
from monitor.config import Config
from monitor.demo.faults import simulation
from monitor.demo.faults.hurried_rules import HOLD, hurried_rules
from monitor.demo.faults.webhook import ReceivedAlert
from monitor.prometheus.rules import Scope, as_prometheus, groups

ALERT = re.compile(r"^day (\d+) +(PAGE|TICKET) (\w+): ", re.MULTILINE)


@pytest.mark.slow  # test_deploy_alert_agreement asks the same of the shipped rules
@pytest.mark.system
def test_the_page_is_for_the_worse_model_alone(system_program):
    system_program("prometheus")
    system_program("prometheus-alertmanager")
    command = [sys.executable, "-m", "monitor", "demo", "--alerts"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    before, _, after = done.stdout.partition("misses twice as many positives")
    quiet, _, rarer = before.partition("positives become half as frequent\n")
    assert ALERT.findall(quiet) == []
    alerts = [(severity, name) for _, severity, name in ALERT.findall(rarer)]
    assert ("TICKET", TICKET) in alerts
    assert "PAGE" not in {severity for severity, _ in alerts}
    assert [name for _, severity, name in ALERT.findall(after) if severity == "PAGE"] == [PAGE]
    assert done.stdout.rstrip().endswith("no page came before.")
    # Each describes what happened, with the numbers of that moment.
    text = " ".join(done.stdout.split())
    assert re.search(r"positives became rarer, \d+(\.\d+)? → \d+(\.\d+)? %; precision fell", text)
    assert re.search(r"model worse[,;] recall (fell )?\d\d(\.\d)? → \d\d(\.\d)? %", text)


@pytest.mark.system
@pytest.mark.parametrize(
    ("how", "code"), [(signal.SIGKILL, -9), (signal.SIGTERM, 143), (signal.SIGINT, 130)]
)
def test_nothing_stays_behind_whatever_ends_it(system_program, tmp_path, how, code):
    system_program("prometheus")
    system_program("prometheus-alertmanager")
    command = [sys.executable, "-u", "-m", "monitor", "demo", "--alerts"]
    env = os.environ | {"TMPDIR": str(tmp_path)}
    with subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        env=env,
        preexec_fn=heard,  # noqa: PLW1509  # no threads here
    ) as demo:
        begun = ""
        while begun.count("http") < 3:
            begun += demo.stdout.readline()
        demo.send_signal(how)
        demo.stdout.read()  # to its end: a closed pipe would end the program first
    assert demo.returncode == code
    # kill -9 leaves the folder: nothing removes it.
    assert how is signal.SIGKILL or list(tmp_path.iterdir()) == []
    for port in map(int, re.findall(r"(?:Prometheus|Alertmanager) http://127.0.0.1:(\d+)", begun)):
        until(lambda port=port: not listens(port))


def heard():
    """Make SIGINT end the program, also where a shell in the background has it ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def listens(port):
    with socket.socket() as asking:
        return asking.connect_ex(("127.0.0.1", port)) == 0


def test_a_missing_program_is_reported_with_how_to_get_it(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    done = ran(capsys, "demo", "--alerts")
    assert (done.code, done.out) == (2, "")
    assert "needs Prometheus and Alertmanager, not found on the PATH" in done.err
    program = tmp_path / "prometheus"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert "needs Alertmanager, not found" in ran(capsys, "demo", "--alerts").err


def test_a_program_that_does_not_start_says_why(capsys, monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("prometheus", "alertmanager"):
        program = tmp_path / name
        program.write_text("#!/bin/sh\necho this is no server\n")
        program.chmod(0o755)
    done = ran(capsys, "demo", "--alerts")
    assert done.code == 2
    assert "Alertmanager does not start:\nthis is no server" in done.err


def test_only_waits_differ_from_the_shipped_rules():
    config = Config(models={"m": {"objective": {"precision": 0.9}}})
    shipped = yaml.safe_load(as_prometheus(groups(Scope.of(config))))["groups"]
    hurried = yaml.safe_load(hurried_rules(config))["groups"]
    for before, after in zip(shipped, hurried, strict=True):
        for rule, quick in zip(before["rules"], after["rules"], strict=True):
            if "alert" in rule:
                assert quick.pop("for") == HOLD
                rule.pop("for", None)
                rule.pop("keep_firing_for", None)
            text = str(rule).replace("[10m]", "[3s]")
            assert text == str(quick) or "record" in rule


class Alerts:
    """Alerts that arrive on the days of a story."""

    def __init__(self, *days):
        self.days = dict(days)
        self.asked = 0

    def __call__(self):
        self.asked += 1
        severity, name = self.days.get(self.asked, ("", ""))
        return [ReceivedAlert(name, severity, "why")] if name else []


@pytest.mark.slow
@pytest.mark.parametrize(
    ("days", "code", "reported"),
    [
        ([(13, ("ticket", TICKET)), (25, ("page", PAGE))], 0, ""),
        ([(13, ("ticket", TICKET))], 1, f"received: {TICKET}"),
        ([], 1, "received: none"),
        (
            [(13, ("ticket", TICKET)), (15, ("page", PAGE))],
            1,
            f"pages of the first fault ['{PAGE}'], of the second []",
        ),
        (
            [(13, ("ticket", TICKET)), (14, ("page", "MonitorDown")), (25, ("page", PAGE))],
            1,
            "pages of the first fault ['MonitorDown']",
        ),
    ],
)
def test_the_exit_code_shows_whether_the_alerts_fired(capsys, monkeypatch, days, code, reported):
    monkeypatch.setattr(simulation, "_PREDICTIONS_A_DAY", 500)
    monkeypatch.setattr(demo_alerts, "_MOST_SECONDS", 6.0)  # twelve days, no 180
    assert _SimulatedDays(Alerts(*days), ManualClock()).run() == code
    assert reported in capsys.readouterr().err


def test_days_are_the_same_for_the_same_seed_and_lose_no_label():
    one, other = simulation.DailyEvents(), simulation.DailyEvents()
    batches = [one.next(simulation.NORMAL) for _ in range(3)]
    again = [other.next(simulation.NORMAL) for _ in range(3)]
    for batch, same in zip(batches, again, strict=True):
        assert (batch.predictions.time == same.predictions.time).all()
        assert (batch.labels.value == same.labels.value).all()
    labelled = sum(len(batch.labels) for batch in batches)
    assert labelled > 0.85 * sum(len(batch.predictions) for batch in batches)
    assert batches[2].labels.value.mean() == pytest.approx(0.1, abs=0.01)
