"""The classes of a model of many classes as a part of JSON answers."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from monitor.metrics.class_report import WHOLE, ClassReport, Limits
from monitor.report.answer_parts import Count, MetricInterval, OutcomeCounts, defined
from monitor.report.metric_words import JSON_METRICS, MetricValues


class ClassMetrics(MetricValues[MetricInterval], frozen=True, kw_only=True):
    """The metrics of one class against the others.

    Attributes:
        f1: harmonic mean of precision and recall.
    """

    f1: MetricInterval


class OneClass(Struct, frozen=True, kw_only=True):
    """One class, as if the others were one class.

    Attributes:
        predictions: predictions of it, labelled or not.
        outcomes: its outcomes.
        metrics: its metrics.
    """

    predictions: Count
    outcomes: OutcomeCounts
    metrics: ClassMetrics


class AveragedMetrics(Struct, frozen=True, kw_only=True):
    """Averages over the classes in which the metric is defined.

    Attributes:
        precision: of precision.
        recall: of recall.
        f1: of F1.
    """

    precision: MetricInterval
    recall: MetricInterval
    f1: MetricInterval


class ClassAverages(Struct, frozen=True, kw_only=True):
    """Averages of metrics over the classes.

    Attributes:
        macro: every class has the same weight.
        micro: the outcomes of all classes together; each of them is the accuracy.
        weighted: the weight of a class is its number of actual cases.
    """

    macro: AveragedMetrics
    micro: AveragedMetrics
    weighted: AveragedMetrics


class ClassesAnswer(Struct, frozen=True, kw_only=True):
    """The classes of a model of more than two.

    Attributes:
        names: in the configured order, which rows and columns of the matrix have, too.
        matrix: labelled predictions, a row for each predicted class and a column for each
            actual class.
        by_class: each class by its name.
        averages: over the classes.
        accuracy: share of the cases whose predicted class is the actual one.
        cohen_kappa: agreement beyond chance, over the largest possible agreement beyond it.
    """

    names: tuple[str, ...]
    matrix: tuple[tuple[Count, ...], ...]
    by_class: dict[str, OneClass]
    averages: ClassAverages
    accuracy: MetricInterval
    cohen_kappa: MetricInterval


def classes_of(found: ClassReport | None) -> ClassesAnswer | UnsetType:
    """Return the classes of a window as a field of JSON; unset, and so left out, without any."""
    if found is None:
        return UNSET
    accuracy, kappa = (_interval(found.whole[name]) for name in WHOLE)
    return ClassesAnswer(
        names=found.names,
        matrix=tuple(map(tuple, found.matrix.tolist())),
        by_class={name: _one(found, number) for number, name in enumerate(found.names)},
        averages=ClassAverages(
            macro=_averages(found, "macro"),
            micro=AveragedMetrics(precision=accuracy, recall=accuracy, f1=accuracy),
            weighted=_averages(found, "weighted"),
        ),
        accuracy=accuracy,
        cohen_kappa=kappa,
    )


def _one(found: ClassReport, number: int) -> OneClass:
    cells = found.counts[number].cells.tolist()
    metrics = {
        name: _interval(Limits(*(ends[number] for ends in found.metrics[name])))
        for name in (*JSON_METRICS, "f1")
    }
    return OneClass(
        predictions=int(found.predictions[number]),
        outcomes=OutcomeCounts(**dict(zip(OutcomeCounts.__struct_fields__, cells, strict=True))),
        metrics=ClassMetrics(**metrics),
    )


def _averages(found: ClassReport, kind: str) -> AveragedMetrics:
    names = AveragedMetrics.__struct_fields__
    return AveragedMetrics(**{name: _interval(found.averages[kind, name]) for name in names})


def _interval(found: Limits) -> MetricInterval:
    estimate, lower, upper = (defined(float(number)) for number in found)
    return MetricInterval(estimate=estimate, lower=lower, upper=upper)
