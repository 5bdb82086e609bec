"""Score histograms: every score counts once, by its model's own time."""

from collections import Counter

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from same import through_disk

from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.events.columns import NO_TIME, Group
from monitor.events.score_bins import SCORE_BINS
from monitor.join import Deltas
from monitor.join.deltas import PREDICTED_NEGATIVE
from monitor.windows.days_then_weeks import DAYS, WEEK_DAYS, WEEKS
from monitor.windows.scores import RECENT, RECENT_MS, Scores

MODELS = 3
HALVES = (DAYS + 40) * 48
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


@settings(max_examples=40)
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
    for model in range(MODELS):
        whole = 0, HALVES * RECENT_MS
        days = np.zeros((HALVES // 48, SCORE_BINS), dtype=np.int64)
        since = times[model] // DAY_MS - DAYS + 1
        first = 0 if times[model] == NO_TIME else times[model] // RECENT_MS - RECENT + 1
        first, end = max(first, 0), min(first + 2 * RECENT, HALVES)
        halves = np.zeros((end - first, SCORE_BINS), dtype=np.int64)
        for (owner, half), n in counted.items():
            if owner == model:
                days[half // 48, half % SCORE_BINS] += n
                if first <= half < end:
                    halves[half - first, half % SCORE_BINS] += n
        stored = np.where(np.arange(len(days))[:, None] < since, 0, days)
        assert (scores.days(model, *whole).total == stored).all()
        assert (scores.histogram(model, *whole).total == days.sum(axis=0)).all()
        opens, recent = scores.recent(model, 0, end * RECENT_MS)
        newest = first - 1 if times[model] == NO_TIME else times[model] // RECENT_MS
        last = max(newest, first + max(np.flatnonzero(halves.any(axis=1)), default=-1))
        assert opens.tolist() == [half * RECENT_MS for half in range(first, min(end, last + 1))]
        assert (recent == halves[: len(opens)]).all()


def test_the_latest_end_with_the_last_score_however_long_a_silence_is():
    scores, newest = empty(), 480
    scores.advance(np.full(MODELS, newest * RECENT_MS))
    for half in (newest - 1, newest + 3):
        scores.apply(predicted(0, half))
    for model, last in ((0, newest + 3), (1, newest)):
        opens, recent = scores.recent(model, 0, 10_000 * DAY_MS)
        assert opens.tolist() == [h * RECENT_MS for h in range(newest - RECENT + 1, last + 1)]
        assert recent.sum() == (2 if model == 0 else 0)


@given(
    now=st.integers(DAYS, DAYS + 30),
    days=st.lists(st.integers(0, DAYS + 30), max_size=20),
    asked=st.tuples(st.integers(0, DAYS + 30), st.integers(0, DAYS + 30)).map(sorted),
)
def test_blocks_are_the_whole_weeks_of_what_is_old_then_the_days(now, days, asked):
    scores, times = empty(), np.full(MODELS, NO_TIME)
    ahead = [day for day in days if day <= now]
    for day in ahead[::2]:
        scores.apply(labelled(0, day))
    times[0] = now * DAY_MS
    scores.advance(times)
    for day in ahead[1::2]:
        scores.apply(labelled(0, day))
    start, end = asked
    end = min(end, now + 1)
    since = now - DAYS + 1
    weeks = {
        tuple(day for day in range(week * WEEK_DAYS, (week + 1) * WEEK_DAYS) if day < since)
        for week in range(20)
    }
    whole = sorted(days for days in weeks if days and start <= days[0] and days[-1] < end)
    blocks = [*whole, *((day,) for day in range(max(start, since), end))]
    found = scores.blocks(0, start * DAY_MS, end * DAY_MS)
    expected = [sum(day in block for day in ahead) for block in blocks]
    assert found.positive.sum(axis=1).tolist() == expected
    whole = scores.histogram(0, start * DAY_MS, max(start, end) * DAY_MS)
    assert whole.positive.sum() == sum(expected)


def test_scores_are_stored_for_a_year_in_less_than_two_megabytes():
    scores, times = empty(), np.full(MODELS, NO_TIME)
    times[0] = 400 * DAY_MS
    scores.apply(labelled(0, 35))
    scores.apply(labelled(0, 399))
    scores.advance(times)
    assert scores.blocks(0, 0, 401 * DAY_MS).positive.sum() == 2
    assert WEEKS * WEEK_DAYS >= 366
    assert scores.nbytes / MODELS < 2e6


def test_a_state_from_before_weeks_were_stored_goes_on_with_its_days():
    scores, times = empty(), np.full(MODELS, NO_TIME)
    times[0] = DAYS * DAY_MS
    for day in (0, DAYS):
        scores.apply(labelled(0, day))
    scores.advance(times)
    assert scores.blocks(0, 0, (DAYS + 1) * DAY_MS).positive.sum() == 2
    stored = {key: value for key, value in scores.state().items() if key != "weeks"}
    restored = empty()
    restored.restore(through_disk(stored), np.arange(MODELS))
    assert restored.blocks(0, 0, (DAYS + 1) * DAY_MS).positive.sum() == 1
    times[0] = 2 * DAYS * DAY_MS
    restored.advance(times)
    restored.apply(labelled(0, 7))
    assert restored.blocks(0, 0, (2 * DAYS + 1) * DAY_MS).positive.sum() == 2


def labelled(model, day):
    """A positive with a score that has its label, as the join counts it."""
    time, one = np.array([day * DAY_MS]), np.ones(1, dtype=np.int64)
    return Deltas(
        time=time,
        label_time=time,
        group=one * model,
        cell=one * Outcome.TP,
        score_bin=one * (day % SCORE_BINS),
        count=one,
    )
