"""Ranges count what an independent recount counts, wherever they lie."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recount import Recount
from streams import batch_of, in_batches

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EARLIEST_MS, LATEST_MS, Series
from monitor.windows.range_counts import RangeCounts

DAY, HOUR = 86_400, 3_600
NAMES = ("tp", "fp", "fn", "tn")


def configured(**changes):
    return Config(defaults={"label_timeout": None, "segments": ["region"], **changes})


def counted(events, since, before, *, block=DAY, size=7, config=None):
    monitor = Monitor(config or configured())
    found = monitor.count_range(since * 1000, before * 1000, block * 1000)
    for batch in in_batches(events, size, ("region",)):
        monitor.apply(batch)
    return found


def cells(found, series):
    total = found.blocks(series).sum(axis=0)[:4].tolist()
    return {name: n for name, n in zip(NAMES, total, strict=True) if n}


ids = st.sampled_from([f"case-{n}" for n in range(12)])
moments = st.integers(-3 * DAY, 60 * DAY)
predictions = st.fixed_dictionaries(
    {
        "type": st.just("prediction"),
        "id": ids,
        "ts": moments,
        "prediction": st.integers(0, 1),
        "model": st.just("m"),
        "segment": st.fixed_dictionaries({"region": st.sampled_from("ab")}),
    }
)
labels = st.fixed_dictionaries(
    {
        "type": st.just("label"),
        "id": ids,
        "ts": moments,
        "label": st.sampled_from([0, 1, 1, None]),
    }
)


@settings(max_examples=60, deadline=None)
@given(
    st.lists(predictions, min_size=1, max_size=20, unique_by=lambda e: e["id"]),
    st.lists(labels, max_size=30),
    st.tuples(moments, moments).filter(lambda ends: ends[0] != ends[1]).map(sorted),
    st.sampled_from([DAY, HOUR]),
    st.randoms(use_true_random=False),
)
def test_a_range_equals_the_recount(made, reported, ends, block, chance):
    events = [*made, *reported]
    chance.shuffle(events)
    since, before = ends
    found = counted(events, since, before, block=block)
    truth = Recount(events)
    outcomes = truth.outcomes(since=since, before=before)
    assert cells(found, Series("m")) == dict(truth.counts(since=since, before=before))
    for value in {e["segment"]["region"] for e in made}:
        expected = [cell for e, cell in outcomes if e["segment"]["region"] == value]
        assert cells(found, Series("m", "region", value)) == {
            cell: expected.count(cell) for cell in set(expected)
        }
    inside = [e for e in made if since <= e["ts"] < before]
    assert found.blocks(Series("m"))[:, 4:].sum() == len(inside)
    assert len(found.blocks(Series("m"))) == len({e["ts"] // block for e in inside})


def pair(number, at, *, label_at=None, positive=1):
    made = {"type": "prediction", "id": f"p{number}", "ts": at, "prediction": 1, "model": "m"}
    reported = {"type": "label", "id": f"p{number}", "ts": label_at or at + 60, "label": positive}
    return [made, reported]


def test_a_label_that_comes_long_after_counts_where_its_prediction_was_made():
    events = [*pair(1, 100, label_at=400 * DAY), *pair(2, 500 * DAY)]
    found = counted(events, 0, DAY)
    assert cells(found, Series("m")) == {"tp": 1}


def test_a_label_that_times_out_counts_nowhere():
    config = configured(label_timeout="10d")
    events = [*pair(1, 100, label_at=9 * DAY), *pair(2, 200, label_at=11 * DAY)]
    assert cells(counted(events, 0, DAY, config=config), Series("m")) == {"tp": 1}


def test_bounds_are_cut_at_the_millisecond_and_the_end_is_exclusive():
    events = [*pair(1, 100), *pair(2, 200), *pair(3, 300)]
    assert cells(counted(events, 100, 300), Series("m")) == {"tp": 2}
    assert cells(counted(events, 100.001, 300.001), Series("m")) == {"tp": 2}


def test_hours_can_be_read_as_days_and_in_parts():
    events = [event for n in range(96) for event in pair(n, n * HOUR, positive=n % 2)]
    random.Random(3).shuffle(events)
    found = counted(events, 0, 4 * DAY, block=HOUR)
    assert len(found.blocks(Series("m"))) == 96
    days = found.blocks(Series("m"), block_ms=DAY * 1000)
    assert days.tolist() == [[12, 12, 0, 0, 24, 0]] * 4
    part = found.blocks(Series("m"), 30 * HOUR * 1000, 54 * HOUR * 1000, DAY * 1000)
    assert part[:, 4].tolist() == [18, 6]
    with pytest.raises(ValueError, match="within a block"):
        found.blocks(Series("m"), 1, None)
    with pytest.raises(ValueError, match="no multiple"):
        found.blocks(Series("m"), block_ms=HOUR * 1500)


def test_memory_grows_with_the_blocks_that_hold_something_only():
    events = [event for n in range(20) for event in pair(n, n * 40 * DAY)]
    monitor = Monitor(configured())
    found = monitor.count_range(EARLIEST_MS, LATEST_MS, HOUR * 1000)
    monitor.apply(batch_of(events, ("region",)))
    assert len(found.blocks(Series("m"))) == 20
    assert found.nbytes < 64 * 16 * 6 * 8
    assert found.span("m") == (0, 19 * 40 * DAY * 1000)
    assert found.models == ("m",)


def test_a_range_is_asked_for_before_events_come():
    monitor = Monitor()
    monitor.predict("a", ts=1, prediction=True)
    with pytest.raises(ValueError, match="events came already"):
        monitor.count_range(0, 1000, 1000)


def test_an_empty_range_is_refused():
    with pytest.raises(ValueError, match="must close after it opens"):
        Monitor().count_range(5, 5, 1000)


def test_a_model_that_was_never_seen_has_no_span():
    found = Monitor(Config(models={"quiet": {}})).count_range(0, 1000, 1000)
    assert found.models == ()
    with pytest.raises(ValueError, match="'quiet'"):
        found.span("quiet")
    assert isinstance(found, RangeCounts)
    assert np.array_equal(found.blocks(Series("quiet")), np.zeros((0, 6)))
