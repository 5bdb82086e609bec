"""Summary of one table of outcomes: everything that R caret prints, and more.

`print(summary(counts))` shows the counts, then each metric with its interval. Metrics that
depend on the classifier alone come first, then those that also depend on prevalence.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.metrics import rates
from monitor.metrics.agreement import cohen_kappa, matthews_corrcoef
from monitor.metrics.effective_cases import effective
from monitor.metrics.f_family import f_beta, precision_gain, recall_gain
from monitor.metrics.intervals import intervals
from monitor.metrics.precision import balanced_precision, log_likelihood_ratio, precision
from monitor.metrics.proportions import clopper_pearson
from monitor.metrics.significance import accuracy_p_value, mcnemar

if TYPE_CHECKING:
    from collections.abc import Callable

    from monitor.counts import ConfusionCounts, CountArray
    from monitor.metrics.ratio import FloatArray


class ScalarEstimate(NamedTuple):
    """A metric of one table with its confidence limits; NaN where undefined.

    Attributes:
        value: value of the metric.
        lower: lower limit.
        upper: upper limit.
    """

    value: float
    lower: float
    upper: float

    def __str__(self) -> str:
        reach = "" if math.isnan(self.lower) else f" to {_number(self.upper)}"
        return f"{_number(self.value):>9}   {_number(self.lower):>9}{reach}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Summary:
    """One table of outcomes with all metrics and tests.

    Attributes:
        counts: the outcomes, scalars.
        level: coverage of the intervals.
        accuracy: accuracy, with the exact interval of Clopper and Pearson.
        accuracy_p_value: one-sided p-value of accuracy above the no-information rate.
        mcnemar_statistic: McNemar's χ², with Yates' correction unless FP = FN.
        mcnemar_p_value: p-value of McNemar's test.

    Every other attribute is the `ScalarEstimate` of the metric of the same name; `f_1` is
    `f_beta` at β = 1. R caret calls `recall` sensitivity, `precision` positive predictive
    value, and `predicted_positive_rate` detection prevalence.

    >>> from monitor import ConfusionCounts
    >>> table = summary(ConfusionCounts(tp=81, fp=67, fn=38, tn=339))
    >>> print(round(table.accuracy.lower, 4), round(table.mcnemar_p_value, 6))
    0.7632 0.006285
    """

    counts: ConfusionCounts
    level: float
    recall: ScalarEstimate
    specificity: ScalarEstimate
    false_positive_rate: ScalarEstimate
    false_negative_rate: ScalarEstimate
    balanced_precision: ScalarEstimate
    balanced_accuracy: ScalarEstimate
    log_likelihood_ratio: ScalarEstimate
    precision_gain: ScalarEstimate
    precision: ScalarEstimate
    negative_predictive_value: ScalarEstimate
    accuracy: ScalarEstimate
    f_1: ScalarEstimate
    recall_gain: ScalarEstimate
    cohen_kappa: ScalarEstimate
    matthews_corrcoef: ScalarEstimate
    predicted_positive_rate: ScalarEstimate
    detection_rate: ScalarEstimate
    prevalence: ScalarEstimate
    class_ratio: ScalarEstimate
    no_information_rate: ScalarEstimate
    accuracy_p_value: float
    mcnemar_statistic: float
    mcnemar_p_value: float

    def __str__(self) -> str:
        """Return the table and its metrics as plain text, an undefined value as an em dash."""
        lines = [*_matrix(self.counts), "", f"{'':33}estimate   {100 * self.level:g} % interval"]
        for heading, rows in _SECTIONS.items():
            lines += ["", heading]
            lines += [f"  {row.title:30}{getattr(self, name)}" for name, row in rows.items()]
        chance, errors = self.accuracy_p_value, self.mcnemar_p_value
        return "\n".join(
            [
                *lines,
                "",
                "Tests",
                f"  {'accuracy above no information':31} p {_probability(chance)}",
                f"  {'FP as common as FN (McNemar)':31} p {_probability(errors)}",
            ]
        )


def summary(counts: ConfusionCounts, *, level: float = 0.95, dispersion: float = 1.0) -> Summary:
    """Return every metric of one table with its interval, and caret's two tests.

    Args:
        counts: outcomes of one window, scalars; `counts.sum()` merges several.
        level: coverage of the intervals, in (0, 1).
        dispersion: variance over that of independent cases, at least 1; it widens the
            intervals and increases the p-values.

    Returns:
        The summary, to print or to read by attribute.

    Raises:
        ValueError: the counts are arrays, or the level or the dispersion is out of range.

    Source:
        R caret `confusionMatrix` (Kuhn 2008); Soroka 2024; Williams 2021.

    >>> from monitor import ConfusionCounts, metrics
    >>> print(metrics.summary(ConfusionCounts(tp=90, fp=50, fn=10, tn=850)).f_1.value)
    0.75
    """
    if counts.shape != ():
        raise ValueError(
            f"summary: counts must be one table, got shape {counts.shape}; merge by counts.sum()"
        )
    independent = effective(counts, dispersion)
    test = mcnemar(independent)
    return Summary(
        counts=counts,
        level=level,
        **{name: _estimate(counts, name, level, dispersion) for name in _ROWS},
        accuracy_p_value=float(accuracy_p_value(independent)),
        mcnemar_statistic=float(test.statistic),
        mcnemar_p_value=float(test.p_value),
    )


def _estimate(
    counts: ConfusionCounts, name: str, level: float, dispersion: float
) -> ScalarEstimate:
    """The metric with its interval; that of accuracy is exact, as in caret."""
    if name == "accuracy":
        cases = effective(counts, dispersion)
        lower, upper = clopper_pearson(cases.tp + cases.tn, cases.total, level)
    elif name == "f_1":
        lower, upper = intervals(counts, "f_beta", level, beta=1, dispersion=dispersion)
    else:
        lower, upper = intervals(counts, name, level, dispersion=dispersion)
    return ScalarEstimate(float(_ROWS[name].metric(counts)), float(lower), float(upper))


def _matrix(counts: ConfusionCounts) -> list[str]:
    rows = [
        ("", "actual positive", "actual negative"),
        ("predicted positive", _count(counts.tp), _count(counts.fp)),
        ("predicted negative", _count(counts.fn), _count(counts.tn)),
    ]
    return [f"{name:20}{positive:>17}{negative:>19}" for name, positive, negative in rows]


def _count(cases: CountArray) -> str:
    return f"{cases:,.0f}" if cases == np.round(cases) else f"{cases:,.1f}"


def _number(value: float) -> str:
    """Format with four decimals; with three significant digits below .001."""
    if math.isnan(value):
        return "—"
    if math.isinf(value):
        return "∞" if value > 0 else "-∞"
    return f"{value:.2e}" if 0 < abs(value) < _SMALL else f"{value:.4f}"


def _probability(value: float) -> str:
    """Format a p-value with its sign; one that underflows is below the least float, not 0."""
    if math.isnan(value):
        return "= —"
    return f"= {value:.4g}" if value > 0 else f"< {sys.float_info.min:.0e}"


_SMALL = 0.001


class _Row(NamedTuple):
    title: str
    metric: Callable[[ConfusionCounts], FloatArray]


_CLASSIFIER = {
    "recall": _Row("recall (sensitivity)", rates.recall),
    "specificity": _Row("specificity", rates.specificity),
    "false_positive_rate": _Row("false-positive rate", rates.false_positive_rate),
    "false_negative_rate": _Row("false-negative rate", rates.false_negative_rate),
    "balanced_precision": _Row("balanced precision", balanced_precision),
    "balanced_accuracy": _Row("balanced accuracy", rates.balanced_accuracy),
    "log_likelihood_ratio": _Row("log LR+ (skill)", log_likelihood_ratio),
    "precision_gain": _Row("precision gain", precision_gain),
}

_AT_THIS_PREVALENCE = {
    "precision": _Row("precision (pos. pred. value)", precision),
    "negative_predictive_value": _Row("neg. predictive value", rates.negative_predictive_value),
    "accuracy": _Row("accuracy (exact interval)", rates.accuracy),
    "f_1": _Row("F1", partial(f_beta, beta=1)),
    "recall_gain": _Row("recall gain", recall_gain),
    "cohen_kappa": _Row("Cohen's kappa", cohen_kappa),
    "matthews_corrcoef": _Row("Matthews' correlation", matthews_corrcoef),
    "predicted_positive_rate": _Row("predicted-positive rate", rates.predicted_positive_rate),
    "detection_rate": _Row("detection rate", rates.detection_rate),
}

_CASES = {
    "prevalence": _Row("prevalence", rates.prevalence),
    "class_ratio": _Row("class ratio P/N", rates.class_ratio),
    "no_information_rate": _Row("no-information rate", rates.no_information_rate),
}

_SECTIONS = {
    "The classifier, whatever the prevalence": _CLASSIFIER,
    "The classifier at this prevalence": _AT_THIS_PREVALENCE,
    "The cases": _CASES,
}

_ROWS = _CLASSIFIER | _AT_THIS_PREVALENCE | _CASES
