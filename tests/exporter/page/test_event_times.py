"""Each model has an event time of its own; the page names those that are behind the others."""

import re

import httpx
import pytest
from exporter.page.pages import counts, fed, plain, served

from monitor.cli.top import table
from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.window_cells import window_title

HOUR, DAY = 3_600, 86_400
NEWEST = "1970-01-20 12:01"
BEHIND = "8 days behind the newest of all models"


@pytest.fixture(scope="module")
def monitor():
    config = Config(models={"ended": {}, "goes_on": {}}, windows=["1d", "7d"])
    ends = {"ended": 12, "goes_on": 20}
    records = [
        counts(name, day * DAY + hour * HOUR + i, (30, 10, 5, 155))
        for name, end in ends.items()
        for day in range(end)
        for hour in (0, 12)
        for i in range(3)
    ]
    return fed(Monitor(config), records)


@pytest.fixture(scope="module")
def answer(monitor):
    return status_answer(monitor.snapshot(), limit=2)


def test_json_has_the_time_of_each_model_and_how_far_it_is_behind(answer):
    models = {model.name: model for model in answer.models}
    ended, goes_on = models["ended"], models["goes_on"]
    assert (goes_on.now, goes_on.behind_seconds, goes_on.behind) == (answer.now, 0, None)
    assert ended.now == "1970-01-12T12:00:00Z"
    assert (ended.behind_seconds, ended.behind) == (8 * DAY, BEHIND)


def test_below_a_day_a_model_is_not_called_behind(monitor):
    now = {"goes_on": 20 * DAY * 1000, "ended": 19 * DAY * 1000 + 1}
    models = status_answer(monitor.snapshot(now), limit=2).models
    assert [model.behind for model in models] == [None, None]
    now["ended"] -= 1
    models = status_answer(monitor.snapshot(now), limit=2).models
    assert {model.name: model.behind for model in models} == {
        "goes_on": None,
        "ended": "24 hours behind the newest of all models",
    }


@pytest.mark.parametrize(
    ("maturity", "titles"),
    [
        ("36h", ["last 1d", "last 7d"]),
        ("5d", ["1d until 1970-01-16 12:00", "7d until 1970-01-16 12:00"]),
    ],
)
def test_windows_whose_labels_come_late_are_named_by_their_end(maturity, titles):
    config = Config(models={"m": {"maturity": maturity}}, windows=["1d", "7d"])
    records = [
        counts("m", day * DAY + hour * HOUR + i, (30, 10, 5, 155))
        for day in range(21)
        for hour in (0, 12)
        for i in range(3)
    ]
    (model,) = status_answer(fed(Monitor(config), records).snapshot(), limit=1).models
    assert [window_title(model, name) for name in model.windows] == titles
    with served(fed(Monitor(config), records)) as address:
        page = plain(httpx.get(f"{address}/?model=m").text)
    assert f"Trend {' '.join(titles)} Precision" in page


def test_page_list_and_terminal_say_so(monitor, answer):
    with served(monitor) as address:
        ended, goes_on, models = (
            plain(httpx.get(f"{address}/{query}").text)
            for query in ("?model=ended", "?model=goes_on", "")
        )
    assert "event time 1970-01-12 12:00 " in ended
    assert f"Event time now 1970-01-12 12:00, {BEHIND} Last prediction" in ended
    assert "Event time now 1970-01-20 12:00 Last prediction" in goes_on
    assert re.search(rf" ended prediction \S+ days ago label .{{1,20}} {BEHIND} ", models), models
    assert models.count("behind the newest") == 1
    assert f"  event time 1970-01-12T12:00:00Z, {BEHIND}" in table(answer)
    assert sum("behind the newest" in line for line in table(answer)) == 1


def test_the_list_says_of_a_model_that_pages_that_it_flags_nothing_any_more():
    config = Config(models={"m": {"maturity": "1h"}, "other": {}}, windows=["1d", "7d"])
    healthy = {"predicted_positive": 40, "predicted_negative": 160}
    records = [
        counts("m", hour * HOUR, cells) | predicted
        for first, end, cells, predicted in (
            (0, 20 * 24, (30, 10, 5, 155), healthy),
            (20 * 24, 25 * 24, (0, 0, 35, 165), {"predicted_negative": 200}),
        )
        for hour in range(first, end)
    ]
    monitor = fed(Monitor(config), records)
    (model, _) = status_answer(monitor.snapshot(), limit=2).models
    assert model.detectors.degradation_detected
    with served(monitor) as address:
        assert " It flags nothing any more " in plain(httpx.get(f"{address}/").text)
