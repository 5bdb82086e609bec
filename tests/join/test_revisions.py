"""A million revisions: sums conserved, equal to a recount, and memory that does not grow."""

import tracemalloc

import numpy as np
import pytest
from labelled import DAY

from monitor.config import Config
from monitor.counts import Outcome
from monitor.engine import Monitor
from monitor.events.columns import RETRACTED, EventBatch, Group, Labels, Predictions
from monitor.events.model_times import EPOCH_ROWS

PREDICTIONS, ROUNDS, PER_ROUND, DAYS = 100_000, 40, 25_000, 40
GROWING = 18
"""Rounds that bring predictions; the others, over two epochs of rows, revisions alone."""
GROWTH = EPOCH_ROWS * 3 * 8 + (1 << 18)
"""Bytes: model, time and key of each label that was heard within one epoch, and little more."""
CELL = np.array([[Outcome.TN, Outcome.FP], [Outcome.FN, Outcome.TP]])


@pytest.mark.slow
def test_a_million_random_revisions():
    rng = np.random.default_rng(1)
    key = (np.arange(PREDICTIONS, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    made = np.sort(rng.integers(0, DAYS * DAY, PREDICTIONS))
    called = rng.random(PREDICTIONS) < 0.3
    monitor = Monitor(
        Config(defaults={"label_timeout": None, "maturity": "0s"}, windows=["1d", "7d"])
    )
    label_value = np.full(PREDICTIONS, RETRACTED)
    label_time, revisions, memory, traced = np.full(PREDICTIONS, -1), 0, [], []
    for number in range(ROUNDS):
        newest = min(number + 1, GROWING) * DAYS * DAY // GROWING
        known = np.searchsorted(made, newest)
        first = np.searchsorted(made, min(number, GROWING) * DAYS * DAY // GROWING)
        chosen = rng.integers(0, known, PER_ROUND)
        # Later than the prediction, later than any label before: the last of a batch wins.
        when = made[chosen] + DAY * number + np.arange(PER_ROUND)
        value = rng.choice([0, 1, RETRACTED], PER_ROUND)
        labels = Labels(
            key=key[chosen],
            time=np.minimum(when, newest + np.arange(PER_ROUND)),
            value=value,
            sampling_probability=np.full(PER_ROUND, np.nan),
        )
        order = np.lexsort((np.choose(value, [0, 1, 2]), labels.time))
        later = labels.time[order] >= label_time[chosen[order]]
        for index, fits in zip(order.tolist(), later.tolist(), strict=True):
            if fits and labels.time[index] >= label_time[chosen[index]]:
                rank = (labels.time[index], [0, 1, 2][value[index]])
                if (
                    rank > (label_time[chosen[index]], label_value[chosen[index]])
                    or label_time[chosen[index]] < 0
                ):
                    label_time[chosen[index]], label_value[chosen[index]] = rank
        revisions += PER_ROUND
        fresh = slice(first, known)
        monitor.apply(
            EventBatch(
                predictions=Predictions(
                    key=key[fresh],
                    time=made[fresh],
                    predicted_positive=called[fresh],
                    score=np.full(known - first, np.nan),
                    group=np.zeros(known - first, np.int64),
                ),
                labels=labels,
                groups=(Group("m"),),
                records=known - first + PER_ROUND,
            )
        )
        memory.append(monitor._windows.nbytes)
        if number == GROWING:
            tracemalloc.start()
        if number > GROWING:
            traced.append(tracemalloc.get_traced_memory()[0])
    tracemalloc.stop()
    assert max(traced) - traced[0] < GROWTH
    assert revisions == 1_000_000
    snapshot = monitor.snapshot()
    labelled = label_value != RETRACTED
    cell = CELL[np.where(labelled, label_value, 0), called.astype(int)]
    truth = np.bincount(cell[labelled], minlength=4)
    assert snapshot.lifetime.counts[0].cells.tolist() == truth.tolist()
    for window in snapshot.windows:
        inside = labelled & (made >= window.open[0]) & (made < window.close[0])
        counted = np.bincount(cell[inside], minlength=4)
        assert window.counts[0].cells.tolist() == counted.tolist()
    model = snapshot.models[0]
    assert model.matched == labelled.sum()
    moved = model.transitions
    assert (moved.sum(axis=0)[1:] - moved.sum(axis=1)[1:]).tolist() == truth.tolist()
    assert moved[1:, 1:].sum() > 100_000
    assert snapshot.labels.received == 1_000_000
    assert model.delay_counts.sum() == labelled.sum()
    assert len(set(memory)) == 1


def test_panes_older_than_the_stored_history_still_correct_lifetime_totals():
    config = Config(defaults={"label_timeout": None, "maturity": "0s"}, windows=["1h"])
    monitor = Monitor(config)
    for day in (0, 200, 400, 800):
        monitor.predict(f"p{day}", ts=day * 86_400, prediction=True)
        monitor.label(f"p{day}", ts=day * 86_400 + 60, label=True)
        monitor.flush()
    assert monitor.snapshot().lifetime.counts.tp[0] == 4
    monitor.label("p0", ts=800 * 86_400, label=False)
    monitor.label("p200", ts=800 * 86_400, label=None)
    snapshot = monitor.snapshot()
    assert snapshot.lifetime.counts[0].cells.tolist() == [2, 1, 0, 0]
    moved = snapshot.models[0].transitions
    assert moved[1 + Outcome.TP, 1 + Outcome.FP] == 1
    assert moved[1 + Outcome.TP, 0] == 1
