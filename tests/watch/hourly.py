"""Counts by the hour, drawn, and the batches that bring them."""

import numpy as np

from monitor.events.columns import CountDeltas, EventBatch, Group

HOUR = 3_600_000
DAY = 24 * HOUR


def rates(hours, *, prevalence=0.1, recall=0.8, fpr=0.05):
    """The same three rates in every hour."""
    return np.tile([prevalence, recall, fpr], (hours, 1))


def stream(per_hour, rates_by_hour, seed=0):
    """Counts of each hour, drawn: (hours, 4)."""
    rng = np.random.default_rng(seed)
    prevalence, recall, fpr = rates_by_hour.T
    positive = rng.binomial(per_hour, prevalence)
    tp = rng.binomial(positive, recall)
    fp = rng.binomial(per_hour - positive, fpr)
    return np.stack([tp, fp, positive - tp, per_hour - positive - fp], axis=1)


def batch_of_counts(times, cells_by_group, model="m"):
    """One batch of the counts of some hours, (hours, 4) for each group's segment values."""
    rows = np.concatenate(list(cells_by_group.values()))
    return EventBatch(
        counts=CountDeltas(
            time=np.tile(times, len(cells_by_group)),
            group=np.repeat(np.arange(len(cells_by_group)), len(times)),
            cells=rows,
            population=np.stack([rows[:, 0] + rows[:, 1], rows[:, 2] + rows[:, 3]], 1),
            batch_key=np.zeros(len(rows), np.uint64),
        ),
        groups=tuple(Group(model, "", values) for values in cells_by_group),
        records=len(rows),
    )
