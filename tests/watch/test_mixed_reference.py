"""A reference that holds a change of its level is told wherever the reference is."""

import html

import httpx
import numpy as np
import pytest
from exporter.page.pages import served
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.cli.replay_text import replay_text
from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.service.announce import announcements

MODEL = {
    "label_timeout": "2d",
    "maturity": "0s",
    "reference": {"window": {"length": "28d", "end": "1970-01-29"}},
}
CONFIG = Config(models={"m": MODEL}, windows=["1d", "7d"])


def fed(change=None, monitor=None, first=0, *, rarer=None):
    hourly = rates(24 * 40)
    if change is not None:
        hourly[24 * change :, 1] = 0.6
    if rarer is not None:
        hourly[24 * rarer :, 0] /= 2
    cells = stream(50, hourly)
    hours = np.arange(len(cells), dtype=np.int64) * HOUR
    monitor = monitor or Monitor(CONFIG)
    for day in range(first, 40):
        part = slice(24 * day, 24 * day + 24)
        monitor.apply(batch_of_counts(hours[part], {(): cells[part]}))
    return monitor


@pytest.fixture(scope="module")
def mixed():
    return fed(change=16)


def test_it_is_in_the_api_the_page_and_the_text(mixed):
    snapshot = mixed.snapshot()
    (model,) = snapshot.models
    assert model.watched.reference.closes == 28 * DAY
    assert model.watched.reference.level_changed == 16 * DAY
    (status,) = status_answer(snapshot, limit=1).models
    assert status.reference.level_changed == "1970-01-17T00:00:00Z"
    told = "the reference holds a change about 17 January 1970: recall ."
    assert told in " ".join(replay_text(snapshot).split())
    with served(mixed) as url:
        page = html.unescape(httpx.get(url, timeout=60).text)
    assert "The reference holds a change about 1970-01-17" in page


def test_a_change_of_prevalence_alone_is_stated_and_the_reference_stays():
    monitor = fed(rarer=24)
    snapshot = monitor.snapshot()
    (model,) = snapshot.models
    reference = model.watched.reference
    assert (reference.closes, reference.level_change) == (28 * DAY, None)
    assert reference.prevalence_change.day == 24
    (status,) = status_answer(snapshot, limit=1).models
    assert status.reference.prevalence_changed == "1970-01-25T00:00:00Z"
    told = "prevalence changed within the reference about 25 January 1970 (.1"
    assert told in " ".join(replay_text(snapshot).split())
    assert any(told in line for line in announcements(Monitor(CONFIG).snapshot(), snapshot))
    with served(monitor) as url:
        page = html.unescape(httpx.get(url, timeout=60).text)
    assert "Prevalence changed within the reference about 1970-01-25" in page
    assert Monitor(CONFIG, monitor.state()).snapshot().models[0].watched.reference == reference


def test_no_change_of_prevalence_is_stated_of_a_model_as_ever():
    snapshot = fed().snapshot()
    assert snapshot.models[0].watched.reference.prevalence_change is None
    assert "prevalence changed" not in replay_text(snapshot)


def test_a_restored_monitor_knows_it_as_well(mixed):
    again = Monitor(CONFIG, mixed.state())
    assert again.snapshot().models[0].watched.reference == (
        mixed.snapshot().models[0].watched.reference
    )


def test_a_steady_reference_holds_none():
    snapshot = fed().snapshot()
    assert snapshot.models[0].watched.reference.level_change is None
    assert "holds a change" not in replay_text(snapshot)


def fallen_and_recovered(days):
    """A month whose third week has a recall of .5, and a fall to .6 after it, on day 50."""
    hourly = rates(24 * 60)
    hourly[24 * 18 : 24 * 25, 1] = 0.5
    hourly[24 * 50 :, 1] = 0.6
    cells = stream(100, hourly)[: 24 * days]
    hours = np.arange(len(cells), dtype=np.int64) * HOUR
    monitor = Monitor(Config(models={"m": {"label_timeout": "2d", "maturity": "0s"}}))
    for day in range(days):
        part = slice(24 * day, 24 * day + 24)
        monitor.apply(batch_of_counts(hours[part], {(): cells[part]}))
    return monitor


def test_a_longer_reference_that_holds_a_change_ends_before_it_for_good():
    monitor = fallen_and_recovered(60)
    (model,) = monitor.snapshot().models
    reference = model.watched.reference
    assert reference.closes <= 18 * DAY
    assert reference.cut_short == pytest.approx(18 * DAY, abs=12 * HOUR)
    assert reference.level_change is None
    assert model.watched.awaited is None
    told = " ".join(replay_text(monitor.snapshot()).split())
    assert "the reference ends before a change about 19 January 1970: longer first" in told
    pages = [one.at // DAY for one in model.watched.detections if one.kind == "model_degraded"]
    assert [18 <= pages[0] < 25, 50 <= pages[-1] < 60] == [True, True]
    again = Monitor(monitor.config, monitor.state()).snapshot().models[0].watched
    assert again.reference == reference
