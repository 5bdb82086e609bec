"""The shipped files in a real Prometheus that scrapes a real monitor."""

import json
import re

import httpx
import pytest
from deploy.expressions import DEPLOY, alerts, rules, selectors_in, without_comments
from deploy.live import config, live
from exporter.test_exporter_system import query, until

from monitor.demo.flights import MODEL
from monitor.prometheus.rules import Scope, as_prometheus, groups
from monitor.prometheus.rules.recording import CHANGE, GAUGES, LEVEL, NEARLY, REFERENCE, recorded_of

pytestmark = pytest.mark.system

DASHBOARDS = sorted((DEPLOY / "grafana" / "dashboards").glob("*.json"))
CHOSEN = {"$model": MODEL, "$window": "28d", "$segment": "carrier"}

WITHOUT_DATA = {
    r"classifier_degradation_detected\{[^}]*\} == 1": "marks a page",
    r"classifier_(prevalence|precision)_estimated_ratio\{[^}]*\}": "may be withheld",
    r"classifier_\w+\{[^}]*class!=\"\"[^}]*\}( == 1)?": "the flights have two classes",
    r"\(classifier_version_info\{[^}]*\} unless (.|\n)*": "flights name no version",
    r"min by \(model\) \(\s*0 \* \(classifier_verdict_because(.|\n)*": "the verdict may be none",
}
"""Patterns of expressions of dashboards that may rightly return nothing here."""

QUIET = {
    "ModelDegraded": "the model need not degrade here",
    "DegradedWithoutPage": "nor for six hours",
    "SegmentWorse": "no segment value is worse for six hours",
    "PredictionsDegenerate": "predictions are as ever",
    "EventTimesAhead": "no event is dated ahead",
    "CountsBelowZero": "nothing is corrected",
    "PrevalenceShift": "nor the class ratio move",
    "OperatingPointMoved": "nor recall and false positives together",
    "LabelsNotTrustworthy": "nor the labels be wrong",
    "LabelFeedStalled": "nothing was scraped a day ago",
    "PredictionFeedStalled": "nothing was scraped a day ago",
    "MonitorDown": "the monitor runs",
    "EventsRejected": "no record was rejected",
    "MonitorClockWrong": "all clocks are one",
    "SeriesLimitReached": "two dozen series",
    "CheckpointStale": "nothing is stored here",
    "CountsNotForwarded": "nothing is forwarded",
    "ForwardedCountsRejected": "nothing is forwarded",
    "ForwardedSettingsDiffer": "nothing is forwarded",
    "MonitorLoopStalled": "the loop turns",
    "ConfigReloadFailed": "the configuration is in order",
}
"""Alerts that may rightly return nothing here; each series that they look at does."""
WITHOUT_SERIES = {"VersionWorse": "no event names a version"}
"""Alerts on series that may rightly be absent here."""
OF_LEVEL = {
    LEVEL,
    recorded_of("level", "precision"),
    recorded_of("level", "recall"),
    recorded_of("level", "false_positive_rate"),
    recorded_of("level", "balanced_precision"),
}
"""Recorded of the level that pages rest on: absent, since that is the reference here."""


def asked_by(path):
    board = json.loads(path.read_text())
    for panel in board["panels"]:
        yield from (target["expr"] for target in panel.get("targets", ()))
    yield from (annotation["expr"] for annotation in board["annotations"].get("list", ()))
    for variable in board["templating"]["list"]:
        if variable["type"] == "query":
            yield variable["query"].removeprefix("label_values(").rpartition(",")[0]


def numbers(api, expr):
    def identity(labels):
        target = ("__name__", "instance", "job")
        return tuple(sorted(item for item in labels.items() if item[0] not in target))

    return {identity(row["metric"]): float(row["value"][1]) for row in query(api, expr)}


def refused(api, expr):
    """Return the error or the warnings of Prometheus about an expression."""
    answer = httpx.get(f"{api}/query", params={"query": expr}, timeout=60).json()
    return answer.get("error") or answer.get("warnings")


def may_be_empty(expr):
    """Return the pattern of `WITHOUT_DATA` that an expression has; None without one."""
    return next((one for one in WITHOUT_DATA if re.fullmatch(one, expr)), None)


def rules_with_data(text):
    """Return the rules but those of the level."""
    return [rule for rule in rules(text) if rule.get("record") not in OF_LEVEL]


@pytest.fixture(scope="module")
def asked(system_program, tmp_path_factory):
    with live(system_program("prometheus"), tmp_path_factory.mktemp("live")) as found:
        until(lambda: query(found.api, f'ALERTS{{alertname="Watchdog"}} and on() {CHANGE}'))
        until(lambda: query(found.api, "rate(precision_monitor_records_total[5m])"))
        yield found


@pytest.mark.slow
@pytest.mark.xdist_group("live")
def test_what_is_recorded_of_the_level_is_absent_while_it_is_the_reference(asked):
    text = as_prometheus(groups(Scope.of(config())))
    expressions = [rule["expr"] for rule in rules(text) if rule.get("record") in OF_LEVEL]
    assert len(expressions) == len(OF_LEVEL)
    assert [refused(asked.api, expr) for expr in expressions] == [None] * len(OF_LEVEL)
    assert [query(asked.api, expr) for expr in expressions] == [[]] * len(OF_LEVEL)
    assert until(lambda: query(asked.api, REFERENCE))


@pytest.mark.slow
@pytest.mark.xdist_group("live")
def test_all_that_is_shipped_returns_data(asked):
    api = asked.api

    # What is recorded from counts equals the gauges of the monitor that counted.
    for name, gauge in GAUGES.items():
        expected = numbers(api, gauge)
        assert expected
        assert until(lambda name=name: numbers(api, name)) == pytest.approx(expected, rel=1e-12)

    for name, gauge in NEARLY.items():
        expected = numbers(api, f'{gauge}{{segment=""}}')
        assert expected
        found = until(lambda name=name: numbers(api, f'{name}{{segment=""}}'))
        assert found == pytest.approx(expected, rel=5e-3)

    # Every rule is valid, and has samples unless it is known to have none.
    text = as_prometheus(groups(Scope.of(config())))
    states = httpx.get(f"{api}/rules").json()["data"]["groups"]
    assert {rule["health"] for group in states for rule in group["rules"]} == {"ok"}
    for rule in rules_with_data(text):
        expr = without_comments(rule["expr"])
        if rule.get("alert") not in QUIET | WITHOUT_SERIES:
            until(lambda expr=expr: query(api, expr))
            # As Grafana's own alerts ask it: 1, whatever the value.
            if "alert" in rule:
                assert {row["value"][1] for row in query(api, f"({expr}) >= bool -Inf")} == {"1"}
            continue
        assert refused(api, expr) is None
        for one in () if rule["alert"] in WITHOUT_SERIES else selectors_in(expr):
            until(lambda one=one: query(api, one))

    # Every panel, variable and annotation too.
    chosen = CHOSEN | {"$instance": asked.instance, "$job": "precision-.*"}
    found = {expr: path.name for path in DASHBOARDS for expr in asked_by(path)}
    assert len(found) > 50
    assert set(map(may_be_empty, found)) == {*WITHOUT_DATA, None}
    for expr, path in found.items():
        filled = expr
        for variable, value in chosen.items():
            filled = filled.replace(variable, value)
        assert "$" not in filled
        assert refused(api, filled) is None, (path, filled)
        if may_be_empty(expr) is None:
            until(lambda filled=filled: query(api, filled))

    # An alert that fires here contains the numbers.
    (pending,) = [
        alert
        for alert in httpx.get(f"{api}/alerts").json()["data"]["alerts"]
        if alert["labels"]["alertname"] == "PrecisionBelowObjective"
    ]
    assert pending["labels"]["cause"] in ("prevalence", "recall", "false_positives")
    assert re.search(r"precision below 90 %: \d\d", pending["annotations"]["summary"])
    objectives = {name for name in alerts(text) if name.endswith("Objective")}
    assert len(objectives) == 4
    assert set(alerts(text)) - (QUIET | WITHOUT_SERIES).keys() == objectives | {"Watchdog"}
