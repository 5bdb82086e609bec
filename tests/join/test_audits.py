"""Audits count by prediction, label and audit in force, in any order, and revise no label."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor

DAY = 86_400
IDS = ("a", "b", "c")
NAMED = st.sampled_from(IDS), st.integers(0, 9)
EVENTS = st.lists(
    st.one_of(
        st.tuples(st.just("prediction"), *NAMED, st.integers(0, 1)),
        st.tuples(
            st.sampled_from(["label", "audit", "audit"]), *NAMED, st.sampled_from([0, 1, None])
        ),
    ),
    max_size=24,
)


def audited(monitor: Monitor, model: str = "default") -> dict[tuple[int, int], int]:
    """Cases by day and cell."""
    monitor.flush()
    found = monitor.label_errors.counts(monitor.models.index(model))
    places = zip(found.day.tolist(), found.cell.tolist(), strict=True)
    return dict(zip(places, found.count.tolist(), strict=True))


def feed(monitor: Monitor, events) -> None:
    for kind, name, at, value in events:
        if kind == "prediction":
            monitor.predict(name, ts=at * DAY, prediction=value)
        else:
            monitor.label(name, ts=at * DAY, label=value, audit=kind == "audit")


def recounted(events) -> dict[tuple[int, int], int]:
    """The same from whole lists, an id at a time."""
    found: dict[tuple[int, int], int] = {}
    for name in IDS:
        mine = {
            wanted: [
                (at, 2 if value is None else value)
                for kind, of, at, value in events
                if (kind, of) == (wanted, name)
            ]
            for wanted in ("prediction", "label", "audit")
        }
        if not all(mine.values()):
            continue
        (at, called), (_, label) = min(mine["prediction"]), max(mine["label"])
        _, audit = max(mine["audit"])
        if label < 2 and audit < 2:
            place = at, 4 * called + 2 * label + audit
            found[place] = found.get(place, 0) + 1
    return found


ENDLESS = Config(models={"default": {"label_timeout": None}})


@settings(max_examples=50)
@given(EVENTS, st.integers(0, 24))
def test_any_order_counts_what_is_in_force(events, cut):
    """Also where the state is restored between two events."""
    monitor = CountingMonitor(ENDLESS)
    feed(monitor, events[:cut])
    monitor = CountingMonitor(ENDLESS, monitor.state())
    feed(monitor, events[cut:])
    assert audited(monitor) == recounted(events)


@settings(max_examples=40)
@given(EVENTS)
def test_outcomes_are_those_without_audits_and_every_label_is_in_the_books(events):
    with_audits, without = CountingMonitor(ENDLESS), CountingMonitor(ENDLESS)
    feed(with_audits, events)
    feed(without, [event for event in events if event[0] != "audit"])
    found, expected = with_audits.snapshot(), without.snapshot()
    np.testing.assert_array_equal(found.lifetime.counts.cells, expected.lifetime.counts.cells)
    sent = sum(kind != "prediction" for kind, *_ in events)
    assert found.labels.received == found.events["label"] == sent
    assert found.labels.received - found.labels.audits - found.labels.held == (
        expected.labels.received - expected.labels.held
    )


def test_an_audit_stays_counted_when_its_prediction_is_forgotten():
    monitor = Monitor(Config(models={"default": {"label_timeout": "2d", "horizon": "2d"}}))
    monitor.predict("a", ts=0, prediction=1)
    monitor.label("a", ts=60, label=1)
    monitor.label("a", ts=120, label=0, audit=True)
    assert audited(monitor) == {(0, 6): 1}
    for day in range(30):
        for n in range(400):
            monitor.predict(f"{day}-{n}", ts=day * DAY + n, prediction=0)
    monitor.flush()
    monitor.label("a", ts=30 * DAY, label=0)
    monitor.label("a", ts=30 * DAY, label=1, audit=True)
    assert audited(monitor) == {(0, 6): 1}
    again = Monitor(monitor.config, monitor.state())
    assert audited(again) == {(0, 6): 1}


@pytest.mark.parametrize("at", [1, 5])
def test_an_audit_that_comes_first_waits_for_its_prediction(at):
    monitor = Monitor(ENDLESS)
    monitor.label("a", ts=at * DAY, label=1, audit=True)
    assert monitor.snapshot().labels.held == 1
    monitor.label("a", ts=DAY, label=0)
    monitor.predict("a", ts=0, prediction=0)
    labels = monitor.snapshot().labels
    assert (labels.held, labels.audits, labels.applied) == (0, 1, 1)
    assert audited(monitor) == {(0, 1): 1}


def test_audits_of_a_model_with_names_for_its_classes():
    classes = {"classes": ["legit", "fraud"], "label_timeout": None}
    many = {"classes": ["x", "y", "z"], "label_timeout": None}
    monitor = Monitor(Config(models={"default": classes, "many": many}))
    monitor.predict("a", ts=0, prediction="fraud", model="default")
    monitor.predict("b", ts=0, prediction="z", model="many")
    monitor.label("a", ts=9, label="fraud")
    for name in ("a", "b"):
        monitor.label(name, ts=9, label="legit" if name == "a" else "x", audit=True)
    assert audited(monitor) == {(0, 6): 1}
    assert audited(monitor, "many") == {}
    labels = monitor.snapshot().labels
    assert (labels.audits, labels.misnamed) == (1, 1)


def test_audits_that_meet_no_prediction_are_counted_until_they_do():
    monitor = CountingMonitor(ENDLESS)
    feed(monitor, [("audit", "a", 1, 0), ("audit", "b", 1, 0), ("label", "b", 1, 0)])
    monitor.flush()
    assert monitor.label_errors.lost().number == 2
    again = CountingMonitor(ENDLESS, monitor.state())
    feed(again, [("prediction", "a", 1, 0)])
    again.flush()
    assert again.label_errors.lost().number == 1
    feed(again, [("prediction", "b", 1, 0)])
    again.flush()
    assert again.label_errors.lost() is None


def test_a_state_without_their_number_counts_those_that_wait():
    monitor = CountingMonitor(ENDLESS)
    feed(monitor, [("audit", "a", 1, 0), ("audit", "b", 1, 0), ("label", "b", 1, 0)])
    monitor.flush()
    state = monitor.state()
    del state["join"]["audits"]["unmet"]
    again = CountingMonitor(ENDLESS, state)
    assert again.label_errors.lost().number == 2
    feed(again, [("prediction", "a", 1, 0), ("prediction", "b", 1, 0)])
    again.flush()
    assert again.label_errors.lost() is None


def test_a_state_from_before_audits_is_read():
    monitor = Monitor(ENDLESS)
    monitor.predict("a", ts=0, prediction=1)
    state = monitor.state()
    del state["join"]["audits"], state["join"]["books"]["audits"]
    again = Monitor(ENDLESS, state)
    again.label("a", ts=9, label=1)
    again.label("a", ts=9, label=1, audit=True)
    assert audited(again) == {(0, 7): 1}
