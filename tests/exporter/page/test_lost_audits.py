"""A running monitor says how many audits have no effect, in the words of `replay`."""

import json

import httpx
import pytest
from exporter.page.pages import plain, served
from prometheus_client.parser import text_string_to_metric_families

from monitor.cli.top import table
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.lost_audits import LostAudits
from monitor.exporter.api.status import status_answer
from monitor.report.replay_json import replay_json

DAY, DAY_MS = 86_400, 86_400_000
SERIES = "precision_monitor_audits_without_effect"


def audited(*names, days=range(20)):
    """A monitor of two models that forgets after two days, and audits of some predictions."""
    setting = {"label_timeout": "2d", "horizon": "2d", "label_errors": "audit"}
    monitor = Monitor(Config(defaults=setting))
    for day in days:
        for place in range(60):
            name, model = f"{day}-{place}", ("fraud", "churn")[place % 2]
            at = day * DAY + 1_000 * place
            monitor.predict(name, ts=at, prediction=place // 2 % 2, model=model)
            monitor.label(name, ts=at, label=place // 4 % 2)
    for name in names:
        monitor.label(name, ts=days.stop * DAY, label=0, audit=True)
    monitor.flush()
    return monitor


@pytest.fixture(scope="module")
def lost():
    """Four audits, of which one meets its prediction."""
    return audited("0-0", "0-1", "unknown", "19-59")


def test_status_says_what_replay_says(lost):
    expected = json.loads(replay_json(lost.snapshot()))["audits_without_effect"]
    assert (expected["count"], expected["horizon"], expected["horizon_needed"]) == (3, "2d", "20d")
    with served(lost) as url:
        assert httpx.get(f"{url}/api/v1/status").json()["audits_without_effect"] == expected


@pytest.mark.parametrize("query", [{}, {"model": "fraud"}, {"model": "churn"}])
def test_the_page_and_the_list_of_models_say_it(lost, query):
    text = json.loads(replay_json(lost.snapshot()))["audits_without_effect"]["text"]
    with served(lost) as url:
        page = plain(httpx.get(url, params=query, timeout=60).text)
    assert page.count(f"{text[0].upper()}{text[1:]}.") == 1


def test_a_reason_that_holds_for_all_windows_is_given_once(lost):
    with served(lost) as url:
        page = plain(httpx.get(url, params={"model": "fraud"}, timeout=60).text)
    assert "All windows: label_errors: audit, and too few labels are audited" in page
    assert page.count("too few labels are audited") == 1


@pytest.mark.parametrize("columns", [80, 400])
def test_top_says_it_above_the_models(lost, columns):
    status = status_answer(lost.snapshot(), limit=9)
    lines = table(status, columns)
    text = status.audits_without_effect.text
    assert max(map(len, lines)) <= columns
    head = " ".join(" ".join(lines).partition("model ")[0].split())
    assert head.endswith(f"{text[0].upper()}{text[1:]}.")


def counted(monitor):
    with served(monitor) as url:
        metrics = httpx.get(f"{url}/metrics").text
    (family,) = [one for one in text_string_to_metric_families(metrics) if one.name == SERIES]
    (sample,) = family.samples
    return sample.value


def test_the_series_counts_them(lost):
    assert counted(lost) == 3


def test_without_any_nothing_is_said_and_the_series_is_0():
    monitor = audited("19-59")
    assert monitor.snapshot().lost_audits is None
    assert "audits_without_effect" not in json.loads(replay_json(monitor.snapshot()))
    with served(monitor) as url:
        assert httpx.get(f"{url}/api/v1/status").json()["audits_without_effect"] is None
        pages = [httpx.get(url, params=one, timeout=60).text for one in ({}, {"model": "fraud"})]
    assert not any("without effect" in page for page in pages)
    assert "without effect" not in " ".join(table(status_answer(monitor.snapshot(), limit=9)))
    assert counted(monitor) == 0


def test_a_restored_monitor_has_the_same(lost):
    expected = LostAudits(3, 2 * DAY_MS, 20 * DAY_MS)
    assert lost.snapshot().lost_audits == expected
    assert Monitor(lost.config, lost.state()).snapshot().lost_audits == expected


def test_every_snapshot_has_it_as_of_its_events():
    """Also where the first predictions come after a snapshot."""
    monitor = audited("0-0", days=range(3, 20))
    assert monitor.snapshot().lost_audits == LostAudits(1, 2 * DAY_MS, 17 * DAY_MS)
    monitor.predict("0-0", ts=60, prediction=1, model="fraud")
    monitor.label("4-0", ts=20 * DAY, label=0, audit=True)
    monitor.flush()
    assert monitor.snapshot().lost_audits == LostAudits(2, 2 * DAY_MS, 20 * DAY_MS)
