"""Alerts as a provisioning file of Grafana, for a team that alerts from Grafana.

Each alert queries the same expression from the same Prometheus, which still records
the numbers. Grafana's templates cannot look numbers up: its messages name the
alert, explain it, and link to the runbook and to the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import yaml

from monitor.prometheus.rules.rule import Alert, RuleGroup

_BACK_SECONDS = 600
_EXPRESSION_SOURCE = "__expr__"
_HEADING = """\
# For /etc/grafana/provisioning/alerting/, if Grafana alerts instead of Prometheus; with both,
# every alert comes twice. The recording rules stay with Prometheus.
"""


def as_grafana(groups: Sequence[RuleGroup], source: str) -> str:
    """Return a provisioning file with the alerts.

    Args:
        groups: all rules; recordings are left out.
        source: UID of the Prometheus data source.
    """
    found = [(group, [r for r in group.rules if isinstance(r, Alert)]) for group in groups]
    document = {
        "apiVersion": 1,
        "groups": [
            {
                "orgId": 1,
                "name": group.name,
                "folder": "Precision monitor",
                "interval": "1m",
                "rules": [_rule(alert, source) for alert in alerts],
            }
            for group, alerts in found
            if alerts
        ],
    }
    return _HEADING + yaml.safe_dump(document, sort_keys=False, width=100, allow_unicode=True)


def _rule(alert: Alert, source: str) -> dict[str, Any]:
    return {
        "uid": f"precision-monitor-{alert.name.lower()}"[:40],
        "title": alert.name,
        "condition": "fires",
        "data": [_query(alert, source), _fires()],
        "for": alert.hold,
        "noDataState": "OK",
        "execErrState": "Error",
        "labels": {"severity": alert.severity, **alert.labels},
        "annotations": {
            "summary": f"{alert.name}{{{{ with $labels.model }}}}: {{{{ . }}}}{{{{ end }}}}",
            "description": alert.description,
            "runbook_url": alert.runbook,
            **({"page_url": alert.page.model} if alert.page else {}),
            **({"dashboard_url": alert.dashboard} if alert.dashboard else {}),
        },
    }


def _query(alert: Alert, source: str) -> dict[str, Any]:
    """1 for each series that the expression returns, whatever its value."""
    return {
        "refId": "asked",
        "relativeTimeRange": {"from": _BACK_SECONDS, "to": 0},
        "datasourceUid": source,
        "model": {"refId": "asked", "instant": True, "expr": f"({alert.expr}\n) >= bool -Inf"},
    }


def _fires() -> dict[str, Any]:
    return {
        "refId": "fires",
        "datasourceUid": _EXPRESSION_SOURCE,
        "model": {
            "refId": "fires",
            "type": "threshold",
            "expression": "asked",
            "conditions": [{"evaluator": {"type": "gt", "params": [0]}}],
        },
    }
