"""What a person reads when an alert fires, filled by promtool: one short line, and links."""

import math
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
import yaml
from deploy.expressions import RULES, TESTS, alerts
from deploy.fired import texts, written
from exporter.page.pages import MODEL, all_flights, served

from monitor.config import Config
from monitor.prometheus.rules import Scope, as_prometheus, groups

pytestmark = pytest.mark.system

MOST = 119
"""Letters of a summary."""
LONG_MODEL = "payments-card-not-present-fraud-v2.3-eu-west-1-challenger"
LONG_INSTANCE = "precision-monitor-0.precision-monitor.monitoring.svc.cluster.local:9108"
URL = "https://ops.example.org/monitor"


def with_long_names(series: dict) -> dict:
    """A series whose model, versions and instance have names as long as they come."""
    text = re.sub(r'\b(model|version|against)="', rf'\1="{LONG_MODEL}-', series["series"])
    return series | {"series": re.sub(r'instance="', f'instance="{LONG_INSTANCE}-', text)}


@pytest.mark.slow
def test_every_summary_is_one_short_line_however_long_the_names(system_program, tmp_path):
    seen = {}
    for path in TESTS:
        document = yaml.safe_load(path.read_text())
        tests = [
            test
            | {
                "input_series": list(map(with_long_names, test["input_series"])),
                "alert_rule_test": [one | {"exp_alerts": []} for one in test["alert_rule_test"]],
                "promql_expr_test": [],
            }
            for test in document["tests"]
            if "alert_rule_test" in test
        ]
        changed = written(tmp_path, RULES.read_text(), tests, document["evaluation_interval"])
        for name, annotations in texts(system_program("promtool"), changed):
            seen.setdefault(name, []).append(annotations["summary"])
    assert set(seen) == set(alerts(RULES.read_text()))
    for name, summaries in seen.items():
        for summary in summaries:
            assert len(summary) <= MOST, (name, summary)
            assert "\n" not in summary
            assert not re.search(r"<no value>|%!|error|\s{2}", summary), summary
    assert all(LONG_MODEL[:35] + "…" in summary for summary in seen["ModelDegraded"])
    assert any(LONG_INSTANCE[:27] + "…" in summary for summary in seen["MonitorDown"])


def rates(**cells: tuple[int, int]) -> list[dict]:
    """Outcomes of the reference and of the windows of a day and a week."""
    found = []
    for cell, (before, now) in cells.items():
        found.append(gauge("classifier_reference_outcomes", before, outcome=cell))
        found += [
            gauge("classifier_window_outcomes", now, outcome=cell, window=window)
            for window in ("1d", "7d")
        ]
    return found


def gauge(name: str, value: float, **labels: str) -> dict:
    place = {"job": "m", "instance": "a", "model": "claims", **labels}
    matchers = ",".join(f'{label}="{text}"' for label, text in place.items())
    return {"series": f"{name}{{{matchers}}}", "values": f"{value}x90"}


def fired_degraded(
    promtool, folder: Path, verdict: str, moved: dict[str, int], *more: dict, **cells
) -> dict:
    """Annotations of a page whose last week has a verdict, and rates that certainly moved."""
    series = [*rates(**cells), *more, gauge("classifier_degradation_detected", 1)]
    series += [
        gauge("classifier_verdict", float(name == verdict), window="7d", verdict=name)
        for name in ("model_degraded", "insufficient_evidence")
    ]
    series += [
        gauge("classifier_rate_changed", moved.get(rate, 0), window="7d", rate=rate)
        for rate in ("recall", "false_positive")
    ]
    asked = [{"eval_time": "30m", "alertname": "ModelDegraded", "exp_alerts": []}]
    test = {"interval": "1m", "input_series": series, "alert_rule_test": asked}
    ((_, found),) = texts(promtool, written(folder, RULES.read_text(), [test]))
    return found


FELL = {"tp": (800, 600), "fn": (200, 400)}
HARDLY_FELL = {"tp": (807, 782), "fn": (193, 218)}
ROSE = {"fp": (402, 824), "tn": (9598, 9176)}
HARDLY_ROSE = {"fp": (394, 408), "tn": (9606, 9592)}


@pytest.mark.parametrize(
    ("moved", "cells", "words"),
    [
        ({"recall": -1}, FELL | HARDLY_ROSE, ", recall fell 80 → 60 %"),
        (
            {"false_positive": 1},
            HARDLY_FELL | ROSE,
            ", false positives rose 4.02 → 8.24 %",
        ),
        (
            {"recall": -1, "false_positive": 1},
            FELL | ROSE,
            ", recall fell 80 → 60 %, false positives rose 4.02 → 8.24 %",
        ),
        ({"recall": 1, "false_positive": 1}, FELL | ROSE, ", false positives rose 4.02 → 8.24 %"),
        (
            {},
            HARDLY_FELL | HARDLY_ROSE,
            "; recall 80.7 → 78.2 %, false positives 3.94 → 4.08 %",
        ),
    ],
    ids=["recall", "false positives", "both", "recall fell in the sum alone", "neither"],
)
def test_a_worse_model_names_the_rates_that_certainly_moved_the_wrong_way(
    system_program, tmp_path, moved, cells, words
):
    found = fired_degraded(system_program("promtool"), tmp_path, "model_degraded", moved, **cells)
    assert found["summary"] == f"claims: model worse{words}"
    assert " Its last days are certainly degraded. 7d: recall 0." in found["description"]


def test_a_page_without_a_degraded_window_says_that_the_model_has_not_recovered(
    system_program, tmp_path
):
    cells = {"tp": (802, 742), "fn": (198, 258)} | HARDLY_ROSE
    found = fired_degraded(
        system_program("promtool"), tmp_path, "insufficient_evidence", {"recall": -1}, **cells
    )
    assert found["summary"] == "claims: model worse, recall fell 80.2 → 74.2 %"
    assert (
        " At the moment no window is certainly degraded, and the model has not certainly "
        "recovered. 7d: recall 0.742, was 0.802;" in found["description"]
    )
    assert "are certainly degraded" not in found["description"]


@pytest.mark.parametrize(
    ("against", "was", "days"),
    [
        (1, (0.8, 0.04), " (compared with the model's level, 3 January 1970 to 30 January 1970)."),
        (0, (0.5, 0.01), "."),
    ],
)
def test_a_window_that_is_worse_than_the_level_is_compared_with_its_days(
    system_program, tmp_path, against, was, days
):
    level = {"tp": 800, "fp": 400, "fn": 200, "tn": 9600}
    series = [
        gauge("classifier_level_outcomes", count, outcome=cell) for cell, count in level.items()
    ]
    series += [
        gauge(f"classifier_level_{edge}_timestamp_seconds", 86400 * day)
        for edge, day in (("open", 2), ("close", 30))
    ]
    series.append(gauge("classifier_verdict_against_level", against, window="7d"))
    cells = {"tp": (500, 600), "fn": (500, 400), "fp": (100, 400), "tn": (9900, 9600)}
    found = fired_degraded(
        system_program("promtool"), tmp_path, "model_degraded", {"recall": -1}, *series, **cells
    )
    fell = ", recall fell 80 → 60 %" if against else "; recall 50 → 60 %, false positives 1 → 4 %"
    assert found["summary"] == f"claims: model worse{fell}"
    recall, false = was
    assert (
        f"7d: recall 0.600, was {recall:.3f}; false-positive rate 0.0400, was {false:.4f}; log LR+ "
        f"2.71, was {math.log(recall / false):.2f}" in found["description"]
    )
    precision = 1000 * recall / (1000 * recall + 10000 * false)
    balanced = recall / (recall + false)
    assert (
        f"; precision 0.600, was {precision:.3f}; "
        f"balanced precision 0.938, was {balanced:.3f}{days}" in found["description"]
    )


@pytest.mark.parametrize(
    ("now", "direction"),
    [((45, 5, 9950), "rarer, 1.2 → 0.5 %"), ((300, 30, 9670), "more frequent, 1.2 → 3.3 %")],
)
def test_a_shift_says_which_way_positives_went(system_program, tmp_path, now, direction):
    tp, fn, negatives = now
    cells = {"tp": (108, tp), "fn": (12, fn), "fp": (50, 50), "tn": (9830, negatives - 50)}
    series = [*rates(**cells)]
    series.append(gauge("classifier_verdict", 1, window="7d", verdict="prevalence_shift"))
    asked = [{"eval_time": "50m", "alertname": "PrevalenceShift", "exp_alerts": []}]
    test = {"interval": "1m", "input_series": series, "alert_rule_test": asked}
    path = written(tmp_path, RULES.read_text(), [test])
    ((_, found),) = texts(system_program("promtool"), path)
    was, then = (100 * tp / (tp + 50) for tp in (108, tp))
    moved = "fell" if then < was else "rose"
    assert found["summary"] == (
        f"claims: positives became {direction}; precision {moved} {was:.3g} → {then:.3g} %"
    )


def test_a_day_that_moved_beside_a_quiet_week_gives_the_numbers_of_a_shift(
    system_program, tmp_path
):
    outcomes = {
        "1d": {"tp": 45, "fn": 5, "fp": 50, "tn": 9900},
        "7d": {"tp": 108, "fn": 12, "fp": 50, "tn": 9830},
    }
    series = [
        gauge("classifier_window_outcomes", count, outcome=cell, window=window)
        for window, cells in outcomes.items()
        for cell, count in cells.items()
    ]
    series += [
        gauge("classifier_reference_outcomes", count, outcome=cell)
        for cell, count in outcomes["7d"].items()
    ]
    for window, moved in (("1d", 1), ("7d", 0)):
        series += [
            gauge("classifier_precision_moved_by_prevalence", moved, window=window),
            gauge("classifier_verdict", 1 - moved, window=window, verdict="no_change"),
            gauge("classifier_verdict", moved, window=window, verdict="insufficient_evidence"),
            gauge("classifier_verdict", 0, window=window, verdict="prevalence_shift"),
        ]
    series += [
        gauge("classifier_window_open_timestamp_seconds", 86_400 * day, window=window)
        for window, day in (("1d", 36), ("7d", 30))
    ]
    series.append(gauge("classifier_prevalence_shift_detected", 1))
    asked = [{"eval_time": "50m", "alertname": "PrevalenceShift", "exp_alerts": []}]
    test = {"interval": "1m", "input_series": series, "alert_rule_test": asked}
    path = written(tmp_path, RULES.read_text(), [test])
    ((_, found),) = texts(system_program("promtool"), path)
    assert found["summary"] == (
        "claims: positives became rarer, 1.2 → 0.5 %; precision fell 68.4 → 47.4 %"
    )
    assert re.findall(r" (\dd): ", found["description"]) == ["1d", "7d"]


def test_a_shift_of_many_classes_calls_none_of_them_positive(system_program, tmp_path):
    series = [gauge("classifier_verdict", 1, window="7d", verdict="prevalence_shift")]
    series += [
        gauge("classifier_prevalence_ratio", 0.3, window="7d", **{"class": name})
        for name in ("card", "loan", "other")
    ]
    asked = [{"eval_time": "50m", "alertname": "PrevalenceShift", "exp_alerts": []}]
    test = {"interval": "1m", "input_series": series, "alert_rule_test": asked}
    path = written(tmp_path, RULES.read_text(), [test])
    ((_, found),) = texts(system_program("promtool"), path)
    assert found["summary"] == "claims: the shares of its classes changed"


@pytest.fixture(scope="module")
def flights():
    return all_flights("2013-10-03")


def linked(
    promtool: str, folder: Path, snapshot, *more: dict, degraded: str, dated: bool = True
) -> dict:
    """Annotations of a page of the flights, by rules that know where the page and Grafana are."""
    config = Config(windows=["1d", "7d", "28d"], exporter={"external_url": URL})
    rules = as_prometheus(groups(Scope.of(config, dashboards="http://grafana.example.org/")))
    model = snapshot.models[0]
    series = [gauge("classifier_degradation_detected", 1, model=MODEL), *more]
    for window in snapshot.windows:
        holds = float(window.name == degraded)
        labels = {"model": MODEL, "window": window.name}
        series.append(gauge("classifier_verdict", holds, verdict="model_degraded", **labels))
        for edge in ("open", "close"):
            moment = int(getattr(window, edge)[model.row]) / 1000
            name = f"classifier_window_{edge}_timestamp_seconds"
            series.append(gauge(name, moment, **labels))
    reference = model.watched.reference
    for edge, moment in (("open", reference.opens), ("close", reference.closes)):
        if dated:
            name = f"classifier_reference_{edge}_timestamp_seconds"
            series.append(gauge(name, moment / 1000, model=MODEL))
    asked = [{"eval_time": "30m", "alertname": "ModelDegraded", "exp_alerts": []}]
    test = {"interval": "1m", "input_series": series, "alert_rule_test": asked}
    ((_, found),) = texts(promtool, written(folder, rules, [test]))
    return found


def hour(milliseconds: int) -> str:
    return datetime.fromtimestamp(milliseconds // 3_600_000 * 3600, UTC).strftime("%Y-%m-%dT%H:%MZ")


def test_the_link_leaves_out_windows_that_reach_back_into_the_reference(system_program, tmp_path):
    """No verdict holds at the moment, and 28 days before the 20th of August began in July."""
    early = all_flights("2013-08-20")
    found = linked(system_program("promtool"), tmp_path, early.snapshot(), degraded="")
    asked = {name: one for name, (one,) in parse_qs(urlsplit(found["page_url"]).query).items()}
    opens, closes = map(datetime.fromisoformat, asked["after"].split(".."))
    assert (closes - opens).days == 7
    with served(early) as url:
        assert httpx.get(f"{url}/api/v1/diagnosis", params=asked).status_code == 200
        longer = f"{closes - timedelta(days=28):%Y-%m-%dT%H:%M}..{closes:%Y-%m-%dT%H:%M}"
        refused = httpx.get(f"{url}/api/v1/diagnosis", params=asked | {"after": longer})
        assert refused.status_code == 400


@pytest.mark.parametrize(("degraded", "window"), [("28d", "28d"), ("7d", "7d"), ("", "28d")])
def test_the_link_opens_the_comparison_that_the_alert_is_about(
    system_program, tmp_path, flights, degraded, window
):
    snapshot = flights.snapshot()
    found = linked(system_program("promtool"), tmp_path, snapshot, degraded=degraded)
    assert found["dashboard_url"] == (
        f"http://grafana.example.org/d/precision-monitor-on-call?var-model={MODEL}"
    )
    (chosen,) = [one for one in snapshot.windows if one.name == window]
    reference = snapshot.models[0].watched.reference
    assert found["page_url"] == (
        f"{URL}/?model={MODEL}&before={hour(reference.opens)}..{hour(reference.closes)}"
        f"&after={hour(int(chosen.open[0]))}..{hour(int(chosen.close[0]))}#why"
    )
    asked = {name: one for name, (one,) in parse_qs(urlsplit(found["page_url"]).query).items()}
    with served(flights) as url:
        answer = httpx.get(url, params=asked)
        compared = httpx.get(f"{url}/api/v1/diagnosis", params=asked).json()
        usual = httpx.get(f"{url}/api/v1/diagnosis", params={"model": MODEL}).json()
    assert answer.status_code == 200
    assert '<section id="why"' in answer.text
    assert compared["before"]["open"] == "2013-07-01T00:00:00Z"
    if window == "28d":  # what the page opens on by itself
        assert compared["verdict"] == usual["verdict"]
        assert compared["after"]["outcomes"] == usual["after"]["outcomes"]


@pytest.mark.parametrize(("against", "opens"), [(1, "1970-01-03T00:00Z"), (0, "2013-07-01T00:00Z")])
def test_the_link_compares_with_the_level_that_the_window_is_worse_than(
    system_program, tmp_path, flights, against, opens
):
    level = [
        gauge(f"classifier_level_{edge}_timestamp_seconds", 86400 * day, model=MODEL)
        for edge, day in (("open", 2), ("close", 30))
    ]
    level.append(gauge("classifier_verdict_against_level", against, model=MODEL, window="7d"))
    found = linked(system_program("promtool"), tmp_path, flights.snapshot(), *level, degraded="7d")
    asked = {name: one for name, (one,) in parse_qs(urlsplit(found["page_url"]).query).items()}
    assert asked["before"].partition("..")[0] == opens


def test_a_reference_without_a_time_is_left_to_the_page(system_program, tmp_path, flights):
    snapshot = flights.snapshot()
    found = linked(system_program("promtool"), tmp_path, snapshot, degraded="28d", dated=False)
    assert "before=" not in found["page_url"]
    assert "&after=2013-" in found["page_url"]


def test_a_name_is_encoded_in_links(system_program, tmp_path):
    config = Config(exporter={"external_url": URL})
    rules = as_prometheus(groups(Scope.of(config, dashboards="http://grafana.example.org/")))
    name = "a&b c/é?"
    series = [gauge("classifier_predictions_degenerate", 1, model=name)]
    asked = [{"eval_time": "30m", "alertname": "PredictionsDegenerate", "exp_alerts": []}]
    test = {"interval": "1m", "input_series": series, "alert_rule_test": asked}
    ((_, found),) = texts(system_program("promtool"), written(tmp_path, rules, [test]))
    for link, parameter in (("page_url", "model"), ("dashboard_url", "var-model")):
        assert parse_qs(urlsplit(found[link]).query) == {parameter: [name]}
