"""The rules that every interval keeps, at the edges above all."""

import numpy as np
import pytest
from scipy.special import expit

from monitor import ConfusionCounts, metrics
from monitor.metrics.effective_cases import effective
from monitor.metrics.mover import mover, proportion
from monitor.metrics.proportions import wilson, wilson_or_jeffreys

SOME = ConfusionCounts(tp=81, fp=67, fn=38, tn=339)

NAMES = (
    "precision",
    "recall",
    "false_positive_rate",
    "prevalence",
    "class_ratio",
    "balanced_precision",
    "log_likelihood_ratio",
    "balanced_accuracy",
    "precision_gain",
    "recall_gain",
    "accuracy",
    "no_information_rate",
    "cohen_kappa",
    "matthews_corrcoef",
)


def test_without_false_positives_the_skill_is_bounded_from_below_alone() -> None:
    counts = ConfusionCounts(tp=90, fp=0, fn=10, tn=900)
    lower, upper = metrics.intervals(counts, "log_likelihood_ratio")
    assert upper == np.inf
    tpr = proportion(counts.tp, counts.actual_positive, 0.95, wilson_or_jeffreys)
    fpr = proportion(counts.fp, counts.actual_negative, 0.95, wilson_or_jeffreys)
    down = np.hypot(np.log(tpr.inner / tpr.lower), np.log(fpr.upper / fpr.inner))
    assert lower == pytest.approx(np.log(90.5 / 101) - np.log(0.5 / 901) - down, rel=1e-12)
    assert metrics.intervals(counts, "balanced_precision") == (pytest.approx(expit(lower)), 1)
    assert metrics.log_likelihood_ratio(counts) == np.inf


def test_without_true_positives_it_is_bounded_from_above_alone() -> None:
    counts = ConfusionCounts(tp=0, fp=50, fn=10, tn=900)
    lower, upper = metrics.intervals(counts, "log_likelihood_ratio")
    assert lower == -np.inf
    assert np.isfinite(upper)
    assert metrics.intervals(counts, "balanced_precision") == (0, pytest.approx(expit(upper)))


def test_without_either_the_interval_is_unbounded_and_the_point_undefined() -> None:
    counts = ConfusionCounts(tp=0, fp=0, fn=10, tn=900)
    assert metrics.intervals(counts, "log_likelihood_ratio") == (-np.inf, np.inf)
    assert metrics.intervals(counts, "balanced_precision") == (0, 1)
    assert metrics.intervals(counts, "precision_at", class_ratio=0.01) == (0, 1)
    assert np.isnan(metrics.log_likelihood_ratio(counts))


@pytest.mark.parametrize("missing", ["positives", "negatives"])
def test_without_a_class_it_is_refused(missing: str) -> None:
    cells = (
        {"tp": 3, "fn": 4, "fp": 0, "tn": 0}
        if missing == "negatives"
        else {"tp": 0, "fn": 0, "fp": 3, "tn": 4}
    )
    counts = ConfusionCounts(**cells)
    for name in ("log_likelihood_ratio", "balanced_precision", "precision_gain"):
        assert np.isnan(metrics.intervals(counts, name)).all()


def test_class_ratio_is_the_odds_of_prevalence() -> None:
    lower, upper = metrics.intervals(SOME, "prevalence")
    expected = (lower / (1 - lower), upper / (1 - upper))
    assert metrics.intervals(SOME, "class_ratio") == pytest.approx(expected, rel=1e-14)
    lower, upper = metrics.intervals(ConfusionCounts(tp=5, fp=0, fn=1, tn=0), "class_ratio")
    assert (lower > 0, upper) == (True, np.inf)


def test_precision_at_is_the_skill_shifted_by_the_log_of_the_class_ratio() -> None:
    skill = np.array(metrics.intervals(SOME, "log_likelihood_ratio"))
    for r0 in (0.001, 1, 20):
        limits = metrics.intervals(SOME, "precision_at", class_ratio=r0)
        assert limits == pytest.approx(expit(skill + np.log(r0)), rel=1e-14)


def test_f_1_is_wilson_of_the_share_that_it_is_a_function_of() -> None:
    low, high = wilson(SOME.tp, SOME.tp + SOME.fp + SOME.fn, 0.95)
    expected = (2 * low / (1 + low), 2 * high / (1 + high))
    assert metrics.intervals(SOME, "f_beta", beta=1) == pytest.approx(expected, rel=1e-12)
    assert metrics.intervals(SOME, "f_beta", beta=0) == pytest.approx(
        metrics.intervals(SOME, "precision"), rel=1e-12
    )


@pytest.mark.parametrize("name", NAMES)
def test_dispersion_widens_and_keeps_the_point(name: str) -> None:
    lower, upper = metrics.intervals(SOME, name)
    wider_lower, wider_upper = metrics.intervals(SOME, name, dispersion=4)
    point = getattr(metrics, name)(SOME)
    assert wider_lower < lower < point < upper < wider_upper
    assert wider_upper - wider_lower == pytest.approx(2 * (upper - lower), rel=0.35)
    assert getattr(metrics, name)(effective(SOME, 4)) == pytest.approx(point, rel=1e-14)


@pytest.mark.parametrize("name", NAMES)
def test_a_higher_level_contains_a_lower_one(name: str) -> None:
    inner = metrics.intervals(SOME, name, 0.8)
    outer = metrics.intervals(SOME, name, 0.99)
    assert outer[0] < inner[0] < inner[1] < outer[1]


def test_dispersion_goes_table_by_table() -> None:
    many = ConfusionCounts.from_cells([SOME.cells, SOME.cells])
    lower, _ = metrics.intervals(many, "recall", dispersion=[1, 9])
    assert lower[0] == metrics.intervals(SOME, "recall")[0]
    assert lower[1] == metrics.intervals(SOME, "recall", dispersion=9)[0]


def test_nothing_counted_is_undefined_and_no_tables_are_no_intervals() -> None:
    nothing = ConfusionCounts.zeros()
    for name in NAMES:
        assert np.isnan(metrics.intervals(nothing, name)).all(), name
        lower, upper = metrics.intervals(ConfusionCounts.zeros((0,)), name)
        assert lower.shape == upper.shape == (0,)


def test_a_correlated_sum_is_wider_than_an_independent_one() -> None:
    half = proportion(np.array(50), np.array(100), 0.95, wilson)
    apart = mover(lambda a, b: a + b, half, half)
    together = mover(lambda a, b: a + b, half, half, correlation=1)
    assert together[0] == pytest.approx(2 * half.lower)
    assert together[0] < apart[0] < 1 < apart[1] < together[1]


def test_faults_are_named() -> None:
    with pytest.raises(
        ValueError, match="metric has no interval, got 'precison'; known are accuracy"
    ):
        metrics.intervals(SOME, "precison")
    with pytest.raises(TypeError, match=r"precision_at takes \['class_ratio'\], got \[\]"):
        metrics.intervals(SOME, "precision_at")
    with pytest.raises(TypeError, match=r"recall takes no parameters, got \['beta'\]"):
        metrics.intervals(SOME, "recall", beta=1)
    with pytest.raises(ValueError, match=r"level must lie in \(0, 1\), got 95"):
        metrics.intervals(SOME, "recall", 95)
    with pytest.raises(ValueError, match=r"dispersion must be finite and at least 1, got 0\.5"):
        metrics.intervals(SOME, "recall", dispersion=0.5)
