"""All rules in groups, recordings before the alerts that read them."""

from __future__ import annotations

from monitor.prometheus.rules.feed_alerts import feed_alerts
from monitor.prometheus.rules.model_alerts import verdict_alerts
from monitor.prometheus.rules.monitor_alerts import monitor_alerts
from monitor.prometheus.rules.recording import objectives, recordings
from monitor.prometheus.rules.rule import RuleGroup
from monitor.prometheus.rules.scope import Scope


def groups(scope: Scope) -> list[RuleGroup]:
    """Return the rules of a scope; groups without rules are left out.

    >>> from monitor.config import Config
    >>> [group.name for group in groups(Scope.of(Config.default()))]
    ['precision-monitor-numbers', 'precision-monitor-models', 'precision-monitor-feeds',
     'precision-monitor-health']
    """
    found = [
        RuleGroup("precision-monitor-numbers", recordings(scope)),
        RuleGroup("precision-monitor-objectives", objectives(scope)),
        RuleGroup("precision-monitor-models", verdict_alerts(scope)),
        RuleGroup("precision-monitor-feeds", feed_alerts(scope)),
        RuleGroup("precision-monitor-health", monitor_alerts(scope)),
    ]
    return [group for group in found if group.rules]
