"""Alerts as promtool fills them: their names and annotations."""

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import yaml
from deploy.rule_tests import RARELY_COLLECTED

_GOT = re.compile(
    r'Labels:\{(?:against="[^"]*", )?alertname="(\w+)", (.*?)\}\s+Annotations:\{(.*)\}'
)
_TEXT = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def texts(promtool: str, test: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Name and annotations of each alert that a test finds where it expects none."""
    command = [promtool, "test", "rules", test]
    done = subprocess.run(
        command, capture_output=True, text=True, check=False, env=RARELY_COLLECTED
    )
    for found in (done.stdout + done.stderr).split("got:[")[1:]:
        for name, _, annotations in _GOT.findall(found.split("alertname:")[0]):
            yield (
                name,
                {key: re.sub(r"\\(.)", r"\1", text) for key, text in _TEXT.findall(annotations)},
            )


def written(folder: Path, rules: str, tests: list[dict], every: str = "1m") -> Path:
    """A test file of promtool beside the rules that it tests, evaluated every so often."""
    (folder / "rules.yml").write_text(rules)
    document = {
        "rule_files": ["rules.yml"],
        "evaluation_interval": every,
        "group_eval_order": [
            f"precision-monitor-{name}" for name in ("numbers", "models", "feeds", "health")
        ],
        "tests": tests,
    }
    path = folder / "test.yml"
    path.write_text(yaml.safe_dump(document))
    return path
