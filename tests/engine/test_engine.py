import json
import random
from collections import Counter
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from recount import Recount
from streams import batch_of, flights, in_batches

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor
from monitor.events.columns import OTHER_VALUE, EventBatch, Group, Predictions, Series
from monitor.events.reject_reasons import RejectReason
from monitor.snapshot import METRIC_NAMES

SEGMENTS = ("origin", "carrier", "part_of_day")
NAMES = ("tp", "fp", "fn", "tn")


def configured(**settings):
    return Config(defaults={"label_timeout": None, **settings}, windows=["1h", "1d", "7d"])


def replayed(events, size=10_000, config=None):
    """What is judged is no part of the state compared here, and takes most of the time."""
    config = config or configured(segments=SEGMENTS)
    monitor = CountingMonitor(config)
    for batch in in_batches(events, size, tuple(config.defaults.segments)):
        monitor.apply(batch)
    return monitor


def cells(counts, row):
    return {name: int(getattr(counts, name)[row]) for name in NAMES}


def state_of(monitor):
    """Everything that order of arrival, duplicates and the size of batches must not change."""
    snapshot = monitor.snapshot()
    rows = sorted(range(len(snapshot.series)), key=lambda i: tuple(map(str, snapshot.series[i])))
    tables = {
        window.name: [
            (
                snapshot.series[i],
                int(window.open[i]),
                int(window.close[i]),
                cells(window.counts, i),
                int(window.predicted_positive[i]),
                int(window.predicted_negative[i]),
                *tuple(repr(float(window.metrics[name].lower[i])) for name in METRIC_NAMES),
            )
            for i in rows
        ]
        for window in (*snapshot.windows, snapshot.lifetime)
    }
    models = {
        m.name: (
            m.predictions_positive,
            m.predictions_negative,
            m.labelled,
            m.matched,
            m.pending,
            m.expired,
            m.maturity_ms,
            m.delay_counts.tolist(),
            m.delay_sum.tolist(),
        )
        for m in snapshot.models
    }
    history = {name: busy_hours(monitor.history(name)) for name in models}
    return tables, models, history, snapshot.watermark_ms


def busy_hours(history):
    hours = zip(history.open.tolist(), history.cells, strict=True)
    return {opens: cells.tolist() for opens, cells in hours if cells.any()}


@pytest.fixture(scope="module")
def stream():
    return flights()


@pytest.fixture(scope="module")
def replay(stream):
    return replayed(stream)


@pytest.fixture(scope="module")
def truth(stream):
    return Recount(stream)


@pytest.fixture(scope="module")
def spring(stream):
    """The first third of the flights."""
    return stream[:40_000]


@pytest.fixture(scope="module")
def spring_state(spring):
    return state_of(replayed(spring))


def test_the_flights_give_exactly_their_truth(replay, truth):
    snapshot = replay.snapshot()
    assert cells(snapshot.lifetime.counts, 0) == {"tp": 8738, "fp": 15304, "fn": 4503, "tn": 27266}
    assert cells(snapshot.lifetime.counts, 0) == dict(truth.counts())
    (model,) = snapshot.models
    assert model.predictions_positive + model.predictions_negative == 57_286
    assert (model.labelled, model.matched, model.pending) == (55_811, 55_811, 1_475)


@pytest.mark.parametrize("key", SEGMENTS)
def test_the_flights_give_exactly_their_truth_by_segment(replay, truth, key):
    snapshot = replay.snapshot()
    found = {
        series.value: cells(snapshot.lifetime.counts, row)
        for row, series in enumerate(snapshot.series)
        if series.segment == key
    }
    expected = {v: {n: c[n] for n in NAMES} for v, c in truth.by_segment(key).items()}
    assert found == expected


@pytest.mark.parametrize("period", ["%Y-%m", "%Y-%m-%d"])
def test_the_flights_give_exactly_their_truth_by_month_and_day(replay, truth, period):
    def name(seconds):
        return datetime.fromtimestamp(seconds, UTC).strftime(period)

    history, found = replay.history("delay-hgb-v1"), {}
    for opens, counted in zip(history.open.tolist(), history.cells, strict=True):
        if counted.any():
            known = found.setdefault(name(opens / 1000), np.zeros(4, np.int64))
            known += counted[:4]
    expected = {}
    for prediction, cell in truth.outcomes():
        expected.setdefault(name(prediction["ts"]), Counter())[cell] += 1
    assert {k: v.tolist() for k, v in found.items() if v.any()} == {
        k: [c[n] for n in NAMES] for k, c in expected.items()
    }


def test_windows_equal_the_recount_of_what_lies_between_their_bounds(replay, truth):
    snapshot = replay.snapshot()
    for window in snapshot.windows:
        bounds = {"since": window.open[0] / 1000, "before": window.close[0] / 1000}
        expected = truth.counts(**bounds)
        assert cells(window.counts, 0) == {n: expected[n] for n in NAMES}
        made = [
            p for p in truth.predictions.values() if bounds["since"] <= p["ts"] < bounds["before"]
        ]
        assert window.predicted_positive[0] == sum(p["prediction"] for p in made)
        assert window.predicted_negative[0] == sum(1 - p["prediction"] for p in made)
        assert window.close[0] <= snapshot.now_ms - snapshot.models[0].maturity_ms


@pytest.mark.slow
def test_the_size_of_batches_changes_nothing(replay, stream, spring, spring_state):
    assert state_of(replayed(spring, 100)) == spring_state
    assert state_of(replayed(stream, 1_000_000)) == state_of(replay)


@pytest.mark.parametrize("size", [1, 7])
def test_few_events_at_a_time_change_nothing(stream, size):
    few = stream[: 2000 if size == 1 else 4000]
    assert state_of(replayed(few, size)) == state_of(replayed(few, 4000))


@pytest.mark.parametrize("seed", [1, 2])
def test_order_and_duplicates_change_nothing(spring, spring_state, seed):
    chance = random.Random(seed)
    again = chance.sample(spring, len(spring) * 3 // 10)
    shuffled = chance.sample([*spring, *again], len(spring) + len(again))
    assert state_of(replayed(shuffled, 5000)) == spring_state


@pytest.mark.slow
def test_order_changes_nothing_inside_the_horizon(spring):
    chance = random.Random(3)
    config = configured(segments=["origin"], label_timeout="1d", horizon="5d")
    two_days = 2 * 86_400
    jittered = sorted(spring, key=lambda e: e["ts"] + chance.random() * two_days)
    assert state_of(replayed(jittered, 1000, config)) == state_of(replayed(spring, 10_000, config))


def test_a_stray_from_the_future_drags_nothing_along(stream):
    stray = {"type": "prediction", "id": "stray", "ts": 7e9, "prediction": 0}
    few = stream[:8_000]
    marked = [*few[:4_000], stray, stray, stray, stray, *few[4_000:]]
    config = configured(label_timeout="2d")
    plain, dragged = replayed(few, 1000, config), replayed(marked, 1000, config)
    assert dragged.watermark_ms in {round(e["ts"] * 1000) for e in few[-50:]}
    assert state_of(dragged)[1]["delay-hgb-v1"] == state_of(plain)[1]["delay-hgb-v1"]


def test_every_event_from_the_first_on_equals_the_recount(stream):
    monitor, config = Monitor(configured()), configured()
    few = stream[:120]
    for i, event in enumerate(few):
        monitor.apply(batch_of([event]))
        snapshot, truth = monitor.snapshot(), Recount(few[: i + 1])
        counts = truth.counts()
        assert cells(snapshot.lifetime.counts, 0) == {n: counts[n] for n in NAMES}
        precision = snapshot.lifetime.metrics["precision"].estimate[0]
        called = counts["tp"] + counts["fp"]
        assert (precision == counts["tp"] / called) if called else np.isnan(precision)
        recall = snapshot.lifetime.metrics["recall"].estimate[0]
        positive = counts["tp"] + counts["fn"]
        assert (recall == counts["tp"] / positive) if positive else np.isnan(recall)
        if i < 2:
            assert snapshot.watermark_ms is None
    assert config.windows == ("1h", "1d", "7d")


@pytest.mark.slow
def test_segment_values_far_beyond_the_cap_stay_at_it_and_keep_the_totals():
    config = configured(segments=["merchant"])
    monitor = Monitor(config)
    for start in range(0, 200_000, 50_000):
        number = np.arange(50_000)
        made = Predictions(
            key=(start + number + 1).astype(np.uint64),
            time=(start + number) * 10,
            predicted_positive=number % 2 == 1,
            score=np.full(50_000, np.nan),
            group=number,
            row=number,
        )
        groups = tuple(Group("default", "", (f"m{i}",)) for i in range(start, start + 50_000))
        monitor.apply(EventBatch(predictions=made, groups=groups, records=50_000))
    snapshot = monitor.snapshot()
    assert len(snapshot.series) == 1 + config.defaults.max_segment_values + 1
    assert snapshot.series[-1] == Series("default", "merchant", OTHER_VALUE)
    called = snapshot.lifetime.predicted_positive
    assert called[0] == called[1:].sum() == 100_000
    assert snapshot.overflowed_values == 200_000 - 50


def test_models_beyond_the_cap_are_counted_as_unknown():
    monitor = Monitor(Config(max_models=2))
    events = [
        {"type": "prediction", "id": f"{i}", "ts": i, "prediction": 1, "model": f"model-{i}"}
        for i in range(5)
    ]
    monitor.apply(batch_of(events))
    snapshot = monitor.snapshot()
    assert [m.name for m in snapshot.models] == ["model-0", "model-1"]
    assert snapshot.rejected[RejectReason.UNKNOWN_MODEL] == 3


def test_windows_move_on_with_now_while_nothing_comes(stream):
    monitor = replayed(stream[:5000])
    before = monitor.snapshot()
    after = monitor.snapshot(before.now_ms + 3_600_000)
    assert after.windows[0].close[0] == before.windows[0].close[0] + 3_600_000
    assert after.watermark_ms == before.watermark_ms
    assert monitor.snapshot(0).now_ms == before.now_ms


def test_predict_and_label_take_the_fields_of_events():
    monitor = Monitor(Config(models={"fraud": {"threshold": 0.5, "segments": ["region"]}}))
    monitor.predict("a", ts="2026-01-01T00:00:00Z", score=0.9, segment={"region": "eu"})
    monitor.predict("b", ts=1767225601, prediction=False, version="v2")
    monitor.label("a", ts=1767225700, label=True)
    monitor.label("b", ts=1767225700, label=True)
    snapshot = monitor.snapshot()
    assert cells(snapshot.lifetime.counts, 0) == {"tp": 1, "fp": 0, "fn": 1, "tn": 0}
    assert Series("fraud", "region", "eu") in snapshot.series
    assert snapshot.models[0].version == "v2"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m: m.predict("a", ts=0), "prediction"),
        (lambda m: m.predict("a", ts=0, score=1.5), "score"),
        (lambda m: m.predict("", ts=0, prediction=True), "id"),
        (lambda m: m.label("a", ts=1e13, label=True), "ts"),
        (lambda m: m.label("a", ts=0, label=True, sampling_probability=0), "sampling_probability"),
    ],
)
def test_an_event_that_cannot_be_used_is_an_error_of_the_caller(call, message):
    with pytest.raises(ValueError, match=message):
        call(Monitor())


@pytest.mark.slow
def test_the_state_does_not_depend_on_snapshots_taken_between(spring, spring_state):
    monitor = Monitor(configured(segments=SEGMENTS))
    for i, batch in enumerate(in_batches(spring, 1000, SEGMENTS)):
        monitor.apply(batch)
        if i % 3 == 0:
            monitor.snapshot()
    assert state_of(monitor) == spring_state


def test_the_months_equal_the_truth_that_came_with_the_stream(replay):
    truth = json.loads((Path(__file__).parent / "flights_by_month.json").read_text())
    history, found = replay.history("delay-hgb-v1"), {month: Counter() for month in truth}
    for opens, counted in zip(history.open.tolist(), history.cells.tolist(), strict=True):
        month = datetime.fromtimestamp(opens / 1000, UTC).strftime("%Y-%m")
        if any(counted):
            found[month].update(dict(zip(NAMES, counted, strict=False)))
    assert {month: dict(counts) for month, counts in found.items()} == truth


def test_score_histograms_equal_the_scores_by_class(replay, truth):
    since, before = 1_385_856_000, 1_388_534_400
    found = replay.scores("delay-hgb-v1", since * 1000, before * 1000)
    expected = {"positive": Counter(), "negative": Counter(), "unlabelled": Counter()}
    for identity, prediction in truth.predictions.items():
        if since <= prediction["ts"] < before:
            value = truth.label_of(identity)
            kind = {1: "positive", 0: "negative", None: "unlabelled"}[value]
            expected[kind][int(prediction["score"] * 1000 + 1e-9)] += 1
    for kind, counts in expected.items():
        bins = getattr(found, kind)
        assert {i: int(n) for i, n in enumerate(bins) if n} == dict(counts)


def test_a_model_that_only_rejected_records_name_is_none():
    monitor = Monitor(Config())
    line = b'{"type":"prediction","id":"ms","ts":1700000000000,"prediction":1,"model":"m"}\n'
    monitor.apply(monitor._events.decoder.decode_lines(line, source="t", first_line=1))
    snapshot = monitor.snapshot()
    assert snapshot.models == ()
    assert snapshot.rejected[RejectReason.TIMESTAMP_IN_MILLISECONDS] == 1
