"""Corrections of scores and thresholds, against scikit-learn and against worlds with a truth."""

import numpy as np
import pytest
import sklearn.isotonic
import sklearn.linear_model
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from monitor.metrics import ScoreHistogram
from monitor.metrics.calibration import middles
from monitor.metrics.expected_threshold import expected_threshold
from monitor.metrics.out_of_sample import fitted_elsewhere, folds_of_days, ratio_interval
from monitor.metrics.precision import precision
from monitor.metrics.recalibration import Correction, recalibration

_CELLS = np.linspace(-8, 8, 4001)
_SHARE = float(np.average(expit(-2.6 + 1.5 * _CELLS), weights=np.exp(-(_CELLS**2) / 2)))
BEFORE = _SHARE / (1 - _SHARE)
"""Positives per negative of the cases that `world` draws without a shift."""


def world(
    seed: int, *, days: int = 28, cases: int = 700, shift: float = 0.0, slope: float = 1.0
) -> ScoreHistogram:
    """Scores by day: calibrated at `BEFORE`, then with other odds of positives, or stretched."""
    rng = np.random.default_rng([11, seed])
    true = rng.normal(-2.6, 1.5, (days, 4 * cases))
    positive = rng.random(true.shape) < expit(true)
    taken = rng.random(true.shape) < np.where(positive, np.exp(min(shift, 0)), np.exp(-shift))
    score = np.minimum((expit(slope * true) * 1000).astype(int), 999)
    rows = [
        np.bincount(score[day][taken[day] & chosen[day]], minlength=1000)
        for chosen in (positive, ~positive)
        for day in range(days)
    ]
    counts = np.array(rows).reshape(2, days, 1000)
    return ScoreHistogram(
        positive=counts[0], negative=counts[1], unlabelled=np.zeros_like(counts[0])
    )


def cases_of(histogram: ScoreHistogram) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Score, label and weight of the cases of a histogram."""
    score = middles(histogram.bins)
    weights = np.concatenate([histogram.positive, histogram.negative])
    return np.tile(score, 2), np.repeat([1, 0], histogram.bins), weights


def brier(histogram: ScoreHistogram, score: np.ndarray) -> float:
    lost = histogram.positive @ (1 - score) ** 2 + histogram.negative @ score**2
    return float(lost / (histogram.positive + histogram.negative).sum())


def test_platt_and_isotonic_are_those_of_scikit_learn() -> None:
    days = world(1, slope=1.4)
    found = recalibration(days, BEFORE)
    assert found is not None
    score, label, weight = cases_of(days.sum())
    line = sklearn.linear_model.LogisticRegression(C=np.inf, tol=1e-10)
    line.fit(logit(score)[:, None], label, weight)
    assert found.platt.slope == pytest.approx(line.coef_[0, 0], rel=1e-4)
    assert found.platt.intercept == pytest.approx(line.intercept_[0], abs=1e-4)
    steps = sklearn.isotonic.IsotonicRegression().fit(score, label, weight)
    held = np.flatnonzero(days.sum().positive + days.sum().negative)
    ours = np.interp(middles(1000)[held], found.isotonic.score, found.isotonic.rate)
    assert ours == pytest.approx(steps.predict(middles(1000)[held]), abs=1e-9)


@pytest.mark.parametrize(
    ("change", "advised"),
    [
        ({}, None),
        ({"shift": -1.0}, Correction.PRIOR_SHIFT),
        ({"shift": 0.8}, Correction.PRIOR_SHIFT),
        ({"slope": 1.6}, Correction.PLATT),
    ],
)
def test_the_simplest_correction_that_helps_is_advised(change, advised) -> None:
    found = [recalibration(world(seed, **change), BEFORE) for seed in range(6)]
    assert [one.advised for one in found if one is not None] == [advised] * 6


def test_the_prior_shift_restores_calibration() -> None:
    found, later = recalibration(world(3, shift=-1.0), BEFORE), world(4, shift=-1.0).sum()
    assert found is not None
    assert found.prior_shift == pytest.approx(-1.0, abs=0.1)
    score = middles(later.bins)
    corrected = expit(logit(score) + found.prior_shift)
    gain = brier(later, score) - brier(later, corrected)
    limits = found.gain[Correction.PRIOR_SHIFT]
    assert limits.lower < gain < limits.upper
    rate = later.positive.sum() / (later.positive + later.negative).sum()
    assert corrected @ (later.positive + later.negative) / (
        later.positive + later.negative
    ).sum() == pytest.approx(rate, rel=0.05)


def test_gains_are_those_of_days_that_were_not_fitted_to() -> None:
    days = world(5, days=8, cases=60)
    found, folds = recalibration(days), folds_of_days(days)
    assert found is not None
    assert folds is not None
    lost = 0.0
    for left_out in range(len(folds.positive)):
        rest = np.delete(np.arange(len(folds.positive)), left_out)
        score, label, _ = cases_of(days.sum())
        weight = np.concatenate([folds.positive[rest].sum(0), folds.negative[rest].sum(0)])
        held = weight > 0
        steps = sklearn.isotonic.IsotonicRegression(out_of_bounds="clip")
        steps.fit(score[held], label[held], weight[held])
        rates = steps.predict(middles(1000))
        lost += folds.positive[left_out] @ (1 - rates) ** 2 + folds.negative[left_out] @ rates**2
    cases = (days.positive + days.negative).sum()
    gain = brier(days.sum(), middles(1000)) - lost / cases
    assert found.gain[Correction.ISOTONIC].estimate == pytest.approx(gain, abs=1e-12)
    assert Correction.PRIOR_SHIFT not in found.gain


@pytest.mark.parametrize("seed", range(3))
def test_steps_of_scores_that_nearly_separate_the_classes_are_advised_by_what_they_bring(
    seed: int,
) -> None:
    """At .6 a third of the cases are positive, at .2 none, at .9 all."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((2, 14, 1000), dtype=np.int64)
    rows[0, :, 600], rows[1, :, 600] = rng.binomial(40, 0.3, 14), rng.binomial(40, 0.7, 14)
    rows[0, :, 900], rows[1, :, 200] = 10, 100
    days = ScoreHistogram(positive=rows[0], negative=rows[1], unlabelled=np.zeros_like(rows[0]))
    found = recalibration(days)
    assert found is not None
    assert (found.separated, found.advised) == (False, Correction.ISOTONIC)
    gain = found.gain[Correction.ISOTONIC]
    true = (100 * 0.2**2 + 40 * (0.6 - 0.3) ** 2 + 10 * 0.1**2) / 150
    assert gain.lower < true < gain.upper
    assert gain.estimate == pytest.approx(true, rel=0.15)
    assert found.gain[Correction.PLATT].estimate == 0


def test_few_days_or_few_cases_give_no_correction() -> None:
    assert recalibration(world(1, days=3), BEFORE) is None
    assert recalibration(world(1, days=5, cases=5), BEFORE) is None


def test_a_class_ratio_that_is_not_known_leaves_out_the_prior_shift() -> None:
    found = recalibration(world(2, shift=-1.0))
    assert found is not None
    assert np.isnan(found.prior_shift)
    assert found.advised is Correction.PLATT


def test_a_threshold_brings_what_it_promises() -> None:
    later, covered = world(99, days=60, cases=3_000).sum(), []
    for seed in range(20):
        found = expected_threshold(world(seed), 0.6)
        assert found is not None
        counts = later.counts[round(found.threshold * 1000)]
        covered.append(found.precision.lower <= precision(counts) <= found.precision.upper)
    assert sum(covered) >= 18


def test_a_precision_out_of_reach_has_no_threshold() -> None:
    assert expected_threshold(world(1), 0.999) is None
    assert expected_threshold(world(1, days=3), 0.5) is None


@settings(deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 40), min_size=1, max_size=40))
def test_folds_hold_all_cases_in_order(cases: list[int]) -> None:
    rows = np.zeros((len(cases), 3), dtype=np.int64)
    rows[:, 1] = cases
    days = ScoreHistogram(positive=rows, negative=2 * rows, unlabelled=0 * rows)
    folds = folds_of_days(days)
    held = sum(map(bool, cases))
    assert (folds is None) == (held < 4)
    if folds is not None:
        assert 4 <= len(folds.positive) <= 10
        assert folds.positive[:, 1].all()
        assert folds.sum().negative.tolist() == days.sum().negative.tolist()
        ends = np.cumsum(folds.positive[:, 1])
        assert set(ends.tolist()) <= set(np.cumsum(cases).tolist())


def test_each_fold_meets_what_was_fitted_to_all_others() -> None:
    folds = folds_of_days(world(7, days=6, cases=30))
    assert folds is not None
    whole = folds.sum().positive
    for rest, fold in fitted_elsewhere(folds, lambda cases: cases):
        assert (rest.positive + fold.positive == whole).all()


def test_the_interval_of_a_ratio_is_the_jackknife() -> None:
    rng = np.random.default_rng(3)
    part, whole = rng.integers(1, 9, 7), rng.integers(9, 20, 7)
    left_out = [np.delete(part, i).sum() / np.delete(whole, i).sum() for i in range(7)]
    error = np.sqrt(6 / 7 * np.sum((left_out - np.mean(left_out)) ** 2))
    found = ratio_interval(part, whole)
    assert found.estimate == part.sum() / whole.sum()
    assert found.upper - found.estimate == pytest.approx(2.4469 * error, rel=1e-4)
