"""How a model learns how its days scatter: from its reference, and from the time since."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from watch.hourly import HOUR, batch_of_counts, rates, stream

from monitor.clock import DAY_MS
from monitor.config import Config, ReferenceCounts
from monitor.engine import Monitor
from monitor.exporter.api.status import status_answer
from monitor.labels.regime import LabelRegime
from monitor.watch.model_days import LearnedScatter, RecentDays
from monitor.watch.reference import MatureReference

TEST_SET = MatureReference.given(ReferenceCounts(tp=8_000, fn=2_000, fp=3_800, tn=186_200))
RECALL = 1


def drawn(first, days, sd, seed=0):
    """Days whose recall scatters by `sd` in log-odds."""
    rng = np.random.default_rng((seed, first))
    recall = 1 / (1 + np.exp(-1.4 - sd * rng.standard_normal(days)))
    tp = rng.binomial(2_000, recall)
    cells = np.stack(np.broadcast_arrays(tp, 760, 2_000 - tp, 37_240, tp + 760, 39_240 - tp), -1)
    numbers = first + np.arange(days)
    return RecentDays(numbers, cells[:, None], np.zeros((days, 1, 8), dtype=np.int64))


def variance(learned):
    return float(learned.scatter.variance[RECALL])


def of_test_set():
    return LearnedScatter(TEST_SET, LabelRegime())


def test_ten_days_and_a_week_after_a_test_set_teach_and_fewer_do_not():
    learned = of_test_set()
    prior = variance(learned)
    learned.learn(drawn(0, 16, 0.6), goes_on=True)
    assert variance(learned) == prior
    learned.learn(drawn(0, 17, 0.6), goes_on=True)
    assert variance(learned) > 2 * prior
    assert learned.knows_little


@given(st.integers(17, 27), st.integers(0, 5))
def test_a_finished_stretch_takes_the_place_of_the_one_in_progress(days, seed):
    whole, after = drawn(0, 28, 0.4, seed), drawn(28, 21, 0.1, seed)
    at_once, day_by_day = of_test_set(), of_test_set()
    day_by_day.learn(whole.between(0, days), goes_on=True)
    for one in (at_once, day_by_day):
        one.learn(whole)
        one.learn(after, goes_on=True)
    assert day_by_day.scatter.variance.tolist() == at_once.scatter.variance.tolist()
    assert not at_once.knows_little


def test_a_stretch_in_progress_is_forgotten_once_its_labels_are_found_faulty():
    learned = of_test_set()
    prior = variance(learned)
    learned.learn(drawn(0, 19, 0.6), goes_on=True)
    learned.learn(drawn(0, 0, 0.6))
    assert variance(learned) == prior


def test_a_new_reference_leaves_out_the_stretch_in_progress():
    older, apart = of_test_set(), of_test_set()
    for one in (older, apart):
        one.learn(drawn(0, 28, 0.6))
        one.learn(drawn(28, 28, 0.1))
    older.learn(drawn(56, 19, 2.0), goes_on=True)
    fresh, other = of_test_set(), of_test_set()
    fresh.follow(older, 28)
    other.follow(apart, 28)
    assert variance(fresh) == variance(other)


def test_a_fault_of_the_last_week_is_no_scatter():
    usual, fallen = drawn(0, 20, 0.1), drawn(20, 7, 0.1)
    fallen.cells[:, 0, 0] //= 2
    with_fault = RecentDays(*map(np.concatenate, zip(usual, fallen, strict=True)))
    alone, learned = of_test_set(), of_test_set()
    alone.learn(usual.but_last(0))
    learned.learn(with_fault, goes_on=True)
    assert variance(learned) == variance(alone)


def test_what_is_learned_survives_a_restart_in_the_middle_of_a_stretch():
    learned = of_test_set()
    learned.learn(drawn(0, 19, 0.6), goes_on=True)
    again = of_test_set().restored(learned.state())
    assert variance(again) == variance(learned)
    for one in (learned, again):
        one.learn(drawn(0, 28, 0.6))
    assert variance(again) == variance(learned)


@pytest.mark.parametrize(("reference", "learns"), [("7d", True), ("28d", False)])
def test_a_running_model_learns_day_by_day_only_after_a_short_reference(reference, learns):
    length = int(reference[:-1])
    rng = np.random.default_rng(3)
    days = length + 25
    recall = 1 / (1 + np.exp(-1.4 - 0.6 * rng.standard_normal(days)))
    tp = np.repeat(rng.binomial(1_200, recall) // 24, 24)
    cells = np.stack(np.broadcast_arrays(tp, 30, 50 - tp, 570), -1)
    monitor = Monitor(
        Config(models={"m": {"reference": {"first": reference}, "maturity": "1h"}}, windows=["7d"])
    )
    found = []
    for day in range(days):
        hours = slice(24 * day, 24 * day + 24)
        times = day * DAY_MS + HOUR * np.arange(24)
        monitor.apply(batch_of_counts(times, {(): cells[hours]}))
        known = monitor.snapshot().models[0].watched.day_scatter
        found.append(None if known is None else float(known.variance[RECALL]))
    since = found[length + 8 :]  # the week before may rest on a provisional reference
    assert since[0] is not None
    changes = [day for day, (one, two) in enumerate(pairwise(since)) if one != two]
    assert bool(changes) is learns
    if learns:
        assert min(changes) >= 1
        assert len(changes) > 5


def test_positives_that_became_rarer_within_the_reference_are_no_scatter():
    """Of the 28 days of the reference the last ten have the prevalence of today."""
    hours = 24 * 38
    hourly = rates(hours, prevalence=0.08, fpr=0.04)
    hourly[24 * 18 :, 0] = 0.03
    monitor = Monitor(Config(models={"m": {"maturity": "1h"}}))
    cells = stream(29, hourly, 5)
    monitor.apply(batch_of_counts(HOUR * np.arange(hours), {(): cells}))
    (status,) = status_answer(monitor.snapshot(), limit=1).models
    assert status.reference.close == "1970-01-29T00:00:00Z"
    assert status.moved_precision.cause == "prevalence"
    assert status.moved_precision.certain
    assert status.verdict_because != "steady"
