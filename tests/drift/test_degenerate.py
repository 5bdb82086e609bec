"""Predictions of the present against those of the past."""

import numpy as np
import pytest
from drift.test_known_predictions import HOUR, hours
from hypothesis import given
from hypothesis import strategies as st

from monitor.drift.degenerate import (
    DEAD,
    Degeneracy,
    Present,
    fewest_same,
    same_scores,
)
from monitor.drift.known_predictions import Hours, KnownPredictions

PAST = 28


def seen(stretches):
    return Present(
        KnownPredictions.learn(hours(PAST, sd=0.2), 0.3), stretches, stretches.opens + HOUR
    )


def kinds(stretches, since=48):
    present = seen(stretches)
    found = [present.found(at) for at in range(since, len(stretches.opens))]
    assert [one is not None for one in found] == present.suspicious[since:].tolist()
    return {one.kind for one in found if one is not None}


def after(share, days=2, per_hour=80, seed=9):
    """Two days as ever, then some with another share of flagged cases."""
    before, later = hours(2, seed=seed), hours(days, per_hour, share, seed=seed + 1)
    return Hours(
        np.arange(24 * (2 + days)) * HOUR + PAST * 24 * HOUR,
        np.concatenate([before.positive, later.positive]),
        np.concatenate([before.total, later.total]),
    )


@pytest.mark.parametrize(
    ("share", "expected"),
    [
        (0.0, {Degeneracy.ALWAYS_NEGATIVE}),
        (0.125, set()),
        (0.06, set()),
        (0.25, set()),
        (0.01, {Degeneracy.RATE_FAR_BELOW}),
        (0.9, {Degeneracy.RATE_FAR_ABOVE}),
        (1.0, {Degeneracy.ALWAYS_POSITIVE}),
    ],
)
def test_each_share_of_flagged_cases_is_named(share, expected):
    found = kinds(after(share, per_hour=800))
    assert found - {Degeneracy.RATE_FAR_BELOW} == expected - {Degeneracy.RATE_FAR_BELOW}
    assert found >= expected


def test_without_predictions_nothing_is_wrong():
    empty = after(0.125)
    empty.positive[48:] = empty.total[48:] = 0
    assert kinds(empty) == set()


def test_a_silence_begins_after_the_last_case():
    present = seen(after(0.0))
    (first, *_) = [one for at in range(96) if (one := present.found(at)) is not None]
    assert first.kind is Degeneracy.ALWAYS_NEGATIVE
    assert first.began == PAST * 24 * HOUR + 48 * HOUR


def test_how_far_a_rate_lies_is_over_the_extreme_of_the_past():
    stretches = after(0.9)
    present = seen(stretches)
    found = present.found(95)
    known = KnownPredictions.learn(hours(PAST, sd=0.2), 0.3)
    due = known.expected(stretches)[0][72:].sum()
    assert found.times == pytest.approx(stretches.positive[72:].sum() / due / known.highest[2])


def test_a_model_as_ever_has_no_alarm_in_a_dozen_years():
    for seed in range(12):
        year = hours(365, sd=0.3, seed=100 + seed)
        known = KnownPredictions.learn(year.take(slice(0, PAST * 24)), np.nan)
        rest = year.take(slice(PAST * 24, None))
        assert not Present(known, rest, rest.opens + HOUR).suspicious.any()


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=30))
def test_runs_of_one_score_are_those_of_a_recount(cases):
    scores = np.array(cases, dtype=np.int64).reshape(-1, 2)
    found = same_scores(np.arange(len(cases)), scores)
    for i in range(len(cases)):
        longest = max(
            (
                scores[j : i + 1].sum()
                for j in range(i + 1)
                if (scores[j : i + 1].sum(axis=0) > 0).sum() == 1
            ),
            default=0,
        )
        assert found.cases[i] == longest


@pytest.mark.parametrize(
    ("modal_share", "longest", "fewest"),
    [(0.0, 0, 40), (0.9, 0, 400), (0.1, 100, 200), (1.0, 0, np.inf), (np.nan, 5, np.inf)],
)
def test_more_cases_of_one_score_are_needed_where_many_have_it(modal_share, longest, fewest):
    known = KnownPredictions.learn(hours(7), modal_share)
    assert fewest_same(known, longest) == pytest.approx(fewest)


def test_some_stray_cases_are_no_return_and_the_usual_number_is():
    stretches = after(0.0, days=4)
    since = int(stretches.opens[60])
    wrong = seen(stretches).found(60)
    stretches.positive[70:72] = 1
    assert not any(seen(stretches).is_back(wrong, at, since) for at in range(60, 144))
    stretches.positive[80:] = stretches.total[80:] // 8
    assert seen(stretches).is_back(wrong, 80, since)
    assert not seen(stretches).is_back(wrong, 79, since)


def test_dead_kinds_are_those_that_nobody_means():
    rates = {Degeneracy.RATE_FAR_BELOW, Degeneracy.RATE_FAR_ABOVE}
    assert set(Degeneracy) - set(DEAD) == {*rates, Degeneracy.NARROW_SCORES}
