"""Streams of predictions without labels, at a steady pace, with scores."""

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Predictions

DAY = 86_400_000
HOUR = DAY // 24
THRESHOLD = 0.5
KNOWN = 10
"""Days after which what is usual is known."""


def calls(size, share, seed):
    """Scores of which about this share is at the threshold or above."""
    rng = np.random.default_rng(seed)
    high = rng.random(size) < share
    return np.where(high, rng.uniform(THRESHOLD, 1, size), rng.uniform(0, THRESHOLD, size))


def batch(opens, closes, scores, *, model="m", scored=True, flagged=None):
    """Predictions at even distances over a stretch of event time."""
    time = np.linspace(opens, closes, len(scores), endpoint=False).astype(np.int64)
    positive = scores >= THRESHOLD if flagged is None else np.full(len(scores), flagged)
    name = Group(model, "", ())
    return EventBatch(
        predictions=Predictions(
            key=np.random.default_rng([opens, len(scores)]).integers(
                0, 2**63, len(scores), dtype=np.uint64
            ),
            time=time,
            predicted_positive=positive,
            score=scores if scored else np.full(len(scores), np.nan),
            group=np.zeros(len(scores), dtype=np.int64),
        ),
        groups=(name,),
        records=len(scores),
    )


def monitor(**settings):
    """A monitor of any model."""
    return Monitor(Config(defaults={"label_timeout": "2d", **settings}, windows=["1h", "1d"]))


def usual(found, days, *, a_day=2_400, share=0.125, first=0, **more):
    """Feed days as ever from a day on, four batches a day."""
    for quarter in range(4 * first, 4 * (first + days)):
        opens, closes = quarter * DAY // 4, (quarter + 1) * DAY // 4
        found.apply(batch(opens, closes, calls(a_day // 4, share, quarter), **more))
    return found


def predictions(found, model="m"):
    """What is wrong with a model's predictions, if anything."""
    (one,) = (one for one in found.snapshot().models if one.name == model)
    return one.watched.predictions


def alarm_delay(found, scores, *, a_day, hours=48, first=KNOWN, **more):
    """Feed half-hours from a day on; hours until the alarm and its kind, or None."""
    for half in range(2 * hours):
        opens = first * DAY + half * HOUR // 2
        found.apply(batch(opens, opens + HOUR // 2, scores(a_day // 48, half), **more))
        if (wrong := predictions(found)).kind is not None:
            return half / 2, wrong
    return None
