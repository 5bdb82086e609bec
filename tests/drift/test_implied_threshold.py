"""The threshold that shares of flagged cases and scores imply, beside the one that was planted."""

import numpy as np
import pytest

from monitor.drift.implied_threshold import FlaggedScores, implied_thresholds
from monitor.metrics.histogram import ScoreHistogram

BINS = 1000


def days(seed, number, threshold, *, shift=0.0, positives=0.1, scatter=0.2):
    """Days of some 700 cases, whose scores scatter from day to day, flagged by a threshold."""
    rng, flagged, classes = np.random.default_rng(seed), [], ([], [])
    for _ in range(number):
        cases = rng.poisson(700)
        actual = rng.random(cases) < positives
        logit = rng.normal(size=cases) + 2.5 * actual - 2.5 + shift + scatter * rng.normal()
        score = 1 / (1 + np.exp(-logit))
        flagged.append((score >= threshold).sum())
        for held, one in zip(classes, (actual, ~actual), strict=True):
            held.append(np.bincount((score[one] * BINS).astype(int), minlength=BINS))
    positive, negative = map(np.array, classes)
    scores = ScoreHistogram(
        positive=positive, negative=negative, unlabelled=np.zeros_like(positive)
    )
    return FlaggedScores(np.array(flagged), scores)


def found(seed, *, threshold=0.5, shift=0.0, positives=0.1):
    later = days(seed + 1000, 14, threshold, shift=shift, positives=positives)
    return implied_thresholds(days(seed, 30, 0.5), later)


def share(of, **change):
    return np.mean([of(found(seed, **change)) for seed in range(60)])


def test_the_thresholds_are_those_by_which_cases_are_flagged():
    one = found(1, threshold=0.6)
    assert one.before.estimate == pytest.approx(0.5, abs=0.001)
    assert one.after.estimate == pytest.approx(0.6, abs=0.001)
    assert one.moved.lower < 0.1 < one.moved.upper


@pytest.mark.parametrize(("threshold", "raised"), [(0.6, True), (0.53, True), (0.4, False)])
def test_a_threshold_that_moved_is_found_and_which_way(threshold, raised):
    assert share(lambda one: one.is_raised_alone is raised, threshold=threshold) >= 0.9
    assert share(lambda one: one.scores_shifted, threshold=threshold) == 0


@pytest.mark.parametrize("shift", [-0.5, 0.5])
def test_scores_that_shifted_are_found_at_the_same_threshold(shift):
    assert share(lambda one: one.scores_shifted, shift=shift) >= 0.9
    assert share(lambda one: one.is_raised_alone is not None, shift=shift) == 0


def test_where_nothing_changed_nothing_is_found():
    assert share(lambda one: one.is_raised_alone is not None) == 0
    assert share(lambda one: one.scores_shifted) <= 0.1


def test_rarer_positives_alone_shift_no_scores():
    assert share(lambda one: one.scores_shifted, positives=0.03) <= 0.1


def test_where_both_changed_neither_is_laid_alone():
    assert share(lambda one: one.is_raised_alone is not None, threshold=0.6, shift=-0.5) == 0
    assert share(lambda one: one.scores_shifted, threshold=0.6, shift=-0.5) == 0
    assert share(lambda one: one.is_raised, threshold=0.6, shift=-0.5) >= 0.9


def test_there_is_none_with_few_days_or_where_nothing_is_flagged_or_a_class_is_missing():
    usual = days(1, 30, 0.5)
    assert implied_thresholds(usual, days(2, 4, 0.5)) is None
    assert implied_thresholds(usual, days(2, 14, 2.0)) is None
    assert implied_thresholds(usual, days(2, 14, -1.0)) is None
    assert implied_thresholds(usual, days(2, 14, 0.5, positives=0.0)) is None


def test_between_two_scores_the_threshold_is_in_the_middle():
    cases = np.zeros((10, BINS), dtype=np.int64)
    cases[:, 100], cases[:, 700] = 90, 10
    scores = ScoreHistogram(
        positive=cases // 10, negative=cases - cases // 10, unlabelled=np.zeros_like(cases)
    )
    period = FlaggedScores(np.full(10, 10), scores)
    assert implied_thresholds(period, period).before.estimate == pytest.approx((0.101 + 0.7) / 2)


def test_a_few_cases_without_a_score_leave_the_threshold_as_it_is():
    one = days(3, 30, 0.6)
    lacking = one._replace(flagged=one.flagged + (np.arange(30) < 2), unscored=2)
    assert not lacking._replace(unscored=200).follow_scores(300)
    found = implied_thresholds(lacking, lacking)
    assert found.before.estimate == pytest.approx(0.6, abs=0.002)
    assert found.is_raised is None
    assert not found.scores_shifted


def test_of_two_scores_a_case_without_one_moves_no_threshold():
    """Flagged cases that are one more than those above any threshold lie between two scores."""
    cases = np.zeros((10, BINS), dtype=np.int64)
    cases[:, 100], cases[:, 700] = 900, 100
    scores = ScoreHistogram(
        positive=cases // 10, negative=cases - cases // 10, unlabelled=np.zeros_like(cases)
    )
    whole = FlaggedScores(np.full(10, 100), scores)
    lacking = FlaggedScores(np.full(10, 100) + (np.arange(10) == 4), scores, unscored=1)
    assert lacking.follow_scores(100)
    found = implied_thresholds(whole, lacking)
    assert found.after.estimate == pytest.approx(found.before.estimate)
    assert found.is_raised is None
