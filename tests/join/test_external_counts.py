import json

import numpy as np
import pytest
from conservation import check_models, check_no_fall, samples_of
from hypothesis import given, settings
from hypothesis import strategies as st
from prometheus_client import CollectorRegistry

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor
from monitor.events.columns import CountDeltas, EventBatch, Group, Outcomes
from monitor.events.counter_totals import CounterTotals
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.prometheus.exposition import Exposition

HOUR = 3_600_000


def counts(*rows):
    """A batch of (time, batch key, tp, fp, fn, tn) rows of one model."""
    table = np.array(rows, np.int64).reshape(-1, 6)
    cells = table[:, 2:]
    return EventBatch(
        counts=CountDeltas(
            time=table[:, 0],
            group=np.zeros(len(table), np.int64),
            cells=cells,
            population=np.stack([cells[:, :2].sum(1), cells[:, 2:].sum(1)], axis=1),
            batch_key=table[:, 1].astype(np.uint64),
        ),
        groups=(Group("m"),),
        records=len(table),
    )


def fed(*batches, kind=CountingMonitor):
    monitor = kind(Config(defaults={"label_timeout": None}))
    for batch in batches:
        monitor.apply(batch)
    return monitor


def outcomes(monitor):
    return monitor.snapshot().lifetime.counts[0].cells.tolist()


def test_counts_are_added():
    monitor = fed(counts((0, 0, 1, 2, 3, 4)), counts((0, 0, 1, 2, 3, 4)))
    assert outcomes(monitor) == [2, 4, 6, 8]


def test_the_same_delivery_again_replaces_and_never_adds():
    monitor = fed(
        counts((0, 7, 1, 2, 3, 4)), counts((0, 7, 1, 2, 3, 4)), counts((0, 7, 5, 0, 0, 0))
    )
    assert outcomes(monitor) == [5, 0, 0, 0]


def test_rows_of_one_delivery_are_distinct_by_their_time():
    monitor = fed(counts((0, 7, 1, 0, 0, 0), (HOUR, 7, 2, 0, 0, 0)), counts((HOUR, 7, 3, 0, 0, 0)))
    assert outcomes(monitor) == [4, 0, 0, 0]


def test_negative_counts_take_outcomes_back():
    monitor = fed(counts((0, 1, 5, 0, 0, 5)), counts((0, 2, -1, 0, 1, 0)))
    assert outcomes(monitor) == [4, 0, 1, 5]


@settings(max_examples=40, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 2), st.integers(1, 3), *[st.integers(0, 9)] * 4)))
def test_any_number_of_deliveries_equals_the_last_of_each(rows):
    monitor = fed(*(counts((t * HOUR, key, *cells)) for t, key, *cells in rows))
    last = {(t, key): cells for t, key, *cells in rows}
    expected = [sum(cells[i] for cells in last.values()) for i in range(4)]
    assert (outcomes(monitor) if rows else [0] * 4) == expected


def test_outcomes_without_an_id_count_at_once():
    n = 5
    batch = EventBatch(
        outcomes=Outcomes(
            time=np.arange(n) * HOUR,
            label_time=np.arange(n) * HOUR + 1,
            predicted_positive=np.array([True, True, False, False, True]),
            actual_positive=np.array([True, False, True, False, True]),
            score=np.full(n, np.nan),
            group=np.zeros(n, np.int64),
        ),
        groups=(Group("m"),),
        records=n,
    )
    snapshot = fed(batch).snapshot()
    assert snapshot.lifetime.counts[0].cells.tolist() == [2, 1, 1, 1]
    (model,) = snapshot.models
    assert (model.matched, model.pending, model.labelled) == (5, 0, 5)
    assert snapshot.labels.applied == 5


def test_a_correction_that_comes_before_what_it_corrects_leaves_the_outcomes_unknown():
    monitor = fed(
        counts((0, 1, -5, 0, 0, 0)), counts((HOUR, 0, 0, 0, 0, 1)), counts((9, 0, 1, 0, 0, 0))
    )
    assert outcomes(monitor) == [0, 0, 0, 0]
    monitor.apply(counts((1, 2, 9, 0, 0, 0)))
    assert outcomes(monitor) == [5, 0, 0, 1]


def scraped(monitor):
    exposition = Exposition(monitor.snapshot, CollectorRegistry())
    return samples_of(exposition.render(openmetrics=False, gzip=False).decode())


@pytest.mark.slow
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 3), *[st.integers(-9, 9)] * 4), min_size=1)
)
def test_counters_stand_still_where_counts_are_taken_back(rows):
    monitor, before = Monitor(Config(models={"m": {"label_timeout": None}})), {}
    for t, key, *cells in rows:
        monitor.apply(counts((t * HOUR, key, *cells)))
        samples = scraped(monitor)
        check_models(samples)
        counters = {key: value for key, value in samples.items() if key[0].endswith("_total")}
        check_no_fall(before, counters)
        assert min(value for key, value in samples.items() if key[0].endswith("_bucket")) >= 0
        before = counters


def test_counters_stay_after_a_batch_is_replaced_by_a_smaller_one():
    monitor = fed(counts((0, 7, 5, 0, 0, 5)), counts((0, 7, 2, 0, 0, 3)))
    (model,) = monitor.snapshot().models
    assert (model.predictions_positive, model.predictions_negative, model.labelled) == (2, 3, 5)
    assert model.counters == CounterTotals(5, 5, 10)
    assert model.taken_back == 5
    assert model.labels == {"positive": 5, "negative": 5, "retracted": 0}
    monitor.apply(counts((0, 8, 3, 0, 0, 2)))
    (model,) = monitor.snapshot().models
    assert (model.counters, model.taken_back) == (CounterTotals(5, 5, 10), 0)
    assert model.labels == {"positive": 8, "negative": 7, "retracted": 0}


def test_a_flood_of_corrections_stops_nothing():
    days = [counts(*((h * HOUR, 0, 40, 20, 10, 300) for h in range(24 * 19)))]
    hours = [*days, *(counts((h * HOUR, 0, 40, 20, 10, 300)) for h in range(24 * 19, 24 * 20))]
    monitor = fed(*hours, counts((24 * 19 * HOUR, 0, -50_000, 0, 0, 0)), kind=Monitor)
    for h in range(24 * 20, 24 * 24):
        monitor.apply(counts((h * HOUR, 0, 40, 20, 10, 300)))
    assert outcomes(monitor) == [0, 0, 0, 0]
    assert monitor.snapshot().events["counts"] == 24 * 24 + 1


def lines_of(*records):
    decoder = Decoder(DecodeSettings.from_config(Config(defaults={"label_timeout": None})))
    data = b"\n".join(json.dumps({"type": "counts", **record}).encode() for record in records)
    return decoder.decode_lines(data, source="test")


def row(ts, tp, **more):
    return {"ts": ts, "tp": tp, "fp": 0, "fn": 0, "tn": 0, "source": "s", "batch": "1", **more}


def test_rows_of_one_delivery_are_distinct_by_the_time_of_their_labels():
    first = lines_of(row(0, 1, label_ts=60), row(0, 2, label_ts=7200))
    monitor = fed(first, first, lines_of(row(0, 5, label_ts=60)))
    assert outcomes(monitor) == [7, 0, 0, 0]


def test_delays_are_learned_from_counts_that_say_when_their_labels_came():
    monitor = fed(lines_of(row(0, 3, label_ts=50), row(60, 1, label_ts=5000)))
    (model,) = monitor.snapshot().models
    assert model.delay_sum.tolist() == [0, 3 * 50 + 4940]


def test_counts_of_sampled_labels_are_weighed_like_labels():
    config = Config(
        defaults={"labelling": "weighted", "label_timeout": None, "maturity": "1m"},
        windows=["1h"],
    )
    by_counts, by_events = Monitor(config), Monitor(config)
    some = [(i, 60 * i, i % 2, (i // 2) % 2, (1.0, 0.5, 0.25)[i % 3]) for i in range(60)]
    decoder = Decoder(DecodeSettings.from_config(config))
    events, counted = [], []
    for i, ts, predicted, turns_out, share in some:
        events.append({"type": "prediction", "id": str(i), "ts": ts, "prediction": predicted})
        named = {"label": turns_out, "sampling_probability": share}
        events.append({"type": "label", "id": str(i), "ts": ts, **named})
        cells = dict.fromkeys(("tp", "fp", "fn", "tn"), 0)
        cells[{(1, 1): "tp", (1, 0): "fp", (0, 1): "fn", (0, 0): "tn"}[predicted, turns_out]] = 1
        reported = {"sampling_probability": share, "source": "s", "batch": str(i)}
        reported["watermark"] = 58 * 60  # the third-highest time of the events
        counted.append({"type": "counts", "ts": ts, **cells, **reported})
    for monitor, records in ((by_counts, counted), (by_events, events)):
        lines = b"\n".join(json.dumps(record).encode() for record in records)
        monitor.apply(decoder.decode_lines(lines, source="test"))
    (one,), (other,) = by_counts.snapshot().windows, by_events.snapshot().windows
    assert one.counts == other.counts
    for name, estimate in one.metrics.items():
        np.testing.assert_array_equal(estimate, other.metrics[name])


def test_sources_say_how_far_they_have_come_and_what_came_too_late():
    monitor = fed(
        lines_of(row(0, 1, watermark=900, late=2), row(60, 1)),
        lines_of(row(0, 1, watermark=300, late=2), row(0, 1, source="t")),
    )
    snapshot = monitor.snapshot()
    assert snapshot.sources == (("s", 3, 900_000, 2), ("t", 1, None, 0))
    assert snapshot.watermark_ms == 900_000


def test_the_latest_batches_are_replaced_however_old_what_they_count_is():
    config = Config(defaults={"label_timeout": "1h", "horizon": "2h"})
    monitor = Monitor(config)
    late = lines_of(row(0, 1, watermark=10 * 86_400))
    for batch in (late, lines_of(row(10 * 86_400, 1, batch="2")), late):
        monitor.apply(batch)
    assert outcomes(monitor) == [2, 0, 0, 0]


def test_what_is_over_is_forgotten_but_for_the_latest_batches():
    monitor = CountingMonitor(Config(defaults={"label_timeout": "1h", "horizon": "2h"}))
    for hour in range(300):
        reported = {"batch": str(hour), "watermark": 3600 * hour}
        monitor.apply(lines_of(row(3600 * hour, 1, **reported)))
    assert len(monitor._stages.join._counted._delivered) <= 64 + 3
