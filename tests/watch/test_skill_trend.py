"""The trend of a watched model: shown, restored, and what it starts."""

import numpy as np
import pytest
from watch.hourly import DAY, HOUR, batch_of_counts, rates, stream

from monitor.config import Config
from monitor.engine import Monitor
from monitor.watch.skill_trend import restored_trend, trend_state

START, DAYS = 60, 130
LEVEL_DAYS = 63
SLOPE = 0.015


def sliding(slope=SLOPE, days=DAYS, start=START):
    hourly = rates(24 * days)
    weeks = np.maximum(np.arange(24 * days) / 24 - start, 0) / 7
    hourly[:, 1] = 0.8 - slope * weeks
    return hourly


def settings(**more):
    return Config(defaults={"label_timeout": "2d", "maturity": "0s", **more}, windows=["1d", "7d"])


def fed(cells_by_group, **more):
    monitor = Monitor(settings(**more))
    feed(monitor, cells_by_group, 0, DAYS)
    return monitor


def feed(monitor, cells_by_group, first, last):
    hours = np.arange(24 * DAYS, dtype=np.int64) * HOUR
    for day in range(first, last):
        part = slice(24 * day, 24 * day + 24)
        monitor.apply(
            batch_of_counts(hours[part], {k: cells[part] for k, cells in cells_by_group.items()})
        )


def watched(monitor):
    return monitor.snapshot().models[0].watched


@pytest.fixture(scope="module")
def slid():
    return fed({(): stream(100, sliding())}, reference={"trailing": "7d"})


def test_a_slide_over_weeks_shows_since_when_and_how_fast(slid):
    found = watched(slid).trend
    assert found.earliest <= START <= found.latest
    assert found.latest - found.earliest < 40
    assert found.recall.lower <= -SLOPE <= found.recall.upper < 0
    assert found.false_positive_rate.lower <= 0 <= found.false_positive_rate.upper
    assert found.change < 0


def test_it_pages_although_the_reference_trails(slid):
    pages = [one.at // DAY for one in watched(slid).detections if one.kind == "model_degraded"]
    assert len(pages) == 1
    assert START < pages[0] < DAYS


@pytest.mark.parametrize(("recovers", "trend"), [(False, True), (True, False)])
def test_a_fall_and_a_recovery_are_no_trend_and_no_change_of_rates(recovers, trend):
    hourly = rates(24 * 80)
    hourly[24 * 60 :, 1] = 0.5
    hourly[24 * 71 :, 1] = 0.8 if recovers else 0.5
    monitor = Monitor(settings())
    feed(monitor, {(): stream(100, hourly)}, 0, 80)
    found = watched(monitor)
    assert (found.trend is not None) is trend
    assert found.degradation_detected or recovers
    assert (found.began is not None) is (trend or found.degradation_detected)


@pytest.mark.slow
def test_a_lasting_fall_of_a_thin_stream_keeps_its_trend():
    hourly = rates(24 * 120)
    hourly[24 * 60 :, 1] = 0.5
    for seed in (4, 5):
        monitor, seen = Monitor(settings()), []
        cells = {(): stream(4, hourly, seed)}
        for day in range(0, 119, 7):
            feed(monitor, cells, day, day + 7)
            seen.append(watched(monitor).trend is not None)
        assert all(seen[seen.index(True) :])


def test_a_level_has_no_trend():
    monitor = Monitor(settings())
    feed(monitor, {(): stream(100, rates(24 * DAYS))}, 0, LEVEL_DAYS)
    assert watched(monitor).trend is None


@pytest.mark.slow
@pytest.mark.parametrize("recall", [0.5, 0.9])
def test_another_threshold_is_no_trend_and_pages_in_no_week_after_it(recall):
    odds = recall / (1 - recall) / (0.8 / 0.2) * 0.05 / 0.95
    hourly = rates(24 * DAYS)
    hourly[24 * START :, 1:] = recall, odds / (1 + odds)
    monitor, cells = Monitor(settings()), {(): stream(100, hourly)}
    feed(monitor, cells, 0, START)
    for day in range(START, DAYS, 7):
        feed(monitor, cells, day, day + 7)
        assert watched(monitor).trend is None
        assert not watched(monitor).degradation_detected


@pytest.mark.slow
def test_a_drifting_mix_of_segments_is_no_trend_of_the_model():
    share = np.linspace(0.9, 0.1, 24 * DAYS)
    easy, hard = rates(24 * DAYS, recall=0.9), rates(24 * DAYS, recall=0.5)
    cells = {
        ("easy",): stream((300 * share).astype(int), easy, 1),
        ("hard",): stream((300 * (1 - share)).astype(int), hard, 2),
    }
    assert watched(fed(cells, segments=["kind"])).trend is None
    assert watched(fed({(): sum(cells.values())})).trend.change < 0


@pytest.mark.slow
def test_a_slide_within_the_segments_is_a_trend():
    cells = {(kind,): stream(60, sliding(0.03), seed) for seed, kind in enumerate("ab")}
    assert watched(fed(cells, segments=["kind"])).trend.change < 0


@pytest.mark.slow
def test_it_is_restored():
    cells = {(): stream(100, sliding(0.03))}
    whole = fed(cells)
    first = Monitor(settings())
    feed(first, cells, 0, 120)
    again = Monitor(settings(), first.state())
    assert watched(again).trend == watched(first).trend is not None
    feed(again, cells, 120, DAYS)
    assert watched(again).trend == watched(whole).trend


def test_the_state_holds_plain_values(slid):
    trend = watched(slid).trend
    state = trend_state(trend)
    assert {type(value) for value in state.values()} <= {float, str, list}
    assert restored_trend(state) == trend
    assert restored_trend(None) is None
