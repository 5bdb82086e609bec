"""Streams of predictions and labels as columns, however labels come, and the truth."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.events.columns import EventBatch, Group, Labels, Predictions

DAY = 86_400_000
PREVALENCE, RECALL, FPR = 0.02, 0.8, 0.01
PRECISION = PREVALENCE * RECALL / (PREVALENCE * RECALL + (1 - PREVALENCE) * FPR)
_ODD = np.uint64(0x9E3779B97F4A7C15)


@dataclass
class Stream:
    """One row a prediction; `delay` in days, infinite where no label ever comes."""

    time: np.ndarray
    predicted: np.ndarray
    actual: np.ndarray
    delay: np.ndarray
    probability: np.ndarray
    group: np.ndarray
    groups: tuple[Group, ...] = (Group("m"),)

    def cells(self, opens: int, closes: int) -> np.ndarray:
        """True tp, fp, fn, tn of the predictions made in [opens, closes)."""
        inside = (self.time >= opens) & (self.time < closes)
        kind = np.where(self.predicted, np.where(self.actual, 0, 1), np.where(self.actual, 2, 3))
        return np.bincount(kind[inside], minlength=4)

    def batches(self, until: float = np.inf, step: int = DAY):
        """What happens before a moment (days), in order of time, a step of time a batch."""
        key = (np.arange(len(self.time), dtype=np.uint64) + np.uint64(1)) * _ODD
        labelled = np.flatnonzero(np.isfinite(self.delay))
        label_time = self.time[labelled] + (self.delay[labelled] * DAY).astype(np.int64)
        order = np.argsort(label_time, kind="stable")
        labelled, label_time = labelled[order], label_time[order]
        end = int(min(until * DAY, max(self.time.max(), label_time.max(initial=0)) + 1))
        for opens in range(0, end, step):
            closes = min(opens + step, end)
            a, b = np.searchsorted(self.time, [opens, closes])
            c, d = np.searchsorted(label_time, [opens, closes])
            chosen = labelled[c:d]
            yield EventBatch(
                predictions=Predictions(
                    key=key[a:b],
                    time=self.time[a:b],
                    predicted_positive=self.predicted[a:b],
                    score=np.full(b - a, np.nan),
                    group=self.group[a:b],
                ),
                labels=Labels(
                    key=key[chosen],
                    time=label_time[c:d],
                    value=self.actual[chosen].astype(np.int64),
                    sampling_probability=self.probability[chosen],
                ),
                groups=self.groups,
                records=int(b - a + d - c),
            )

    def into(self, monitor, until: float = np.inf, step: int = DAY):
        """The monitor, after it has taken all of that."""
        for batch in self.batches(until, step):
            monitor.apply(batch)
        return monitor


def by_outcome(predicted, actual, values):
    """A value for each row, by its outcome: of tp, fp, fn, tn."""
    tp, fp, fn, tn = values
    return np.where(predicted, np.where(actual, tp, fp), np.where(actual, fn, tn))


def stream(
    days,
    per_day,
    seed=0,
    *,
    prevalence=PREVALENCE,
    recall=RECALL,
    fpr=FPR,
    delays=(0.0, 0.0, 0.0, 0.0),
    labelled=(1.0, 1.0, 1.0, 1.0),
    weighted=False,
    sigma=0.5,
):
    """Predictions at even pace; rates are numbers, or functions of the day.

    Args:
        days: how long.
        per_day: predictions a day.
        seed: of chance.
        prevalence: share of positives.
        recall: TPR.
        fpr: FPR.
        delays: median of the lognormal delay in days of tp, fp, fn, tn; 0 for none.
        labelled: probability that a label ever comes, likewise.
        weighted: labels carry that probability.
        sigma: of the log of the delay.
    """
    rng = np.random.default_rng(seed)
    n = int(days * per_day)
    time = (np.arange(n) * (DAY / per_day)).astype(np.int64)
    at = [f(time / DAY) if callable(f) else f for f in (prevalence, recall, fpr)]
    actual = rng.random(n) < at[0]
    predicted = rng.random(n) < np.where(actual, at[1], at[2])
    median = by_outcome(predicted, actual, delays)
    delay = median * np.exp(sigma * rng.standard_normal(n))
    probability = by_outcome(predicted, actual, labelled)
    delay[rng.random(n) >= probability] = np.inf
    return Stream(
        time=time,
        predicted=predicted,
        actual=actual,
        delay=delay,
        probability=probability if weighted else np.full(n, np.nan),
        group=np.zeros(n, np.int64),
    )
