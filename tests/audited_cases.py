"""Cases with labels that are wrong at given rates, some of them audited."""

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.audit_marks import marked
from monitor.events.columns import EventBatch, Group, Labels, Predictions
from monitor.metrics.label_errors import ErrorRates

DAY = 86_400_000
RECALL, FPR = 0.8, 0.02
WRONG = ErrorRates(0.01, 0.05)
AUDITS = "audit"
CHANGED, WORSE = 45, ErrorRates(0.04, 0.05)
"""The day on which labels begin to be wrong more often, and the rates from then on."""


class Cases:
    """Cases with labels that are wrong at given rates; ids are positions."""

    def __init__(self, days, a_day, seed, prevalence, rates=WRONG):
        rng = np.random.default_rng(seed)
        self.rng, count = rng, days * a_day
        self.day = np.repeat(np.arange(days), a_day)
        self.time = self.day * DAY + np.sort(rng.integers(0, DAY, (days, a_day))).reshape(-1)
        share = np.array([prevalence(day) for day in range(days)])[self.day]
        self.actual = rng.random(count) < share
        self.called = rng.random(count) < np.where(self.actual, RECALL, FPR)
        by_day = np.array([rates(day) if callable(rates) else rates for day in range(days)])
        wrong = np.where(self.actual, by_day[self.day, 1], by_day[self.day, 0])
        self.label = self.actual ^ (rng.random(count) < wrong)
        self.score = np.full(count, np.nan)
        self.key = (np.arange(count, dtype=np.uint64) + np.uint64(1)) * np.uint64(
            0x9E3779B97F4A7C15
        )

    def batch(self, day):
        """The predictions of a day, and their labels an hour later."""
        rows = np.flatnonzero(self.day == day)
        return EventBatch(
            predictions=Predictions(
                key=self.key[rows],
                time=self.time[rows],
                predicted_positive=self.called[rows],
                score=self.score[rows],
                group=np.zeros(len(rows), dtype=np.int64),
            ),
            labels=labels(self.key[rows], self.time[rows] + 3_600_000, self.label[rows]),
            groups=(Group("m"),),
            records=2 * len(rows),
        )

    def audits(self, each, days):
        """So many audits of each predicted class and label, of the cases of some days."""
        inside = np.isin(self.day, days)
        chosen = []
        for called in (False, True):
            for label in (False, True):
                stratum = np.flatnonzero(inside & (self.called == called) & (self.label == label))
                chosen.append(self.rng.permutation(stratum)[:each])
        rows = np.concatenate(chosen)
        found = labels(self.key[rows], self.time[rows] + DAY, self.actual[rows], audit=True)
        return EventBatch(labels=found, records=len(rows))


def labels(key, time, value, *, audit=False):
    value = value.astype(np.int64)
    value = marked(value, np.ones(len(value), dtype=np.bool_)) if audit else value
    return Labels(key=key, time=time, value=value, sampling_probability=np.full(len(key), np.nan))


def monitor_of(errors=AUDITS, state=None, **others):
    settings = {"label_timeout": "60d", "maturity": "1d", "label_errors": errors, **others}
    return Monitor(Config(models={"m": settings}, windows=["1d", "7d", "28d"]), state)


def fed(cases, each, days, monitor=None, *, audit_days=None):
    monitor = monitor or monitor_of()
    for day in days:
        monitor.apply(cases.batch(day))
    if each:
        monitor.apply(cases.audits(each, days if audit_days is None else audit_days))
    return monitor


def steady(prevalence):
    return lambda _: prevalence


def halved(day):
    return 0.04 if day < 35 else 0.01


def sloppier(day):
    """A labeller who makes more mistakes from a day on."""
    return WRONG if day < CHANGED else WORSE


def monitor_of_changed_labels():
    """The monitor after 80 days of `sloppier`, audited every five days."""
    cases = Cases(80, 3_000, 4, steady(0.04), rates=sloppier)
    monitor = monitor_of()
    for first in range(0, 80, 5):
        days = range(first, first + 5)
        fed(cases, 25, days, monitor, audit_days=days)
    return monitor
