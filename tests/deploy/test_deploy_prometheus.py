"""promtool on everything under deploy/prometheus, and on rules of other configurations."""

import subprocess

import pytest
import yaml
from deploy.expressions import PROMETHEUS, RULES, TESTS, alerts

from monitor.config import Config, load_config
from monitor.exporters.rules import Scope, as_prometheus, groups

pytestmark = pytest.mark.system

CONFIGS = PROMETHEUS.parents[1] / "config"


def checked(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_have_no_fault(system_program):
    assert "SUCCESS" in checked(system_program("promtool"), "check", "rules", RULES)


def test_the_scrape_example_has_no_fault(system_program):
    path = PROMETHEUS / "prometheus.yml"
    assert "SUCCESS" in checked(system_program("promtool"), "check", "config", path)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_every_alert_fires_when_it_should_and_only_then(system_program, path):
    checked(system_program("promtool"), "test", "rules", path)


@pytest.mark.parametrize(
    "config",
    [
        load_config(CONFIGS / "flights.yaml"),
        load_config(CONFIGS / "fraud.yaml", {}),
        Config(models={'a.b|"c\\ d{{': {"objective": {"precision": 1e-7}}, "é": {}}),
        Config(models={"a": {}, "b": {"labelling": "sampled"}}, windows=["10m"]),
        Config(models={"b": {"labelling": "flagged_only"}}),
    ],
    ids=["flights", "fraud", "odd names", "sampled too", "flagged only"],
)
def test_rules_of_any_configuration_have_no_fault(system_program, tmp_path, config):
    path = tmp_path / "rules.yml"
    path.write_text(as_prometheus(groups(Scope.of(config))))
    assert "SUCCESS" in checked(system_program("promtool"), "check", "rules", path)


def test_texts_of_sampled_models_say_what_is_known(system_program, tmp_path):
    """What it was where there is a reference, and no empty place for it where there is none."""
    config = Config(models={name: {"labelling": "sampled"} for name in ("known", "bare")})
    (tmp_path / "rules.yml").write_text(as_prometheus(groups(Scope.of(config))))
    place = 'job="m",instance="a",model="known"'
    gauges = {
        f'classifier_precision_ratio{{{place},window="7d"}}': 0.5,
        f'classifier_balanced_precision_ratio{{{place},window="7d"}}': 0.9,
        f'classifier_precision_change_logit{{{place},window="7d",cause="recall"}}': -0.4,
    }
    reference = {"tp": 80, "fp": 20, "fn": 20.5, "tn": 879.5}
    gauges |= {
        f'classifier_reference_outcomes{{{place},outcome="{cell}"}}': count
        for cell, count in reference.items()
    }
    for name in ("known", "bare"):
        labels = f'job="m",instance="a",model="{name}",window="7d",verdict="model_degraded"'
        gauges[f"classifier_verdict{{{labels}}}"] = 1
    said = {
        "known": "balanced precision 0.900, was 0.973; precision 0.500, was 0.800; by cause, in "
        "log-odds: prevalence —, recall -0.40, false positives —.",
        "bare": "balanced precision —; precision —; by cause, in log-odds: prevalence —, recall —, "
        "false positives —.",
    }
    text = alerts((tmp_path / "rules.yml").read_text())["ModelDegraded"]["annotations"]
    expected = [
        {
            "exp_labels": {"severity": "page", "job": "m", "instance": "a", "model": name},
            "exp_annotations": text
            | {"summary": f"{name} separates the classes worse than its reference. 7d: {numbers}"},
        }
        for name, numbers in said.items()
    ]
    scenario = {
        "interval": "1m",
        "input_series": [{"series": n, "values": f"{v}x20"} for n, v in gauges.items()],
        "alert_rule_test": [
            {"eval_time": "10m", "alertname": "ModelDegraded", "exp_alerts": expected}
        ],
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump({"rule_files": ["rules.yml"], "tests": [scenario]}))
    checked(system_program("promtool"), "test", "rules", path)
