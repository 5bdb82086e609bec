"""Rules as YAML that people can read: comments in the expressions, short lines."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent, wrap

from monitor.prometheus.rules.rule import Alert, Recording, RuleGroup

_WIDTH = 88
_YAML_WORDS = {"y", "n", "yes", "no", "on", "off", "true", "false", "null", "none"}
"""Texts that some YAML parsers read as another type."""
_STEP = "  "
_KUBERNETES = """\
apiVersion: monitoring.coreos.com/v1
kind: PrometheusRule
metadata:
  name: precision-monitor
  labels:
    app.kubernetes.io/name: precision-monitor
spec:
"""


def as_prometheus(groups: Sequence[RuleGroup]) -> str:
    """Return a rule file of Prometheus."""
    return "\n".join(_groups(groups))


def as_kubernetes(groups: Sequence[RuleGroup]) -> str:
    """Return a PrometheusRule of the Prometheus operator."""
    return _KUBERNETES + indent(as_prometheus(groups), _STEP)


def _groups(groups: Sequence[RuleGroup]) -> Iterator[str]:
    yield "groups:"
    for group in groups:
        yield f"{_STEP}- name: {group.name}"
        yield f"{_STEP * 2}rules:"
        for rule in group.rules:
            lines = _recording(rule) if isinstance(rule, Recording) else _alert(rule)
            yield from _item(lines)


def _item(lines: Iterator[str]) -> Iterator[str]:
    text = indent("\n".join(lines), _STEP * 4)
    yield f"{_STEP * 3}- {text.lstrip()}"


def _recording(rule: Recording) -> Iterator[str]:
    yield f"record: {rule.name}"
    yield _block("expr", _commented(rule.why, rule.expr))
    yield from _mapping("labels", rule.labels)


def _alert(rule: Alert) -> Iterator[str]:
    yield f"alert: {rule.name}"
    yield _block("expr", _commented(rule.why, rule.expr))
    if rule.hold != "0s":
        yield f"for: {rule.hold}"
    if rule.keep:
        yield f"keep_firing_for: {rule.keep}"
    yield from _mapping("labels", {"severity": rule.severity, **rule.labels})
    yield "annotations:"
    yield indent(_block("summary", rule.summary), _STEP)
    yield indent(_block("description", f"{rule.description}{rule.numbers}"), _STEP)
    yield f"{_STEP}runbook_url: {_scalar(rule.runbook)}"
    if rule.page is not None:
        yield indent(_block("page_url", "".join(rule.page)), _STEP)
    if rule.dashboard:
        yield indent(_block("dashboard_url", rule.dashboard), _STEP)


def _commented(why: str, expr: str) -> str:
    comment = wrap(why, _WIDTH, initial_indent="# ", subsequent_indent="# ")
    return "\n".join([*comment, expr])


def _block(key: str, text: str) -> str:
    return f"{key}: |-\n{indent(text, _STEP)}"


def _mapping(key: str, labels: Mapping[str, str]) -> Iterator[str]:
    if labels:
        yield f"{key}:"
        yield from (f"{_STEP}{name}: {_scalar(value)}" for name, value in labels.items())


def _scalar(text: str) -> str:
    plain = re.fullmatch(r"[A-Za-z][A-Za-z0-9_/.:#-]*", text) and text.lower() not in _YAML_WORDS
    return text if plain else json.dumps(text, ensure_ascii=False)
