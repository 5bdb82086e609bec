"""The shipped rules with waits of seconds and the same expressions.

Two days pass in a second here, and Prometheus scrapes several times a second.
The hold times of alerts, and how far expressions look back over a lost scrape,
are shortened to match; nothing else differs.
"""

from __future__ import annotations

from dataclasses import replace

from monitor.config import Config
from monitor.prometheus.rules import Scope, as_prometheus, groups
from monitor.prometheus.rules.rule import Alert, Recording, RuleGroup
from monitor.prometheus.rules.scope import GAP

HOLD, LOOK_BACK = "1s", "3s"


def hurried_rules(config: Config) -> str:
    """Return the rule file of a configuration, with short waits."""
    found = groups(Scope.of(config))
    return as_prometheus(
        [RuleGroup(name, [_hurried(rule) for rule in rules]) for name, rules in found]
    )


def _hurried(rule: Recording | Alert) -> Recording | Alert:
    if isinstance(rule, Recording):
        return rule
    return replace(
        rule,
        expr=_looking_back(rule.expr),
        summary=_looking_back(rule.summary),
        numbers=_looking_back(rule.numbers),
        hold=HOLD,
        keep="",
    )


def _looking_back(text: str) -> str:
    return text.replace(f"[{GAP}]", f"[{LOOK_BACK}]")
