"""Everything that is known of the classes of one window, with intervals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from monitor.config.classes import LearnedNames
from monitor.counts import ConfusionCounts
from monitor.events.columns import OTHER_VALUE, Int64Array
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
from monitor.metrics.f_family import f_beta
from monitor.metrics.intervals import METRICS, WINDOW_METRICS, intervals
from monitor.metrics.ratio import FloatArray

LEVEL = 0.95
"""Coverage of the intervals."""
WHOLE = ("accuracy", "cohen_kappa")
"""Metrics of all classes together."""
CLASS_METRICS = (*WINDOW_METRICS, "f1")
"""Metrics of each class against the others."""


class Limits(NamedTuple):
    """A metric with its 95 % interval; NaN where undefined.

    Attributes:
        estimate: the value.
        lower: lower limit.
        upper: upper limit.
    """

    estimate: FloatArray
    lower: FloatArray
    upper: FloatArray


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassReport:
    """The classes of one window of a model.

    Attributes:
        names: of the classes, in the configured order, which the arrays have, too.
        matrix: int64 (classes, classes), labelled predictions by predicted and actual class.
        predictions: int64 (classes,), predictions by predicted class, labelled or not.
        counts: outcomes of each class, as if the others were one class.
        metrics: `CLASS_METRICS` of these outcomes, an element for each class.
        whole: `WHOLE`, single numbers.
        averages: over the classes, single numbers, by kind (`macro`, `weighted`) and metric
            (`precision`, `recall`, `f1`). `OTHER_VALUE` of learned names is no class among them.
        learned: the names are those that the model has learned so far.
    """

    names: tuple[str, ...]
    matrix: Int64Array
    predictions: Int64Array
    counts: ConfusionCounts
    metrics: Mapping[str, Limits]
    whole: Mapping[str, Limits]
    averages: Mapping[tuple[str, str], Limits]
    learned: bool


def class_report(
    names: tuple[str, ...], matrix: Int64Array, predictions: Int64Array, *, withheld: bool = False
) -> ClassReport:
    """Return the metrics of a window's classes.

    Args:
        names: of the classes, listed or learned.
        matrix: int64 (classes, classes), by predicted and actual class.
        predictions: int64 (classes,), by predicted class.
        withheld: leave the metrics undefined: too few labels have come.
    """
    counts = one_against_rest(matrix)
    shown = np.zeros_like(matrix) if withheld else matrix
    of_shown = one_against_rest(shown)
    among, learned = None, isinstance(names, LearnedNames)
    if learned:
        among = np.array([name != OTHER_VALUE for name in names])
    averages = class_averages(shown, among)
    return ClassReport(
        names=tuple(names),
        matrix=matrix,
        predictions=predictions,
        counts=counts,
        metrics={name: _of_classes(of_shown, name) for name in CLASS_METRICS},
        whole={
            "accuracy": Limits(class_accuracy(shown), *accuracy_interval(shown, LEVEL)),
            "cohen_kappa": Limits(class_kappa(shown), *kappa_interval(shown, LEVEL)),
        },
        averages={
            name: Limits(averages[name], *average_interval(shown, *name, LEVEL, among))
            for name in AVERAGES
        },
        learned=learned,
    )


def _of_classes(counts: ConfusionCounts, name: str) -> Limits:
    if name == "f1":
        return Limits(f_beta(counts, beta=1), *intervals(counts, "f_beta", level=LEVEL, beta=1))
    return Limits(METRICS[name].value(counts), *intervals(counts, name, level=LEVEL))
