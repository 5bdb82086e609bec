"""Score histograms: every score counts once, by its model's own time."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from same import through_disk

from monitor.config import Config
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, Group
from monitor.events.score_bins import SCORE_BINS
from monitor.join import Deltas
from monitor.join.deltas import PREDICTED_NEGATIVE
from monitor.windows.scores import DAY_MS, DAYS, RECENT, RECENT_MS, Scores

MODELS = 3
HALVES = (DAYS + 13) * 48
PLACES = st.tuples(st.integers(0, MODELS - 1), st.integers(0, HALVES - 1))
STEPS = st.lists(st.tuples(st.sampled_from(["predict", "advance", "restart"]), PLACES))


def empty():
    catalogue = Catalogue(Config(windows=["1h"]))
    catalogue.groups_of([Group(f"m{number}") for number in range(MODELS)])
    return Scores(catalogue)


def predicted(model, half):
    """A prediction without a label, as the join counts it."""
    time, one = np.array([half * RECENT_MS]), np.ones(1, dtype=np.int64)
    cell, score = one * PREDICTED_NEGATIVE, one * (half % SCORE_BINS)
    return Deltas(
        time=time, label_time=time, group=one * model, cell=cell, score_bin=score, count=one
    )


@given(STEPS)
def test_every_score_counts_once_by_the_day_and_the_latest_by_the_half_hour(steps):
    scores, counted = empty(), Counter()
    times = np.full(MODELS, NO_TIME)
    for step, (model, half) in steps:
        if step == "predict":
            scores.apply(predicted(model, half))
            counted[model, half] += 1
        elif step == "advance":
            times[model] = max(times[model], half * RECENT_MS)
            scores.advance(times)
        else:
            stored, scores = through_disk(scores.state()), empty()
            scores.restore(stored, np.arange(MODELS))
        counted = Counter(
            {at: n for at, n in counted.items() if is_stored(at[1] // 48, times[at[0]] // DAY_MS)}
        )
    for model in range(MODELS):
        whole = 0, HALVES * RECENT_MS
        days = np.zeros((HALVES // 48, SCORE_BINS), dtype=np.int64)
        first = 0 if times[model] == NO_TIME else times[model] // RECENT_MS - RECENT + 1
        first, end = max(first, 0), min(first + 2 * RECENT, HALVES)
        halves = np.zeros((end - first, SCORE_BINS), dtype=np.int64)
        for (owner, half), n in counted.items():
            if owner == model:
                days[half // 48, half % SCORE_BINS] += n
                if first <= half < end:
                    halves[half - first, half % SCORE_BINS] += n
        assert (scores.days(model, *whole).total == days).all()
        assert (scores.histogram(model, *whole).total == days.sum(axis=0)).all()
        opens, recent = scores.recent(model, 0, end * RECENT_MS)
        assert opens.tolist() == [half * RECENT_MS for half in range(first, end)]
        assert (recent == halves).all()


def is_stored(day, newest):
    return day > newest - DAYS
