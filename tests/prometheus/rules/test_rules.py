import re

import pytest
import yaml
from cli.commands import ran
from deploy.expressions import (
    DEPLOY,
    RULES,
    TESTS,
    alerts,
    exported,
    recorded,
    rules,
    series_in,
    without_comments,
)

from monitor.config import Config
from monitor.prometheus.rules import Scope, as_prometheus, groups
from monitor.prometheus.rules.recording import objective
from monitor.prometheus.rules.scope import OBJECTIVES, quoted

OF_THE_MONITOR = {
    "MonitorDown",
    "EventsRejected",
    "SeriesLimitReached",
    "CheckpointStale",
    "CountsNotForwarded",
    "ForwardedCountsRejected",
    "ForwardedSettingsDiffer",
    "MonitorClockWrong",
    "MonitorLoopStalled",
    "ConfigReloadFailed",
    "Watchdog",
}
ROOT = DEPLOY.parent
TEXT = RULES.read_text()


def rendered(config, **more):
    return as_prometheus(groups(Scope.of(config, **more)))


def expressions(text):
    return "\n".join(rule["expr"] for rule in rules(text))


def test_the_default_is_what_the_command_prints(capsys):
    assert ran(capsys, "rules") == (0, TEXT, "")


def test_every_rule_says_why():
    assert [rule for rule in rules(TEXT) if not rule["expr"].startswith("# ")] == []


@pytest.mark.parametrize("name", alerts(TEXT))
def test_every_alert_says_what_a_person_needs(name):
    alert = alerts(TEXT)[name]
    assert set(alert["annotations"]) == {"summary", "description", "runbook_url"}
    assert alert["labels"]["severity"]
    assert "\n" not in alert["annotations"]["summary"]
    runbook = r"(deploy|monitor/drift)/README\.md#[a-z_]+"  # test_readme.py follows the link
    assert re.fullmatch(runbook, alert["annotations"]["runbook_url"])


@pytest.mark.parametrize("name", alerts(TEXT))
def test_every_alert_has_its_own_tests(name):
    found = [
        test
        for path in TESTS
        for test in yaml.safe_load(path.read_text())["tests"]
        if test["name"] == name
    ]
    assert len(found) == 1
    asked = [*found[0]["alert_rule_test"], *found[0].get("promql_expr_test", ())]
    assert any(one.get("exp_alerts") for one in asked)
    assert name == "Watchdog" or any(one.get("exp_samples") == [] for one in asked)


def test_every_series_of_the_rules_is_exported_or_recorded():
    texts = [rule["expr"] for rule in rules(TEXT)]
    texts += [text for alert in alerts(TEXT).values() for text in alert["annotations"].values()]
    known = exported() | recorded(TEXT) | set(map(objective, OBJECTIVES.values()))
    assert set().union(*map(series_in, texts)) - known == set()


def test_names_of_recorded_series_have_level_metric_and_operation():
    assert all(re.fullmatch(r"model(_window)?:\w+:\w+", name) for name in recorded(TEXT))


def test_configured_models_are_the_only_ones():
    text = rendered(Config(models={"fraud": {}, "spam": {}}))
    found = set(re.findall(r"(?:classifier_|model\w*:)\w[\w:]*(\{[^}]*\})?", expressions(text)))
    assert all('model=~"fraud|spam"' in matchers for matchers in found)


def test_a_model_may_have_any_name():
    name = 'a.b|"c\\ d{{'
    booleans = rendered(Config(models={"no": {"objective": {"precision": 0.5}}}))
    assert 'model: "no"' in booleans
    text = rendered(Config(models={name: {"objective": {"precision": 0.5}}}))
    assert f"{{model={quoted(name)}}}" in expressions(text)
    labels = [rule["labels"] for rule in rules(text) if "objective" in rule.get("record", "")]
    assert labels == [{"model": name, "severity": "ticket"}]


@pytest.mark.parametrize(("setting", "metric"), OBJECTIVES.items())
def test_objectives_are_recorded_with_the_severity_asked_for(setting, metric):
    config = Config(models={"fraud": {"objective": {setting: 0.9}}, "spam": {}})
    text = rendered(config, objective_severity="page")
    found = [rule for rule in rules(text) if "_objective:" in rule.get("record", "")]
    assert [rule["record"] for rule in found] == [objective(metric)]
    assert found[0]["expr"].endswith("vector(0.9)")
    assert found[0]["labels"] == {"model": "fraud", "severity": "page"}
    compared = [name for name, alert in alerts(text).items() if objective(metric) in alert["expr"]]
    assert len(compared) == 1
    assert compared[0].endswith(("BelowObjective", "AboveObjective"))


def test_windows_below_a_day_are_no_reason_for_a_ticket():
    text = rendered(Config(windows=["30m", "6h", "1d", "28d"]))
    shift = alerts(text)["PrevalenceShift"]["expr"]
    assert 'window="28d"' in shift
    assert 'window="1d"' in shift
    assert '"6h"' not in shift
    assert '"6h"' not in alerts(text)["PrecisionBelowObjective"]["expr"]


def test_one_window_alone_will_do():
    text = rendered(Config(windows=["6h"]))
    assert set(re.findall(r'window="(\w+)"', expressions(text))) == {"6h"}


@pytest.mark.parametrize("labelling", ["sampled", "weighted", "flagged_only"])
def test_raw_counts_are_no_evidence_where_labels_are_a_sample(labelling):
    mixed = Config(models={"a": {}, "b": {"labelling": labelling}})
    precision = "model_window:classifier_precision:ratio"
    (rule,) = [rule for rule in rules(rendered(mixed)) if rule.get("record") == precision]
    made, taken = rule["expr"].split("\nor\n")
    assert 'model="a"' in made
    assert taken == 'max without (instance, pod) (classifier_precision_ratio{model="b"})'
    alone = Config(models={"b": {"labelling": labelling}})
    # Those of the reference are as expected of all its predictions.
    assert "classifier_outcomes:sum{" not in "".join(
        rule["expr"] for rule in rules(rendered(alone)) if "record" in rule
    )


def test_any_model_may_be_sampled():
    sampled = Config(defaults={"labelling": "sampled"})
    precision = "model_window:classifier_precision:ratio"
    (rule,) = [rule for rule in rules(rendered(sampled)) if rule.get("record") == precision]
    assert rule["expr"].endswith("max without (instance, pod) (classifier_precision_ratio)")


def test_alerts_link_only_to_what_is_known():
    for config, dashboards, expected in (
        (Config(), "", set()),
        (Config(exporter={"external_url": "https://x.y"}), "", {"page_url"}),
        (Config(), "http://g.h/", {"dashboard_url"}),
    ):
        found = alerts(rendered(config, dashboards=dashboards))
        links = {link for alert in found.values() for link in alert["annotations"]}
        assert links - {"summary", "description", "runbook_url"} == expected
        pages = {name for name, alert in found.items() if "page_url" in alert["annotations"]}
        assert pages == ({name for name in found if name not in OF_THE_MONITOR} if pages else set())


def test_windows_that_the_page_cannot_compare_are_no_ranges():
    config = Config(windows=["10m", "30m"], exporter={"external_url": "https://x.y/z/"})
    link = alerts(rendered(config))["ModelDegraded"]["annotations"]["page_url"]
    assert link == "https://x.y/z/?model={{ $labels.model | urlquery }}"


def test_rules_without_a_configuration_say_for_which_models_they_are(capsys, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("models: {m: {labelling: sampled}}")
    words = "# Rendered without a configuration: for models whose labels count as they are."
    assert words in ran(capsys, "rules").out
    assert words not in ran(capsys, "rules", "-c", path).out


def test_grafana_links_by_labels_alone(capsys, tmp_path):
    path = tmp_path / "monitor.yaml"
    path.write_text("exporter: {external_url: https://x.y}")
    done = ran(capsys, "rules", "-c", path, "--grafana", "p", "--dashboards", "http://g.h")
    (found,) = [
        rule["annotations"]
        for group in yaml.safe_load(done.out)["groups"]
        for rule in group["rules"]
        if rule["title"] == "ModelDegraded"
    ]
    assert found["page_url"] == "https://x.y/?model={{ $labels.model | urlquery }}"
    assert found["dashboard_url"].startswith(
        "http://g.h/d/precision-monitor-on-call{{ with $labels"
    )
    assert "query |" not in "".join(found.values())


def test_the_command_takes_a_configuration_and_settings(capsys):
    words = ["-c", ROOT / "config" / "fraud.yaml", "--job", "pm", "--runbooks", "https://x.y"]
    done = ran(capsys, "rules", *words, "--label-silence", "3d", "--prediction-silence", "30m")
    assert (done.code, done.err) == (0, "")
    found = alerts(done.out)
    assert 'up{job="pm"}' in found["MonitorDown"]["expr"]
    assert found["MonitorDown"]["labels"]["job"] == "pm"
    assert found["ModelDegraded"]["annotations"]["runbook_url"] == (
        "https://x.y/monitor/drift/README.md#model_degraded"
    )
    assert "[3d]" in found["LabelFeedStalled"]["expr"]
    assert "[30m]" in found["PredictionFeedStalled"]["expr"]


def test_the_operator_gets_the_same_rules(capsys):
    done = ran(capsys, "rules", "--kubernetes")
    resource = yaml.safe_load(done.out)
    assert resource["kind"] == "PrometheusRule"
    assert resource["spec"] == yaml.safe_load(TEXT)


def test_grafana_gets_the_same_alerts(capsys):
    done = ran(capsys, "rules", "--grafana", "prometheus")
    shipped = DEPLOY / "grafana" / "alerting" / "precision-monitor.yml"
    assert done == (0, shipped.read_text(), "")
    assert "in the reference" not in done.out
    found = {
        rule["title"]: rule
        for group in yaml.safe_load(done.out)["groups"]
        for rule in group["rules"]
    }
    assert list(found) == list(alerts(TEXT))
    assert len({rule["uid"] for rule in found.values()}) == len(found)
    for name, alert in alerts(TEXT).items():
        rule = found[name]
        assert rule["labels"] == alert["labels"]
        assert rule["for"] == alert.get("for", "0s")
        asked, fires = rule["data"]
        assert asked["model"]["expr"] == f"({expr_of(name)}\n) >= bool -Inf"
        assert (asked["datasourceUid"], fires["model"]["expression"]) == ("prometheus", "asked")
        # Its templates know labels and nothing else.
        assert not re.search(r"\bquery\b", "".join(rule["annotations"].values()))
        assert rule["annotations"]["runbook_url"] == alert["annotations"]["runbook_url"]


def expr_of(name):
    return without_comments(alerts(TEXT)[name]["expr"]).strip()


@pytest.mark.parametrize("option", ["--label-silence", "--prediction-silence"])
@pytest.mark.parametrize("wrong", ["soon", "0", "1.5d"])
def test_a_silence_must_be_a_duration(capsys, option, wrong):
    done = ran(capsys, "rules", option, wrong)
    assert (done.code, done.out) == (2, "")
    assert f"{option}: " in done.err
    assert repr(wrong) in done.err


@pytest.mark.parametrize(
    "wrong",
    ["not a url", "docs/", "ftp://x.y", "https://", "https:///x", "https://[x", "https://x.y/#a"],
)
@pytest.mark.parametrize("option", ["--runbooks", "--dashboards"])
def test_links_must_be_urls(capsys, option, wrong):
    done = ran(capsys, "rules", option, wrong)
    assert (done.code, done.out) == (2, "")
    assert f"{option}: must be an http or https URL" in done.err
    assert repr(wrong) in done.err


def test_runbooks_may_end_in_a_slash(capsys):
    done = ran(capsys, "rules", "--runbooks", "http://localhost:3000/docs/")
    assert done.code == 0
    docs = "http://localhost:3000/docs"
    assert f"runbook_url: {docs}/monitor/drift/README.md#model_degraded" in done.out
