"""Rules, series and selectors, parsed from the files in deploy/."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from monitor.prometheus.families import FAMILIES
from monitor.prometheus.feed_series import FEED_SERIES
from monitor.prometheus.forward_series import FORWARD_SERIES
from monitor.prometheus.process_series import PROCESS_SERIES

DEPLOY = Path(__file__).parents[2] / "deploy"
PROMETHEUS = DEPLOY / "prometheus"
RULES = PROMETHEUS / "precision-monitor.rules.yml"
TESTS = sorted(PROMETHEUS.glob("*.test.yml"))

_SERIES = re.compile(r"(?<![\w:$])(?:classifier_|precision_monitor_|process_|model\w*:)[\w:]+")
_SELECTOR = re.compile(
    r"(?<![\w:$])(?:up|(?:classifier_|precision_monitor_|process_|model\w*:)[\w:]+)"
    r'(?:\{(?:[^"}]|"(?:[^"\\]|\\.)*")*\})?'
)
_COMMENT = re.compile(r"^\s*#.*$", re.MULTILINE)


def rules(text: str) -> list[dict[str, Any]]:
    """All rules of a rule file."""
    return [rule for group in yaml.safe_load(text)["groups"] for rule in group["rules"]]


def alerts(text: str) -> dict[str, dict[str, Any]]:
    """The alerts by name."""
    return {rule["alert"]: rule for rule in rules(text) if "alert" in rule}


def recorded(text: str) -> set[str]:
    """Names of the series that are recorded."""
    return {rule["record"] for rule in rules(text) if "record" in rule}


def without_comments(expr: str) -> str:
    """An expression as Prometheus reads it."""
    return _COMMENT.sub("", expr)


def series_in(text: str) -> set[str]:
    """Names of series in an expression or a template."""
    return set(_SERIES.findall(without_comments(text)))


def selectors_in(expr: str) -> Iterator[str]:
    """Each series with its matchers, without range and offset."""
    yield from dict.fromkeys(_SELECTOR.findall(without_comments(expr)))


def exported() -> set[str]:
    """Names of all series that the program exports, as they stand in queries."""
    suffixes = {"histogram": ("_bucket", "_count", "_sum"), "summary": ("_count", "_sum")}
    described = [family.description for family in FAMILIES] + [
        *PROCESS_SERIES,
        *FEED_SERIES,
        *FORWARD_SERIES,
    ]
    names = {
        series.name + suffix for series in described for suffix in suffixes.get(series.kind, ("",))
    }
    return names | {"process_resident_memory_bytes", "process_cpu_seconds_total"}
