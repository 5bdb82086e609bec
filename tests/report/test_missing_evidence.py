"""Evidence that is missing for a verdict, and the time of the last prediction."""

import re

import numpy as np
import pytest
from exporter.page.pages import counts, fed
from report.test_label_silence import stream

from monitor.config import Config
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.exporter.page.formats import last_label, last_prediction
from monitor.windows.panes import PaneRing

HOUR, DAY = 3_600, 86_400
GIVEN = {"counts": {"tp": 8_000, "fp": 4_500, "fn": 2_000, "tn": 85_500}}
MANY, FEW, RARER = (300, 170, 75, 3_200), (2, 1, 1, 20), (110, 150, 45, 3_700)


def shown(settings, records, now=None):
    config = Config(models={"m": {"maturity": "1h"} | settings}, windows=["1d", "7d"])
    snapshot = fed(Monitor(config), records).snapshot(now)
    (model,) = status_answer(snapshot, limit=1).models
    return model


def days(cells, first, end):
    return [counts("m", day * DAY + at * HOUR, cells) for day in range(first, end) for at in (1, 9)]


def unlabelled(first, end):
    none = {"predicted_positive": 10, "predicted_negative": 90}
    return [record | none for record in days((0, 0, 0, 0), first, end)]


OVERLAP = "the last 7d reach back into the reference"
CASES = {
    "no predictions yet": ({}, []),
    "only predicted positives are ever labelled": (
        {"labelling": "flagged_only"},
        days(MANY, 0, 20),
    ),
    "no labels yet": ({}, unlabelled(0, 20)),
    "the reference is not complete yet (about 8 January 1970)": ({}, days(MANY, 0, 3)),
    "the reference is not complete yet (7 of 100 positives, 2 of 20 false positives, "
    "about 8 January 1970)": ({}, days((5, 2, 2, 100), 0, 2)),
    "the reference is not complete yet (37 of 100 positives; at this rate it will be the first "
    "28 days, about 29 January 1970)": ({}, days((1, 1, 0, 26), 0, 20)),
    "the reference is not complete yet (2 of 5 false positives, 4 of 5 false negatives, "
    "about 8 January 1970)": (
        {},
        days((1, 0, 1, 14), 0, 1) + days((1, 1, 1, 14), 1, 2) + days((1, 0, 0, 14), 2, 4),
    ),
    "the reference is not complete yet (no positive has come, and without one nothing can be "
    "compared)": (
        {},
        days((0, 2, 0, 100), 0, 20),
    ),
    "the reference is not complete yet (about 11 March 1970)": (
        {"reference": {"window": {"length": "7d", "end": "1970-03-11"}}},
        days(MANY, 0, 20),
    ),
    "no outcome is mature yet": (
        {"reference": GIVEN, "maturity": "1d", "label_timeout": "2d"},
        days(MANY, 0, 1),
    ),
    "the reference holds 8 positives and 1,134 negatives, too few to compare with": (
        {},
        days((1, 1, 1, 20), 0, 2) + days((0, 1, 0, 20), 2, 27) + days((1, 1, 0, 20), 30, 60),
    ),
    OVERLAP: ({}, days(MANY, 0, 9)),
    "no labels for the last 7d": ({"reference": GIVEN}, days(MANY, 0, 20) + unlabelled(20, 40)),
}


@pytest.mark.parametrize("missing", CASES)
def test_the_missing_evidence_is_named(missing):
    model = shown(*CASES[missing])
    assert (model.verdict, model.missing_evidence) == ("insufficient_evidence", missing)
    text = model.worse.text
    if missing == OVERLAP:
        assert text == (
            "Nothing points to it: a fall of recall below .67 in the 7 hours since the reference "
            "is excluded"
        )
        assert model.moved_precision.text == f"Not known: {OVERLAP}"
    else:
        assert text.startswith("Cannot be known: ")
        assert model.moved_precision.text == f"Not known: {missing.partition(' (')[0]}"
    without = model.reference is None or missing.endswith("too few to compare with")
    assert model.verdict_because == ("no_reference" if without else "too_few_outcomes")


def test_a_model_that_is_compared_misses_none_and_has_a_reason():
    few = shown({"reference": GIVEN}, days(FEW, 0, 20))
    assert (few.missing_evidence, few.verdict_because) == (None, "too_few_outcomes")
    counts_of_rarer = {"counts": {"tp": 300, "fp": 170, "fn": 75, "tn": 3_200}}
    moved = shown({"reference": counts_of_rarer}, days((8, 11, 3, 264), 0, 20))
    assert (moved.missing_evidence, moved.verdict_because) == (None, "moved_cause_open")


def learned(days_long):
    """The model after some days, its maturity learned from labels that take up to nine days."""
    config = Config(models={"m": {}}, windows=["1d", "7d"])
    snapshot = fed(Monitor(config), stream(days_long)).snapshot()
    return status_answer(snapshot, limit=1).models[0]


@pytest.mark.parametrize("days_long", [3, 6, 10, 13])
def test_while_labels_may_take_longer_than_known_the_day_of_the_reference_is_the_earliest(
    days_long,
):
    model = learned(days_long)
    assert not model.maturity_settled
    stated = re.search(r"not before ([0-9]+) January 1970\)", model.missing_evidence)
    assert days_long <= int(stated[1]) <= 19
    assert learned(19.5).reference is not None


def test_a_model_that_has_fallen_silent_is_called_so():
    model = shown({}, days(MANY, 0, 20), now=60 * DAY * 1000)
    assert model.missing_evidence == "no predictions in the last 7d that are old enough to judge"
    silent = "No prediction since 20 January 1970."
    assert model.headline == f"{silent} Nothing is compared: {model.missing_evidence}."
    assert last_prediction(model) == "40.6 days ago"


def test_a_verdict_on_evidence_misses_none():
    assert shown({}, days(MANY, 0, 40)).missing_evidence is None


def test_the_last_prediction_is_shown_to_the_minute_and_after_days_to_the_hour():
    ts = 20 * DAY + 12 * HOUR + 90
    more = [counts("m", ts + i, (1, 0, 0, 0, 1, 0)) for i in range(3)]
    positives = [record | {"predicted_positive": 1} for record in days(MANY, 0, 20)]
    young = shown({}, positives + more, now=(ts + 600) * 1000)
    assert young.last_prediction_age_seconds == ts + 600 - (ts // 60 + 1) * 60
    assert last_prediction(young) == "9.5 minutes ago"
    quick = shown({}, positives + more, now=(ts + 40) * 1000)
    assert last_prediction(quick) == "less than a minute ago"


def labelled_pair(name, at, labelled_at=None, label=1):
    """A prediction, and a label of it; seconds."""
    yield {"type": "prediction", "id": name, "ts": at, "prediction": 1, "model": "m"}
    if labelled_at is not None:
        yield {"type": "label", "id": name, "ts": labelled_at, "label": label}


def test_the_last_label_is_shown_by_its_own_time_to_the_hour():
    start = 20 * DAY
    events = [
        *labelled_pair("a", start, start + HOUR),
        *labelled_pair("b", start + 60, start + 5 * HOUR, label=0),
    ]
    events += [*labelled_pair("c", start + 30 * HOUR)]
    model = shown({"label_timeout": "9d"}, events, now=(start + 30 * HOUR) * 1000)
    assert model.last_label == "1970-01-21T06:00:00Z"
    assert model.last_label_age_seconds == 24 * HOUR
    assert last_label(model) == "24 hours ago"
    early = shown({"label_timeout": "9d"}, events, now=(start + 6 * HOUR) * 1000)
    assert last_label(early) == "less than an hour ago"


def test_a_label_that_was_taken_back_is_not_the_last_one():
    start = 20 * DAY
    events = [
        *labelled_pair("a", start, start + HOUR),
        *labelled_pair("b", start + 60, start + 5 * HOUR),
    ]
    events.append({"type": "label", "id": "b", "ts": start + 6 * HOUR, "label": None})
    model = shown({"label_timeout": "9d"}, events)
    assert model.last_label == "1970-01-21T02:00:00Z"


def test_a_missing_last_label_is_reported():
    assert last_label(shown({}, [*labelled_pair("a", 20 * DAY)])) == "none yet"
    assert shown({}, [*labelled_pair("a", 20 * DAY)]).last_label is None


def test_the_last_label_outlives_a_restart_with_other_label_timeouts():
    events = [*labelled_pair("a", 20 * DAY, 20 * DAY + HOUR)]
    monitor = fed(Monitor(Config(models={"m": {"label_timeout": "2d"}})), events)
    again = Monitor(Config(models={"m": {"label_timeout": "30d"}}), monitor.state())
    for one in (monitor, again):
        assert one.snapshot().models[0].last_label_ms == (20 * DAY + 2 * HOUR) * 1000


def test_the_last_pane_is_found_wherever_it_lies():
    rng = np.random.default_rng(8)
    for _ in range(60):
        span, newest = int(rng.integers(1, 300)), int(rng.integers(0, 1_000))
        ring = PaneRing(width=1, span=span, cells=2)
        ring.ensure(np.zeros(2, np.int64))
        ring.advance(newest)
        ahead = rng.integers(newest + 1, newest + 9, size=int(rng.integers(0, 2)))
        panes_left = np.arange(max(newest - span + 1, 0), newest + 1)
        panes = rng.choice(
            panes_left, size=min(int(rng.integers(0, 4)), len(panes_left)), replace=False
        )
        panes = np.concatenate([panes, ahead])
        ones = np.ones(len(panes), dtype=np.int64)
        ring.add(panes, ones, ones, ones)
        assert ring.last(1, slice(0, 2)) == (int(panes.max()) if len(panes) else None)
        assert ring.last(1, slice(0, 1)) is ring.last(0, slice(0, 2)) is None


def test_of_many_classes_a_reference_in_which_the_model_is_hardly_ever_right_is_named():
    """It said "labels still to come" of outcomes that all had theirs."""
    names, rng = ("card", "loan", "other"), np.random.default_rng(6)
    records = []
    for number in range(24 * 300):
        actual = number % 3
        predicted = actual if rng.random() < 0.05 else (actual + 1) % 3
        one = {"type": "outcome", "id": str(number), "ts": number * DAY // 300, "model": "m"}
        records.append({**one, "prediction": names[predicted], "label": names[actual]})
    model = shown({"classes": list(names), "label_timeout": "2d"}, records)
    why = r"in the reference the model does not tell most classes apart \(accuracy \.0[3-7]\)"
    assert re.fullmatch(f"Cannot be known: {why}", model.worse.text)
    short = "Not known: in the reference the model does not tell most classes apart"
    assert model.moved_precision.text == short
