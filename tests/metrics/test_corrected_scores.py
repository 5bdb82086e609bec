"""Metrics of scores where labels have errors: against the cases before any label was wrong."""

import numpy as np
import pytest
from drawn_scores import METRICS, by_day, drawn, stacked, wrong_labels

from monitor import ConfusionCounts
from monitor.metrics import ScoreHistogram, score_statistics
from monitor.metrics.binned_loss import hidden_log_loss
from monitor.metrics.corrected_scores import actual_classes, with_label_errors
from monitor.metrics.label_errors import UNKNOWN_ERRORS, ErrorRates
from monitor.metrics.score_intervals import Statistic
from monitor.metrics.score_skill import ScoreSkill

RATES = ErrorRates(0.02, 0.05)
REFERENCE = ConfusionCounts(tp=300, fn=100, fp=100, tn=1500)
OTHERWISE = {
    "precision_recall_gain",  # undefined where labels have errors
    "calibration_error",  # this and those below take off a bias of chance
    "balanced_calibration_error",
    "brier.reliability",
    "brier.resolution",
}
SAME = {name: of for name, of in METRICS.items() if name not in OTHERWISE}
"""Metrics that are the same for expected labels as for the actual classes."""


def expected_labels(actual: ScoreHistogram, rates: ErrorRates) -> ScoreHistogram:
    """What labels show on average: so many of each bin and class are wrong."""
    wrong = actual.negative * rates.false_positive
    missed = actual.positive * rates.false_negative
    return ScoreHistogram(
        positive=actual.positive - missed + wrong,
        negative=actual.negative - wrong + missed,
        unlabelled=actual.unlabelled,
    )


@pytest.mark.parametrize("name", SAME)
def test_labels_that_are_wrong_as_often_as_stated_leave_every_metric_as_it_is(name: str) -> None:
    actual = by_day(*drawn(4, cases=14_000, sharpness=1.3), 7)
    right = ScoreSkill(by_day=actual, reference=REFERENCE)
    labelled = expected_labels(actual, RATES)
    corrected = ScoreSkill(by_day=labelled, reference=REFERENCE, errors=RATES)
    as_labelled = ScoreSkill(by_day=labelled, reference=REFERENCE)
    of = SAME[name]
    assert of(corrected).estimate == pytest.approx(of(right).estimate, abs=1e-9)
    assert of(as_labelled).estimate != pytest.approx(of(right).estimate, abs=1e-3)


def test_tied_pairs_are_those_of_actual_classes() -> None:
    truth, score = drawn(4, cases=14_000)
    actual = by_day(truth, score / 100, 7)
    labelled = expected_labels(actual, RATES)
    shares = [
        ScoreSkill(by_day=actual).tied_pairs,
        ScoreSkill(by_day=labelled, errors=RATES).tied_pairs,
        ScoreSkill(by_day=labelled).tied_pairs,
    ]
    assert shares[1] == pytest.approx(shares[0], abs=1e-9)
    assert shares[2] > shares[0] + 0.001


def test_bins_hide_of_log_loss_what_they_hide_of_that_of_actual_classes() -> None:
    actual = by_day(*drawn(4, cases=14_000), 7).sum()
    labelled = expected_labels(actual, RATES)
    corrected = with_label_errors(score_statistics.log_likelihood(), RATES).hidden
    assert corrected is not None
    assert corrected(labelled) == pytest.approx(hidden_log_loss(actual), rel=1e-6)
    assert hidden_log_loss(labelled).above > 1.5 * hidden_log_loss(actual).above


def test_reliability_is_without_bias_where_labels_have_errors() -> None:
    """Calibrated scores: their distance from the rates of positives is 0 on average."""
    often = ErrorRates(0.05, 0.2)
    skills = [
        ScoreSkill(
            by_day=wrong_labels(by_day(*drawn(50 + seed, cases=8_000), 4), often, seed),
            errors=often,
        )
        for seed in range(60)
    ]
    found = np.array([one.brier.reliability.estimate for one in skills])
    error = found.std(ddof=1) / len(found) ** 0.5
    assert abs(found.mean()) < 3 * error
    as_labelled = [ScoreSkill(by_day=one.by_day).brier.reliability.estimate for one in skills]
    assert np.mean(as_labelled) > 10 * error


def test_the_rates_of_the_reliability_diagram_are_those_of_actual_positives() -> None:
    actual = by_day(*drawn(4, cases=14_000), 7)
    labelled = expected_labels(actual, RATES)
    found = ScoreSkill(by_day=labelled, errors=RATES).reliability
    right = ScoreSkill(by_day=actual).reliability
    assert found.rate == pytest.approx(right.rate, abs=1e-9)
    assert found.score == pytest.approx(right.score)
    assert found.cases == pytest.approx(right.cases)


STATISTICS: dict[str, Statistic] = {
    "roc_auc": score_statistics.AREA_UNDER_ROC,
    "average_precision": score_statistics.AVERAGE_PRECISION,
    "brier_score": score_statistics.brier(),
    "balanced_log_loss": score_statistics.log_likelihood(balanced=True),
}


@pytest.mark.parametrize("name", STATISTICS)
def test_an_influence_is_what_a_part_of_a_label_changes(name: str) -> None:
    truth, score = drawn(1, cases=4_000, sharpness=1.4)
    labelled = ScoreHistogram.from_scores(positive=score[truth], negative=score[~truth], bins=50)
    statistic = with_label_errors(STATISTICS[name], RATES)
    influence, part, step = statistic.influence(labelled), 1e-4, np.eye(50)
    for found, positive in ((influence.positive, part), (influence.negative, 0.0)):
        more = ScoreHistogram(
            positive=labelled.positive + positive * step,
            negative=labelled.negative + (part - positive) * step,
            unlabelled=np.zeros((50, 50), dtype=np.int64),
        )
        changes = (statistic.value(more) - statistic.value(labelled)) / part
        assert np.median(np.abs(changes - found) / np.abs(found).max()) < 0.01


@pytest.mark.parametrize("name", STATISTICS)
def test_intervals_hold_the_truth_where_labels_are_wrong_by_chance(name: str) -> None:
    metric = SAME[name]
    truth = metric(ScoreSkill(by_day=by_day(*drawn(10, cases=700_000, sharpness=1.3), 7))).estimate
    held = []
    for seed in range(200):
        actual = by_day(*drawn(2_000 + seed, cases=2_800, sharpness=1.3), 7)
        found = metric(ScoreSkill(by_day=wrong_labels(actual, RATES, seed), errors=RATES))
        held.append(found.lower <= truth <= found.upper)
    assert np.mean(held) >= 0.93


def test_intervals_hold_at_all_ends_of_a_range() -> None:
    days = by_day(*drawn(6, cases=14_000, sharpness=1.3), 7)
    ranged = ErrorRates.within((0.0, 0.02), (0.01, 0.1))
    found = ScoreSkill(by_day=days, reference=REFERENCE, errors=ranged)
    corners = [
        ScoreSkill(by_day=days, reference=REFERENCE, errors=ErrorRates(a, b))
        for a in (0.0, 0.02)
        for b in (0.01, 0.1)
    ]
    middle = ScoreSkill(by_day=days, reference=REFERENCE, errors=ErrorRates(0.01, 0.055))
    for name, metric in SAME.items():
        one = metric(found)
        assert one.estimate == pytest.approx(metric(middle).estimate), name
        assert one.lower == pytest.approx(min(metric(end).lower for end in corners)), name
        assert one.upper == pytest.approx(max(metric(end).upper for end in corners)), name


def test_rates_that_are_unknown_leave_every_metric_undefined() -> None:
    days = by_day(*drawn(6, cases=1_400), 7)
    found = ScoreSkill(by_day=days, reference=REFERENCE, errors=UNKNOWN_ERRORS)
    assert all(np.isnan(metric(found).estimate) for metric in SAME.values())
    assert np.isnan(found.reliability.rate).all()


def test_too_few_positive_labels_leave_every_metric_undefined() -> None:
    """One positive label in 2,000, where wrong labels alone would give forty."""
    day = ScoreHistogram.from_scores(positive=[0.9], negative=np.linspace(0, 1, 1_999))
    assert actual_classes(day, RATES).positive.sum() < 0
    found = ScoreSkill(by_day=stacked([day] * 3), reference=REFERENCE, errors=RATES)
    assert all(np.isnan(metric(found).estimate) for metric in SAME.values())


def test_an_estimate_beyond_the_range_of_a_metric_is_the_end_of_that_range() -> None:
    """Labels that the scores separate entirely, though some of them are said to be wrong."""
    day = ScoreHistogram.from_scores(positive=[0.9] * 500, negative=[0.1] * 500)
    found = ScoreSkill(by_day=stacked([day] * 3), errors=RATES).roc_auc
    assert found.estimate == 1
    assert np.isnan([found.lower, found.upper]).all()


def test_the_area_under_the_gain_curve_is_undefined() -> None:
    days = by_day(*drawn(6, cases=14_000), 7)
    assert np.isnan(ScoreSkill(by_day=days, errors=RATES).precision_recall_gain.estimate)
