"""What another configuration does to stored state: the README's table, row by row."""

import numpy as np
import pytest
from labelled import DAY, stream
from recount import Recount
from same import differences, through_disk
from streams import batch_of

from monitor.config import Config
from monitor.engine import Monitor
from monitor.errors import ConfigError

START = 1_700_000_000
HOUR = 3_600


def events_of(model, count=60, segment="x"):
    found = []
    for n in range(count):
        ts = START + 600 * n
        found.append(
            {
                "type": "prediction",
                "id": f"{model}{n}",
                "ts": ts,
                "prediction": n % 2,
                "model": model,
                "segment": {"k": segment if n % 3 else "y", "l": "z"},
            }
        )
        if n % 5:
            found.append(
                {"type": "label", "id": f"{model}{n}", "ts": ts + HOUR, "label": n % 3 % 2}
            )
    return found


EARLY = events_of("a") + events_of("b", segment="u")
LATE = [
    {"type": "label", "id": f"{model}{n}", "ts": START + 600 * n + 2 * HOUR, "label": 1}
    for model in "ab"
    for n in range(0, 60, 5)
]
BASE = {"models": {"a": {"segments": ["k"]}, "b": {"segments": ["k"]}}, "windows": ["1h", "1d"]}
SEGMENTS = {"a": ("k",), "b": ("k",)}


def config(**changes):
    return Config(**{**BASE, **changes})


def batch(events, stored=("k",)):
    return batch_of(events, segments=stored)


def changed(**changes):
    """A monitor of another configuration restored from the state of the base."""
    before = Monitor(config())
    before.apply(batch(EARLY))
    return before, Monitor(config(**changes), through_disk(before.state()))


def cells(monitor):
    """Outcomes of everything, by series."""
    snapshot = monitor.snapshot()
    return {
        tuple(series): snapshot.lifetime.counts.cells[row].tolist()
        for row, series in enumerate(snapshot.series)
    }


def recounted(events, model):
    own = [e for e in events if e["id"].startswith(model)]
    counts = Recount(own).counts()
    return [counts[name] for name in ("tp", "fp", "fn", "tn")]


def assert_books_close(monitor):
    snapshot = monitor.snapshot()
    assert snapshot.events.get("label") == snapshot.labels.received
    received = 0
    for m in snapshot.models:
        received += m.matched + m.pending + m.expired + m.evicted + m.duplicates
    assert snapshot.events.get("prediction") == received


@pytest.mark.parametrize(
    "changes",
    [
        {"models": {"a": {"segments": ["k"], "threshold": 0.7}, "b": {"segments": ["k"]}}},
        {
            "models": {
                "a": {"segments": ["k"], "objective": {"precision": 0.9}},
                "b": {"segments": ["k"]},
            }
        },
        {"models": {"a": {"segments": ["k"], "class_ratios": [1, 0.1]}, "b": {"segments": ["k"]}}},
        {"models": {"a": {"segments": ["k"], "maturity": "3h"}, "b": {"segments": ["k"]}}},
        {"models": {"a": {"segments": ["k"], "label_timeout": "9d"}, "b": {"segments": ["k"]}}},
        {"models": {"a": {"segments": ["k"], "labelling": "sampled"}, "b": {"segments": ["k"]}}},
        {
            "models": {
                "a": {"segments": ["k"], "reference": {"first": "1d"}},
                "b": {"segments": ["k"]},
            }
        },
        {"models": {"a": {"segments": ["k"], "false_pages_per_year": 9}, "b": {"segments": ["k"]}}},
        {"max_pending": 50_000},
        {"windows": ["1d"]},
        {"windows": ["1h", "6h", "1d", "30d"]},
        {"models": {**BASE["models"], "new": {}}},
    ],
    ids=str,
)
def test_what_keeps_every_count_and_every_prediction_that_waits(changes):
    before, after = changed(**changes)
    assert {s: c for s, c in cells(after).items() if s[0] != "new"} == cells(before)
    assert_books_close(after)
    after.apply(batch(LATE))
    for model in "ab":
        assert cells(after)[model, None, None] == recounted(EARLY + LATE, model)
    assert_books_close(after)


def test_a_new_window_holds_what_was_stored_before_it():
    before, after = changed(windows=["2h", "1h", "1d", "30d"])
    fresh = Monitor(config(windows=["2h", "1h", "1d", "30d"]))
    fresh.apply(batch(EARLY))
    for one, other in zip(after.snapshot().windows, fresh.snapshot().windows, strict=True):
        assert list(differences(one, other)) == []
    assert before.snapshot().windows[0].name == "1h"


@pytest.mark.parametrize(
    "changes",
    [{"pane": "30s"}, {"pane": "5m"}, {"windows": ["30m", "1d"]}, {"windows": ["1h", "365d"]}],
    ids=str,
)
def test_panes_and_windows_that_do_not_fit_the_stored_ones_are_refused(changes):
    with pytest.raises(ConfigError, match="must fit the stored state"):
        changed(**changes)


def test_a_model_that_is_gone_takes_its_books_along():
    _, after = changed(models={"b": {"segments": ["k"]}})
    assert [model.name for model in after.snapshot().models] == ["b"]
    assert cells(after)["b", None, None] == recounted(EARLY, "b")
    assert_books_close(after)
    after.apply(batch(LATE))
    assert cells(after)["b", None, None] == recounted(EARLY + LATE, "b")
    again = Monitor(after.config, through_disk(after.state()))
    assert cells(again) == cells(after)


@pytest.mark.parametrize(
    ("setting", "stored"),
    [
        ({"segments": ["k", "l"]}, ("k", "l")),
        ({"segments": ["l"]}, ("l",)),
        ({}, ()),
        ({"segments": ["k"], "labelling": "weighted"}, ("k",)),
        ({"segments": ["k"], "clock": "label"}, ("k",)),
    ],
    ids=str,
)
def test_a_model_whose_counts_do_not_fit_starts_empty_and_others_do_not(setting, stored):
    before, after = changed(models={"a": setting, "b": {"segments": ["k"]}})
    assert cells(after)["b", None, None] == cells(before)["b", None, None]
    assert cells(after)["a", None, None] == [0, 0, 0, 0]
    assert_books_close(after)
    more = [{**e, "id": f"new{e['id']}", "ts": e["ts"] + 9 * HOUR} for e in events_of("a")]
    after.apply(batch(more, stored))
    expected = Recount(more).counts()
    assert cells(after)["a", None, None] == [expected[n] for n in ("tp", "fp", "fn", "tn")]
    assert_books_close(after)
    after.apply(batch([e for e in LATE if e["id"].startswith("b")]))
    assert cells(after)["b", None, None] == recounted(EARLY + LATE, "b")


def test_another_reference_is_found_anew_and_the_others_stay():
    settings = {"label_timeout": "3d", "reference": {"first": "4d"}}
    events = stream(12, 3_000, 3, prevalence=0.3, fpr=0.2, delays=(0.2, 0.2, 0.2, 0.2))
    before = events.into(Monitor(Config(models={"m": settings}, windows=["1d"])), 9)
    other = {**settings, "reference": {"first": "2d"}}
    same, moved = (
        Monitor(Config(models={"m": setting}, windows=["1d"]), through_disk(before.state()))
        for setting in ({**settings, "objective": {"recall": 0.5}}, other)
    )
    watched = [m.snapshot().models[0].watched for m in (before, same, moved)]
    assert watched[0].reference is not None
    assert list(differences(watched[0], watched[1])) == []
    assert watched[2].reference is None
    for batch_ in list(events.batches(np.inf, DAY))[9:]:
        moved.apply(batch_)
    found = moved.snapshot().models[0].watched.reference
    assert found is not None
    assert (found.closes - found.opens) != (
        watched[0].reference.closes - watched[0].reference.opens
    )


def test_labels_of_a_model_that_was_removed_are_no_ones_until_their_horizon():
    _, after = changed(models={"b": {"segments": ["k"]}})
    after.apply(batch(LATE))
    snapshot = after.snapshot()
    assert snapshot.labels.held == sum(e["id"].startswith("a") for e in LATE)
    assert_books_close(after)
