"""Every published or exactly computed value that the metrics must reproduce.

`tests/golden/golden.json` holds doubles rounded from exact rationals or at
least forty digits; null there is undefined, and NaN here.
"""

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from monitor import ConfusionCounts, metrics
from monitor.metrics import means
from monitor.metrics.mover import mover, proportion
from monitor.metrics.proportions import clopper_pearson, jeffreys, wilson
from monitor.metrics.significance import accuracy_p_value, mcnemar, mcnemar_exact

GOLDEN = json.loads((Path(__file__).parents[1] / "golden" / "golden.json").read_text())


def cases(section: str) -> list[Any]:
    return [
        pytest.param(case["input"], case["expected"], id=str(case["input"]))
        for case in GOLDEN[section]
    ]


def counts_of(cells: dict[str, int]) -> ConfusionCounts:
    return ConfusionCounts(tp=cells["TP"], fp=cells["FP"], fn=cells["FN"], tn=cells["TN"])


def same(value: Any, expected: float | None, rel: float = 1e-12) -> bool:
    expected = np.nan if expected is None else expected
    return bool(value == pytest.approx(expected, rel=rel, abs=0, nan_ok=True))


RATES = {
    "prevalence": metrics.prevalence,
    "r": metrics.class_ratio,
    "tpr": metrics.recall,
    "fpr": metrics.false_positive_rate,
    "precision": metrics.precision,
    "balanced_precision": metrics.balanced_precision,
    "log_lr_plus": metrics.log_likelihood_ratio,
}


@pytest.mark.parametrize(("cells", "expected"), cases("counts"))
def test_every_table_gives_the_exact_values(
    cells: dict[str, Any], expected: dict[str, Any]
) -> None:
    counts = counts_of(cells)
    for name, value in expected.items():
        if name.startswith("precision_at_r0="):
            at = float(Fraction(name.partition("=")[2]))
            assert same(metrics.precision_at(counts, class_ratio=at), value), name
        elif name == "logit_precision":
            both = np.log(metrics.class_ratio(counts)) + metrics.log_likelihood_ratio(counts)
            assert both == pytest.approx(value, rel=1e-12, abs=1e-15)
        else:
            assert same(RATES[name](counts), value), name


@pytest.mark.parametrize(("rates", "expected"), cases("williams"))
def test_the_values_of_williams_2021_are_reproduced(
    rates: dict[str, Any], expected: dict[str, Any]
) -> None:
    tpr, fpr, r = (float(Fraction(rates[name])) for name in ("tpr", "fpr", "r"))
    counts = ConfusionCounts(tp=r * tpr, fp=fpr, fn=r * (1 - tpr), tn=1 - fpr)
    assert same(metrics.precision(counts), expected["prec"])
    assert same(metrics.precision_gain(counts), expected["precg"])
    assert same(metrics.recall_gain(counts), expected["recg"])
    assert same(metrics.balanced_precision(counts), expected["balanced_precision"])
    for beta in rates["betas"]:
        beta_value = float(Fraction(beta))
        score = expected[f"fbeta={beta}"]
        assert same(metrics.f_beta(counts, beta=beta_value), score)
        assert same(metrics.f_beta_at(counts, beta=beta_value, class_ratio=r), score)
        assert same(metrics.g_score(counts, beta=beta_value, rho=-2), score)


@pytest.mark.parametrize(("arguments", "expected"), cases("g_beta_rho"))
def test_g_reproduces_every_value(arguments: dict[str, str], expected: float) -> None:
    numbers = {name: float(value) for name, value in arguments.items()}
    value = means.g(numbers["P"], numbers["R"], beta=numbers["beta"], rho=numbers["rho"])
    assert same(value, expected)


@pytest.mark.parametrize(("cells", "expected"), cases("caret"))
def test_everything_that_caret_prints_is_reproduced(
    cells: dict[str, Any], expected: dict[str, Any]
) -> None:
    table = metrics.summary(counts_of(cells))
    estimates = {
        "accuracy": table.accuracy,
        "no_information_rate": table.no_information_rate,
        "kappa": table.cohen_kappa,
        "sensitivity": table.recall,
        "specificity": table.specificity,
        "pos_pred_value": table.precision,
        "neg_pred_value": table.negative_predictive_value,
        "prevalence": table.prevalence,
        "detection_rate": table.detection_rate,
        "detection_prevalence": table.predicted_positive_rate,
        "balanced_accuracy": table.balanced_accuracy,
        "f1": table.f_1,
        "balanced_precision": table.balanced_precision,
    }
    for name, estimate in estimates.items():
        assert same(estimate.value, expected[name]), name
    assert table.accuracy[1:] == pytest.approx(expected["accuracy_ci_exact"], rel=1e-9)
    assert same(table.accuracy_p_value, expected["p_value_acc_gt_nir"], rel=1e-9)
    assert same(table.mcnemar_statistic, expected["mcnemar_chi2_cc"])
    assert same(table.mcnemar_p_value, expected["mcnemar_p"])


@pytest.mark.parametrize(("cells", "expected"), cases("caret"))
def test_the_other_forms_of_its_tests_are_reproduced(
    cells: dict[str, Any], expected: dict[str, Any]
) -> None:
    counts = counts_of(cells)
    assert same(mcnemar(counts, correction=False).p_value, expected["mcnemar_p_no_cc"])
    assert same(mcnemar_exact(counts), expected["mcnemar_p_exact"], rel=1e-9)
    assert same(accuracy_p_value(counts), expected["p_value_acc_gt_nir"], rel=1e-9)
    harmonic = means.weighted_power_mean(
        metrics.specificity(counts), metrics.recall(counts), gamma=1, phi=-1
    )
    assert same(harmonic, expected["harmonic_mean_sens_spec"])


SHARES = {
    "precision": lambda counts: (counts.tp, counts.predicted_positive),
    "tpr": lambda counts: (counts.tp, counts.actual_positive),
    "fpr": lambda counts: (counts.fp, counts.actual_negative),
    "prevalence": lambda counts: (counts.actual_positive, counts.total),
}


@pytest.mark.parametrize(("cells", "expected"), cases("intervals95"))
def test_the_intervals_of_a_proportion_are_reproduced(
    cells: dict[str, Any], expected: dict[str, Any]
) -> None:
    counts = counts_of(cells)
    for name, share in SHARES.items():
        assert wilson(*share(counts), 0.95) == pytest.approx(expected[f"{name}_wilson"], rel=1e-8)
        assert jeffreys(*share(counts), 0.95) == pytest.approx(
            expected[f"{name}_jeffreys"], rel=1e-9
        )
    for name, metric in {"tpr": "recall", "fpr": "false_positive_rate"}.items():
        assert metrics.intervals(counts, metric) == pytest.approx(
            expected[f"{name}_wilson"], rel=1e-8
        )


def with_mover(section: str) -> list[Any]:
    return [case for case in cases(section) if "log_lr_mover_wilson" in case.values[1]]


@pytest.mark.parametrize(("cells", "expected"), with_mover("intervals95"))
def test_log_lr_recovers_its_interval_from_those_of_the_rates(
    cells: dict[str, Any], expected: dict[str, Any]
) -> None:
    counts = counts_of(cells)
    limits = {}
    for name, method in {"wilson": wilson, "jeffreys": jeffreys}.items():
        limits[name] = mover(
            lambda tpr, fpr: np.log(tpr) - np.log(fpr),
            proportion(counts.tp, counts.actual_positive, 0.95, method),
            proportion(counts.fp, counts.actual_negative, 0.95, method),
        )
        golden = expected[f"log_lr_mover_{name}"]
        assert limits[name] == pytest.approx((golden["lo"], golden["hi"]), rel=1e-8)
        assert same(metrics.log_likelihood_ratio(counts), golden["est"])
    lower, upper = metrics.intervals(counts, "log_likelihood_ratio")
    assert lower <= min(limits["wilson"][0], limits["jeffreys"][0]) + 1e-9
    assert upper >= max(limits["wilson"][1], limits["jeffreys"][1]) - 1e-9


@pytest.mark.parametrize(("cells", "expected"), with_mover("intervals95"))
def test_the_published_interval_holds_koopmans_score_interval(
    cells: dict[str, Any], expected: dict[str, Any]
) -> None:
    counts = counts_of(cells)
    lower, upper = metrics.intervals(counts, "log_likelihood_ratio")
    assert lower < expected["log_lr_koopman"]["lo"]
    assert upper > expected["log_lr_koopman"]["hi"]
    at = {"balanced_precision_koopman": 1, "precision_at_r0=0.01_koopman": 0.01}
    for name, class_ratio in at.items():
        lower, upper = metrics.intervals(counts, "precision_at", class_ratio=class_ratio)
        assert lower < expected[name][0]
        assert upper > expected[name][1]


def test_the_exact_interval_is_that_of_r_binom_test() -> None:
    assert clopper_pearson(np.array(420), np.array(525), 0.95) == pytest.approx(
        GOLDEN["caret"][0]["expected"]["accuracy_ci_exact"], rel=1e-9
    )
