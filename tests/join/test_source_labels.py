"""Labels of sources: which one counts, and how sources label the same cases, against a recount."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import through_disk

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor
from monitor.engine.stages import TIDY_EVERY
from monitor.errors import ConfigError
from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import source_labels
from monitor.join.source_labels import WEEKS
from monitor.metrics.source_errors import NO_LABEL

DAY, WEEK = 86_400, 7 * 86_400
IDS = ("a", "b", "c")
ORDER = ["expert", "ann"]
SOURCES = (None, "ann", "bob", "expert")
EVENTS = st.lists(
    st.one_of(
        st.tuples(
            st.just("prediction"), st.sampled_from(IDS), st.integers(0, 9), st.integers(0, 1)
        ),
        st.tuples(
            st.sampled_from(["label"] * 4),
            st.sampled_from(IDS),
            st.integers(0, 9),
            st.sampled_from([0, 1, None]),
            st.sampled_from(SOURCES),
        ),
    ),
    max_size=24,
)


def config(order=(), **others):
    model = {"label_timeout": None, "label_sources": {"order": [*order]}, **others}
    return Config(models={"m": model}, windows=["1d"])


def batch_of(settings, events):
    """The events, decoded one by one."""
    decoder = Decoder(DecodeSettings.from_config(settings))
    fields = []
    for kind, name, at, value, *source in events:
        record = {"type": kind, "id": name, "ts": at * DAY, kind: value}
        fields.append(record | ({"source": source[0]} if source else {}))
    return [decoder.decode_fields([one], position=str, record=lambda _: b"") for one in fields]


def rank(order, source):
    return len(order) - order.index(source) if source in order else 0


def in_force(events, name, order):
    """(time, value, ...) of the label that counts; None without one."""
    mine = [
        (rank(order, source), at, 2 if value is None else value)
        for kind, of, at, value, *sources in events
        for source in sources
        if (kind, of) == ("label", name)
    ]
    return max(mine)[2] if mine else None


def first_prediction(events, name):
    mine = [(at, value) for kind, of, at, value, *_ in events if (kind, of) == ("prediction", name)]
    return min(mine) if mine else None


def outcomes(monitor):
    return monitor.snapshot().lifetime.counts.cells[..., 0, :].ravel().tolist()[:4]


def combinations(monitor, model=0):
    """Cases by the labels of their sources."""
    monitor.flush()
    _, found, cases = monitor._stages.join.label_sources.cases(model)
    names = monitor._stages.join.label_sources.names
    counted = Counter()
    for row, count in zip(found.tolist(), cases.tolist(), strict=True):
        given = [(names.name(n), label) for n, label in enumerate(row) if label != NO_LABEL]
        counted[frozenset(given)] += count
    return counted


def recounted(events, null=2):
    found = Counter()
    for name in IDS:
        if first_prediction(events, name) is None:
            continue
        latest = {}
        for kind, of, at, value, *sources in events:
            for source in sources:
                if (kind, of) == ("label", name) and source:
                    given = (at, null if value is None else value)
                    latest[source] = max(latest.get(source, given), given)
        labels = frozenset((source, value) for source, (_, value) in latest.items() if value < null)
        if labels:
            found[labels] += 1
    return found


@settings(max_examples=50)
@given(EVENTS, st.sampled_from([[], ORDER]), st.integers(1, 24))
def test_the_label_of_the_first_source_counts_and_cases_equal_a_recount(events, order, size):
    settings = config(order)
    monitor = CountingMonitor(settings)
    batches = batch_of(settings, events)
    for first in range(0, len(batches), size):
        monitor.apply(concatenate(batches[first : first + size]))
    expected = [0, 0, 0, 0]
    for name in IDS:
        prediction, label = first_prediction(events, name), in_force(events, name, order)
        if prediction is not None and label in (0, 1):
            expected[[[3, 1], [2, 0]][label][prediction[1]]] += 1
    assert outcomes(monitor) == expected
    assert combinations(monitor) == recounted(events)


@settings(max_examples=30)
@given(EVENTS, st.sampled_from([[], ORDER]), st.integers(2, 24), st.integers(0, 24))
def test_the_state_is_that_of_the_sequence_of_records(events, order, size, saved):
    settings = config(order)
    each, cut = CountingMonitor(settings), CountingMonitor(settings)
    batches = batch_of(settings, events)
    for number, batch in enumerate(batches):
        if number == saved:
            each = CountingMonitor(settings, through_disk(each.state()))
        each.apply(batch)
    for first in range(0, len(batches), size):
        cut.apply(concatenate(batches[first : first + size]))
    mine, other = each.state()["join"], cut.state()["join"]
    for key in ("names", "left_out"):
        assert mine["label_sources"][key] == other["label_sources"][key]
    for key in ("places", "cases", "outranked"):
        assert mine["label_sources"][key].tolist() == other["label_sources"][key].tolist()
    assert np.array_equal(mine["books"]["transitions"], other["books"]["transitions"])
    assert combinations(each) == combinations(cut)
    assert each.snapshot().labels == cut.snapshot().labels


def test_a_lower_source_that_comes_later_is_outranked_and_counted():
    monitor = Monitor(config(ORDER))
    monitor.predict("a", ts=0, prediction=1)
    monitor.label("a", ts=10, label=1, source="bob")
    monitor.label("a", ts=5, label=0, source="expert")
    assert outcomes(monitor) == [0, 1, 0, 0]
    monitor.label("a", ts=99, label=1, source="ann")
    monitor.label("a", ts=100, label=1)
    assert outcomes(monitor) == [0, 1, 0, 0]
    sources = monitor._stages.join.label_sources
    assert sources.outranked.tolist() == [2]
    assert monitor.snapshot().labels.duplicate == 3
    again = Monitor(config(ORDER), through_disk(monitor.state()))
    again.label("a", ts=101, label=1, source="bob")
    assert outcomes(again) == [0, 1, 0, 0]
    again.label("a", ts=20, label=1, source="expert")
    assert outcomes(again) == [1, 0, 0, 0]


@pytest.mark.parametrize("at", [0, 20])
def test_a_label_of_a_source_that_comes_first_waits_for_its_prediction(at):
    monitor = Monitor(config(ORDER))
    monitor.label("a", ts=at, label=0, source="expert")
    monitor.label("a", ts=at + 10, label=1)
    monitor = Monitor(config(ORDER), through_disk(monitor.state()))
    monitor.predict("a", ts=0, prediction=1)
    assert outcomes(monitor) == [0, 1, 0, 0]
    assert combinations(monitor) == {frozenset({("expert", 0)}): 1}


def test_cases_stay_counted_when_predictions_are_forgotten_and_for_a_year(monkeypatch):
    monitor = CountingMonitor(config(label_timeout="1d", horizon="2d", maturity="0s"))
    for week in range(60):
        for name in ("x", "y", "z"):
            key = f"{name}{week}"
            monitor.predict(key, ts=week * WEEK, prediction=1)
            monitor.label(key, ts=week * WEEK + 1, label=1, source="ann")
            monitor.label(key, ts=week * WEEK + 2, label=0, source="bob")
        monitor.flush()
    both = frozenset({("ann", 1), ("bob", 0)})
    assert 3 * WEEKS <= combinations(monitor)[both] <= 3 * (WEEKS + 3)
    for number in range(2 * TIDY_EVERY):
        monitor.predict(f"filler{number}", ts=60 * WEEK + number, prediction=0)
    assert len(monitor.state()["join"]["label_sources"]["latest"]["key"]) == 0
    monkeypatch.setattr(source_labels, "MOST_COUNTS", 10)
    monitor.predict("last", ts=61 * WEEK, prediction=1)
    for second in range(3):
        monitor.predict(f"later{second}", ts=62 * WEEK + second * DAY, prediction=0)
    monitor.flush()
    assert combinations(monitor)[both] == 3 * 10
    assert monitor._stages.join.label_sources.left_out > 0


def test_a_state_from_before_sources_is_read():
    monitor = Monitor(config())
    monitor.label("a", ts=0, label=1)
    state = through_disk(monitor.state())
    join = {key: value for key, value in state["join"].items() if key != "label_sources"}
    held = {key: value for key, value in join["held"].items() if key != "source"}
    again = Monitor(config(), {**state, "join": {**join, "held": held}})
    again.predict("a", ts=0, prediction=1)
    again.label("a", ts=1, label=0, source="ann")
    assert outcomes(again) == [0, 1, 0, 0]
    assert combinations(again) == {frozenset({("ann", 0)}): 1}


def test_sources_beyond_the_thirtieth_count_as_one():
    monitor = Monitor(config(ORDER))
    monitor.predict("a", ts=0, prediction=1)
    for number in range(40):
        monitor.label("a", ts=number, label=number % 2, source=f"reviewer-{number:02}")
    monitor.label("a", ts=50, label=0, source="expert")
    found = dict(next(iter(combinations(monitor))))
    assert len(found) == 30
    assert (found["expert"], found["__other__"]) == (0, 1)
    state = through_disk(monitor.state())
    with pytest.raises(ConfigError, match="30 have a rank, got 'zoe'"):
        Monitor(config(["zoe"]), state)


def test_models_that_are_gone_take_their_cases_along():
    both = Config(models={"m": {}, "n": {}}, windows=["1d"])
    monitor = Monitor(both)
    for name in ("m", "n"):
        monitor.predict(name, ts=0, prediction=1, model=name)
        monitor.label(name, ts=1, label=1, source="ann")
    one = Monitor(Config(models={"n": {}}, windows=["1d"]), through_disk(monitor.state()))
    assert combinations(one) == {frozenset({("ann", 1)}): 1}
    one.label("n", ts=2, label=0, source="ann")
    assert combinations(one) == {frozenset({("ann", 0)}): 1}


def test_the_order_holds_for_models_of_many_classes():
    settings = Config(
        models={"m": {"classes": ["x", "y", "z"], "label_sources": {"order": ["expert"]}}},
        windows=["1d"],
    )
    monitor = Monitor(settings)
    monitor.predict("a", ts=0, prediction="x")
    monitor.label("a", ts=1, label="z", source="expert")
    monitor.label("a", ts=2, label="x", source="ann")
    monitor.flush()
    assert monitor.classes.ever(0).matrix.tolist() == [[0, 0, 1], [0, 0, 0], [0, 0, 0]]
    assert combinations(monitor) == {frozenset({("expert", 2), ("ann", 0)}): 1}


CLASSES = tuple(f"c{number:02}" for number in range(50))
CLASS_EVENTS = st.lists(
    st.one_of(
        st.tuples(
            st.just("prediction"),
            st.sampled_from(IDS),
            st.integers(0, 9),
            st.sampled_from(CLASSES),
        ),
        st.tuples(
            st.sampled_from(["label"] * 4),
            st.sampled_from(IDS),
            st.integers(0, 9),
            st.sampled_from([*CLASSES[:2], *CLASSES[-2:], None]),
            st.sampled_from([f"s{number:02}" for number in range(12)]),
        ),
    ),
    max_size=24,
)


@settings(max_examples=40)
@given(CLASS_EVENTS, st.integers(1, 24), st.integers(0, 24))
def test_cases_of_models_of_many_classes_equal_a_recount(events, size, saved):
    settings = config(classes=CLASSES)
    monitor = Monitor(settings)
    batches = batch_of(settings, events)
    for first in range(0, len(batches), size):
        if first >= saved:
            monitor = Monitor(settings, through_disk(monitor.state()))
        monitor.apply(concatenate(batches[first : first + size]))
    numbered = [
        (kind, of, at, CLASSES.index(value) if value else value, *source)
        for kind, of, at, value, *source in events
    ]
    assert combinations(monitor) == recounted(numbered, null=len(CLASSES))


def test_sources_of_a_binary_model_stay_when_one_of_many_classes_is_added_and_removed():
    more = {"n": {"classes": ["x", "y", "z"]}}
    plain = Config(models={"m": {}}, windows=["1d"])
    both = Config(models={"m": {}, **more}, windows=["1d"])
    monitor = Monitor(plain)
    monitor.predict("a", ts=0, prediction=1)
    monitor.label("a", ts=1, label=1, source="ann")
    monitor = Monitor(both, through_disk(monitor.state()))
    monitor.label("a", ts=2, label=0, source="bob")
    monitor.predict("b", ts=3, prediction="x", model="n")
    monitor.label("b", ts=4, label="z", source="bob")
    expected = {frozenset({("ann", 1), ("bob", 0)}): 1}
    assert (combinations(monitor, 0), combinations(monitor, 1)) == (
        expected,
        {frozenset({("bob", 2)}): 1},
    )
    again = Monitor(plain, through_disk(monitor.state()))
    assert combinations(again) == expected
    other = Config(models={"m": {}, "n": {"classes": ["x", "y", "w"]}}, windows=["1d"])
    changed = Monitor(other, through_disk(monitor.state()))
    changed.predict("c", ts=5, prediction="x", model="n")
    assert [combinations(changed, number) for number in (0, 1)] == [expected, {}]


def test_shares_of_sources_are_those_of_the_weeks_of_predictions():
    monitor = Monitor(config())
    for number in range(1_200):
        ts = 2_900 * WEEK + number * 3 * WEEK // 1_200
        monitor.predict(str(number), ts=ts, prediction=1)
        monitor.label(str(number), ts=ts + 1, label=1, source="ann")
        if number % 4 == 0 and number < 400:
            monitor.label(str(number), ts=ts + 2, label=0, source="bob")
    shares = monitor.snapshot().models[0].label_sources.shares
    assert shares.begins.tolist() == [week * WEEK * 1000 for week in (2_900, 2_901, 2_902)]
    assert shares.cases.tolist() == [400] * 3
    assert shares.labelled.tolist() == [[400, 100], [400, 0], [400, 0]]
    second = 2_901 * WEEK * 1000
    assert shares.within(0, second).tolist() == [1, 0.25]
    assert shares.within(second, 2 * second).tolist() == [1, 0]


def test_labels_without_a_source_leave_no_trace():
    settings = config()
    monitor = Monitor(settings)
    monitor.apply(EventBatch())
    monitor.predict("a", ts=0, prediction=1)
    monitor.label("a", ts=1, label=1)
    state = monitor.state()["join"]["label_sources"]
    assert [len(state[name]) for name in ("names", "places", "cases")] == [0, 0, 0]
    assert len(state["latest"]["key"]) == 0
