"""The metrics against scikit-learn, SciPy and statsmodels, on tables of every kind."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import sklearn.metrics
import statsmodels.stats.contingency_tables as sm_tables
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from statsmodels.stats.inter_rater import cohens_kappa
from statsmodels.stats.proportion import proportion_confint

from monitor import ConfusionCounts, metrics
from monitor.metrics.agreement import kappa_error
from monitor.metrics.proportions import clopper_pearson, jeffreys, wilson
from monitor.metrics.significance import accuracy_p_value, mcnemar, mcnemar_exact

Cells = tuple[int, int, int, int]

sampled = settings(max_examples=150, deadline=None, derandomize=True)

count = st.one_of(st.just(0), st.integers(0, 6), st.integers(0, 100_000))
tables = st.tuples(count, count, count, count)

ROWS_TRUE = [1, 0, 1, 0]
ROWS_PREDICTED = [1, 1, 0, 0]

POINTS: dict[str, Callable[[ConfusionCounts], Any]] = {
    name: getattr(metrics, name)
    for name in [
        "precision",
        "balanced_precision",
        "recall",
        "specificity",
        "false_positive_rate",
        "false_negative_rate",
        "negative_predictive_value",
        "prevalence",
        "class_ratio",
        "predicted_positive_rate",
        "detection_rate",
        "accuracy",
        "balanced_accuracy",
        "log_likelihood_ratio",
        "precision_gain",
        "recall_gain",
        "cohen_kappa",
        "matthews_corrcoef",
        "no_information_rate",
    ]
} | {
    "precision_at": lambda counts: metrics.precision_at(counts, class_ratio=0.03),
    "f_beta": lambda counts: metrics.f_beta(counts, beta=2),
    "f_beta_at": lambda counts: metrics.f_beta_at(counts, beta=0.5, class_ratio=3),
    "weighted_power_mean": lambda counts: metrics.weighted_power_mean(counts, gamma=3, phi=-1),
    "g_score": lambda counts: metrics.g_score(counts, beta=2, rho=-0.5),
}

WITH_PARAMETERS: dict[str, dict[str, float]] = {
    "precision_at": {"class_ratio": 0.03},
    "f_beta": {"beta": 2},
    "f_beta_at": {"beta": 0.5, "class_ratio": 3},
    "weighted_power_mean": {"gamma": 3, "phi": -1},
    "g_score": {"beta": 2, "rho": -0.5},
}


def counts_of(cells: Cells) -> ConfusionCounts:
    return ConfusionCounts.from_cells(cells)


def close(value: Any, expected: Any, rel: float = 1e-12, absolute: float = 1e-14) -> None:
    np.testing.assert_allclose(value, expected, rtol=rel, atol=absolute, equal_nan=True)


@settings(sampled, max_examples=50)
@given(tables.filter(any))
def test_shares_and_scores_are_those_of_scikit_learn(cells: Cells) -> None:
    counts = counts_of(cells)
    nan: dict[str, Any] = {"sample_weight": cells, "zero_division": np.nan}
    rows = (ROWS_TRUE, ROWS_PREDICTED)
    close(metrics.precision(counts), sklearn.metrics.precision_score(*rows, **nan))
    close(metrics.recall(counts), sklearn.metrics.recall_score(*rows, **nan))
    close(metrics.specificity(counts), sklearn.metrics.recall_score(*rows, pos_label=0, **nan))
    close(
        metrics.negative_predictive_value(counts),
        sklearn.metrics.precision_score(*rows, pos_label=0, **nan),
    )
    for beta in (0.5, 1.0, 3.0):
        close(
            metrics.f_beta(counts, beta=beta),
            sklearn.metrics.fbeta_score(*rows, beta=beta, **nan),
        )


@sampled
@given(tables.filter(any))
def test_agreement_is_that_of_scikit_learn_and_statsmodels(cells: Cells) -> None:
    counts = counts_of(cells)
    rows = (ROWS_TRUE, ROWS_PREDICTED)
    close(metrics.accuracy(counts), sklearn.metrics.accuracy_score(*rows, sample_weight=cells))
    correlation = metrics.matthews_corrcoef(counts)
    if np.isnan(correlation):
        assert 0 in (
            counts.actual_positive * counts.actual_negative,
            counts.predicted_positive * counts.predicted_negative,
        )
    else:
        close(
            correlation,
            sklearn.metrics.matthews_corrcoef(*rows, sample_weight=cells),
            rel=1e-9,
            absolute=1e-12,
        )
    if not np.isnan(metrics.cohen_kappa(counts)):
        with np.errstate(all="ignore"):
            oracle = cohens_kappa(np.array([cells[:2], cells[2:]], dtype=float))
        close(metrics.cohen_kappa(counts), oracle.kappa, rel=1e-9, absolute=1e-12)
        if kappa_error(counts) * np.sqrt(counts.total) > 1e-3:
            close(kappa_error(counts), oracle.std_kappa, rel=1e-4)


@sampled
@given(tables.filter(lambda cells: cells[0] + cells[2] > 0 and cells[1] + cells[3] > 0))
def test_balanced_precision_is_the_same_in_three_ways(cells: Cells) -> None:
    counts = counts_of(cells)
    share = metrics.prevalence(counts)
    k1, k2 = 0.5 / share, 0.5 / (1 - share)
    balanced = metrics.balanced_precision(counts)
    from_counts = np.nan
    if counts.predicted_positive:
        from_counts = counts.tp * k1 / (counts.tp * k1 + counts.fp * k2)
    close(balanced, from_counts)
    close(balanced, metrics.precision_at(counts, class_ratio=1))
    weights = np.array(cells) * np.where(np.array(ROWS_TRUE) == 1, k1, k2)
    close(
        balanced,
        sklearn.metrics.precision_score(
            ROWS_TRUE, ROWS_PREDICTED, sample_weight=weights, zero_division=np.nan
        ),
    )


def test_balanced_precision_of_the_flights_is_the_same_in_three_ways(
    flight_rows: dict[str, np.ndarray],
) -> None:
    label, prediction = flight_rows["label"], flight_rows["prediction"]
    cells = [((prediction == p) & (label == y)).sum() for p, y in ((1, 1), (1, 0), (0, 1), (0, 0))]
    counts = ConfusionCounts.from_cells(cells)
    share = label.mean()
    k1, k2 = 0.5 / share, 0.5 / (1 - share)
    balanced = metrics.balanced_precision(counts)
    close(balanced, cells[0] * k1 / (cells[0] * k1 + cells[1] * k2))
    close(balanced, metrics.precision_at(counts, class_ratio=1))
    weights = np.where(label == 1, k1, k2)
    close(balanced, sklearn.metrics.precision_score(label, prediction, sample_weight=weights))


@sampled
@given(tables)
def test_mcnemar_and_the_accuracy_test_are_those_of_statsmodels_and_scipy(cells: Cells) -> None:
    counts = counts_of(cells)
    _, fp, fn, _ = cells
    if fp + fn:
        table = [[0, fp], [fn, 0]]
        plain = sm_tables.mcnemar(table, exact=False, correction=False)
        close(mcnemar(counts, correction=False), (plain.statistic, plain.pvalue), rel=1e-9)
        close(mcnemar_exact(counts), sm_tables.mcnemar(table, exact=True).pvalue, rel=1e-7)
    if fp != fn:
        corrected = sm_tables.mcnemar(table, exact=False, correction=True)
        close(mcnemar(counts), (corrected.statistic, corrected.pvalue), rel=1e-9)
    if sum(cells):
        null = float(metrics.no_information_rate(counts))
        oracle = stats.binomtest(int(cells[0] + cells[3]), sum(cells), null, alternative="greater")
        close(accuracy_p_value(counts), oracle.pvalue, rel=1e-7, absolute=1e-290)


def test_r_drops_the_correction_of_mcnemar_where_the_errors_balance() -> None:
    assert mcnemar(ConfusionCounts(tp=5, fp=7, fn=7, tn=9)) == (0, 1)
    assert np.isnan(mcnemar(ConfusionCounts(tp=5, fp=0, fn=0, tn=9))).all()
    assert np.isnan(mcnemar_exact(ConfusionCounts(tp=5, fp=0, fn=0, tn=9)))


@sampled
@given(count, count, st.sampled_from([0.5, 0.9, 0.95, 0.999]))
def test_the_intervals_of_a_proportion_are_those_of_statsmodels(
    successes: int, failures: int, level: float
) -> None:
    trials = successes + failures
    oracles = {wilson: "wilson", clopper_pearson: "beta", jeffreys: "jeffreys"}
    for interval, method in oracles.items():
        limits = interval(np.array(successes), np.array(trials), level)
        if not trials:
            assert np.isnan(limits).all()
            continue
        expected = list(proportion_confint(successes, trials, alpha=1 - level, method=method))
        if successes == 0:
            expected[0] = 0.0
        if failures == 0:
            expected[1] = 1.0
        close(limits, expected, rel=1e-9, absolute=1e-15)


@pytest.mark.parametrize("name", POINTS)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(tables, min_size=1, max_size=12))
def test_an_array_of_tables_gives_what_each_of_them_gives(name: str, cells: list[Cells]) -> None:
    one_by_one = [POINTS[name](counts_of(table)) for table in cells]
    assert all(isinstance(value, np.float64) for value in one_by_one)
    together = POINTS[name](ConfusionCounts.from_cells(cells))
    assert together.shape == (len(cells),)
    np.testing.assert_array_equal(together, one_by_one)
    square = POINTS[name](ConfusionCounts.from_cells([cells, cells]))
    np.testing.assert_array_equal(square, [one_by_one, one_by_one])


@pytest.mark.parametrize("name", POINTS)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(st.lists(tables, min_size=1, max_size=8))
def test_intervals_of_an_array_are_those_of_each_and_hold_the_point(
    name: str, cells: list[Cells]
) -> None:
    parameters = WITH_PARAMETERS.get(name, {})
    together = metrics.intervals(ConfusionCounts.from_cells(cells), name, **parameters)
    for place, table in enumerate(cells):
        lower, upper = metrics.intervals(counts_of(table), name, **parameters)
        close((together[0][place], together[1][place]), (lower, upper), rel=1e-9)
        point = POINTS[name](counts_of(table))
        assert np.isnan(point) or lower - 1e-12 <= point <= upper + 1e-12


@pytest.mark.parametrize("name", POINTS)
@settings(max_examples=20, deadline=None, derandomize=True)
@given(tables, st.integers(2, 9))
def test_fractional_counts_give_the_same_rates(name: str, cells: Cells, parts: int) -> None:
    whole = POINTS[name](counts_of(cells))
    shared = POINTS[name](ConfusionCounts.from_cells(np.array(cells) / parts))
    close(shared, whole, rel=1e-9, absolute=1e-9)


@sampled
@given(tables.filter(all))
def test_log_odds_of_precision_are_log_r_plus_log_lr(cells: Cells) -> None:
    counts = counts_of(cells)
    both = np.log(metrics.class_ratio(counts)) + metrics.log_likelihood_ratio(counts)
    close(both, np.log(cells[0] / cells[1]), absolute=1e-12)


@sampled
@given(tables, st.integers(1, 50))
def test_what_holds_at_any_prevalence_does_not_move_when_positives_are_thinned(
    cells: Cells, factor: int
) -> None:
    tp, fp, fn, tn = cells
    thinned = ConfusionCounts(tp=tp, fp=fp * factor, fn=fn, tn=tn * factor)
    for name in [
        "balanced_precision",
        "log_likelihood_ratio",
        "recall",
        "false_positive_rate",
        "specificity",
        "balanced_accuracy",
        "precision_gain",
        "precision_at",
        "f_beta_at",
    ]:
        close(POINTS[name](thinned), POINTS[name](counts_of(cells)), absolute=1e-12)


@sampled
@given(tables.filter(lambda cells: cells[0] > 0 and cells[1] + cells[3] > 0))
def test_precision_at_the_observed_class_ratio_is_precision(cells: Cells) -> None:
    counts = counts_of(cells)
    r = metrics.class_ratio(counts)
    close(metrics.precision_at(counts, class_ratio=r), metrics.precision(counts))
    close(
        metrics.f_beta_at(counts, beta=2, class_ratio=r), metrics.f_beta(counts, beta=2), rel=1e-11
    )
    close(
        metrics.precision_gain(counts),
        2 - 1 / metrics.balanced_precision(counts),
        rel=1e-9,
        absolute=1e-9,
    )


@sampled
@given(st.lists(tables, min_size=1, max_size=6))
def test_merged_counts_give_the_mean_weighted_by_what_each_rate_is_of(cells: list[Cells]) -> None:
    panes = ConfusionCounts.from_cells(cells)
    whole = panes.sum()
    recalls = np.nan_to_num(metrics.recall(panes))
    if whole.actual_positive:
        close(
            metrics.recall(whole), np.sum(recalls * panes.actual_positive) / whole.actual_positive
        )


def test_a_parameter_out_of_range_is_refused_with_its_value() -> None:
    counts = ConfusionCounts(tp=1, fp=1, fn=1, tn=1)
    with pytest.raises(ValueError, match=r"precision_at: class_ratio: .* got -1"):
        metrics.precision_at(counts, class_ratio=-1)
    with pytest.raises(ValueError, match=r"f_beta: beta: .* got inf"):
        metrics.f_beta(counts, beta=np.inf)
    assert np.isnan(metrics.precision_at(counts, class_ratio=np.nan))


def test_parameters_broadcast_against_the_counts() -> None:
    counts = ConfusionCounts(tp=[90, 9], fp=[50, 5], fn=[10, 1], tn=[850, 85])
    table = metrics.precision_at(counts[:, None], class_ratio=[1, 1 / 9, 1 / 100])
    assert table.shape == (2, 3)
    close(table[0], table[1])
    assert metrics.g_score(counts[:, None], beta=[1, 2, 3], rho=-1).shape == (2, 3)
