"""Recording and alerting rules for Prometheus, written for the configured models.

    scope.py             the models, windows and objectives that the rules are about
    rule.py              what a rule is
    recording.py         numbers from counts that can be added up over several monitors
    templates.py         parts of texts that look up numbers when the alert fires
    summaries.py         what an alert about a model says in one line
    links.py             where an alert leads: the monitor's page, a dashboard
    model_alerts.py      alerts about verdicts
    objective_alerts.py  alerts about objectives that are missed
    feed_alerts.py       alerts about events that do not come
    monitor_alerts.py    alerts about the monitor itself
    rule_groups.py       all of them in their order
    rule_files.py        the groups as YAML
    grafana.py           the alerts alone, for Grafana's own alerting

A page asks a person to act now, a ticket can wait until the morning. No rule looks at a
gauge of one scrape alone: a failed scrape must neither fire an alert nor resolve one.
"""

from monitor.prometheus.rules.grafana import as_grafana
from monitor.prometheus.rules.rule_files import as_kubernetes, as_prometheus
from monitor.prometheus.rules.rule_groups import groups
from monitor.prometheus.rules.scope import Scope

__all__ = ["Scope", "as_grafana", "as_kubernetes", "as_prometheus", "groups"]
