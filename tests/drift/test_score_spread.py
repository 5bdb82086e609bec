"""How surprising it is that scores lie close together."""

import numpy as np
import pytest
from scipy.stats import binom

from monitor.drift.score_spread import FEW, WIDEST, WIDTHS, KnownSpread, ScoreSpan
from monitor.watch.score_spans import NarrowestSpans

BINS = 1_000


def days(a_day=500, number=7, *, seed=1):
    """Days of scores that lie anywhere, with one of a fifth of its cases in a tenth."""
    rng = np.random.default_rng(seed)
    found = rng.multinomial(a_day, np.full(BINS, 1 / BINS), size=number)
    found[0] += rng.multinomial(a_day // 4, np.r_[np.full(100, 0.01), np.zeros(BINS - 100)])
    return found


def test_shares_are_those_of_the_day_with_the_closest_scores():
    table = days()
    known = KnownSpread.learn(table, 7)
    for width, share in zip(WIDTHS, known.within, strict=True):
        sums = [
            day[start : start + width].sum() / day.sum()
            for day in table
            for start in range(BINS - width + 1)
        ]
        assert share == pytest.approx(max(sums))
    for number, share in zip(FEW, known.few, strict=True):
        assert share == pytest.approx(max(np.sort(d)[-number:].sum() / d.sum() for d in table))


def test_days_of_few_cases_tell_nothing():
    assert KnownSpread.learn(days(number=6), 7) is None
    assert KnownSpread.learn(np.concatenate([days(number=6), days(99, 1) // 2]), 7) is None


def test_the_probability_of_a_narrow_range_is_bounded():
    """p = .3 for all cases, at a thousand places: below 1e-9 from 23 cases on."""
    known = KnownSpread(np.full(len(WIDTHS), 0.3), np.full(len(FEW), 0.3))
    for cases in range(20, 40):
        bound = binom.pmf(cases, cases, 0.3) * BINS
        seen = ScoreSpan(cases=cases, width=7, different=7)
        assert known.is_narrow(seen, WIDEST) == (bound <= 1e-9)


@pytest.mark.parametrize(
    "seen",
    [
        ScoreSpan(cases=0, width=0, different=0),
        ScoreSpan(cases=19, width=2, different=2),
        ScoreSpan(cases=1_000, width=1, different=1),
        ScoreSpan(cases=1_000, width=900, different=300),
    ],
    ids=["none", "few", "one score alone", "wide"],
)
def test_few_cases_one_score_alone_and_wide_scores_are_not_narrow(seen):
    assert not KnownSpread.learn(days(), 7).is_narrow(seen, WIDEST)


def test_few_scores_are_narrow_however_far_apart_they_are():
    known = KnownSpread.learn(days(), 7)
    far = ScoreSpan(cases=40, width=900, different=2)
    assert known.is_narrow(far, WIDEST)
    assert not known.is_narrow(far._replace(different=6), WIDEST)


def test_a_range_must_be_half_as_wide_as_of_any_stretch_of_the_past():
    known, seen = KnownSpread.learn(days(), 7), ScoreSpan(cases=100, width=40, different=33)
    assert known.is_narrow(seen, WIDEST._replace(width=80))
    assert not known.is_narrow(seen, WIDEST._replace(width=79))
    few = ScoreSpan(cases=100, width=900, different=3)
    assert known.is_narrow(few, WIDEST._replace(different=6))
    assert not known.is_narrow(few, WIDEST._replace(different=5))


def test_samples_of_usual_days_are_hardly_ever_narrow():
    known, rng = KnownSpread.learn(days(), 7), np.random.default_rng(5)
    for _ in range(2_000):
        scores = rng.integers(0, BINS, rng.integers(20, 200))
        seen = ScoreSpan(len(scores), int(np.ptp(scores)) + 1, len(set(scores.tolist())))
        assert not known.is_narrow(seen, WIDEST)
        assert known.is_spread(seen)


def test_the_narrowest_scores_are_those_of_four_weeks_up_to_the_day_before_yesterday():
    spans, day = NarrowestSpans(), 86_400_000
    wide, narrow, few = ScoreSpan(50, 400, 40), ScoreSpan(30, 20, 10), ScoreSpan(19, 2, 2)
    spans.see(10 * day, [wide, narrow, few])
    for number in range(11, 16):
        spans.see(number * day, [wide] * 3)
        assert spans.before(number * day) is None, "less than a week is known"
    spans = NarrowestSpans.restored(spans.state())
    spans.see(16 * day, [narrow, wide])
    assert spans.before(16 * day) is None
    spans.see(17 * day, [wide] * 3)
    assert [(one.width, one.different) for one in spans.before(17 * day)] == [
        (400, 40),
        (20, 10),
        (400, 40),
    ]
    assert [one.width for one in spans.before(18 * day)] == [20, 20, 400]
    for number in range(18, 46):
        spans.see(number * day, [wide] * 3)
    assert [one.width for one in spans.before(45 * day)] == [20, 400, 400]
    assert len(spans.state()["days"]) == 30


def test_wide_scores_of_an_hour_leave_longer_stretches_out():
    spans, day = NarrowestSpans(), 86_400_000
    for number in range(1, 10):
        spans.see(number * day, [ScoreSpan(50, 900, 40)])
    assert spans.before(10 * day) == (ScoreSpan(50, 900, 40), WIDEST, WIDEST)
