"""promtool on everything under deploy/prometheus, and on rules of other configurations."""

import json
import subprocess

import pytest
import yaml
from deploy.expressions import DEPLOY, PROMETHEUS, RULES, TESTS, alerts
from deploy.rule_tests import RARELY_COLLECTED, with_needed_rules

from monitor.config import Config, load_config
from monitor.prometheus.rules import Scope, as_prometheus, groups

pytestmark = pytest.mark.system

CONFIGS = PROMETHEUS.parents[1] / "config"


def checked(program, *words):
    command = [program, *map(str, words)]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=RARELY_COLLECTED
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_rules_have_no_fault(system_program):
    assert "SUCCESS" in checked(system_program("promtool"), "check", "rules", RULES)


def test_the_scrape_example_has_no_fault(system_program):
    path = PROMETHEUS / "prometheus.yml"
    assert "SUCCESS" in checked(system_program("promtool"), "check", "config", path)


@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_every_alert_fires_when_it_should_and_only_then(system_program, tmp_path, path):
    """With the rules alone that each scenario asks for: a third of the CPU."""
    scenarios = with_needed_rules(RULES, path, tmp_path)
    assert len(scenarios) >= 4
    checked(system_program("promtool"), "test", "rules", *scenarios)


@pytest.mark.slow
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.name)
def test_every_alert_fires_with_all_rules_together(system_program, path):
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
    """Texts have the numbers of the reference, and no gap where there is no reference."""
    names = ("known", "bare", "careful")
    config = Config(models={name: {"labelling": "sampled"} for name in names})
    (tmp_path / "rules.yml").write_text(as_prometheus(groups(Scope.of(config))))
    gauges = {}
    # The second flags less and misses more: its LR+ rose.
    for model, recall, false_positive in (("known", 0.3, 0.02), ("careful", 0.4, 0.001)):
        place = f'job="m",instance="a",model="{model}"'
        odds = recall / false_positive
        now = {
            "precision": 0.5,
            "balanced_precision": odds / (1 + odds),
            "recall": recall,
            "false_positive": false_positive,
        }
        gauges |= {
            f'classifier_{metric}_ratio{{{place},window="7d"}}': value
            for metric, value in now.items()
        }
        reference = {"tp": 80, "fp": 20, "fn": 20.5, "tn": 879.5}
        gauges |= {
            f'classifier_reference_outcomes{{{place},outcome="{cell}"}}': count
            for cell, count in reference.items()
        }
    for name in names:
        labels = f'job="m",instance="a",model="{name}",window="7d",verdict="model_degraded"'
        gauges[f"classifier_verdict{{{labels}}}"] = 1
        gauges[f'classifier_degradation_detected{{job="m",instance="a",model="{name}"}}'] = 1
        labels = f'job="m",instance="a",model="{name}",window="7d",rate="recall"'
        gauges[f"classifier_rate_changed{{{labels}}}"] = -1
    reported = {
        "known": "recall 0.300, was 0.796; false-positive rate 0.0200, was 0.0222; log LR+ 2.71, "
        "was 3.58; precision 0.500, was 0.800; balanced precision 0.938, was 0.973.",
        "careful": "recall 0.400, was 0.796; false-positive rate 0.0010, was 0.0222; log LR+ 5.99, "
        "was 3.58; log LR- -0.51, was -1.57 (higher is worse); precision 0.500, was 0.800; "
        "balanced precision 0.998, was 0.973.",
        "bare": "recall —; false-positive rate —; log LR+ —; precision —; balanced precision —.",
    }
    summaries = {
        "known": "model worse, recall fell 79.6 → 30 %",
        "careful": "model worse, recall fell 79.6 → 40 %",
        "bare": "model worse than its reference",
    }
    text = alerts((tmp_path / "rules.yml").read_text())["ModelDegraded"]["annotations"]
    meaning = text["description"].partition("{{")[0]
    expected = [
        {
            "exp_labels": {"severity": "page", "job": "m", "instance": "a", "model": name},
            "exp_annotations": text
            | {
                "summary": f"{name}: {summaries[name]}",
                "description": f"{meaning} Its last days are certainly degraded. 7d: {numbers}",
            },
        }
        for name, numbers in reported.items()
    ]
    scenario = {
        "interval": "10m",
        "input_series": [{"series": n, "values": f"{v}x12"} for n, v in gauges.items()],
        "alert_rule_test": [
            {"eval_time": "100m", "alertname": "ModelDegraded", "exp_alerts": expected}
        ],
    }
    path = tmp_path / "test.yml"
    asked = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": "10m",
        # Else promtool shuffles them, and the numbers may come after the alert.
        "group_eval_order": ["precision-monitor-numbers", "precision-monitor-models"],
        "tests": [scenario],
    }
    path.write_text(yaml.safe_dump(asked))
    checked(system_program("promtool"), "test", "rules", path)


@pytest.mark.parametrize("board", ["on-call", "model-detail"])
def test_a_deployment_is_marked_once_however_rarely_the_version_predicts(
    system_program, tmp_path, board
):
    """Version 7 begins after three hours, as a canary; from the fifth to the ninth nothing runs."""
    path = DEPLOY / "grafana" / "dashboards" / f"{board}.json"
    marks = json.loads(path.read_text())["annotations"]["list"]
    (expr,) = (one["expr"] for one in marks if one["name"] == "Deployments")
    for variable, value in {"$job": "m", "$instance": "a", "$model": "fraud"}.items():
        expr = expr.replace(variable, value)
    place = 'job="m",instance="a",model="fraud"'
    runs, away = "1x299", "_x240"
    series = {
        f'classifier_version_info{{{place},version="6"}}': f"{runs} {away} 1x300",
        f'classifier_version_info{{{place},version="7"}}': f"_x180 1x119 {away} 1x300",
        # the latest prediction is rarely that of the canary
        f'classifier_model_info{{{place},version="6"}}': f"{runs} {away} 1x300",
        f'classifier_model_info{{{place},version="7"}}': f"_x190 1 _x109 {away} _x200 1 _x99",
    }
    seventh = {"labels": f'classifier_version_info{{{place},version="7"}}', "value": 1}
    shown = {1: [], 170: [], 181: [seventh], 184: [seventh], 186: [], 200: [], 295: []}
    shown |= {minute: [] for minute in (541, 544, 547, 600, 745, 800)}
    tests = [
        {"expr": expr, "eval_time": f"{minute}m", "exp_samples": samples}
        for minute, samples in shown.items()
    ]
    scenario = {
        "interval": "1m",
        "input_series": [{"series": name, "values": v} for name, v in series.items()],
        "promql_expr_test": tests,
    }
    path = tmp_path / "test.yml"
    path.write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": [scenario]}))
    checked(system_program("promtool"), "test", "rules", path)
