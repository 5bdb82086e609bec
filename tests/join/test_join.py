from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from recount import Recount
from streams import batch_of, in_batches

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME
from monitor.events.keys import keys_of
from monitor.events.watermark import Watermark
from monitor.join import BEFORE_ALL, Deltas, Join

NAMES = ("tp", "fp", "fn", "tn", "positive", "negative")


class Feed:
    """A join with its watermark, and the sum of all its deltas."""

    def __init__(self, **settings):
        limits = {k: settings.pop(k) for k in ("max_pending",) if k in settings}
        self.config = Config(defaults=settings or {"label_timeout": None}, **limits)
        self.catalogue = Catalogue(self.config)
        self.join = Join(self.catalogue, self.config.max_pending)
        self.watermark = Watermark()
        self.cells = Counter()
        self.deltas = []

    def take(self, events, size=None):
        for batch in in_batches(events, size or max(1, len(events))):
            before = BEFORE_ALL if self.watermark.time is None else self.watermark.time
            numbers, _ = self.catalogue.groups_of(batch.groups)
            if len(batch.predictions):
                batch.predictions.group[:] = numbers[batch.predictions.group]
            changes = [*self.join.steps(batch.predictions, batch.labels, self.over(before))]
            self.watermark.advance(batch)
            if self.watermark.time is not None:
                over, times = self.over(self.watermark.time), self.times(self.watermark.time)
                self.join.advance(over)
                changes += self.join.tidy(over, times)
            for deltas in changes:
                self.deltas.append(deltas)
                for cell, count in zip(deltas.cell.tolist(), deltas.count.tolist(), strict=True):
                    self.cells[NAMES[cell]] += count
        return self

    def times(self, watermark):
        return np.full(len(self.catalogue.models), watermark)

    def over(self, watermark):
        return self.join.forgetting.over(self.times(watermark), watermark)

    @property
    def outcomes(self):
        return {name: self.cells[name] for name in NAMES[:4]}

    def books(self):
        books, watermark = self.join.books, self.watermark.time
        times = self.times(NO_TIME if watermark is None else watermark)
        expired = int(self.join.expired(times).sum())
        evicted = int(books.evicted.sum())
        return {
            "distinct": int(books.predictions.sum()),
            "duplicate": int(books.duplicates.sum()),
            "matched": int(books.matched.sum()),
            "expired": expired,
            "evicted": evicted,
            "pending": int(books.unmatched.sum()) - expired - evicted,
            "applied": int(books.applied.sum()),
            "held": self.join.held,
            "duplicate_labels": books.duplicate_labels,
            "late": books.late,
            "orphaned": books.orphaned,
        }

    def state(self):
        """All that must not depend on the order of arrival, order taken out."""
        merged, net = Deltas.concatenate(self.deltas), Counter()
        models = [self.catalogue.models[m] for m in self.catalogue.model_of_group[merged.group]]
        for i, model in enumerate(models):
            row = (merged.time[i], merged.label_time[i], merged.cell[i], merged.score_bin[i])
            net[model, *map(int, row)] += int(merged.count[i])
        return {k: v for k, v in net.items() if v}, self.books(), self.watermark.time


def prediction(i, ts=0.0, value=1, **more):
    return {"type": "prediction", "id": f"p{i}", "ts": ts, "prediction": value, **more}


def label(i, ts=1.0, value=1):
    return {"type": "label", "id": f"p{i}", "ts": ts, "label": value}


def assert_books_close(feed, events):
    books = feed.books()
    predictions = sum(e["type"] == "prediction" for e in events)
    labels = len(events) - predictions
    kinds = ("matched", "pending", "expired", "evicted", "duplicate")
    assert predictions == sum(books[kind] for kind in kinds)
    kinds = ("applied", "held", "duplicate_labels", "late", "orphaned")
    assert labels == sum(books[kind] for kind in kinds)
    assert all(count >= 0 for count in books.values())


@pytest.mark.parametrize(
    ("value", "turns_out", "cell"), [(1, 1, "tp"), (1, 0, "fp"), (0, 1, "fn"), (0, 0, "tn")]
)
def test_a_label_puts_its_prediction_into_one_cell(value, turns_out, cell):
    feed = Feed().take([prediction(1, value=value), label(1, value=turns_out)])
    assert {name for name, count in feed.outcomes.items() if count} == {cell}
    assert feed.outcomes[cell] == 1


def test_a_duplicate_label_counts_once():
    events = [prediction(1), label(1), label(1), label(1)]
    feed = Feed().take(events, size=1)
    assert feed.outcomes["tp"] == 1
    assert feed.books()["duplicate_labels"] == 2


def test_the_later_label_wins_and_moves_the_outcome_in_the_window_of_its_prediction():
    feed = Feed().take([prediction(1), label(1, ts=5, value=1), label(1, ts=9, value=0)], size=1)
    assert (feed.outcomes["tp"], feed.outcomes["fp"]) == (0, 1)
    assert {int(t) for deltas in feed.deltas for t in deltas.time} == {0}
    before = feed.outcomes
    assert feed.take([label(1, ts=7, value=1)]).outcomes == before


@pytest.mark.parametrize(("rivals", "cell"), [((1, 0), "tp"), ((0, 1), "tp"), ((0, 0), "fp")])
def test_of_labels_at_one_time_one_beats_zero(rivals, cell):
    for size in (1, 3):
        feed = Feed().take([prediction(1), *(label(1, value=value) for value in rivals)], size=size)
        assert feed.outcomes[cell] == 1


def test_null_beats_both_and_takes_the_outcome_back():
    feed = Feed().take([prediction(1), label(1, value=1), label(1, value=None)], size=1)
    assert sum(feed.outcomes.values()) == 0
    assert feed.books()["pending"] == 1
    assert feed.take([label(1, ts=2, value=0)]).outcomes["fp"] == 1


def test_a_label_before_its_prediction_is_held_and_joined():
    feed = Feed().take([label(1, ts=5, value=0)])
    assert feed.books()["held"] == 1
    feed.take([prediction(1)])
    assert (feed.outcomes["fp"], feed.books()["held"]) == (1, 0)


def test_of_held_labels_only_one_in_time_can_count():
    events = [label(1, ts=50, value=1), label(1, ts=5000, value=0), prediction(1)]
    feed = Feed(label_timeout="1m").take(events, size=1)
    assert feed.outcomes == {"tp": 1, "fp": 0, "fn": 0, "tn": 0}
    assert feed.books()["late"] == 1


def test_a_label_after_the_timeout_counts_nothing():
    events = [prediction(1), label(1, ts=60.001), prediction(2), label(2, ts=60.0)]
    feed = Feed(label_timeout="1m").take(events, size=1)
    assert feed.outcomes["tp"] == 1
    assert feed.books()["late"] == 1


def test_a_label_in_time_counts_whenever_it_arrives_inside_the_horizon():
    later = [prediction(i, ts=86_400) for i in (7, 8, 9)]
    feed = Feed(label_timeout="1h").take([prediction(1), *later], size=1)
    assert feed.books()["expired"] == 1
    feed.take([label(1, ts=3600)])
    assert (feed.outcomes["tp"], feed.books()["expired"]) == (1, 0)


def test_what_comes_after_the_horizon_is_late_and_changes_nothing():
    later = [prediction(i, ts=3 * 86_400) for i in (7, 8, 9)]
    feed = Feed(label_timeout="1h").take([prediction(1), prediction(2), label(2, ts=9)])
    feed.take(later)
    before = feed.outcomes
    feed.take([label(1, ts=3600), label(2, ts=10, value=0)])
    assert feed.outcomes == before
    assert feed.books()["late"] == 2


def test_a_held_label_is_orphaned_at_the_horizon():
    feed = Feed(label_timeout="1h").take([prediction(i, ts=0) for i in range(3)])
    feed.take([label(99, ts=0)])
    feed.take([prediction(i, ts=3 * 86_400) for i in (7, 8, 9)])
    assert (feed.books()["held"], feed.books()["orphaned"]) == (0, 1)


def test_of_two_predictions_of_one_id_the_earlier_counts_whatever_comes_first():
    pair = [prediction(1, ts=10, value=1), prediction(1, ts=5, value=0)]
    for events in (pair, pair[::-1]):
        for size in (1, 2):
            feed = Feed().take([*events, label(1, ts=11, value=1)], size=size)
            assert feed.outcomes == {"tp": 0, "fp": 0, "fn": 1, "tn": 0}
            assert (feed.cells["positive"], feed.cells["negative"]) == (0, 1)


@pytest.mark.parametrize("value", [(1, 0), (0, 1)])
def test_where_batches_end_changes_no_count_though_predictions_of_one_id_differ(value):
    events = []
    for i in range(20):
        first = prediction(i, ts=10, value=value[0], model="ab"[i % 2])
        second = prediction(i, ts=5 + i % 10, value=value[1], model="ba"[i % 3 % 2])
        events += [first, label(i, ts=20, value=i % 2), second, label(i, ts=21, value=i % 3 % 2)]
    reported, moves = [], set()
    for size in (1, 2, 3, 7, len(events)):
        feed = Feed().take(events, size=size)
        books = feed.books()
        counted = {name: books[name] for name in ("matched", "pending", "duplicate", "applied")}
        reported.append((feed.outcomes, dict(feed.cells), counted))
        moves.add(feed.join.books.transitions.tobytes())
    assert all(one == reported[0] for one in reported)
    assert len(moves) == 1


def test_beyond_the_limit_the_earliest_are_evicted_and_counted():
    events = [prediction(i, ts=i) for i in range(50_000)]
    feed = Feed(max_pending=20_000, label_timeout=None).take(events, size=5000)
    books = feed.books()
    assert books["evicted"] >= 30_000
    assert books["evicted"] + books["pending"] == 50_000
    assert_books_close(feed, events)


def test_matched_predictions_are_forgotten_at_the_horizon_and_stay_matched():
    events = []
    for i in range(30_000):
        events += [prediction(i, ts=60 * i), label(i, ts=60 * i + 30)]
    feed = Feed(label_timeout="1h", horizon="1d").take(events, size=3000)
    assert feed.books()["matched"] == 30_000
    assert len(feed.join.state()["predictions"]) < 20_000


stream_events = st.lists(
    st.one_of(
        st.builds(
            prediction,
            st.integers(0, 6),
            ts=st.sampled_from([5, 20]) | st.integers(0, 40),
            value=st.integers(0, 1),
            score=st.sampled_from([0.1, 0.7]),
            model=st.sampled_from(["a", "b"]),
        ),
        st.builds(
            label, st.integers(0, 6), ts=st.integers(0, 60), value=st.sampled_from([0, 1, None])
        ),
    ),
    max_size=40,
)


@settings(max_examples=100, deadline=None)
@given(stream_events, st.sampled_from([1, 3, 40]), st.sampled_from([None, "20s"]))
def test_every_stream_equals_the_recount_after_every_batch(events, size, timeout):
    feed = Feed(label_timeout=timeout, horizon="1h")
    seconds = float("inf") if timeout is None else 20
    if timeout:  # what `monitor.join` leaves to the order of arrival is left out
        events = [e | {"ts": 20} if e["type"] == "prediction" else e for e in events]
    for start in range(0, len(events), size):
        feed.take(events[start : start + size])
        so_far = events[: start + size]
        assert feed.outcomes == {n: Recount(so_far, seconds).counts()[n] for n in NAMES[:4]}
        assert_books_close(feed, so_far)


@settings(max_examples=100, deadline=None)
@given(stream_events, st.randoms(use_true_random=False), st.integers(1, 40))
def test_no_order_of_arrival_and_no_size_of_batch_changes_the_state(events, random, size):
    shuffled = random.sample(events, len(events))
    assert Feed().take(events, size=1).state() == Feed().take(shuffled, size=size).state()


@settings(max_examples=100, deadline=None)
@given(stream_events, st.randoms(use_true_random=False), st.integers(1, 40))
def test_with_a_timeout_too_no_order_changes_the_state(events, random, size):
    events = [e | {"ts": 20} if e["type"] == "prediction" else e for e in events]
    shuffled, given_time = random.sample(events, len(events)), {"label_timeout": "15s"}
    in_order = Feed(**given_time, horizon="1h").take(events, size=1)
    assert in_order.state() == Feed(**given_time, horizon="1h").take(shuffled, size=size).state()


label_events = st.lists(
    st.builds(label, st.integers(0, 3), st.integers(1, 4), st.sampled_from([0, 1, None])),
    max_size=40,
)


@settings(max_examples=100)
@given(label_events, st.lists(st.integers(0, 40), min_size=4, max_size=4), st.integers(2, 40))
def test_where_batches_end_tells_no_other_story_of_revisions(events, places, size):
    for i, place in enumerate(places):
        events.insert(place, prediction(i, value=i % 2))
    one_by_one, together = Feed().take(events, size=1), Feed().take(events, size=size)
    for reported in ("labels", "transitions", "applied", "matched"):
        one = getattr(one_by_one.join.books, reported)
        assert np.array_equal(one, getattr(together.join.books, reported)), reported


def test_a_hundred_thousand_revisions_conserve_the_sums_in_constant_memory():
    rng = np.random.default_rng(7)
    ids, feed = 5000, Feed()
    feed.take([prediction(i, ts=i % 100, value=i % 2) for i in range(ids)])
    final = {}
    sizes = []
    for _step in range(50):
        events = [
            label(int(i), ts=float(t), value=[0, 1, None][v])
            for i, t, v in zip(
                rng.integers(0, ids, 2000),
                rng.integers(200, 10**6, 2000),
                rng.integers(0, 3, 2000),
                strict=True,
            )
        ]
        for event in events:
            rank = {0: 0, 1: 1, None: 2}[event["label"]]
            final[event["id"]] = max(final.get(event["id"], (-1, 0)), (event["ts"], rank))
        feed.take(events)
        sizes.append(feed.join.nbytes)
    expected = Counter()
    for identity, (_, rank) in final.items():
        value = int(identity[1:]) % 2
        if rank < 2:
            expected[{(1, 1): "tp", (1, 0): "fp", (0, 1): "fn", (0, 0): "tn"}[value, rank]] += 1
    assert feed.outcomes == {name: expected[name] for name in NAMES[:4]}
    assert sizes[0] == sizes[-1]


def test_a_batch_without_events_changes_nothing():
    feed = Feed()
    none = batch_of([])
    found = feed.join.steps(none.predictions, none.labels, feed.over(BEFORE_ALL))
    assert [len(deltas) for deltas in found] == [0]


def test_a_limit_below_a_chunk_of_the_table_keeps_that_chunk():
    feed = Feed(max_pending=10)
    feed.take([{"type": "prediction", "id": f"{n}", "ts": n, "prediction": 1} for n in range(500)])
    assert int(feed.join.books.unmatched.sum()) == 500


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_rows_are_in_the_order_of_predictions_wherever_batches_end(size):
    fields = {"type": "prediction", "prediction": 1, "model": "m"}
    events = [
        fields | {"id": name, "ts": ts} for name, ts in zip("abac", (5, 6, 4, 7), strict=True)
    ]
    monitor = Monitor()
    for first in range(0, len(events), size):
        monitor.apply(batch_of(events[first : first + size]))
    assert monitor.state()["join"]["predictions"][:, 0].tolist() == keys_of("abc").tolist()
