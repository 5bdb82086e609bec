"""Models that come and go: which are forgotten when, and where their counts are then."""

import json
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from same import differences
from sequences import known_by, monitor_of

from monitor.config import Config
from monitor.engine import CountingMonitor, Monitor
from monitor.feeds.decode import Decoder, DecodeSettings

DAY, HOUR = 86_400, 3_600
CONFIG = Config(
    max_models=3,
    pane="1h",
    windows=["1d"],
    defaults={
        "label_timeout": "6h",
        "horizon": "12h",
        "maturity": "0s",
        "reference": {"first": "1d"},
    },
)
"""Forgets after 4 days and 12 hours."""
NEEDED = CONFIG.forget_after_ms // 1000


def prediction(model, ts, number, *, positive=1):
    return {"type": "prediction", "id": f"{model}{number}", "ts": ts, "model": model} | {
        "prediction": positive
    }


def label(model, ts, number, value=1):
    return {"type": "label", "id": f"{model}{number}", "ts": ts, "label": value}


def steady(models, since, days, every=6 * HOUR):
    """Predictions of some models with their labels, an hour later, in order of time."""
    events = []
    for step in range(int(days * DAY // every)):
        ts = since + step * every
        for model in models:
            events += [prediction(model, ts, ts), label(model, ts + HOUR, ts, step % 2)]
    return sorted(events, key=lambda event: event["ts"])


def lines_of(events):
    return [json.dumps(event).encode() for event in events]


def counted(events, config=CONFIG, *, kind=CountingMonitor):
    return monitor_of(lines_of(events), [], config, kind=kind)


def come_and_go(chance, days=20):
    """Models that live for days beside two that stay; labels, outcomes, counts, false times."""
    events = [(one["ts"], one) for one in steady("ab", 0, days, every=16 * HOUR)]
    false = chance.randrange(3) == 0
    for number in range(6):
        model, ts = f"m{number}", chance.uniform(0, days - 6) * DAY
        for at in range(chance.randrange(3, 10)):
            ts += chance.choice((1, HOUR, 5 * HOUR, 12 * HOUR))
            kind = chance.choice(["prediction", "prediction", "outcome", "counts"])
            if kind == "prediction":
                events.append((ts, prediction(model, ts, at, positive=at % 2)))
                later = ts + chance.choice((HOUR, 5 * HOUR, 8 * HOUR, 3 * DAY))
                events.append((later, label(model, later, at)))
            elif kind == "outcome":
                fields = {"prediction": 1, "label": at % 2, "label_ts": ts}
                events.append((ts, {"type": kind, "ts": ts, "model": model, **fields}))
            elif number % 3 == 0:
                cells = {"tp": 1, "fp": 0, "fn": 2, "tn": at}
                events.append((ts, {"type": kind, "ts": ts, "model": model, **cells}))
            if false and chance.randrange(8) == 0:
                events.append((ts, prediction(model, ts + 400 * DAY, f"false{at}")))
    return [event for _, event in sorted(events, key=lambda found: found[0])]


@pytest.mark.slow
@settings(max_examples=6, deadline=None)
@given(st.integers(0, 1 << 30), st.lists(st.integers(0, 300), max_size=8))
def test_which_models_are_forgotten_does_not_depend_on_batches(seed, cuts):
    lines = lines_of(come_and_go(Random(seed)))
    whole, one_by_one = (
        monitor_of(lines, cuts, CONFIG),
        monitor_of(lines, range(len(lines)), CONFIG),
    )
    assert whole.models == one_by_one.models
    assert not [*differences(known_by(whole), known_by(one_by_one))]


@pytest.mark.parametrize("seed", [0, 1, *(pytest.param(n, marks=pytest.mark.slow) for n in (2, 3))])
def test_every_count_is_with_its_model_or_among_those_of_the_forgotten(seed):
    events = come_and_go(Random(seed))
    roomy = CONFIG.model_copy(update={"max_models": 100})
    never = roomy.model_copy(update={"forget_after": None})
    found, all_of_them = (
        counted(events, config, kind=Monitor).snapshot() for config in (roomy, never)
    )
    assert found.forgotten.models > 0 == all_of_them.forgotten.models
    assert found.events == all_of_them.events

    def received(snapshot):
        models = snapshot.models
        named = sum(m.predictions_positive + m.predictions_negative + m.duplicates for m in models)
        return named + snapshot.forgotten.predictions

    assert received(found) == received(all_of_them)
    cells = Counter(dict(zip(("tp", "fp", "fn", "tn"), found.forgotten[-4:], strict=True)))
    for model in found.models:
        cells.update(cells_of(found, model.row))
    expected = Counter()
    for model in all_of_them.models:
        expected.update(cells_of(all_of_them, model.row))
    assert cells == expected


def cells_of(snapshot, row):
    names = ("tp", "fp", "fn", "tn")
    return dict(zip(names, snapshot.lifetime.counts.cells[row].tolist(), strict=True))


def test_a_silent_model_is_forgotten_once_nothing_needs_it():
    events = steady(["a", "b", "gone"], 0, 2)
    assert "gone" in counted(events + steady("ab", 2 * DAY, NEEDED / DAY - 1)).models
    monitor = counted(events + steady("ab", 2 * DAY, NEEDED / DAY + 2))
    assert monitor.models == ("a", "b")
    assert monitor.snapshot().forgotten == (1, 8, 0, 0, 8, 4, 4, 0, 0)


def test_a_forgotten_model_that_returns_starts_anew():
    gap = 2 * DAY + NEEDED + 2 * DAY
    events = steady(["a", "b", "c"], 0, 2) + steady("ab", 2 * DAY, gap / DAY)
    again = steady(["c"], 2 * DAY + gap, 1)
    monitor = counted(events + again)
    (model,) = (one for one in monitor.snapshot().models if one.name == "c")
    assert model.predictions_positive == 4
    assert monitor.snapshot().forgotten.models == 1


def test_a_model_that_had_no_room_is_taken_once_another_is_forgotten():
    days = NEEDED / DAY + 4
    events = steady("abc", 0, 2) + steady("ab", 2 * DAY, days) + steady("d", (2 + days) * DAY, 1)
    assert counted(steady("abc", 0, 2) + steady("d", 2 * DAY, 1)).models == ("a", "b", "c")
    assert counted(events).models == ("a", "b", "d")


def test_labels_alone_keep_a_model():
    late = Config(
        pane="1h",
        windows=["1d"],
        defaults={"label_timeout": "40d", "maturity": "0s", "reference": {"first": "1d"}},
        forget_after="45d",
    )
    first = [prediction("late", 0, n) for n in range(30)]
    labels = [label("late", (n + 20) * DAY, n) for n in range(20)]
    events = sorted(steady("ab", 0, 80) + first + labels, key=lambda event: event["ts"])
    assert "late" in counted(events, late).models
    without = sorted(steady("ab", 0, 80) + first, key=lambda event: event["ts"])
    assert "late" not in counted(without, late).models


def test_two_models_with_false_times_end_no_other():
    roomy = CONFIG.model_copy(update={"max_models": 100})
    events = steady("ab", 0, 3)
    for day in range(3, 9):
        events += steady("ab", day * DAY, 1)
        events += steady("xy", (1000 + 50 * day) * DAY, 1)
    monitor = counted(events, roomy)
    assert monitor.times["x"] > 1400 * DAY * 1000
    assert monitor.models == ("a", "b", "x", "y")


def test_configured_models_and_models_without_a_label_timeout_stay():
    events = steady("abc", 0, 2) + steady("ab", 2 * DAY, 40)
    named = Config(models=dict.fromkeys("abc", CONFIG.defaults), pane="1h", windows=["1d"])
    for config in (named, Config.without_file()):
        assert counted(events, config).models == ("a", "b", "c")


def test_a_monitor_that_counts_ranges_forgets_nothing():
    monitor = Monitor(CONFIG)
    ranged = monitor.count_range(0, 100 * DAY * 1000, DAY * 1000)
    lines = lines_of(steady("abc", 0, 2) + steady("ab", 2 * DAY, 10))
    decoder = Decoder(DecodeSettings.from_config(CONFIG))
    monitor.apply(decoder.decode_lines(b"\n".join(lines), source="t"))
    assert monitor.models == ("a", "b", "c")
    assert ranged.series("c")


def test_a_state_of_before_silences_gives_every_model_its_time():
    events = steady("abc", 0, 3) + steady("ab", 3 * DAY, 3)
    state = dict(counted(events, kind=Monitor).state())
    del state["silences"], state["forgotten"]
    monitor = Monitor(CONFIG, state)
    assert monitor.models == ("a", "b", "c")
    assert monitor.snapshot().forgotten.models == 0
