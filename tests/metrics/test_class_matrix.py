"""Metrics of many classes against scikit-learn and printed tables of R caret."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import sklearn.metrics
from hypothesis import example, given, settings
from hypothesis import strategies as st

from monitor import metrics
from monitor.metrics.class_matrix import (
    AVERAGES,
    accuracy_interval,
    average_interval,
    class_accuracy,
    class_averages,
    class_kappa,
    kappa_interval,
    one_against_rest,
)
from monitor.metrics.class_report import class_report
from monitor.metrics.proportions import clopper_pearson, wilson

matrices = st.integers(2, 7).flatmap(
    lambda k: st.lists(st.integers(0, 9), min_size=k * k, max_size=k * k).map(
        lambda cells: np.array(cells, dtype=np.int64).reshape(k, k)
    )
)


def rows_of(matrix: np.ndarray) -> tuple[Any, Any]:
    """The predicted and the actual class of every case of a matrix."""
    predicted, actual = np.indices(matrix.shape).reshape(2, -1)
    times = matrix.ravel()
    return np.repeat(predicted, times), np.repeat(actual, times)


@given(matrices)
@example(np.array([[0, 1], [0, 0]]))
@settings(deadline=None, max_examples=50)
def test_every_metric_equals_that_of_scikit_learn(matrix: np.ndarray) -> None:
    predicted, actual = rows_of(matrix)
    if not len(actual):
        assert np.isnan(class_accuracy(matrix))
        return
    labels = list(range(len(matrix)))
    assert (matrix == sklearn.metrics.confusion_matrix(actual, predicted, labels=labels).T).all()
    report = sklearn.metrics.classification_report(
        actual, predicted, labels=labels, output_dict=True, zero_division=np.nan
    )
    counts = one_against_rest(matrix)
    ours = {
        "precision": metrics.precision(counts),
        "recall": metrics.recall(counts),
        "f1-score": metrics.f_beta(counts, beta=1),
    }
    for name, values in ours.items():
        expected = [report[str(label)][name] for label in labels]
        np.testing.assert_allclose(values, expected, rtol=1e-12)
    averages = class_averages(matrix)
    for kind, metric in AVERAGES:
        name = "f1-score" if metric == "f1" else metric
        expected = report[f"{kind} avg"][name]
        if kind == "weighted" and np.isnan(ours[name][matrix.sum(axis=0) > 0]).all():
            expected = np.nan  # scikit-learn averages without weights where all of them are 0
        np.testing.assert_allclose(averages[kind, metric], expected, rtol=1e-12)
    assert class_accuracy(matrix) == pytest.approx(np.mean(predicted == actual))
    if len({*predicted.tolist(), *actual.tolist()}) > 1:
        kappa = sklearn.metrics.cohen_kappa_score(actual, predicted)
        np.testing.assert_allclose(class_kappa(matrix), kappa, rtol=1e-9, atol=1e-12)


def test_averages_among_some_classes_are_those_of_scikit_learn() -> None:
    rng = np.random.default_rng(6)
    actual, predicted = rng.integers(0, 6, 300), rng.integers(0, 5, 300)
    matrix = sklearn.metrics.confusion_matrix(actual, predicted, labels=range(6)).T
    among = np.array([True, False, True, True, True, True])
    averages = class_averages(matrix, among)
    for kind, metric in AVERAGES:
        place = ("precision", "recall", "f1").index(metric)
        expected = sklearn.metrics.precision_recall_fscore_support(
            actual, predicted, labels=among.nonzero()[0], average=kind, zero_division=np.nan
        )[place]
        np.testing.assert_allclose(averages[kind, metric], expected, rtol=1e-12)
        lower, upper = average_interval(matrix, kind, metric, 0.95, among)
        assert lower < averages[kind, metric] < upper


CARET = [
    (
        [[12, 0, 0], [0, 16, 2], [0, 1, 14]],
        {"accuracy": (0.9333, 0.8173, 0.986), "kappa": 0.8989},
        {
            "recall": [1.0000, 0.9412, 0.8750],
            "specificity": [1.0000, 0.9286, 0.9655],
            "precision": [1.0000, 0.8889, 0.9333],
            "negative_predictive_value": [1.0000, 0.9630, 0.9333],
            "prevalence": [0.2667, 0.3778, 0.3556],
            "detection_rate": [0.2667, 0.3556, 0.3111],
            "predicted_positive_rate": [0.2667, 0.4000, 0.3333],
            "balanced_accuracy": [1.0000, 0.9349, 0.9203],
        },
    ),
    (
        [[20, 0, 0], [0, 17, 3], [0, 4, 16]],
        {"accuracy": (0.8833, 0.7743, 0.9518), "kappa": 0.825},
        {
            "recall": [1.0000, 0.8095, 0.8421],
            "specificity": [1.0000, 0.9231, 0.9024],
            "precision": [1.0000, 0.8500, 0.8000],
            "negative_predictive_value": [1.0000, 0.9000, 0.9250],
            "prevalence": [0.3333, 0.3500, 0.3167],
            "detection_rate": [0.3333, 0.2833, 0.2667],
            "predicted_positive_rate": [0.3333, 0.3333, 0.3333],
            "balanced_accuracy": [1.0000, 0.8663, 0.8723],
        },
    ),
]
"""What caret's `confusionMatrix` prints of two models of the species in R's `iris`."""


@pytest.mark.parametrize(("cells", "whole", "by_class"), CARET)
def test_tables_are_those_that_caret_prints(
    cells: list[list[int]], whole: dict[str, Any], by_class: dict[str, list[float]]
) -> None:
    matrix = np.array(cells)
    counts = one_against_rest(matrix)
    for name, printed in by_class.items():
        assert getattr(metrics, name)(counts).round(4).tolist() == printed, name
    accuracy = (np.trace(matrix), matrix.sum())
    exact = [class_accuracy(matrix), *clopper_pearson(*accuracy, 0.95)]
    assert np.round(exact, 4) == pytest.approx(whole["accuracy"])
    assert class_kappa(matrix).round(4) == whole["kappa"]


@given(matrices)
@settings(max_examples=60, deadline=None)
def test_intervals_contain_their_estimates_and_are_undefined_with_them(matrix: np.ndarray) -> None:
    names = tuple(map(str, range(len(matrix))))
    report = class_report(names, matrix, matrix.sum(axis=1))
    for limits in [*report.whole.values(), *report.averages.values()]:
        estimate, lower, upper = map(float, limits)
        assert np.isnan([estimate, lower, upper]).all() or lower <= estimate <= upper


def test_withheld_metrics_are_undefined_and_counts_are_not() -> None:
    matrix = np.array([[5, 1], [2, 7]])
    report = class_report(("a", "b"), matrix, matrix.sum(axis=1), withheld=True)
    assert report.counts.tp.tolist() == [5, 7]
    assert np.isnan(report.metrics["precision"].estimate).all()
    assert np.isnan(report.whole["accuracy"].lower)


SHARES = np.array(
    [
        [0.30, 0.02, 0.01, 0.01, 0.00],
        [0.02, 0.15, 0.02, 0.01, 0.01],
        [0.01, 0.03, 0.20, 0.01, 0.00],
        [0.01, 0.00, 0.00, 0.10, 0.01],
        [0.00, 0.01, 0.01, 0.01, 0.05],
    ]
)


def drawn_from_shares(cases: int, size: int) -> tuple[np.ndarray, np.ndarray]:
    """Matrices drawn from `SHARES`, and one of so many cases that it has their rates."""
    shares = SHARES / SHARES.sum()
    drawn = np.random.default_rng(3).multinomial(cases, shares.ravel(), size=size)
    return drawn.reshape(-1, 5, 5), np.rint(shares * 1e9).astype(np.int64)


@pytest.mark.parametrize("cases", [100, 1000])
def test_intervals_cover_the_truth_about_as_often_as_they_say(cases: int) -> None:
    seen, many = drawn_from_shares(cases, 2_000)
    truth = class_averages(many)
    found = {name: average_interval(seen, *name, 0.95) for name in AVERAGES}
    pairs = [(truth[name], limits) for name, limits in found.items()]
    pairs += [(class_kappa(many), kappa_interval(seen, 0.95))]
    pairs += [(class_accuracy(many), accuracy_interval(seen, 0.95))]
    covered = [((low <= value) & (value <= high)).mean() for value, (low, high) in pairs]
    assert min(covered) > 0.91
    assert max(covered) < 0.97


@pytest.mark.parametrize("cases", [100, 1000])
def test_intervals_among_some_classes_cover_as_often(cases: int) -> None:
    """Coverage is known to .002, as more matrices are drawn than for all classes."""
    seen, many = drawn_from_shares(cases, 10_000)
    among = np.array([True, True, True, True, False])
    truth = class_averages(many, among)
    for name in AVERAGES:
        low, high = average_interval(seen, *name, 0.95, among)
        assert 0.93 < ((low <= truth[name]) & (truth[name] <= high)).mean() < 0.97, name


@pytest.mark.parametrize(("classes", "right"), [(10, 0.98), (20, 0.9)])
def test_intervals_of_averages_hold_where_a_class_has_few_cases(classes: int, right: float) -> None:
    """Thirty cases of each class in the mean, fifteen of twenty classes."""
    rates = np.full((classes, classes), (1 - right) / (classes - 1))
    np.fill_diagonal(rates, right)
    drawn = np.random.default_rng(4).multinomial(300, (rates / classes).ravel(), size=2000)
    seen = drawn.reshape(-1, classes, classes)
    for kind, metric in AVERAGES:
        low, high = average_interval(seen, kind, metric, 0.95)
        assert ((low <= right) & (right <= high)).mean() > 0.925, (kind, metric)


def test_the_interval_of_an_average_of_one_or_zero_has_a_width() -> None:
    right = np.diag([20, 30, 15])
    for matrix, inside in ((right, 0.97), (np.roll(right, 1, axis=0), 0.03)):
        low, high = average_interval(matrix, "macro", "recall", 0.95)
        assert low < inside < high
        assert 0 <= low < high <= 1


ONE_PREDICTED = [[50, 20, 10], [0, 0, 0], [0, 0, 0]]


@pytest.mark.parametrize(
    ("matrix", "metric", "of_classes"),
    [
        ([[300]], "precision", [(300, 300)]),
        ([[300, 0, 0], [0, 0, 0], [0, 0, 0]], "precision", [(300, 300)]),
        ([[300, 0, 0], [0, 0, 0], [0, 0, 0]], "recall", [(300, 300)]),
        ([[300, 0, 0], [0, 0, 0], [0, 0, 0]], "f1", [(300, 300)]),
        ([[1, 0], [1, 0]], "recall", [(1, 2)]),
        (ONE_PREDICTED, "precision", [(50, 80)]),
        ([[20, 0], [20, 0]], "precision", [(20, 20), (0, 20)]),
        ([[1, 0], [1, 0]], "precision", [(1, 1), (0, 1)]),
        (ONE_PREDICTED, "recall", [(50, 50), (0, 20), (0, 10)]),
    ],
)
def test_an_average_is_as_uncertain_as_the_classes_that_carry_it(
    matrix: list[list[int]], metric: str, of_classes: list[tuple[int, int]]
) -> None:
    """Root of the sum of squares of the standard errors of their shares, with half counts."""
    low, high = average_interval(np.array(matrix), "macro", metric, 0.95)
    right, cases = np.array(of_classes).T
    share = (right + 0.5) / (cases + 1)
    error = np.sqrt((share * (1 - share) / (cases + 1)).sum()) / len(of_classes)
    assert high - low > 1.96 * error
    if len(of_classes) == 1:
        lower, upper = wilson(right[0], cases[0], 0.95)
        assert low <= lower
        assert upper <= high


def test_a_weighted_average_of_one_actual_class_is_no_certainty() -> None:
    low, high = average_interval(np.array([[20, 0], [20, 0]]), "weighted", "precision", 0.95)
    lower, _ = wilson(20, 20, 0.95)
    assert low < lower
    assert high == 1


def test_classes_without_a_metric_do_not_widen_its_average() -> None:
    low, high = average_interval(np.array(ONE_PREDICTED), "macro", "precision", 0.95)
    lower, upper = wilson(50, 80, 0.95)
    assert high - low < 1.1 * (upper - lower)
