"""Days of outcomes with wrong labels, and the monitor that corrects for them."""

from __future__ import annotations

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Outcomes
from monitor.metrics.label_errors import ErrorRates

DAY = 86_400_000
RECALL, FPR = 0.8, 0.02
RATES = ErrorRates(false_positive=0.01, false_negative=0.05)


def batches(days, a_day, seed, prevalence, *, recall=lambda _: RECALL, rates=RATES):
    """Days of outcomes whose labels are flipped one by one."""
    rng = np.random.default_rng(seed)
    for day in range(days):
        actual = rng.random(a_day) < prevalence(day)
        called = rng.random(a_day) < np.where(actual, recall(day), FPR)
        wrong = rng.random(a_day) < np.where(actual, rates.false_negative, rates.false_positive)
        moment = day * DAY + np.sort(rng.integers(0, DAY, a_day))
        yield EventBatch(
            outcomes=Outcomes(
                time=moment,
                label_time=moment,
                predicted_positive=called,
                actual_positive=actual ^ wrong,
                score=np.full(a_day, np.nan),
                group=np.zeros(a_day, dtype=np.int64),
            ),
            groups=(Group("m"),),
            records=a_day,
        )


def monitor_of(rates=RATES, state=None):
    settings = {"label_timeout": "2d", "label_errors": rates.rates | rates.ranges}
    return Monitor(Config(models={"m": settings}, windows=["1d", "7d", "28d"]), state)


def fed(made, rates=RATES):
    monitor = monitor_of(rates)
    for batch in made:
        monitor.apply(batch)
    return monitor


def steady(prevalence):
    return lambda _: prevalence


def covers(estimate, truth):
    return estimate.lower[0] <= truth <= estimate.upper[0]
