"""What is usual, against recounts one by one; and what few and scattered days leave open."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.drift.known_predictions import (
    LENGTHS,
    Hours,
    KnownPredictions,
    running_silences,
    trailing,
)

HOUR = 3_600_000
COUNTS = st.lists(st.tuples(st.integers(0, 2), st.integers(0, 5)), min_size=1, max_size=40)


def hours(days, per_hour=80, share=0.125, *, sd=0.0, seed=0, night=False):
    """Hours whose share of flagged cases scatters from day to day on the logit scale."""
    rng = np.random.default_rng(seed)
    odds = share / max(1 - share, 1e-12) * np.exp(np.repeat(rng.normal(0, sd, days), 24))
    total = rng.poisson(per_hour, 24 * days)
    positive = rng.binomial(total, odds / (1 + odds))
    if night:
        positive[np.arange(24 * days) % 24 < 8] = 0
    return Hours(np.arange(24 * days) * HOUR, positive, total)


@given(COUNTS)
def test_a_silence_is_all_that_is_expected_since_the_last_case(counts):
    cases, expected = np.array(counts).T
    silences = running_silences(cases[None], expected[None].astype(float))[0]
    unseen = 0.0
    for seen, due, silence in zip(cases, expected, silences, strict=True):
        unseen = 0.0 if seen else unseen + due
        assert silence == pytest.approx(unseen)


@given(COUNTS, st.integers(1, 30))
def test_trailing_sums_are_those_of_the_stretches_within(counts, length):
    values = np.array(counts).T
    opens = np.cumsum(np.random.default_rng(length).integers(1, 4, len(counts))) * HOUR
    (sums,) = trailing(values, opens, opens + HOUR, [length])
    for i, end in enumerate(opens + HOUR):
        within = (opens >= end - length * HOUR) & (opens < end)
        assert sums[:, i] == pytest.approx(values[:, within].sum(axis=1))


@pytest.mark.parametrize(("days", "known"), [(6, False), (7, True)])
def test_a_week_is_needed(days, known):
    assert (KnownPredictions.learn(hours(days), np.nan) is not None) is known


def test_nothing_is_usual_where_there_are_too_few_cases():
    few = hours(28, per_hour=0.02)
    assert few.total.sum() < 40
    assert KnownPredictions.learn(few, np.nan) is None


def test_a_side_without_cases_has_no_silence():
    never = KnownPredictions.learn(hours(28, share=0.0), np.nan)
    assert never.silence[0] == np.inf
    assert np.isfinite(never.silence[1])


def test_a_silence_is_rarer_than_any_of_the_past_and_longer_where_days_scatter_or_are_few():
    known = [KnownPredictions.learn(hours(28, sd=sd), np.nan) for sd in (0.0, 0.5, 1.0)]
    silences = [one.silence[0] for one in known]
    assert silences == sorted(silences)
    assert np.log(365 * 250 / 0.02) <= silences[0] < 25
    assert silences[2] > 2 * silences[0]
    week = KnownPredictions.learn(hours(7), np.nan)
    assert week.silence[0] > silences[0]


def test_a_silence_is_twice_the_longest_of_the_past():
    past = hours(28)
    past.positive[200:224] = 0
    known = KnownPredictions.learn(past, np.nan)
    longest = running_silences(past.of_sides, known.expected(past))[0].max()
    assert longest > 100
    assert known.silence[0] == pytest.approx(2 * longest)


def test_hours_that_never_flag_expect_nothing():
    past = hours(28, night=True)
    known = KnownPredictions.learn(past, np.nan)
    expected = known.expected(past)[0]
    asleep = np.arange(len(expected)) % 24 < 8
    assert expected[asleep].sum() < 0.01 * expected.sum()
    assert expected.sum() == pytest.approx(past.positive.sum(), rel=0.02)
    assert known.silence[0] < 30


def test_lowest_and_highest_are_those_of_the_past():
    past = hours(14, sd=0.3, seed=3)
    known = KnownPredictions.learn(past, np.nan)
    expected = known.expected(past)[0]
    for i, length in enumerate(LENGTHS):
        rates = [
            past.positive[j : j + length].sum() / expected[j : j + length].sum()
            for j in range(len(expected) - length + 1)
            if expected[j : j + length].sum() >= 5
        ]
        assert known.lowest[i] <= min(rates) * (1 + 1e-9)
        assert known.highest[i] >= max(rates) * (1 - 1e-9)


def test_what_is_usual_is_read_back_from_its_state():
    known = KnownPredictions.learn(hours(14), 0.2)
    again = KnownPredictions.restored(known.state())
    assert all(np.array_equal(*pair) for pair in zip(known, again, strict=True))
