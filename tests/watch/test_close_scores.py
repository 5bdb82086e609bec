"""Scores that lie closer together than ever, found from predictions alone."""

import numpy as np
import pytest
from same import differences, through_disk, without_memory
from watch.predicted import (
    DAY,
    HOUR,
    KNOWN,
    alarm_delay,
    batch,
    calls,
    monitor,
    predictions,
    usual,
)

from monitor.drift.degenerate import Degeneracy
from monitor.engine import Monitor
from monitor.report.prediction_words import degenerate_since

NARROW = {
    "a narrow range": lambda size, seed: np.random.default_rng(seed).uniform(0.47, 0.51, size),
    "two scores": lambda size, seed: np.where(np.arange(size) % 8 == seed % 8, 0.71, 0.23),
}


def closer_by_night(size, half):
    """Scores of a tenth of those of the day from midnight to six."""
    return calls(size, 0.125, half) * (0.1 if half % 48 < 12 else 1.0)


@pytest.fixture(scope="module")
def nightly():
    """The state of a monitor that knows such nights, of 300 cases each."""
    found = monitor()
    for half in range(48 * KNOWN):
        found.apply(batch(half * HOUR // 2, (half + 1) * HOUR // 2, closer_by_night(25, half)))
    return found.state()


@pytest.mark.parametrize("scores", NARROW)
@pytest.mark.parametrize(("a_day", "within"), [(24_000, 1), (1_200, 1), (240, 6)])
def test_scores_that_lie_close_together_are_found_though_some_cases_are_flagged(
    scores, a_day, within
):
    found = usual(monitor(), KNOWN, a_day=max(a_day, 240))
    hours, wrong = alarm_delay(found, NARROW[scores], a_day=a_day)
    assert wrong.kind is Degeneracy.NARROW_SCORES
    assert hours <= within
    assert KNOWN * DAY - 2 * within * HOUR <= wrong.since <= (KNOWN * DAY + within * HOUR)
    text = degenerate_since(wrong)
    assert text.startswith("the model gives scores that lie closer together than ever (since")


@pytest.mark.parametrize("scores", NARROW)
def test_the_alarm_of_close_scores_lasts_until_they_spread_again(scores):
    found = usual(monitor(), KNOWN)
    for half in range(48):
        opens = KNOWN * DAY + half * HOUR // 2
        found.apply(batch(opens, opens + HOUR // 2, NARROW[scores](50, half)))
    assert predictions(found).kind is Degeneracy.NARROW_SCORES
    hours = 0.0
    while predictions(found).kind is not None:
        opens = (KNOWN + 1) * DAY + int(hours * HOUR)
        found.apply(batch(opens, opens + HOUR // 2, calls(50, 0.125, int(2 * hours))))
        hours += 0.5
        assert hours < 4
    usual(found, 3, first=KNOWN + 2)
    assert predictions(found).kind is None


def test_scores_that_are_closer_every_night_are_usual(nightly):
    found = Monitor(monitor().config, through_disk(nightly))
    assert alarm_delay(found, closer_by_night, a_day=1_200, hours=24 * 5) is None
    hours, wrong = alarm_delay(found, NARROW["two scores"], a_day=1_200, first=KNOWN + 5)
    assert wrong.kind is Degeneracy.NARROW_SCORES
    assert hours <= 6


def test_a_state_without_narrowest_scores_learns_them_for_a_week_first(nightly):
    """A checkpoint of a version that did not know them."""
    state = through_disk(nightly)
    for one in state["watch"]["predictions"]["models"].values():
        del one["narrowest"], one["spread"]
    found = Monitor(monitor().config, state)
    assert alarm_delay(found, closer_by_night, a_day=1_200, hours=24 * 9) is None
    hours, wrong = alarm_delay(found, NARROW["two scores"], a_day=1_200, first=KNOWN + 9)
    assert wrong.kind is Degeneracy.NARROW_SCORES
    assert hours <= 6


def test_a_restart_beside_close_scores_changes_nothing():
    whole, interrupted = usual(monitor(), KNOWN), usual(monitor(), KNOWN)
    for half in range(12):
        opens = KNOWN * DAY + half * HOUR // 2
        narrow = NARROW["two scores" if half < 6 else "a narrow range"](30, half)
        part = batch(opens, opens + HOUR // 2, narrow)
        whole.apply(part)
        interrupted.apply(part)
        interrupted = Monitor(interrupted.config, through_disk(interrupted.state()))
        both = (without_memory(one.snapshot()) for one in (whole, interrupted))
        assert list(differences(*both)) == []
    assert predictions(whole).kind is Degeneracy.NARROW_SCORES
