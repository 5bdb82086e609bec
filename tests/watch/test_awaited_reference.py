"""The progress toward a first reference."""

from itertools import pairwise

import numpy as np
from exporter.page.pages import HOUR, fed

from monitor.clock import DAY_MS
from monitor.config import Config, Reference
from monitor.engine import Monitor
from monitor.watch.awaited_reference import awaited_reference

DAY = 86_400
FIRST = Reference(first="28d")


def labelled_late(days, a_day=300):
    """Events in order: labels take three days on average, as only a longer stream shows."""
    rng = np.random.default_rng(1)
    events = []
    for number in range(days * a_day):
        ts, positive = number / a_day * DAY, bool(rng.random() < 0.15)
        flagged = bool(rng.random() < (0.8 if positive else 0.05))
        one = {"id": f"p{number}", "model": "m"}
        events.append({"type": "prediction", "ts": ts, "prediction": int(flagged)} | one)
        events.append({"type": "label", "ts": ts + rng.exponential(3) * DAY} | one)
        events[-1]["label"] = int(positive)
    return sorted(events, key=lambda event: event["ts"])


def test_the_number_of_positives_does_not_fall_while_the_maturity_is_learned():
    monitor, events = Monitor(Config(models={"m": {}})), labelled_late(6)
    seen, ages = [], []
    for end in range(6, 6 * 24, 6):
        fed(monitor, [e for e in events if (end - 6) * HOUR <= e["ts"] < end * HOUR])
        watched = monitor.snapshot().models[0].watched
        ages.append(watched.judged_age_ms)
        counted = {one.kind: one.have for one in watched.awaited.counted}
        seen.append((watched.awaited.positives, counted["false positives"]))
    assert ages[-1] > 4 * ages[4]
    for earlier, later in pairwise(seen):
        assert earlier[0] <= later[0]
        assert earlier[1] <= later[1]
    assert seen[-1][0] > 100


def a_tenth_positive(ends):
    """A model with 10 positives and 2 false positives a day."""
    days = np.array(ends) / DAY_MS
    return np.stack([8 * days, 2 * days, 2 * days, 88 * days], axis=1).astype(np.int64)


def without_a_miss(ends):
    """The same of a model that finds all of 10 positives a day."""
    return a_tenth_positive(ends) @ np.array([[1, 0, 0, 0], [0, 1, 0, 0], [1, 0, 0, 0], [0] * 4])


def counted(found):
    """Outcomes so far and needed, by their kind."""
    return {one.kind: (one.have, one.needed) for one in found.counted}


def test_it_counts_all_outcomes_and_dates_by_the_mature_ones():
    found = awaited_reference(FIRST, 0, 2 * DAY_MS, 3 * DAY_MS, without_a_miss)
    assert found.positives == 50
    assert counted(found) == {"positives": (50, 100), "false positives": (10, 20)}
    assert found.about_ms == (10 + 3) * DAY_MS


def test_it_counts_the_outcomes_that_are_complete_first():
    found = awaited_reference(FIRST, 0, 2 * DAY_MS, 3 * DAY_MS, a_tenth_positive)
    of_each = {"true positives": (40, 5), "false positives": (10, 5), "false negatives": (10, 5)}
    assert (counted(found), found.positives) == (of_each, 50)
    assert found.about_ms == (7 + 3) * DAY_MS


def test_first_days_that_never_hold_enough_are_awaited_whole():
    def few(ends):
        return without_a_miss([end / 5 for end in ends])

    found = awaited_reference(FIRST, 0, 20 * DAY_MS, 0, few)
    assert (found.positives, found.whole_ms, found.about_ms) == (40, 28 * DAY_MS, 28 * DAY_MS)
    assert counted(found) == {"positives": (40, 100), "false positives": (8, 20)}
    assert awaited_reference(FIRST, 0, 2 * DAY_MS, 0, a_tenth_positive).whole_ms == 0
    assert awaited_reference(Reference(first="5d"), 0, DAY_MS, 0, few).whole_ms == 28 * DAY_MS
    short = awaited_reference(FIRST, 0, 6 * DAY_MS, 0, lambda ends: 9 * a_tenth_positive(ends))
    assert (short.whole_ms, short.about_ms) == (0, 7 * DAY_MS)


def test_where_silence_is_a_negative_only_mature_outcomes_count():
    found = awaited_reference(FIRST, 0, 2 * DAY_MS, 3 * DAY_MS, a_tenth_positive, silent=True)
    assert (found.positives, counted(found)["false positives"]) == (20, (4, 5))


def test_before_the_first_mature_outcome_it_takes_the_shortest_time():
    found = awaited_reference(FIRST, 0, -DAY_MS, 3 * DAY_MS, a_tenth_positive)
    assert (found.positives, found.about_ms) == (20, (7 + 3) * DAY_MS)
