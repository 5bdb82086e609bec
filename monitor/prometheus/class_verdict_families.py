"""Families about verdicts and detectors, with one more label for the classes of a model of many.

A class has the series of the whole model, with one more label: `class`. Other models have none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np

from monitor.drift.class_attribution import ClassAttribution
from monitor.events.columns import FloatArray
from monitor.prometheus.family import Family, Labels, Line, Shape, line
from monitor.snapshot import ModelState, Snapshot
from monitor.verdicts import Watched

ReadWindow = Callable[[ModelState, str, int], Sequence[float]]
"""Numbers of one class of a model, by its number, in a window by its name."""

_UNKNOWN = Watched()


def by_class_and_window(family: Family, more: Sequence[Labels], read: ReadWindow) -> Family:
    """Return a family by window with the same numbers for each class.

    Args:
        family: of the windows of models.
        more: its further label sets.
        read: a number for each of these.
    """

    def lines(shape: Shape) -> list[Line]:
        return [
            *family.lines(shape),
            *(
                line(model=model.name, window=window.name, **{"class": name}, **labels)
                for model in shape.models
                for window in shape.windows
                for name in model.classes
                for labels in more
            ),
        ]

    def values(snapshot: Snapshot) -> FloatArray:
        found = [
            read(model, window.name, number)
            for model in snapshot.models
            for window in snapshot.windows
            for number in range(len(classes_of(model)))
        ]
        return np.concatenate([family.values(snapshot), np.array(found, dtype=np.float64).ravel()])

    return replace(family, labels=(*family.labels, "class"), lines=lines, values=values)


def by_class(family: Family, read: Callable[[Watched], float]) -> Family:
    """Return a family by model with the same number for each class.

    Args:
        family: of models.
        read: the number of a class; NaN where it is undefined.
    """

    def lines(shape: Shape) -> list[Line]:
        return [
            *family.lines(shape),
            *(
                line(model=model.name, **{"class": name})
                for model in shape.models
                for name in model.classes
            ),
        ]

    def values(snapshot: Snapshot) -> FloatArray:
        found = [
            read(watched_class(model, name))
            for model in snapshot.models
            for name in classes_of(model)
        ]
        return np.concatenate([family.values(snapshot), np.array(found, dtype=np.float64)])

    return replace(family, labels=(*family.labels, "class"), lines=lines, values=values)


def classes_of(model: ModelState) -> tuple[str, ...]:
    """Return the names of a model's classes; none of a model of two."""
    return next((report.names for report in model.classes.values()), ())


def watched_class(model: ModelState, name: str) -> Watched:
    """Return what is known of a class against the others; nothing before its reference.

    Args:
        model: of many classes.
        name: of the class.
    """
    classes = model.watched.classes
    return _UNKNOWN if classes is None else classes.by_class[name]


def causes_of_class(model: ModelState, window: str, number: int, scale: str) -> list[float]:
    """Return what the prevalence of all classes, recall and leaks add to a class's precision.

    Args:
        model: of many classes.
        window: its name.
        number: of the class.
        scale: `logit` or `points`.
    """
    classes = model.watched.classes
    found: ClassAttribution | None = None if classes is None else classes.causes.get(window)
    if found is None:
        return [np.nan] * 3
    parts = found.prevalence, found.recall, found.leaked
    return [float(getattr(part, scale)[number]) for part in parts]
