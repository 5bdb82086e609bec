"""Thresholds where labels have errors: against the cases before any label was wrong."""

import pytest
from benchmarks.corrected_thresholds import World, at_low_scores, row
from drawn_scores import drawn, stacked, wrong_labels

from monitor import ConfusionCounts
from monitor.metrics import ScoreHistogram
from monitor.metrics.expected_threshold import expected_threshold
from monitor.metrics.label_errors import UNKNOWN_ERRORS, ErrorRates, labelled_cases
from monitor.metrics.possible_rates import possible_at_thresholds
from monitor.metrics.rates import recall
from monitor.metrics.sampled import SampledCounts, estimate, intervals
from monitor.metrics.threshold import best_threshold, has_both_classes

RATES = ErrorRates(0.02, 0.05)
OBJECTIVES = (
    "precision>=0.6",
    "recall>=0.7",
    "specificity>=0.97",
    "false_positive_rate<=0.02",
    "predicted_positive_rate<=0.1",
    "f_beta:1",
    "cost:fp=1,fn=5",
)


def actual_scores(seed: int = 3, cases: int = 60_000) -> ScoreHistogram:
    truth, score = drawn(seed, cases=cases)
    return ScoreHistogram.from_scores(positive=score[truth], negative=score[~truth])


def expected_labels(actual: ScoreHistogram, rates: ErrorRates) -> ScoreHistogram:
    positive, negative = labelled_cases(actual.positive, actual.negative, rates)
    return ScoreHistogram(positive=positive, negative=negative, unlabelled=actual.unlabelled)


@pytest.mark.parametrize("class_ratio", [None, 0.05])
@pytest.mark.parametrize("objective", OBJECTIVES)
def test_labels_that_are_wrong_as_often_as_stated_leave_the_choice_as_it_is(objective, class_ratio):
    actual = actual_scores()
    right = best_threshold(actual, objective, class_ratio=class_ratio)
    labelled = expected_labels(actual, RATES)
    found = best_threshold(labelled, objective, class_ratio=class_ratio, errors=RATES)
    assert found.threshold == right.threshold
    for name in ("precision", "recall", "limited"):
        one, other = getattr(found, name), getattr(right, name)
        if other is not None:
            assert one.value == pytest.approx(other.value, abs=1e-9)
            assert one.lower < one.value < one.upper
            assert one.upper - one.lower > 0.95 * (other.upper - other.lower)
    assert found.value == pytest.approx(right.value)
    assert found.class_ratio == pytest.approx(right.class_ratio)
    as_labelled = best_threshold(labelled, objective, class_ratio=class_ratio)
    wrong = as_labelled.threshold - right.threshold, as_labelled.value - right.value
    assert max(map(abs, wrong)) > 0.005


def test_cells_and_limits_at_the_threshold_are_those_of_a_window_with_such_outcomes():
    labelled = wrong_labels(actual_scores(), RATES, seed=1)
    choice = best_threshold(labelled, "precision>=0.6", errors=RATES)
    cells = SampledCounts.all_labelled(choice.observed, RATES)
    for name in ("precision", "recall"):
        found = getattr(choice, name)
        assert found.value == pytest.approx(float(estimate(cells, name)))
        assert found[1:] == pytest.approx([float(end) for end in intervals(cells, name)])
    assert choice.counts.tp == pytest.approx(cells.cases.tp)


def test_limits_hold_at_all_ends_of_a_range():
    labelled = wrong_labels(actual_scores(), RATES, seed=2)
    ranged = ErrorRates.within((0.01, 0.03), (0.0, 0.1))
    now = ConfusionCounts(tp=900, fp=200, fn=800, tn=8_100)
    choice = best_threshold(labelled, "precision>=0.6", errors=ranged, class_ratio=now)
    possible = possible_at_thresholds(ranged, labelled.counts)
    assert possible.ranges["false_positive"][0] == 0.01
    assert 0.02 < possible.ranges["false_positive"][1] < 0.03
    assert possible.ranges["false_negative"] == (0.0, 0.1)
    middle = best_threshold(
        labelled, "precision>=0.6", errors=ErrorRates(*possible[:2]), class_ratio=now
    )
    assert choice.threshold == middle.threshold
    assert choice.recall.value == pytest.approx(middle.recall.value)
    ends = [
        intervals(SampledCounts.all_labelled(choice.observed, corner), "recall")
        for corner in possible.corners
    ]
    assert choice.recall.lower == pytest.approx(min(low for low, _ in ends))
    assert choice.recall.upper == pytest.approx(max(high for _, high in ends))
    assert choice.precision.lower < middle.precision.lower
    assert choice.precision.upper > middle.precision.upper


def test_the_interval_of_precision_allows_for_the_error_of_the_class_ratio():
    actual = actual_scores()
    ratio = 0.1
    exact = best_threshold(actual, "recall>=0.5", class_ratio=ratio).precision
    widths = []
    for cases in (440, 44_000_000):
        now = ConfusionCounts(tp=cases // 22, fp=cases // 22, fn=cases // 22, tn=cases * 19 // 22)
        found = best_threshold(actual, "recall>=0.5", class_ratio=now).precision
        assert found.value == pytest.approx(exact.value, rel=1e-3)
        widths.append(found.upper - found.lower)
    assert widths[0] > 3 * (exact.upper - exact.lower)
    assert widths[1] == pytest.approx(exact.upper - exact.lower, rel=0.01)


def test_a_perfect_precision_has_limits_beside_a_class_ratio_that_is_estimated():
    apart = ScoreHistogram.from_scores(positive=[0.9] * 200, negative=[0.1] * 2_000)
    now = ConfusionCounts(tp=20, fp=0, fn=0, tn=400)
    choice = best_threshold(apart, "recall>=0.5", class_ratio=now)
    alone = best_threshold(apart, "recall>=0.5", class_ratio=20 / 400)
    assert choice.precision.value == choice.precision.upper == 1
    assert 0 < choice.precision.lower < alone.precision.lower


@pytest.mark.parametrize(
    "rates", [UNKNOWN_ERRORS, ErrorRates(0.3, 0.0), ErrorRates.within((0.25, 0.3), 0.0)]
)
def test_there_is_no_threshold_where_the_corrected_cases_are_undefined(rates):
    """A fifth of the labels is positive: no more than wrong ones alone may give."""
    labelled = actual_scores()
    share = float(labelled.positive.sum() / labelled.total.sum())
    assert 0.1 < share < 0.3
    assert best_threshold(labelled, "precision>=0.5", errors=rates) is None
    assert best_threshold(labelled, "precision>=0.5") is not None


def test_what_labels_exclude_of_a_range_is_not_part_of_what_is_promised():
    """Labels are right; with a tenth of the negatives wrong, none of them could be missed."""
    labelled = actual_scores()
    wide = ErrorRates.within((0.0, 0.2), 0.0)
    choice = best_threshold(labelled, "precision>=0.3", errors=wide)
    right = best_threshold(labelled, "precision>=0.3")
    assert choice.recall.value < 1
    assert choice.recall.lower < right.recall.value < choice.recall.upper
    assert choice.recall.value == pytest.approx(right.recall.value, abs=0.05)


def test_no_threshold_is_chosen_for_a_recall_of_1_by_cells_cut_off_at_0():
    """Hardly a label of a low score is positive, so that rates of all labels are too high there."""
    labelled = actual_scores()
    errors = ErrorRates(0.02, 0.0)
    choice = best_threshold(labelled, "precision>=0.2", errors=errors)
    at = SampledCounts.all_labelled(labelled.counts, errors).cases
    assert (recall(at) == 1).sum() > 5
    assert choice.recall.value < 1
    assert choice.observed.fn >= 0.02 * choice.observed.predicted_negative


def test_each_end_of_a_range_has_its_own_class_ratio():
    """Of labels of the same cases, precision among flagged ones is known without it."""
    labelled = wrong_labels(actual_scores(), RATES, seed=3)
    ranged = ErrorRates.within((0.0, 0.06), 0.05)
    whole = labelled.counts[500]
    many = ConfusionCounts.from_cells(1_000 * whole.cells)
    alone = best_threshold(labelled, "precision>=0.6", errors=ranged)
    beside = best_threshold(labelled, "precision>=0.6", errors=ranged, class_ratio=many)
    assert beside.threshold == alone.threshold
    assert beside.class_ratio == pytest.approx(alone.class_ratio)
    middle = ErrorRates(ranged.false_positive, ranged.false_negative)
    of_middle = best_threshold(labelled, "precision>=0.6", errors=middle, class_ratio=many)
    for end in ("lower", "upper"):
        found, known = getattr(beside.precision, end), getattr(alone.precision, end)
        assert found == pytest.approx(known, abs=0.35 * abs(known - alone.precision.value))
    assert of_middle.precision.lower > beside.precision.lower


def test_outcomes_without_positives_at_an_end_of_a_range_have_no_class_ratio():
    now = ConfusionCounts(tp=20, fp=10, fn=15, tn=955)
    labelled = expected_labels(actual_scores(), RATES)
    ranged = ErrorRates.within((0.0, 0.04), 0.05)
    assert best_threshold(labelled, "recall>=0.5", class_ratio=now, errors=ranged) is None
    assert best_threshold(labelled, "recall>=0.5", class_ratio=now, errors=RATES) is not None


def test_a_class_ratio_of_one_class_gives_no_threshold():
    now = ConfusionCounts(tp=0, fp=10, fn=1, tn=989)
    labelled = expected_labels(actual_scores(), RATES)
    assert has_both_classes(now)
    assert not has_both_classes(now, RATES)
    assert best_threshold(labelled, "recall>=0.5", class_ratio=now, errors=RATES) is None


@pytest.mark.parametrize("rates", ["known", "audits"])
@pytest.mark.parametrize("objective", ["precision>=0.6", "recall>=0.7"])
def test_intervals_hold_the_truth_at_the_threshold_that_is_advised(objective, rates):
    found = row(World(0.1, 0.02), rates, objective, draws=40, seed=7)
    advised, _, _, _, precise, _, _, _, recalled = map(float, found[4:])
    assert advised == 1
    assert min(precise, recalled) >= 0.9
    as_labelled = row(World(0.1, 0.02), "as labelled", objective, draws=10, seed=7)
    assert float(as_labelled[-1]) == 0


def test_where_low_scores_alone_are_missed_more_is_promised_than_comes():
    """The correction takes labels to be as wrong at every score."""
    found = row(World(0.1, 0.05, at_low_scores), "known", "precision>=0.6", draws=10, seed=7)
    true, stated = float(found[5]), float(found[6])
    assert stated - true > 0.01
    assert abs(stated - true) < 0.04


def test_a_threshold_chosen_on_other_days_is_corrected():
    days = stacked([actual_scores(seed, 4_000) for seed in range(12)])
    labelled = wrong_labels(days, RATES, seed=1)
    right = expected_threshold(days, 0.6)
    found = expected_threshold(labelled, 0.6, RATES)
    as_labelled = expected_threshold(labelled, 0.6)
    assert (found.corrected, right.corrected) == (True, False)
    assert found.recall.estimate == pytest.approx(right.recall.estimate, abs=0.03)
    assert found.recall.lower < right.recall.estimate < found.recall.upper
    assert as_labelled.recall.upper < right.recall.lower
    ranged = expected_threshold(labelled, 0.6, ErrorRates.within((0.01, 0.03), 0.05))
    assert ranged.threshold == found.threshold
    assert ranged.recall.lower < found.recall.lower
    assert ranged.recall.upper > found.recall.upper
    assert expected_threshold(labelled, 0.6, UNKNOWN_ERRORS) is None
