"""Metrics where only a sample of the predictions is labelled."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor import ConfusionCounts, metrics
from monitor.metrics import sampled
from monitor.metrics.sampled import SampledCounts

METRICS = (
    "precision",
    "recall",
    "false_positive_rate",
    "prevalence",
    "class_ratio",
    "log_likelihood_ratio",
    "balanced_precision",
    "specificity",
    "false_negative_rate",
    "negative_predictive_value",
    "accuracy",
)
OF_ONE_STRATUM = {"precision", "negative_predictive_value"}

AUDIT = SampledCounts(
    labelled=ConfusionCounts(tp=620, fp=380, fn=4, tn=996),
    predicted_positive=1_000,
    predicted_negative=99_000,
)

count = st.integers(0, 1_000)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(count, count, count, count)
def test_with_every_case_labelled_it_is_the_plain_metric(
    tp: int, fp: int, fn: int, tn: int
) -> None:
    counts = ConfusionCounts(tp=tp, fp=fp, fn=fn, tn=tn)
    all_labelled = SampledCounts(
        labelled=counts, predicted_positive=tp + fp, predicted_negative=fn + tn
    )
    for name in METRICS:
        expected = getattr(metrics, name)(counts)
        if name not in OF_ONE_STRATUM and not all_labelled.known:
            expected = np.nan
        value = sampled.estimate(all_labelled, name)
        np.testing.assert_allclose(value, expected, rtol=1e-12)


def test_review_of_the_flagged_and_a_hundredth_of_the_rest_is_undone() -> None:
    """Unweighted, precision at the true class ratio reads .039 where it is .620."""
    truth = ConfusionCounts(tp=1_600, fp=980, fn=400, tn=97_020)
    labelled = ConfusionCounts(tp=1_600, fp=980, fn=4, tn=970.2)
    counts = SampledCounts(labelled=labelled, predicted_positive=2_580, predicted_negative=97_420)
    r = metrics.class_ratio(truth)
    assert metrics.precision_at(labelled, class_ratio=r) < 0.05
    assert sampled.estimate(counts, "precision_at", class_ratio=r) == pytest.approx(0.62, abs=1e-3)
    for name in METRICS:
        assert sampled.estimate(counts, name) == pytest.approx(getattr(metrics, name)(truth))


@pytest.mark.parametrize("name", METRICS)
def test_the_interval_contains_the_point_and_widens_with_dispersion_and_level(name: str) -> None:
    point = sampled.estimate(AUDIT, name)
    lower, upper = sampled.intervals(AUDIT, name)
    wide_lower, wide_upper = sampled.intervals(AUDIT, name, dispersion=3)
    far_lower, far_upper = sampled.intervals(AUDIT, name, 0.999)
    assert wide_lower < lower < point < upper < wide_upper
    assert far_lower < lower
    assert upper < far_upper


def test_few_labels_make_the_interval_wide_however_many_predictions_there_are() -> None:
    naive = metrics.intervals(AUDIT.expected, "recall")
    honest = sampled.intervals(AUDIT, "recall")
    assert honest[1] - honest[0] > 5 * (naive[1] - naive[0])


def test_no_labelled_miss_leaves_recall_open_to_one() -> None:
    counts = SampledCounts(
        labelled=ConfusionCounts(tp=60, fp=40, fn=0, tn=500),
        predicted_positive=100,
        predicted_negative=9_900,
    )
    assert sampled.estimate(counts, "recall") == 1
    lower, upper = sampled.intervals(counts, "recall")
    assert 0 < lower < 0.7
    assert upper == 1


@pytest.mark.parametrize(
    ("labelled", "of_it", "value"),
    [
        (ConfusionCounts(tp=60, fp=40, fn=0, tn=0), "precision", 0.6),
        (ConfusionCounts(tp=0, fp=0, fn=10, tn=90), "negative_predictive_value", 0.9),
    ],
)
def test_a_stratum_without_labels_leaves_only_the_metric_of_the_other(
    labelled: ConfusionCounts, of_it: str, value: float
) -> None:
    counts = SampledCounts(labelled=labelled, predicted_positive=100, predicted_negative=9_900)
    assert sampled.estimate(counts, of_it) == value
    assert not np.isnan(sampled.intervals(counts, of_it)).any()
    for name in set(METRICS) - {of_it}:
        assert np.isnan(sampled.estimate(counts, name))
        assert np.isnan(sampled.intervals(counts, name)).all()


def test_arrays_give_what_each_gives() -> None:
    many = SampledCounts(
        labelled=ConfusionCounts(tp=[620, 0], fp=[380, 0], fn=[4, 9], tn=[996, 1]),
        predicted_positive=[1_000, 3],
        predicted_negative=[99_000, 80],
    )
    for name in METRICS:
        lower, upper = sampled.intervals(many, name)
        assert (lower[0], upper[0]) == sampled.intervals(AUDIT, name)
        assert np.isnan([lower[1], upper[1]]).all() == (name != "negative_predictive_value")
        assert sampled.estimate(many, name).shape == (2,)


def test_precision_at_is_the_skill_shifted() -> None:
    skill = np.array(sampled.intervals(AUDIT, "log_likelihood_ratio"))
    shifted = sampled.intervals(AUDIT, "precision_at", class_ratio=0.01)
    np.testing.assert_allclose(shifted, 1 / (1 + np.exp(-skill) / 0.01), rtol=1e-12)


def test_faults_are_named() -> None:
    with pytest.raises(
        ValueError, match=r"predicted_negative must be at least its labels, got 10 "
    ):
        SampledCounts(labelled=AUDIT.labelled, predicted_positive=1_000, predicted_negative=10)
    with pytest.raises(ValueError, match="no such metric, got 'cohen_kappa'; known are prec"):
        sampled.estimate(AUDIT, "cohen_kappa")
    with pytest.raises(TypeError, match="precision_at takes a class ratio"):
        sampled.intervals(AUDIT, "precision_at")
    with pytest.raises(TypeError, match="nothing else, got 'recall'"):
        sampled.intervals(AUDIT, "recall", class_ratio=1)
