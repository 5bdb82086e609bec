"""The Alertmanager example: who is told what, and what mutes what, by the real programs."""

import subprocess
from contextlib import contextmanager

import httpx
import pytest
from deploy.expressions import DEPLOY
from exporters.test_exporter_system import free_port, until

pytestmark = pytest.mark.system

EXAMPLE = DEPLOY / "alertmanager" / "alertmanager.yml"


def test_the_example_has_no_fault(system_program):
    command = [system_program("amtool"), "check-config", EXAMPLE]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("labels", "receiver"),
    [
        ({"alertname": "ModelDegraded", "severity": "page", "model": "m"}, "pages"),
        ({"alertname": "PrevalenceShift", "severity": "ticket", "model": "m"}, "tickets"),
        ({"alertname": "EventsRejected", "severity": "ticket", "instance": "a"}, "tickets"),
        ({"alertname": "MonitorDown", "severity": "page"}, "pages"),
        ({"alertname": "Watchdog", "severity": "none"}, "dead-man"),
    ],
)
def test_routes_go_by_severity(system_program, labels, receiver):
    words = [f"{name}={value}" for name, value in labels.items()]
    command = [system_program("amtool"), "config", "routes", "test", "--config.file", EXAMPLE]
    done = subprocess.run([*command, *words], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == receiver


@contextmanager
def alertmanager(program, folder):
    port = free_port()
    command = [program, f"--config.file={EXAMPLE}", f"--storage.path={folder / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            yield f"http://127.0.0.1:{port}/api/v2"
        finally:
            process.terminate()
            process.wait(20)


def states(api):
    """Whether each alert that came is muted, by name and model."""
    return {
        (alert["labels"]["alertname"], alert["labels"]["model"]): alert["status"]["state"]
        for alert in httpx.get(f"{api}/alerts").json()
    }


def test_what_explains_more_mutes_what_explains_less(system_program, tmp_path):
    sent = {
        "worse": ["ModelDegraded", "PrecisionBelowObjective", "PrevalenceShift"],
        "promised": [
            "ModelDegraded",
            "BalancedPrecisionBelowObjective",
            "RecallBelowObjective",
            "FalsePositivesAboveObjective",
        ],
        "blind": ["LabelsNotTrustworthy", "ModelDegraded", "PrecisionBelowObjective"],
        "stalled": ["LabelFeedStalled", "ModelDegraded", "PrecisionBelowObjective"],
        "low": ["PrecisionBelowObjective", "PrevalenceShift"],
    }
    muted = {
        ("PrecisionBelowObjective", "worse"),
        *((name, "promised") for name in sent["promised"][1:]),
        *((name, model) for model in ("blind", "stalled") for name in sent[model][1:]),
    }
    alerts = [(name, model) for model, names in sent.items() for name in names]
    place = {"job": "precision-monitor", "namespace": "production"}
    body = [{"labels": {"alertname": name, "model": model, **place}} for name, model in alerts]
    # What is wrong with a model of the same name in staging mutes nothing here.
    elsewhere = {"alertname": "LabelsNotTrustworthy", "model": "low", "job": "precision-monitor"}
    body.append({"labels": elsewhere | {"namespace": "staging"}})
    alerts.append(("LabelsNotTrustworthy", "low"))
    with alertmanager(system_program("prometheus-alertmanager"), tmp_path) as api:

        def ready():
            try:
                return httpx.get(f"{api}/status").status_code == 200
            except httpx.TransportError:
                return False

        until(ready)
        assert httpx.post(f"{api}/alerts", json=body).status_code == 200
        expected = {alert: "suppressed" if alert in muted else "active" for alert in alerts}
        until(lambda: states(api) == expected)
