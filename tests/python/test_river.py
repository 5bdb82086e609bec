"""BalancedPrecision, PrecisionAt and SkillDrift behave as river's own metrics and detectors."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from river import checks, compose, datasets, drift, evaluate, linear_model, preprocessing, utils
from river import metrics as river_metrics

from monitor import ConfusionCounts
from monitor.python.river import BalancedPrecision, PrecisionAt, SkillDrift

PAIRS = st.lists(st.tuples(st.booleans(), st.booleans()), max_size=40)


def rates(pairs):
    """TPR and FPR of pairs of actual and predicted class, counted anew; NaN where undefined."""
    cells = ((True, True), (True, False), (False, True), (False, False))
    tp, fn, fp, tn = map(pairs.count, cells)
    return (tp / (tp + fn) if tp + fn else math.nan), (fp / (fp + tn) if fp + tn else math.nan)


def expected(pairs, class_ratio):
    tpr, fpr = rates(pairs)
    flagged = class_ratio * tpr + fpr
    return class_ratio * tpr / flagged if flagged > 0 else math.nan


def same(found, wanted):
    return math.isnan(found) if math.isnan(wanted) else math.isclose(found, wanted)


@given(PAIRS)
def test_after_every_update_a_metric_equals_the_batch_recount(pairs):
    balanced, at_tenth = BalancedPrecision(), PrecisionAt(class_ratio=0.1)
    for n, pair in enumerate(pairs, 1):
        balanced.update(*pair)
        at_tenth.update(*pair)
        assert same(balanced.get(), expected(pairs[:n], 1))
        assert same(at_tenth.get(), expected(pairs[:n], 0.1))


@given(PAIRS, PAIRS)
def test_update_then_revert_is_identity(kept, removed):
    metric = BalancedPrecision()
    for pair in [*kept, *removed]:
        metric.update(*pair)
    for pair in removed:
        metric.revert(*pair)
    assert same(metric.get(), expected(kept, 1))


@given(PAIRS, st.integers(1, 10))
def test_it_rolls(pairs, size):
    rolling = utils.Rolling(BalancedPrecision, window_size=size)
    for pair in pairs:
        rolling.update(*pair)
    assert same(rolling.get(), expected(pairs[-size:], 1))


def test_a_case_without_a_label_or_a_prediction_is_no_negative():
    metric = BalancedPrecision()
    for pair in [(True, True), (False, False), (None, True), (True, None)]:
        metric.update(*pair)
    assert metric.counts.total == 2
    metric.revert(None, True)
    assert metric.counts.total == 2


def test_the_positive_class_may_have_any_name():
    metric = BalancedPrecision(pos_val="deny")
    for pair in [("deny", "deny"), ("pay", "deny"), ("pay", "pay"), ("pay", "pay")]:
        metric.update(*pair)
    assert metric.get() == pytest.approx(0.75)


def test_weights_left_by_reverts_do_not_make_a_count_negative():
    metric = BalancedPrecision()
    for weight in (0.1, 0.2, 0.3):
        metric.update(True, True, weight)
        metric.update(False, True, weight)
    for weight in (0.3, 0.2, 0.1):
        metric.revert(True, True, weight)
        metric.revert(False, True, weight)
    assert metric.counts.total == pytest.approx(0, abs=1e-12)


def test_river_evaluates_a_model_by_it():
    model = compose.Pipeline(preprocessing.StandardScaler(), linear_model.LogisticRegression())
    metric = BalancedPrecision() + PrecisionAt(class_ratio=0.1) + river_metrics.Precision()
    found = evaluate.progressive_val_score(datasets.Phishing().take(400), model, metric)
    balanced, at_tenth, _ = found.get()
    assert 0.5 < balanced < 1
    assert at_tenth / (1 - at_tenth) == pytest.approx(0.1 * balanced / (1 - balanced))


@pytest.mark.parametrize("metric", [BalancedPrecision(), PrecisionAt(0.1), SkillDrift()])
def test_it_passes_rivers_checks_that_hold_for_every_object(metric):
    checks.common.check_repr(metric)
    checks.common.check_str(metric)
    fresh = metric.clone()
    assert type(fresh) is type(metric)
    assert fresh._get_params() == metric._get_params()
    assert copy.deepcopy(metric)._get_params() == metric._get_params()
    pickle.dumps(metric)


def outcomes(rng, cases, prevalence, recall, false_positives=0.1):
    actual = rng.random(cases) < prevalence
    predicted = rng.random(cases) < np.where(actual, recall, false_positives)
    return zip(actual.tolist(), predicted.tolist(), strict=True)


def drifts(detector, pairs):
    """Number of outcomes until the first drift; None without one."""
    for n, pair in enumerate(pairs, 1):
        detector.update(pair)
        if detector.drift_detected:
            return n
    return None


def test_it_finds_a_fall_of_recall_and_no_change_of_prevalence():
    rng = np.random.default_rng(3)
    detector = SkillDrift(run_length=1_000_000)
    assert drifts(detector, outcomes(rng, 30_000, 0.2, 0.8)) is None
    assert not detector.warming_up
    assert drifts(detector, outcomes(rng, 30_000, 0.02, 0.8)) is None
    assert drifts(detector, outcomes(rng, 10_000, 0.2, 0.6)) < 4_000


def test_after_a_drift_it_learns_what_is_normal_now():
    rng = np.random.default_rng(4)
    detector = SkillDrift(run_length=100_000)
    drifts(detector, outcomes(rng, 20_000, 0.2, 0.8))
    assert drifts(detector, outcomes(rng, 20_000, 0.2, 0.5)) is not None
    detector.update((True, True))
    assert detector.warming_up
    assert drifts(detector, outcomes(rng, 30_000, 0.2, 0.5)) is None


def test_it_is_one_of_rivers_detectors():
    assert isinstance(SkillDrift(), type(drift.ADWIN()).__mro__[1])


@pytest.mark.parametrize("class_ratio", [-1, float("nan"), None, "many"])
def test_a_class_ratio_out_of_range_is_refused_before_anything_is_counted(class_ratio):
    with pytest.raises(ValueError, match="PrecisionAt: class_ratio: must be one number, finite"):
        PrecisionAt(class_ratio)


@pytest.mark.parametrize("wrong", [{"pane": 0}, {"run_length": 10, "pane": 50}])
def test_arguments_out_of_range_are_refused(wrong):
    with pytest.raises(ValueError, match="run_length must be at least pane"):
        SkillDrift(**wrong)


@pytest.mark.parametrize(
    "wrong", [1, None, (1,), (1, 0, 1), "ab", (None, 1), ("yes", "no"), (2, 0)]
)
def test_what_is_no_pair_of_classes_is_refused(wrong):
    with pytest.raises(ValueError, match=r"SkillDrift: x: must be a pair \(y_true, y_pred\)"):
        SkillDrift().update(wrong)


def test_classes_of_any_number_type_are_taken():
    detector, twin = SkillDrift(pane=1), SkillDrift(pane=1)
    for pair in ((np.int64(1), np.True_), (1.0, False)):
        detector.update(pair)
    for pair in ((True, True), (True, False)):
        twin.update(pair)
    assert detector._cells.tolist() == twin._cells.tolist() == [1, 0, 1, 0]


NAMED = [("fraud", "fraud"), ("fraud", "fine"), ("fine", "fraud"), ("fine", "fine"), (None, "fine")]


@pytest.mark.parametrize("made", [BalancedPrecision, lambda **k: PrecisionAt(class_ratio=1, **k)])
def test_classes_with_names_count_by_the_name_of_the_positive_one(made):
    metric = made(pos_val="fraud")
    for pair in NAMED * 3:
        metric.update(*pair)
    metric.revert("fraud", "fine")
    assert metric.counts == ConfusionCounts(tp=3, fp=3, fn=2, tn=3)
    assert metric.get() == pytest.approx((3 / 5) / (3 / 5 + 1 / 2))


@pytest.mark.parametrize(
    ("given", "pair", "message"),
    [
        ({}, ("fraud", "fine"), r"y_true: must be True or another number, got 'fraud'; give the"),
        ({}, (True, "fine"), r"y_pred: .*; give .* as labels write it, pos_val='fine' for one"),
        ({"pos_val": 1}, ("1", "0"), "y_true: must be 1 or another number, got '1'"),
        ({"pos_val": "fraud"}, (1, 0), "y_true: must be 'fraud' or another name, got 1"),
    ],
)
def test_classes_that_none_could_be_positive_of_are_refused(given, pair, message):
    metric = BalancedPrecision(**given)
    for change in (metric.update, metric.revert):
        with pytest.raises(ValueError, match=f"^BalancedPrecision: {message}"):
            change(*pair)
    assert metric.counts == ConfusionCounts(tp=0, fp=0, fn=0, tn=0)
