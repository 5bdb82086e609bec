"""promtool on everything under deploy/prometheus, and on rules of other configurations."""

import subprocess

import pytest
from deploy.expressions import PROMETHEUS, RULES, TESTS

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
