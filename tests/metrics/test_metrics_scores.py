"""Metrics of scores against scikit-learn, their identities, and their intervals."""

import numpy as np
import pytest
import sklearn.linear_model
import sklearn.metrics
from drawn_scores import BIN, by_day, counted, drawn
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logit

from monitor import ConfusionCounts
from monitor.metrics import ScoreHistogram
from monitor.metrics.calibration import brier_score, calibration_line, log_loss
from monitor.metrics.reliability import (
    brier_parts,
    calibration_error,
    reliability,
    reliability_curve,
)
from monitor.metrics.roc_region import mean_recall, recall_at, roc_band
from monitor.metrics.score_skill import ScoreSkill

sampled = settings(max_examples=60, deadline=None, derandomize=True)
some = st.lists(st.floats(0.01, 0.99), min_size=1, max_size=30)


@pytest.mark.parametrize("seed", range(3))
def test_each_metric_is_that_of_scikit_learn_but_for_the_bins(seed: int) -> None:
    truth, score = drawn(seed, sharpness=1.3)
    found = ScoreSkill(by_day=by_day(truth, score, 7))
    learned = sklearn.metrics
    assert found.roc_auc.estimate == pytest.approx(learned.roc_auc_score(truth, score), abs=BIN)
    average = learned.average_precision_score(truth, score)
    assert found.average_precision.estimate == pytest.approx(average, abs=3 * BIN)
    brier = learned.brier_score_loss(truth, score)
    assert found.brier_score.estimate == pytest.approx(brier, abs=BIN)
    middle = (np.floor(score / BIN) + 0.5) * BIN
    assert found.log_loss.estimate == pytest.approx(learned.log_loss(truth, middle), rel=1e-9)
    assert found.log_loss.estimate == pytest.approx(learned.log_loss(truth, score), abs=3 * BIN)
    assert (found.positives, found.negatives) == (truth.sum(), (~truth).sum())


@pytest.mark.parametrize("seed", range(3))
def test_balanced_losses_are_those_of_scikit_learn_with_classes_of_equal_weight(seed: int) -> None:
    truth, score = drawn(seed, sharpness=1.3)
    middle, histogram = (np.floor(score / BIN) + 0.5) * BIN, counted(truth, score)
    weight = np.where(truth, 1 / truth.sum(), 1 / (~truth).sum())
    brier = sklearn.metrics.brier_score_loss(truth, middle, sample_weight=weight)
    assert brier_score(histogram, balanced=True) == pytest.approx(brier, rel=1e-9)
    loss = sklearn.metrics.log_loss(truth, middle, sample_weight=weight)
    assert log_loss(histogram, balanced=True) == pytest.approx(loss, rel=1e-9)


def test_the_balanced_calibration_error_is_that_of_weighted_groups() -> None:
    truth, score = drawn(3)
    middle = (np.floor(score / BIN) + 0.5) * BIN
    weight = np.where(truth, 1 / truth.sum(), 1 / (~truth).sum())
    order = np.argsort(middle, kind="stable")
    below = np.cumsum(weight[order]) - weight[order] / 2
    squares = 0.0
    for group in range(20):
        own = order[(below * 10 >= group) & (below * 10 < group + 1)]
        share, rate, mean = (
            weight[own].sum() / 2,
            np.average(truth[own], weights=weight[own]),
            np.average(middle[own], weights=weight[own]),
        )
        squares += share * (rate - mean) ** 2
    found = calibration_error(counted(truth, score), balanced=True)
    assert found == pytest.approx(squares**0.5, rel=0.01)


def test_balanced_metrics_do_not_move_when_positives_become_rarer() -> None:
    day = counted(*drawn(12))
    rarer = ScoreHistogram(
        positive=day.positive, negative=20 * day.negative, unlabelled=day.unlabelled
    )
    for metric in (brier_score, log_loss):
        assert metric(rarer, balanced=True) == pytest.approx(metric(day, balanced=True))
        assert metric(rarer) < 0.6 * metric(day)
    errors = [calibration_error(one, balanced=True) for one in (day, rarer)]
    assert errors[0] == pytest.approx(errors[1], rel=2e-3)


def test_average_precision_at_the_reference_is_that_of_weighted_cases() -> None:
    truth, score = drawn(4)
    reference = ConfusionCounts(tp=300, fn=100, fp=100, tn=1500)
    odds = truth.sum() / (~truth).sum()
    weights = np.where(truth, 0.25 / odds, 1.0)
    expected = sklearn.metrics.average_precision_score(truth, score, sample_weight=weights)
    found = ScoreSkill(by_day=by_day(truth, score, 3), reference=reference)
    assert found.average_precision_at_reference.estimate == pytest.approx(expected, abs=3 * BIN)


def test_recall_at_a_rate_and_the_partial_area_are_those_of_the_roc_curve() -> None:
    truth, score = drawn(5)
    binned = np.floor(score / BIN)
    rates, recalls, _ = sklearn.metrics.roc_curve(truth, binned, drop_intermediate=False)
    histogram = counted(truth, score)
    for rate in (0.01, 0.1, 0.5, 1.0):
        found = recall_at(histogram, false_positive_rate=rate)
        assert found == pytest.approx(np.interp(rate, rates, recalls), abs=1e-12)
    fine = np.linspace(0.05, 0.2, 200_001)
    expected = np.interp(fine, rates, recalls).mean()
    assert mean_recall(histogram, around=0.1) == pytest.approx(expected, abs=1e-6)


def test_the_calibration_line_is_the_logistic_regression_on_the_log_odds() -> None:
    truth, score = drawn(6, sharpness=1.6)
    middle = (np.floor(score / BIN) + 0.5) * BIN
    fitted = sklearn.linear_model.LogisticRegression(C=np.inf, tol=1e-10)
    fitted.fit(logit(middle)[:, None], truth)
    line = calibration_line(counted(truth, score))
    assert line.slope == pytest.approx(fitted.coef_[0, 0], rel=1e-4)
    assert line.slope == pytest.approx(1 / 1.6, abs=0.03)
    shifted = expit(logit(middle) + line.in_the_large)
    assert shifted.sum() == pytest.approx(truth.sum(), rel=1e-8)


@sampled
@given(some, some)
def test_the_parts_of_the_brier_score_sum_to_it(
    positive: list[float], negative: list[float]
) -> None:
    histogram = ScoreHistogram.from_scores(positive=positive, negative=negative)
    parts = brier_parts(histogram)
    whole = parts.reliability - parts.resolution + parts.uncertainty
    assert whole == pytest.approx(float(brier_score(histogram)), abs=1e-12)


def test_reliability_of_calibrated_scores_is_zero_on_average_however_few_the_cases() -> None:
    parts = [brier_parts(counted(*drawn(seed, cases=400))) for seed in range(300)]
    reliability = np.array([part.reliability for part in parts])
    error = reliability.std() / np.sqrt(len(reliability))
    assert abs(reliability.mean()) < 3 * error
    assert error < 2e-4


def test_balanced_reliability_has_no_bias_however_few_the_cases() -> None:
    few = [
        float(reliability(counted(*drawn(seed, cases=400)), balanced=True)) for seed in range(300)
    ]
    many = float(reliability(counted(*drawn(1_000, cases=1_000_000)), balanced=True))
    assert abs(np.mean(few) - many) < 3 * np.std(few) / 300**0.5


def test_resolution_of_scores_that_say_nothing_is_zero_on_average_and_given_below_zero() -> None:
    """One score, but for hundredths that are drawn: the parts add up to the score all the same."""
    rng, parts = np.random.default_rng(2), []
    for _ in range(300):
        truth = rng.random(400) < 0.3
        histogram = counted(truth, 0.3 + 0.001 * rng.integers(0, 10, 400))
        parts.append(brier_parts(histogram))
        whole = parts[-1].reliability - parts[-1].resolution + parts[-1].uncertainty
        assert whole == pytest.approx(float(brier_score(histogram)), abs=1e-12)
    resolution = np.array([part.resolution for part in parts])
    assert (resolution < 0).mean() > 0.3
    assert abs(resolution.mean()) < 3 * resolution.std() / 300**0.5 + 1e-4
    days = by_day(rng.random(400) < 0.3, 0.3 + 0.001 * rng.integers(0, 10, 400), 4)
    found = ScoreSkill(by_day=days).brier.resolution
    assert found.estimate == pytest.approx(float(brier_parts(days.sum()).resolution))


def test_the_calibration_error_shows_how_far_scores_are_off() -> None:
    truth, score = drawn(7)
    assert calibration_error(counted(truth, score)) < 0.01
    off = calibration_error(counted(truth, np.minimum(score + 0.1, 1.0)))
    assert off == pytest.approx(0.1, abs=0.01)


def test_a_reliability_curve_counts_every_case_in_groups_alike() -> None:
    truth, score = drawn(8)
    curve = reliability_curve(counted(truth, score))
    assert len(curve.cases) == 20
    assert curve.cases.sum() == len(truth)
    assert curve.cases.max() < 1.2 * len(truth) / 20
    assert curve.rate @ curve.cases == pytest.approx(truth.sum())
    assert (np.diff(curve.score) > 0).all()


NOTHING = ScoreHistogram.zeros((3,))
ONE_CLASS = by_day(np.ones(30, dtype=bool), np.linspace(0.1, 0.9, 30), 3)
SEPARATED = by_day(np.repeat([True, False], 30), np.linspace(0.9, 0.1, 60), 3)


def test_what_is_undefined_is_nan() -> None:
    nothing, one = ScoreSkill(by_day=NOTHING), ScoreSkill(by_day=ONE_CLASS)
    for value in (nothing.log_loss, nothing.brier_score, nothing.calibration_error):
        assert np.isnan(value).all()
    for metric in (brier_score, log_loss, calibration_error):
        for empty in (NOTHING.sum(), ONE_CLASS.sum()):
            assert np.isnan(metric(empty, balanced=True))
    for found in (nothing, one):
        assert np.isnan(found.roc_auc.estimate)
        assert np.isnan(found.roc_auc.lower)
        assert np.isnan(found.calibration.slope).all()
    assert np.isnan(one.brier.uncertainty).all()
    assert np.isnan(one.brier.resolution).all()
    assert np.isfinite(one.brier.reliability.estimate)
    assert one.brier_score.lower < one.brier_score.estimate < one.brier_score.upper
    perfect = ScoreSkill(by_day=SEPARATED)
    assert perfect.roc_auc.estimate == 1
    assert np.isnan(perfect.roc_auc.lower)
    assert np.isnan(perfect.calibration.slope).all()
    assert np.isnan(perfect.mean_recall).all()
    one_day = ScoreSkill(by_day=by_day(*drawn(9, cases=500), 1))
    assert one_day.roc_auc.estimate > 0.5
    assert np.isnan(one_day.roc_auc.lower)


def test_a_roc_band_has_the_curve_of_scikit_learn_between_its_limits() -> None:
    truth, score = drawn(8)
    rates = np.linspace(0, 1, 21)
    found = roc_band(by_day(truth, score, 9), rates)
    false, recalls, _ = sklearn.metrics.roc_curve(
        truth, np.floor(score / BIN), drop_intermediate=False
    )
    assert found.recall == pytest.approx(np.interp(rates, false, recalls), abs=1e-12)
    assert ((found.lower <= found.recall) & (found.recall <= found.upper)).all()
    assert (found.upper - found.lower)[1:-1].min() > 0


@pytest.mark.parametrize("rate", [0.02, 0.1, 0.4])
def test_roc_bands_hold_the_true_recall(rate: float) -> None:
    true = counted(*drawn(1_000, 2_000_000))
    recall, held = recall_at(true, false_positive_rate=rate), []
    for seed in range(80):
        band = roc_band(by_day(*drawn(seed, 4_000), 8), np.array([rate]))
        held.append(band.lower[0] <= recall <= band.upper[0])
    assert np.mean(held) > 0.9


def test_a_roc_band_of_one_day_has_no_limits() -> None:
    band = roc_band(by_day(*drawn(3), 1), np.array([0.1]))
    assert np.isfinite(band.recall).all()
    assert np.isnan(band.lower).all()
