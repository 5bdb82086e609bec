"""The Alertmanager example: who gets which alert, and which mutes which, by the real programs."""

import re
import subprocess
import sys
from contextlib import contextmanager

import httpx
import pytest
from deploy.expressions import DEPLOY
from exporter.test_exporter_system import until
from ports import free_port

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
def alertmanager(program, folder, config=EXAMPLE):
    port = free_port()
    command = [program, f"--config.file={config}", f"--storage.path={folder / 'data'}"]
    command += [f"--web.listen-address=127.0.0.1:{port}", "--cluster.listen-address="]
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stderr=log) as process:
        try:
            api = f"http://127.0.0.1:{port}/api/v2"
            until(lambda: ready(api))
            yield api
        finally:
            process.terminate()
            process.wait(20)


def ready(api):
    try:
        return httpx.get(f"{api}/status").status_code == 200
    except httpx.TransportError:
        return False


def send(api, alerts):
    body = [{"labels": labels, "annotations": {"summary": "numbers"}} for labels in alerts]
    assert httpx.post(f"{api}/alerts", json=body).status_code == 200


def states(api):
    """State of each alert, active or suppressed, by name, model and instance, if it has one."""
    return {
        tuple(filter(None, map(alert["labels"].get, ("alertname", "model", "instance")))): alert[
            "status"
        ]["state"]
        for alert in httpx.get(f"{api}/alerts").json()
    }


def test_what_explains_more_mutes_what_explains_less(system_program, tmp_path):
    sent = {
        "worse": ["ModelDegraded", "DegradedWithoutPage", "PrevalenceShift"],
        "part": ["ModelDegraded", "SegmentWorse"],
        "a part": ["SegmentWorse", "PrevalenceShift"],
        "missed": ["ModelDegraded", "PrecisionBelowObjective", "PrevalenceShift"],
        "moved": ["ModelDegraded", "OperatingPointMoved"],
        "slid": ["OperatingPointMoved", "PrevalenceShift"],
        "dead": ["ModelDegraded", "PredictionsDegenerate"],
        "gone": ["PredictionFeedStalled", "PredictionsDegenerate"],
        "unlabelled": ["LabelFeedStalled", "PredictionsDegenerate"],
        "objective": [
            "ModelDegraded",
            "BalancedPrecisionBelowObjective",
            "RecallBelowObjective",
            "FalsePositivesAboveObjective",
        ],
        "blind": ["LabelsNotTrustworthy", "DegradedWithoutPage", "PrecisionBelowObjective"],
        "stalled": ["LabelFeedStalled", "ModelDegraded", "PrecisionBelowObjective"],
        "low": ["PrecisionBelowObjective", "PrevalenceShift"],
    }
    muted = {
        ("DegradedWithoutPage", "worse"),
        ("SegmentWorse", "part"),
        ("PrecisionBelowObjective", "missed"),
        ("OperatingPointMoved", "moved"),
        ("PredictionsDegenerate", "dead"),
        ("PredictionsDegenerate", "gone"),
        *((name, "objective") for name in sent["objective"][1:]),
        *((name, model) for model in ("blind", "stalled") for name in sent[model][1:]),
    }
    alerts = [(name, model) for model, names in sent.items() for name in names]
    place = {"job": "precision-monitor", "namespace": "production"}
    body = [{"alertname": name, "model": model, **place} for name, model in alerts]
    # What is wrong with a model of the same name in staging mutes nothing here.
    elsewhere = {"alertname": "LabelsNotTrustworthy", "model": "low", "job": "precision-monitor"}
    body.append(elsewhere | {"namespace": "staging"})
    alerts.append(("LabelsNotTrustworthy", "low"))
    with alertmanager(system_program("prometheus-alertmanager"), tmp_path) as api:
        send(api, body)
        expected = {alert: "suppressed" if alert in muted else "active" for alert in alerts}
        until(lambda: states(api) == expected)


def test_a_shard_without_labels_leaves_the_other_shards_their_voice(system_program, tmp_path):
    expected = {
        # One shard gets no labels: its own verdict is void, the sum rests on the others.
        ("LabelFeedStalled", "one", "a"): "active",
        ("ModelDegraded", "one", "a"): "suppressed",
        ("ModelDegraded", "one", "b"): "active",
        ("RecallBelowObjective", "two"): "active",
        ("LabelFeedStalled", "two", "a"): "active",
        # One shard gets wrong labels: they are in the sum.
        ("LabelsNotTrustworthy", "wrong", "a"): "active",
        ("ModelDegraded", "wrong", "b"): "active",
        ("PrecisionBelowObjective", "wrong"): "suppressed",
        # One shard gets no predictions: those of the others are news.
        ("PredictionFeedStalled", "half", "a"): "active",
        ("PredictionsDegenerate", "half", "a"): "suppressed",
        ("PredictionsDegenerate", "half", "b"): "active",
        ("PredictionFeedStalled", "none"): "active",
        ("PredictionsDegenerate", "none", "a"): "suppressed",
        # All of them.
        ("LabelFeedStalled", "all"): "active",
        ("ModelDegraded", "all", "a"): "suppressed",
        ("PrecisionBelowObjective", "all"): "suppressed",
    }
    names = ("alertname", "model", "instance")
    with alertmanager(system_program("prometheus-alertmanager"), tmp_path) as api:
        send(api, [dict(zip(names, alert, strict=False)) | {"job": "m"} for alert in expected])
        until(lambda: states(api) == expected)


def test_the_receiver_of_the_compose_file_prints_what_the_example_sends(system_program, tmp_path):
    command = [sys.executable, DEPLOY / "compose" / "receiver.py", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as receiver:
        try:
            url = receiver.stdout.readline().split()[-1]
            assert httpx.post(f"{url}/page", content=b"{}").status_code == 400
            config = tmp_path / "alertmanager.yml"
            text = EXAMPLE.read_text().replace("http://127.0.0.1:9099", url)
            config.write_text(re.sub("group_wait: .*", "group_wait: 0s", text))
            sent = [
                {"alertname": "Watchdog", "severity": "none"},
                {"alertname": "ModelDegraded", "severity": "page", "model": "m"},
                {"alertname": "PrevalenceShift", "severity": "ticket", "model": "n"},
            ]
            with alertmanager(system_program("prometheus-alertmanager"), tmp_path, config) as api:
                send(api, sent)
                lines = {receiver.stdout.readline() for _ in sent}
        finally:
            receiver.terminate()
    assert lines == {
        "dead-man firing   Watchdog: numbers\n",
        "page     firing   ModelDegraded: numbers\n",
        "ticket   firing   PrevalenceShift: numbers\n",
    }
