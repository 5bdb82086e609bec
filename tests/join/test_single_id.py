"""The rule of one id against the columnar join, and against a recount that shares no code."""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recount import Recount

from monitor.config import Config
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Group, Labels, Predictions
from monitor.events.keys import keys_of
from monitor.events.score_bins import score_bins
from monitor.join import BEFORE_ALL, ENDLESS, Join
from monitor.join import single_id as rule
from monitor.join.forgetting import Forgetting
from monitor.join.sampling import strata

CELLS = ("tp", "fp", "fn", "tn", "positive", "negative")
BOOKS = ("duplicates", "dropped", "applied", "duplicate_labels", "late", "orphaned")


class ById:
    """A stream taken event by event, each id on its own, by the pure rule."""

    def __init__(self, config):
        self.rules = rules_of(config)
        self.stored, self.cells, self.books = {}, Counter(), Counter()

    def take(self, event, watermark=BEFORE_ALL):
        key = event["id"]
        step = rule.after(self.stored.get(key, rule.NOTHING), typed(event), self.rules, watermark)
        self.stored[key] = step.state
        for move in step.moves:
            label = move.label
            when = move.prediction.time if label is None else label.time
            self.cells[
                *move.prediction.group,
                move.prediction.time,
                when,
                move.cell,
                move.prediction.score_bin,
                label.stratum if label else 0,
            ] += move.sign
        self.books.update(step.books._asdict())

    def outcomes(self):
        total = Counter()
        for row, count in self.cells.items():
            total[CELLS[row[4]]] += count
        return {name: total[name] for name in CELLS[:4]}


def rules_of(config):
    names = [*config.models] or ["a", "b", "default"]
    terms = {
        name: rule.Terms(
            config.model(name).label_timeout or ENDLESS,
            config.model(name).horizon_ms or ENDLESS,
            config.model(name).labelling == "weighted",
        )
        for name in names
    }
    horizons = [t.horizon for t in terms.values()]
    return rule.Rules(terms.__getitem__, max(horizons), Forgetting.of(min(horizons)))


def typed(event):
    ms = round(event["ts"] * 1000)
    if event["type"] == "outcome":
        return rule.LabelledPrediction(*map(typed, halves(event)))
    if event["type"] == "label":
        called = 2 if event["label"] is None else event["label"]
        share = np.array([event.get("sampling_probability", np.nan)])
        return rule.SingleLabel(ms, called, int(strata(share, keys_of([event["id"]]))[0]))
    score = score_bins(np.array([event.get("score", np.nan)]))
    group = (event.get("model", "default"), tuple(event.get("segment", {}).values()))
    return rule.SinglePrediction(ms, group, bool(event["prediction"]), int(score[0]))


def halves(event):
    """The prediction and the label of an outcome."""
    reported = {
        "type": "label",
        "id": event["id"],
        "ts": event["label_ts"],
        "label": event["label"],
    }
    return event | {"type": "prediction"}, reported


class Columnar:
    """The same events through the columnar join, one a batch."""

    def __init__(self, config):
        self.catalogue = Catalogue(config)
        self.join = Join(self.catalogue, config.max_pending)
        self.deltas = []

    def take(self, event, watermark=BEFORE_ALL):
        times = np.full(len(self.catalogue.models), watermark)
        over = self.join.forgetting.over(times, watermark)
        self.join.advance(over)
        if event["type"] == "outcome":
            (predictions, _), (_, labels) = map(self.columns_of, halves(event))
            labels = replace(labels, prediction_time=predictions.time)
        else:
            predictions, labels = self.columns_of(event)
        self.deltas += self.join.steps(predictions, labels, over)

    def columns_of(self, event):
        predictions, labels = Predictions(), Labels()
        ms, key = np.array([round(event["ts"] * 1000)]), keys_of([event["id"]])
        if event["type"] == "label":
            called = 2 if event["label"] is None else event["label"]
            share = np.array([event.get("sampling_probability", np.nan)])
            labels = Labels(key=key, time=ms, value=np.array([called]), sampling_probability=share)
        else:
            group = Group(event.get("model", "default"), "", ())
            predictions = Predictions(
                key=key,
                time=ms,
                predicted_positive=np.array([bool(event["prediction"])]),
                score=np.array([event.get("score", np.nan)]),
                group=self.catalogue.groups_of([group])[0],
            )
        return predictions, labels

    def cells(self):
        found = Counter()
        for d in self.deltas:
            models = self.catalogue.model_of_group[d.group]
            rows = zip(d.time, d.label_time, d.cell, d.score_bin, d.stratum, strict=True)
            for model, row, count in zip(models, rows, d.count, strict=True):
                time, label_time, cell, score, stratum = map(int, row)
                key = (time, label_time, cell, score, stratum if cell < 4 else 0)
                found[self.catalogue.models[model], (), *key] += int(count)
        return {row: count for row, count in found.items() if count}

    def books(self):
        books = self.join.books
        return {name: int(np.sum(getattr(books, name))) for name in BOOKS} | {
            "held": self.join.held
        }


def prediction(i, ts=0.0, called=1, **more):
    return {"type": "prediction", "id": f"p{i}", "ts": ts, "prediction": called, **more}


def label(i, ts=1.0, called=1, share=None):
    more = {} if share is None else {"sampling_probability": share}
    return {"type": "label", "id": f"p{i}", "ts": ts, "label": called, **more}


some_events = st.lists(
    st.one_of(
        st.builds(
            prediction,
            st.integers(0, 4),
            ts=st.sampled_from([5, 20]) | st.integers(0, 40),
            called=st.integers(0, 1),
            score=st.sampled_from([0.1, 0.7]),
            model=st.sampled_from(["a", "b"]),
        ),
        st.builds(
            label,
            st.integers(0, 4),
            ts=st.integers(0, 60),
            called=st.sampled_from([0, 1, None]),
            share=st.sampled_from([None, 1.0, 0.5, 0.25]),
        ),
    ),
    max_size=40,
)

configs = st.builds(
    lambda timeout, horizon, regime: Config(
        models={
            "a": {"label_timeout": timeout, "horizon": horizon, "labelling": regime},
            "b": {"label_timeout": "30s", "horizon": "1h"},
        },
        windows=["1h"],
    ),
    st.sampled_from([None, "20s", "50s"]),
    st.sampled_from(["25s", "1h"]),
    st.sampled_from(["complete", "weighted"]),
)


@pytest.mark.parametrize("called", [(0, 1), (1, 0), (1, 1)])
@pytest.mark.parametrize("models", [("a", "b"), ("b", "a")])
def test_at_one_time_the_first_model_by_name_counts_in_join_rule_and_recount(models, called):
    config = Config(models={"a": {}, "b": {}}, windows=["1h"])
    events = [
        prediction(1, 5, value, model=model) for model, value in zip(models, called, strict=True)
    ]
    events.append(label(1, 9, 1))
    one, columns = ById(config), Columnar(config)
    for event in events:
        one.take(event, BEFORE_ALL)
        columns.take(event)
    (cell,) = [row[4] for row in columns.cells() if row[4] < 4]
    expected = "tp" if dict(zip(models, called, strict=True))["a"] else "fn"
    assert dict(Recount(events).counts()) == {expected: 1}
    assert ("tp", "fp", "fn", "tn")[cell] == expected
    assert {row: count for row, count in one.cells.items() if count} == columns.cells()


@settings(max_examples=150, deadline=None)
@given(some_events, configs, st.integers(0, 120))
def test_the_columnar_join_does_what_the_rule_does_with_every_event(events, config, lag):
    one, columns = ById(config), Columnar(config)
    highest = BEFORE_ALL
    for event in events:
        watermark = highest - lag * 1000 if highest > BEFORE_ALL else highest
        one.take(event, watermark)
        columns.take(event, watermark)
        highest = max(highest, round(event["ts"] * 1000))
        assert {row: n for row, n in one.cells.items() if n} == columns.cells()
        assert {name: one.books[name] for name in (*BOOKS, "held")} == columns.books()


some_outcomes = st.builds(
    lambda number, ts, called, late: (
        prediction(number, ts, called % 2)
        | {
            "type": "outcome",
            "label": called // 2,
            "label_ts": ts + late,
            "model": "ab"[number % 2],
        }
    ),
    st.integers(0, 4),
    ts=st.integers(0, 9_000),
    called=st.integers(0, 3),
    late=st.sampled_from([0, 10, 40, 20_000]),
)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.one_of(some_outcomes, some_events.map(lambda e: e[0] if e else label(0)))))
def test_the_columnar_join_does_what_the_rule_does_with_outcomes(events):
    given_terms = {"label_timeout": "30s", "horizon": "20m"}
    config = Config(models={"a": given_terms, "b": given_terms}, windows=["1h"])
    one, columns, highest = ById(config), Columnar(config), BEFORE_ALL
    for event in events:
        one.take(event, highest)
        columns.take(event, highest)
        highest = max(highest, round(event["ts"] * 1000))
        assert {row: n for row, n in one.cells.items() if n} == columns.cells()
        assert one.books["late"] == columns.books()["late"]
        assert one.books["applied"] == columns.books()["applied"]


@settings(max_examples=200, deadline=None)
@given(some_events, st.sampled_from([None, "20s"]))
def test_the_rule_equals_a_recount_that_shares_no_code_with_it(events, timeout):
    seconds = float("inf") if timeout is None else 20
    if timeout:  # what `monitor.join` leaves to the order of arrival is left out
        events = [e | {"ts": 20} if e["type"] == "prediction" else e for e in events]
    config = Config(defaults={"label_timeout": timeout, "horizon": "1h"})
    one = ById(config)
    for event in events:
        one.take(event)
    assert one.outcomes() == {name: Recount(events, seconds).counts()[name] for name in CELLS[:4]}


def test_what_is_over_is_forgotten_and_held_labels_are_orphaned():
    config = Config(defaults={"label_timeout": "1h", "horizon": "2h"})
    one = ById(config)
    for event in (prediction(1), label(1), prediction(2), label(9)):
        one.take(event)
    hour = 3_600_000
    for name, books in (("p1", {}), ("p2", {"dropped": 1}), ("p9", {"orphaned": 1, "held": -1})):
        stored = one.stored[name]
        assert rule.expired(stored, one.rules, 3 * hour - 1).state == stored
        step = rule.expired(stored, one.rules, 3 * hour)
        assert step.state == rule.NOTHING
        assert {k: v for k, v in step.books._asdict().items() if v} == books
