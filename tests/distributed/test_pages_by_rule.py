"""Pages on columns against the rule of one id, applied event by event: equal bit for bit."""

from collections import Counter
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from shards import Shards

from monitor.config import Config
from monitor.events.keys import keys_of
from monitor.events.score_bins import score_bins
from monitor.join import BEFORE_ALL, ENDLESS
from monitor.join import packing as words
from monitor.join import single_id as rule
from monitor.join.forgetting import Forgetting
from monitor.join.sampling import strata
from monitor.labels.delay_bins import bins_of

PANE = 60_000
MINUTE = 60
OUTCOMES = 4
MODELS = {
    "a": {"label_timeout": "10m", "horizon": "20m", "segments": ["region"]},
    "b": {"label_timeout": "30m", "horizon": "15m", "labelling": "weighted"},
    "c": {"label_timeout": "5m", "horizon": "1h", "clock": "label"},
}
BOOKS = [*rule.BookChanges._fields]

times = st.integers(0, 120).map(lambda minutes: minutes * MINUTE / 2)
ids = st.sampled_from([f"id{i}" for i in range(8)])
shares = st.sampled_from([None, 1.0, 0.5, 0.3])
called = st.fixed_dictionaries(
    {
        "id": ids,
        "ts": times,
        "prediction": st.integers(0, 1),
        "model": st.sampled_from([*MODELS]),
        "score": st.sampled_from([None, 0.25, 0.75]),
        "segment": st.sampled_from([{}, {"region": "eu"}, {"region": "us"}]),
    }
)
predictions = called.map(lambda event: event | {"type": "prediction"})
outcomes = st.tuples(called, st.integers(0, 1), times).map(
    lambda one: one[0] | {"type": "outcome", "label": one[1], "label_ts": one[0]["ts"] + one[2]}
)
labels = st.fixed_dictionaries(
    {
        "type": st.just("label"),
        "id": ids,
        "ts": times,
        "label": st.sampled_from([0, 1, None]),
        "sampling_probability": shares,
    }
)
events = st.one_of(predictions, labels, labels, outcomes).map(
    lambda event: {k: v for k, v in event.items() if v is not None or k == "label"}
)
batches = st.lists(st.tuples(st.lists(events, max_size=25), st.booleans()), max_size=6)


class ByRule:
    """All ids by the rule of one id: predictions of a batch first, then its labels."""

    def __init__(self, config, layout):
        terms = {
            name: rule.Terms(
                model.label_timeout or ENDLESS, model.horizon_ms, model.labelling == "weighted"
            )
            for name, model in config.models.items()
        }
        horizons = [one.horizon for one in terms.values()]
        rules = rule.Rules(terms.__getitem__, max(horizons), Forgetting.of(min(horizons)))
        self.config, self.layout = config, layout
        self.rules = dict.fromkeys(range(layout.tasks), rules)
        self.states, self.books, self.latest = {}, Counter(), {}

    def take(self, parts, watermark):
        """The changes of counts by events, given as those that several tasks read in turn."""
        cells = Counter()
        for task in self.rules:
            self.note_lags(task, parts, watermark)
        of_kind = [
            [event for part in parts for event in part if (event["type"] == "label") == is_label]
            for is_label in (False, True)
        ]
        for event in of_kind[0] + of_kind[1]:
            state = self.states.get(event["id"], rule.NOTHING)
            rules = self.rules[self.task_of(event["id"])]
            step = rule.after(state, self.typed(event), rules, watermark)
            self.states[event["id"]] = step.state
            self.books.update(step.books._asdict())
            for move in step.moves:
                cells[self.place(move)] += move.sign
        return Counter({place: count for place, count in cells.items() if count})

    def task_of(self, name):
        return int(self.layout.tasks_of(keys_of([name]))[0])

    def note_lags(self, task, parts, watermark):
        """A model is as far behind as the third-latest of its records in a part for the task."""
        heard = [part for part in parts if any(self.task_of(e["id"]) == task for e in part)]
        latest = [third_latest(part) for part in heard]
        now = max([watermark, *(time for time, known in latest if known >= 3)])
        lags = {**self.rules[task].lags}
        for model in MODELS:
            of_model = [[e for e in part if e.get("model") == model] for part in heard]
            of_parts = [third_latest(part) for part in of_model]
            if times := [time for time, known in of_parts if known]:
                reached = max([*times, self.latest.get((task, model), times[0])])
                self.latest[task, model] = reached
                lags[model] = max(0, now - reached)
        self.rules[task] = self.rules[task]._replace(lags=lags)

    def expire(self, watermark, tasks):
        for name, state in self.states.items():
            if self.task_of(name) not in tasks:
                continue
            step = rule.expired(state, self.rules[self.task_of(name)], watermark)
            self.states[name] = step.state
            self.books.update(step.books._asdict())

    def typed(self, event):
        ms = round(event["ts"] * 1000)
        if event["type"] == "label":
            value = 2 if event["label"] is None else event["label"]
            share = np.array([event.get("sampling_probability", np.nan)])
            return rule.SingleLabel(ms, value, int(strata(share, keys_of([event["id"]]))[0]))
        group = event["model"], self.values(event)
        score = int(score_bins(np.array([event.get("score", np.nan)]))[0])
        prediction = rule.SinglePrediction(ms, group, bool(event["prediction"]), score)
        if event["type"] == "prediction":
            return prediction
        own = rule.SingleLabel(round(event["label_ts"] * 1000), event["label"])
        return rule.LabelledPrediction(prediction, own)

    def values(self, event):
        keys = self.config.models[event["model"]].segments
        return tuple(event["segment"].get(key, "__missing__") for key in keys)

    def place(self, move):
        time, (model, values), _, _ = move.prediction
        label_time = time if move.label is None else move.label.time
        stratum = 0 if move.label is None else move.label.stratum
        quantum = int(bins_of(np.array([label_time - time]))[0])
        if model == "c":
            quantum = label_time // PANE
        return (model, values, time // PANE, quantum, stratum, move.cell)

    def rows(self):
        known = {}
        for name, state in self.states.items():
            if state.prediction is not None:
                label = None if state.label is None else tuple(state.label)
                known[int(keys_of([name])[0])] = (*state.prediction, label)
        return known

    def held(self):
        return Counter(
            (int(keys_of([name])[0]), *label)
            for name, state in self.states.items()
            for label in state.held
        )


def third_latest(events):
    """The third-latest time of distinct records, of fewer the earliest; how many there are."""
    known = {distinct_of(event) for event in events}
    times = sorted((time for time, *_ in known), reverse=True)
    return (times[:3] or [None])[-1], len(times)


def distinct_of(event):
    return round(event["ts"] * 1000), event["id"], event["type"] == "label"


def places_of(tally, config):
    found = Counter()
    places = np.frombuffer(tally.places, np.int64).reshape(4, -1).T.tolist()
    cells = np.frombuffer(tally.cells, np.int64).reshape(-1, 6).tolist()
    for (group, pane, labelled, stratum), counts in zip(places, cells, strict=True):
        model, segment = tally.groups[group]
        keys = config.models[model].segments
        values = tuple(segment.get(key, "__missing__") for key in keys)
        quantum = int(bins_of(np.array([labelled - pane]))[0])
        if model == "c":
            quantum = labelled // PANE
        for cell, count in enumerate(counts):
            sampled = stratum if cell < OUTCOMES else 0  # a prediction itself has no stratum
            found[model, values, pane // PANE, quantum, sampled, cell] += count
    return Counter({place: count for place, count in found.items() if count})


def rows_of(shards):
    found = {}
    each = shards.rules.layout.pages // shards.rules.layout.tasks
    for number, (rows, _) in shards.ids():
        codes = shards.opened(number // each)._codes
        assert (rows[1:, 0] > rows[:-1, 0]).all()
        assert (shards.rules.layout.pages_of(rows[:, 0]) == number).all()
        when, what = rows[:, 1], rows[:, 2]
        columns = (
            words.times_of(when),
            words.predicted_positive_of(what),
            words.score_bins_of(what),
        )
        called = zip(*(column.tolist() for column in columns), strict=True)
        in_force = zip(
            words.label_times_of(what).tolist(),
            words.label_values_of(what).tolist(),
            words.strata_of(what).tolist(),
            strict=True,
        )
        groups = codes.names(words.groups_of(when))
        for key, one, group, label in zip(
            rows[:, 0].tolist(), called, groups, in_force, strict=True
        ):
            time, *called_as = one
            found[key] = (time, group, *called_as, None if label[1] < 0 else label)
    return found


def held_of(shards):
    found = Counter()
    for _, (_, held) in shards.ids():
        columns = held["key"], held["time"], held["value"]
        stratum = strata(held["probability"], held["key"])
        found.update(zip(*(c.tolist() for c in columns), stratum.tolist(), strict=True))
    return found


@settings(max_examples=25, deadline=None)
@given(
    batches, st.sampled_from([1, 5, 64]), st.sampled_from([1, 2, 3]), st.sampled_from([0, 12_000])
)
def test_pages_equal_the_rule_of_one_id(batches, pages, tasks, calls_bytes):
    """With calls that cost nothing, changes are stored beside such small pages, too."""
    with patch("monitor.distributed.pages._CALLS_BYTES", calls_bytes):
        assert_equal_by_rule(batches, pages, tasks)


def assert_equal_by_rule(batches, pages, tasks):
    config = Config(models=MODELS, windows=["1h"], pane="1m")
    shards, books = Shards(config, pages, tasks=tasks), Counter()
    oracle = ByRule(config, shards.rules.layout)
    for some, ends_with_a_search in batches:
        before = BEFORE_ALL if shards.watermark is None else shards.watermark
        expected = oracle.take([some[0::2], some[1::2]], before)
        due = shards.tasks_due(before)
        tally = shards.counted(some)
        oracle.expire(before, {*due} & {*shards.took})
        books.update(tally.books)
        assert places_of(tally, config) == expected
        if ends_with_a_search and shards.watermark is not None:
            oracle.expire(shards.watermark, {*shards.state})
            books.update(shards.searched().books)
        assert rows_of(shards) == oracle.rows()
        assert held_of(shards) == oracle.held()
        assert {name: books[name] for name in BOOKS} == {n: oracle.books[n] for n in BOOKS}
