"""Recording and alerting rules for Prometheus, written for the configured models.

    scope.py        which models, windows and objectives the rules speak of
    rule.py         what a rule is
    recording.py    numbers from counts that can be added up over several monitors
    texts.py        what alerts say: numbers, causes, runbooks
    model_alerts.py     alerts about what the verdicts say
    feed_alerts.py      alerts about events that do not come
    objective_alerts.py alerts about objectives that are missed
    monitor_alerts.py   alerts about the monitor itself
    text.py         all of it as YAML
    grafana.py      the alerts alone, for Grafana's own alerting

A page is for what a person must act on now, a ticket for what can wait until
the morning. No rule looks at a gauge of one scrape alone: a failed scrape must
neither fire an alert nor resolve one.
"""

from monitor.prometheus.rules.feed_alerts import feed_alerts
from monitor.prometheus.rules.grafana import as_grafana
from monitor.prometheus.rules.model_alerts import verdict_alerts
from monitor.prometheus.rules.monitor_alerts import monitor_alerts
from monitor.prometheus.rules.recording import objectives, recordings
from monitor.prometheus.rules.rule import Group
from monitor.prometheus.rules.scope import Scope
from monitor.prometheus.rules.text import as_kubernetes, as_prometheus

__all__ = ["Scope", "as_grafana", "as_kubernetes", "as_prometheus", "groups"]


def groups(scope: Scope) -> list[Group]:
    """All rules, what is recorded before what reads it.

    >>> from monitor.config import Config
    >>> [group.name for group in groups(Scope.of(Config.default()))]
    ['precision-monitor-numbers', 'precision-monitor-models', 'precision-monitor-feeds',
     'precision-monitor-health']
    """
    found = [
        Group("precision-monitor-numbers", recordings(scope)),
        Group("precision-monitor-objectives", objectives(scope)),
        Group("precision-monitor-models", verdict_alerts(scope)),
        Group("precision-monitor-feeds", feed_alerts(scope)),
        Group("precision-monitor-health", monitor_alerts(scope)),
    ]
    return [group for group in found if group.rules]
