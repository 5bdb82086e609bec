"""Series by class, of models of more than two classes, and of all classes together.

A class has the series of the whole model, with one more label: `class`. Other models have none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import FloatArray
from monitor.metrics.class_matrix import AVERAGES
from monitor.metrics.class_report import ClassReport
from monitor.prometheus.family import BOUNDS, Bound, Family, Line, Shape, line
from monitor.snapshot import Snapshot

ReadClasses = Callable[[ClassReport], NDArray[Any]]
"""A number for each class, or a row of numbers."""


class WholeWords(NamedTuple):
    """A metric of all classes together, in words.

    Attributes:
        stem: name of its series without bound and unit.
        unit: suffix of its series, "ratio" or none.
        meaning: one sentence; the HELP text of its series.
    """

    stem: str
    unit: str
    meaning: str


_WHOLE = {
    "accuracy": WholeWords(
        "classifier_accuracy",
        "ratio",
        "Share of cases whose predicted class is the actual one, of more than two.",
    ),
    "cohen_kappa": WholeWords(
        "classifier_cohen_kappa", "", "Cohen's kappa of more than two classes."
    ),
}


def with_classes(family: Family, read: ReadClasses, label: str = "", *values: str) -> Family:
    """Return a family by window with the same number for each class.

    Args:
        family: of the windows of models and segment values.
        read: the numbers of the classes of a window.
        label: name of one more label; "" for none.
        values: of that label, one for each column of the numbers.
    """
    more = [{label: value} for value in values] or [{}]

    def lines(shape: Shape) -> list[Line]:
        return [*family.lines(shape), *_class_lines(shape, more)]

    def numbers(snapshot: Snapshot) -> FloatArray:
        return np.concatenate([family.values(snapshot), _class_numbers(snapshot, read)])

    return replace(family, labels=(*family.labels, "class"), lines=lines, values=numbers)


def class_families() -> Iterator[Family]:
    """Yield the families that models of more than two classes alone have."""
    for bound in BOUNDS:
        meaning = "Harmonic mean of precision and recall (F1) of a class." + bound.remark
        empty = _empty(_name("classifier_f_score", bound, "ratio"), meaning)
        yield with_classes(empty, metric_of_classes("f1", bound))
    for name, words in _WHOLE.items():
        yield from (_of_all(name, words, bound) for bound in BOUNDS)
    yield from map(_averages, BOUNDS)


def _of_all(metric: str, words: WholeWords, bound: Bound) -> Family:
    return _whole(
        _name(words.stem, bound, words.unit),
        words.meaning + bound.remark,
        lambda report: [getattr(report.whole[metric], bound.field)],
    )


def _averages(bound: Bound) -> Family:
    return _whole(
        _name("classifier_class_average", bound, "ratio"),
        "Average of a metric over the classes in which it is defined: macro, each alike, or "
        "weighted by actual cases." + bound.remark,
        lambda report: [getattr(limits, bound.field) for limits in report.averages.values()],
        [{"average": kind, "metric": metric} for kind, metric in AVERAGES],
    )


def _name(stem: str, bound: Bound, unit: str) -> str:
    return "_".join(filter(None, (stem, bound.infix, unit)))


def metric_of_classes(metric: str, bound: Bound) -> ReadClasses:
    """Return how a metric, or a limit of it, is read for each class.

    Args:
        metric: its name, one of `CLASS_METRICS`.
        bound: the estimate, or which limit.
    """
    return lambda report: np.asarray(getattr(report.metrics[metric], bound.field))


def _empty(name: str, meaning: str) -> Family:
    return Family(
        name=name,
        kind="gauge",
        meaning=meaning,
        labels=("model", "window"),
        lines=lambda _: [],
        values=lambda _: np.empty(0),
    )


def _whole(
    name: str,
    meaning: str,
    read: Callable[[ClassReport], list[Any]],
    more: list[dict[str, str]] | None = None,
) -> Family:
    labels = more or [{}]

    def lines(shape: Shape) -> list[Line]:
        return [
            line(model=model.name, window=window, **label)
            for window in _windows(shape)
            for model in shape.models
            if model.classes
            for label in labels
        ]

    return replace(
        _empty(name, meaning),
        labels=("model", "window", *labels[0]),
        lines=lines,
        values=lambda snapshot: _class_numbers(snapshot, lambda report: np.array(read(report))),
    )


def _class_lines(shape: Shape, more: list[dict[str, str]]) -> Iterator[Line]:
    for window in _windows(shape):
        for model in shape.models:
            for name in model.classes:
                for label in more:
                    yield line(model=model.name, window=window, **{"class": name}, **label)


def _windows(shape: Shape) -> list[str]:
    return [window.name for window in (*shape.windows, shape.lifetime)]


def _class_numbers(snapshot: Snapshot, read: ReadClasses) -> FloatArray:
    """Return the numbers of all windows, then of the lifetime, in the order of the lines."""
    found = [
        read(model.classes[window.name]).ravel()
        for window in (*snapshot.windows, snapshot.lifetime)
        for model in snapshot.models
        if model.classes
    ]
    return np.concatenate([np.empty(0), *found])
