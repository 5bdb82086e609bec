"""Labels that come before their predictions, of models that are far behind others."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences
from sequences import known_by, monitor_of

from monitor.config import Config
from monitor.engine import CountingMonitor

DAY = 86_400
CONFIG = Config(
    defaults={"label_timeout": "1d", "horizon": "1d"}, models={"a": {}, "b": {}, "late": {}}
)


def prediction(model, number, ts):
    return {"type": "prediction", "model": model, "id": f"{model}{number}", "ts": ts}


def label(model, number, ts, value=1):
    return {"type": "label", "id": f"{model}{number}", "ts": ts, "label": value}


def lines_of(events):
    return [json.dumps({"prediction": 1, **event}).encode() for event in events]


def live(count, start=100 * DAY, step=3_600):
    """Predictions of two models, hour by hour."""
    return [
        prediction(model, 10_000 + number, start + step * number)
        for number in range(count)
        for model in "ab"
    ]


def mixed(live, behind):
    """One live record, one of the model behind, and so on."""
    found = [event for pair in zip(live, behind, strict=False) for event in pair]
    return found + live[len(behind) :] + behind[len(live) :]


def joined(monitor, model="late"):
    """Labels of a model that met their predictions, and those that are late."""
    snapshot = monitor.snapshot()
    (found,) = (one for one in snapshot.models if one.name == model)
    return found.matched, snapshot.labels.late


@pytest.mark.parametrize("size", [1, 7, 1_000])
@pytest.mark.parametrize("settled", [1, 20])
def test_early_labels_of_a_model_that_is_months_behind_count(size, settled):
    first = [prediction("late", 1_000 + number, number) for number in range(settled)]
    pairs = [
        (label("late", number, 3_600 * number + 60), prediction("late", number, 3_600 * number))
        for number in range(60)
    ]
    behind = first + [one for one, _ in pairs[:5]]
    for (_, ours), (later, _) in zip(pairs, pairs[5:], strict=False):
        behind += [later, ours]
    behind += [ours for _, ours in pairs[-5:]]
    lines = lines_of(live(30) + mixed(live(100, 102 * DAY), behind))
    monitor = monitor_of(lines, range(0, len(lines), size), CONFIG)
    assert joined(monitor) == (60, 0)


@pytest.mark.parametrize("size", [1, 1_000])
def test_a_label_too_old_for_every_known_model_is_late(size):
    events = [*live(30), label("late", 1, 60), prediction("late", 1, 0)]
    lines = lines_of(events)
    assert joined(monitor_of(lines, range(0, len(lines), size), CONFIG)) == (0, 1)


@pytest.mark.parametrize("size", [1, 1_000])
def test_before_any_time_is_settled_no_label_is_too_old(size):
    events = [prediction("a", 1, 50 * DAY), label("b", 1, 60), prediction("b", 1, 0)]
    monitor = monitor_of(lines_of(events), range(0, len(events), size), CONFIG)
    assert joined(monitor, "b") == (1, 0)


@pytest.mark.parametrize("begun", [3, 20])
@pytest.mark.parametrize("size", [1, 1_000])
def test_a_model_holds_labels_only_while_it_has_events(begun, size):
    before = [prediction("late", number, 0) for number in range(begun)]
    orphan = label("x", 1, 100 * DAY)
    events = [*before, *live(30), orphan, *live(100, 101 * DAY)]
    labels = monitor_of(lines_of(events), range(0, len(events), size), CONFIG).snapshot().labels
    assert (labels.held, labels.orphaned) == (0, 1)
    early = label("late", 900, 110)
    behind = [prediction("late", 800, 100), early, prediction("late", 900, 50)]
    lines = lines_of([*events, *behind])
    assert joined(monitor_of(lines, range(0, len(lines), size), CONFIG)) == (1, 0)
    lines = lines_of([*events, early, *behind])
    assert joined(monitor_of(lines, range(0, len(lines), size), CONFIG)) == (1, 1)


@pytest.mark.parametrize("stamps", [1, 20_000])
def test_no_more_labels_wait_than_predictions_may(stamps, monkeypatch):
    for module in ("monitor.engine.stages", "monitor.engine.course"):
        monkeypatch.setattr(f"{module}.EPOCH_ROWS", 1_000)
    config = Config(max_pending=8_192, models={"a": {}, "b": {}})
    labels = [label("x", number, 100 * DAY + number % stamps) for number in range(20_000)]
    lines = lines_of([*live(30), *labels])
    monitors = [
        monitor_of(lines, range(0, len(lines), size), config, kind=CountingMonitor)
        for size in (700, 30_000)
    ]
    one, other = (known_by(monitor) for monitor in monitors)
    assert not [*differences(one, other)]
    books = monitors[0].snapshot().labels
    assert books.held + books.orphaned == 20_000
    assert 8_192 - 8_192 // 8 <= books.held <= 8_192 + 1_000
    held = min(one["join"]["held"]["time"]) // 1_000 - 100 * DAY
    assert held == 0 if stamps == 1 else held == 20_000 - books.held


def test_one_label_that_repeats_for_ever_does_not_fill_the_memory(monkeypatch):
    monkeypatch.setattr("monitor.engine.stages.EPOCH_ROWS", 1_000)
    config = Config(max_pending=8_192, models={"a": {}, "b": {}})
    lines = lines_of([*live(30), *[label("x", 1, 100 * DAY)] * 20_000])
    books = monitor_of(lines, (), config, kind=CountingMonitor).snapshot().labels
    assert books.held + books.orphaned == 20_000
    assert books.held <= 8_192


steps = st.lists(
    st.tuples(
        st.sampled_from(["live", "late", "late", "early", "early"]),
        st.integers(0, 9),
        st.sampled_from([0, 60, 3_600, 30_000, DAY, 2 * DAY]),
    ),
    min_size=10,
    max_size=60,
)


def stream(moves, begun):
    """Two live models, and one behind, whose labels may come before its predictions."""
    events, now, behind = live(20), 120 * DAY, 0
    events += [prediction("late", 100 + number, number) for number in range(begun)]
    for kind, number, step in moves:
        if kind == "live":
            now += step
            events += [prediction(model, int(now) + number, now + number) for model in "ab"]
        elif kind == "late":
            behind += step
            events.append(prediction("late", number, behind + number))
        else:
            events.append(label("late", number, behind + step, number % 2))
    return events


def same_however_cut(events, cuts, config=CONFIG):
    """Without verdicts, which are judged where batches end, too."""
    lines, kind = lines_of(events), CountingMonitor
    ends = [cuts, range(len(lines))]
    found, one_by_one = (known_by(monitor_of(lines, each, config, kind=kind)) for each in ends)
    return not [*differences(found, one_by_one)]


@settings(max_examples=30, deadline=None)
@given(
    steps,
    st.sampled_from([0, 1, 20]),
    st.lists(st.integers(0, 100), max_size=8),
)
def test_early_labels_of_a_model_behind_do_not_depend_on_batches(moves, begun, cuts):
    assert same_however_cut(stream(moves, begun), cuts)


def test_labels_are_forgotten_where_the_slowest_model_goes_on_and_no_other_does():
    begun = [prediction("late", 100 + number, number) for number in range(20)]
    later = [prediction("late", 200 + number, 5 * DAY + number) for number in range(4)]
    again = prediction("late", 1, 5 * DAY)
    assert same_however_cut([*live(30), *begun, label("late", 1, 0), *later, again], [80])


def test_labels_wait_for_a_model_that_begins_where_another_has_left():
    config = Config(defaults={"label_timeout": "1d", "horizon": "1d"})
    begun = [prediction("late", 100 + number, number) for number in range(20)]
    later = [prediction("late", 200 + number, 5 * DAY + number) for number in range(4)]
    new, early = prediction("new", 1, 60), label("new", 2, 0)
    events = [*live(30), *begun, *later, new, early, prediction("new", 2, 60)]
    assert same_however_cut(events, [80], config)
