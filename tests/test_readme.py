"""Every command, config key, series and verdict that exists stands in the README."""

import doctest
import re

from readme_tables import README, with_tables

from monitor.cli.parser import COMMANDS
from monitor.config import Config, FileFeed, ModelConfig
from monitor.drift import Verdict
from monitor.events.columns import RejectReason
from monitor.prometheus.families import table_of_series

TEXT = README.read_text()


def test_its_tables_are_those_of_the_program():
    assert with_tables(TEXT) == TEXT, "run: PYTHONPATH=. python tests/readme_tables.py"


def test_its_example_runs():
    example = doctest.DocTestParser().get_doctest(TEXT, {}, "README.md", "README.md", 0)
    assert example.examples
    assert doctest.DocTestRunner().run(example).failed == 0


def test_it_opens_with_the_two_commands():
    commands = [
        line.strip() for line in TEXT.splitlines() if line.startswith("    python3 -m venv")
    ]
    assert [command.split()[-1] for command in commands] == ["demo", "2"]
    assert TEXT.index(commands[1]) < TEXT.index("\n## ")


def test_every_command_is_there():
    assert all(f"`precision-monitor {name}" in TEXT for name in COMMANDS)


def test_every_config_key_is_there():
    keys = {*Config.model_fields, *FileFeed.model_fields, *ModelConfig.model_fields}
    assert [key for key in keys if not re.search(rf"[`.]{key}`", TEXT)] == []


def test_every_series_is_there():
    assert [series.name for series in table_of_series() if f"`{series.name}`" not in TEXT] == []


def test_every_verdict_has_a_heading_that_alerts_can_link_to():
    assert [verdict for verdict in Verdict if f"\n### {verdict}\n" not in TEXT] == []


def test_every_reject_reason_is_there():
    assert [reason for reason in RejectReason if f"`{reason}`" not in TEXT] == []
