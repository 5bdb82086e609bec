"""Log loss from bins of scores: its interval holds that of the exact scores, or it is undefined."""

import numpy as np
import pytest
from drawn_scores import by_day, counted, drawn, stacked, wrong_labels
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit
from sklearn.metrics import log_loss as exact_log_loss

from monitor.metrics import ScoreHistogram, calibration, score_statistics
from monitor.metrics.binned_loss import hidden_log_loss, hides_calibration, hides_log_loss
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.score_intervals import ScoredDays, Statistic, interval
from monitor.metrics.score_skill import ScoreSkill

HIDDEN = ("calibration_slope", "calibration_in_the_large", "log_loss", "balanced_log_loss")
near_the_ends = st.one_of(
    st.floats(0, 1), st.floats(0, 0.002), st.floats(0.998, 1), st.sampled_from([0.0, 1.0])
)


def rare(seed, prevalence, separation, scattered=0.0, cases=56_000):
    """Calibrated scores of rare positives; a share of these has the scores of negatives."""
    rng = np.random.default_rng(seed)
    truth = rng.random(cases) < prevalence
    found = truth & (rng.random(cases) >= scattered)
    odds = np.log(prevalence / (1 - prevalence)) - separation**2 / 2
    return truth, expit(separation * (rng.normal(0, 1, cases) + separation * found) + odds)


def exact(truth, score, *, balanced):
    weights = np.where(truth, 0.5 / truth.mean(), 0.5 / (1 - truth.mean()))
    return exact_log_loss(truth, score, sample_weight=weights if balanced else None, labels=[0, 1])


@pytest.mark.parametrize("scattered", [0.0, 0.2])
@pytest.mark.parametrize("separation", [1.5, 3.0])
@pytest.mark.parametrize("prevalence", [0.003, 0.01, 0.03, 0.1])
@pytest.mark.parametrize("seed", range(3))
def test_log_loss_of_rare_positives_holds_the_exact_one(seed, prevalence, separation, scattered):
    truth, score = rare(seed, prevalence, separation, scattered)
    found = ScoreSkill(by_day=by_day(truth, score, 7))
    for name in ("log_loss", "balanced_log_loss"):
        one, value = getattr(found, name), exact(truth, score, balanced="balanced" in name)
        if name in found.hidden_by_bins:
            assert np.isnan(one).all()
        else:
            assert one.lower <= value <= one.upper


def test_where_positives_have_scores_in_the_first_bin_nothing_wrong_is_stated():
    truth, score = rare(1, 0.003, 3.0, scattered=0.3)
    found = ScoreSkill(by_day=by_day(truth, score, 7))
    histogram = counted(truth, score)
    of_middles = float(calibration.log_loss(histogram, balanced=True))
    assert exact(truth, score, balanced=True) > 1.1 * of_middles
    assert found.hidden_by_bins == HIDDEN
    undefined = [found.log_loss, found.balanced_log_loss, *found.calibration]
    assert np.isnan(undefined).all()
    assert np.isfinite([*found.roc_auc, *found.brier_score, *found.balanced_brier_score]).all()


def test_negatives_with_scores_in_the_last_bin_are_the_same():
    truth, score = rare(1, 0.003, 3.0, scattered=0.3)
    assert ScoreSkill(by_day=by_day(~truth, 1 - score, 7)).hidden_by_bins == HIDDEN


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    st.lists(near_the_ends, min_size=1, max_size=20),
    st.lists(near_the_ends, min_size=1, max_size=20),
    st.booleans(),
)
def test_the_exact_loss_of_any_scores_lies_between_the_bounds(positive, negative, balanced):
    histogram = ScoreHistogram.from_scores(positive=positive, negative=negative)
    truth = np.repeat([True, False], [len(positive), len(negative)])
    score = np.array([*positive, *negative])
    loss = float(calibration.log_loss(histogram, balanced=balanced))
    below, above = hidden_log_loss(histogram, balanced=balanced)
    value = exact(truth, score, balanced=balanced)
    assert loss - below - 1e-9 <= value <= loss + above + 1e-9


@pytest.mark.parametrize("balanced", [False, True])
def test_spread_scores_have_the_interval_that_they_had(balanced):
    truth, score = drawn(3, sharpness=0.7)
    days = ScoredDays.of(by_day(truth, score, 7))
    statistic = score_statistics.log_likelihood(balanced=balanced)
    of_middles = interval(days, Statistic(*statistic[:3]))
    found = interval(days, statistic)
    assert found.estimate == of_middles.estimate
    assert found == pytest.approx(of_middles, abs=0.003)
    assert found.lower < of_middles.lower < of_middles.upper < found.upper


def test_scores_of_0_and_1_that_are_right_leave_log_loss_defined():
    day = ScoreHistogram.from_scores(positive=[1.0] * 50, negative=[0.0] * 50)
    found = ScoreSkill(by_day=stacked([day] * 3))
    assert found.hidden_by_bins == ()
    assert found.log_loss.lower == pytest.approx(0, abs=1e-12)
    assert found.log_loss.upper == pytest.approx(0.001, abs=1e-5)


def test_without_cases_nothing_is_hidden():
    assert not hides_log_loss(ScoreHistogram.zeros())
    only = ScoreHistogram.from_scores(positive=[0.0001])
    assert not hides_log_loss(only, balanced=True)
    assert hides_log_loss(only)


@pytest.mark.parametrize("seed", range(3))
def test_corrected_log_loss_holds_the_exact_one_of_right_labels(seed):
    """Though wrong labels put positive labels into the first bin."""
    errors, (truth, score) = ErrorRates(0.01, 0.05), rare(seed, 0.1, 1.5)
    labelled = wrong_labels(by_day(truth, score, 7), errors, seed)
    found = ScoreSkill(by_day=labelled, errors=errors)
    assert found.hidden_by_bins == ()
    assert found.log_loss.lower <= exact(truth, score, balanced=False) <= found.log_loss.upper


def test_what_bins_hide_at_an_end_of_a_range_is_undefined():
    """At the lower end, labels that are wrong in the first bin count as positives there."""
    labelled = wrong_labels(by_day(*rare(1, 0.1, 2.5), 7), ErrorRates(0.01, 0.05), 1)
    middle = ScoreSkill(by_day=labelled, errors=ErrorRates(0.01, 0.05))
    assert "log_loss" not in middle.hidden_by_bins
    ranged = ErrorRates.within((0.0, 0.02), (0.05, 0.05))
    found = ScoreSkill(by_day=labelled, errors=ranged)
    assert "log_loss" in found.hidden_by_bins
    assert np.isnan(found.log_loss).all()


@pytest.mark.parametrize(
    ("mean", "spread", "hidden"), [(-9, 3, True), (-12, 4, True), (-3, 1, False)]
)
def test_bins_that_decide_calibration_hide_it(mean, spread, hidden):
    """Calibrated scores of which most lie in the first bin: the slope came out as 1.07 or 1.15."""
    rng = np.random.default_rng(3)
    score = expit(rng.normal(mean, spread, 200_000))
    actual = rng.random(len(score)) < score
    cases = ScoreHistogram.from_scores(positive=score[actual], negative=score[~actual])
    assert hides_calibration(cases) is hidden
    mirrored = ScoreHistogram.from_scores(positive=1 - score[~actual], negative=1 - score[actual])
    assert hides_calibration(mirrored) is hidden
    line = calibration.calibration_line(cases)
    assert (abs(line.slope - 1) < 0.05) is not hidden


def test_one_score_separates_nothing():
    one = ScoreHistogram.from_scores(positive=[0.3] * 5, negative=[0.3] * 5)
    assert not calibration.separates(one)
