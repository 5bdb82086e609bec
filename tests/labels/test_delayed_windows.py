"""Labels that come late, through the engine: windows are right, or publish nothing.

Positives take 20 days in the median and negatives 3, as in the table of delays.
"""

from functools import cache

import numpy as np
import pytest
from labelled import DAY, PRECISION, RECALL, by_outcome, stream

from monitor.config import Config
from monitor.engine import Monitor
from monitor.snapshot import METRIC_NAMES

SLOW = (20, 3, 20, 3)
DAYS = 150


def monitor_of(**settings):
    return Monitor(Config(defaults={"label_timeout": "120d", **settings}, windows=["7d"]))


def looks(events, days, **settings):
    """The 7-day window at the ends of these days, and what is true of its predictions."""
    monitor, found = monitor_of(**settings), []
    for day, batch in enumerate(events.batches(max(days))):
        monitor.apply(batch)
        if day + 1 in days:
            window = monitor.snapshot().windows[0]
            found.append((window, events.cells(int(window.open[0]), int(window.close[0]))))
    return found


@cache
def steady():
    return stream(DAYS, 8000, 11, delays=SLOW)


def biases(found, name="precision"):
    """Published less true, window by window; the truth is that of the window itself."""
    errors = []
    for window, (tp, fp, fn, tn) in found:
        truth = {"precision": tp / (tp + fp), "recall": tp / (tp + fn)}
        truth["prevalence"] = (tp + fn) / (tp + fp + fn + tn)
        errors.append(window.metrics[name].estimate[0] - truth[name])
    return np.array(errors)


ENDS = tuple(range(100, 151, 10))


def test_mature_windows_are_unbiased_and_learn_their_age():
    found = looks(steady(), ENDS, maturity="auto")
    assert {window.status[0] for window, _ in found} == {"mature"}
    assert abs(biases(found).mean()) <= 0.005
    window = found[-1][0]
    age = (DAYS * DAY - window.close[0]) / DAY
    assert 50 < age < 85  # the .99 quantile of these delays is 64 days


@pytest.mark.slow
def test_younger_windows_are_corrected_marked_and_unbiased():
    found = looks(steady(), ENDS, maturity="30d")
    assert {window.status[0] for window, _ in found} == {"corrected"}
    raw = np.array([w.counts.tp[0] / (w.counts.tp[0] + w.counts.fp[0]) for w, _ in found])
    assert raw.mean() < PRECISION - 0.02
    assert abs(biases(found).mean()) <= 0.005
    assert abs(biases(found, "recall").mean()) <= 0.005
    assert abs(biases(found, "prevalence").mean()) <= 0.0005
    for window, _ in found:
        estimate = window.metrics["precision"]
        assert estimate.lower[0] < PRECISION < estimate.upper[0]


@pytest.mark.slow
def test_windows_below_half_coverage_are_absent():
    for window, _ in looks(steady(), (120, 150), maturity="5d"):
        assert window.status[0] == "immature"
        assert window.counts.tp[0] > 0
        for name in METRIC_NAMES:
            assert np.isnan([values[0] for values in window.metrics[name]]).all()
        assert np.isnan(window.precision_at[1.0].estimate[0])


@pytest.mark.slow
def test_where_the_delay_depends_on_the_prediction_recall_is_corrected_too():
    events = stream(DAYS, 8000, 12, delays=(3, 3, 25, 3))
    found = looks(events, ENDS, maturity="30d")
    raw = np.array([w.counts.tp[0] / (w.counts.tp[0] + w.counts.fn[0]) for w, _ in found])
    assert raw.mean() > RECALL + 0.03
    assert {window.status[0] for window, _ in found} == {"corrected"}
    assert abs(biases(found, "recall").mean()) <= 0.01
    assert abs(biases(found).mean()) <= 0.005


@pytest.mark.slow
def test_growth_does_not_bias_a_corrected_window():
    events = stream(DAYS, 8000, 13, delays=SLOW)
    rng = np.random.default_rng(1)
    chosen = rng.random(len(events.time)) < 1.02 ** (events.time / DAY - DAYS)
    for name in ("time", "predicted", "actual", "delay", "probability", "group"):
        setattr(events, name, getattr(events, name)[chosen])
    found = looks(events, ENDS[2:], maturity="30d")
    assert {window.status[0] for window, _ in found} == {"corrected"}
    assert abs(biases(found).mean()) <= 0.015


@pytest.mark.slow
def test_a_prevalence_that_halved_shows_at_once_in_the_corrected_window():
    halved = lambda day: np.where(day < 100, 0.02, 0.01)  # noqa: E731  # a rate by the day
    events = stream(DAYS, 8000, 14, prevalence=halved, delays=SLOW)
    ((window, _),) = looks(events, (140,), maturity="30d")
    assert window.open[0] > 100 * DAY
    assert window.metrics["prevalence"].estimate[0] == pytest.approx(0.01, abs=0.002)
    assert window.metrics["precision"].lower[0] < 0.447 < window.metrics["precision"].upper[0]


def test_decisions_never_rest_on_less_than_the_learned_age():
    events = stream(60, 3000, 15, delays=(4, 1, 4, 1))
    monitor = events.into(monitor_of(maturity="0s"), 60)
    model = monitor.snapshot().models[0]
    assert model.maturity_ms == 0
    assert model.watched.judged_age_ms > 8 * DAY
    assert model.watched.detections == ()


def test_a_short_stream_says_that_its_age_is_not_settled():
    events = stream(30, 2000, 16, delays=SLOW)
    assert not events.into(monitor_of(), 30).snapshot().models[0].maturity_settled
    quick = stream(30, 2000, 16, delays=(1, 1, 1, 1))
    assert quick.into(monitor_of(), 30).snapshot().models[0].maturity_settled
    given = stream(3, 500, 16, delays=SLOW)
    assert given.into(monitor_of(maturity="5d"), 3).snapshot().models[0].maturity_settled


@pytest.mark.parametrize("maturity", ["auto", "2d"])
def test_coverage_and_maturity_are_the_same_in_any_order(maturity):
    events = stream(12, 1500, 17, prevalence=0.2, delays=(2, 1, 2, 1))
    forward = events.into(monitor_of(maturity=maturity))
    backward = monitor_of(maturity=maturity)
    for batch in reversed(list(events.batches())):
        backward.apply(batch)
    one, other = forward.snapshot(), backward.snapshot()
    assert one.models[0].maturity_ms == other.models[0].maturity_ms
    assert one.windows[0].status.tolist() == other.windows[0].status.tolist()
    for name in METRIC_NAMES:
        for bound in ("estimate", "lower", "upper"):
            values = [getattr(s.windows[0].metrics[name], bound)[0] for s in (one, other)]
            assert repr(values[0]) == repr(values[1])


def test_a_label_that_is_revised_takes_its_delay_along():
    events = stream(6, 1500, 18, prevalence=0.2, delays=(1, 1, 1, 1))
    monitor = events.into(monitor_of())
    known = monitor._stages.delays._counts.copy()
    for batch in events.batches():
        batch.labels.value[:] = 2
        batch.labels.time[:] += 1
        monitor.apply(batch)
    assert known.sum() > 0
    assert not monitor._stages.delays._counts.any()
    assert not monitor._stages.delays._table(0, monitor.watermark_ms)[0].any()
    kind = by_outcome(events.predicted, events.actual, range(4))
    assert len(np.unique(kind)) == 4
