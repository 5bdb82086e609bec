"""Families of gauges that read what is known of each model, or the verdict of each window."""

from collections.abc import Callable, Sequence

import numpy as np

from monitor.events.columns import FloatArray
from monitor.prometheus.family import Family, Labels, Line, Shape, line
from monitor.snapshot import Snapshot
from monitor.verdicts import NOT_COMPARED, Watched, WindowVerdict


def by_window(
    name: str,
    meaning: str,
    read: Callable[[WindowVerdict], Sequence[float]],
    more: Sequence[Labels] = ({},),
) -> Family:
    """Return a family with numbers of each window of each model, one for each label set.

    Args:
        name: of the family.
        meaning: in one sentence.
        read: the numbers of a verdict; NaN where one is undefined.
        more: further labels, one set for each number.
    """

    def lines(shape: Shape) -> list[Line]:
        pairs = [(m.name, w.name) for m in shape.models for w in shape.windows]
        return [line(model=m, window=w, **labels) for m, w in pairs for labels in more]

    def values(snapshot: Snapshot) -> FloatArray:
        found = [
            model.watched.verdicts.get(window.name, NOT_COMPARED)
            for model in snapshot.models
            for window in snapshot.windows
        ]
        return np.array([read(one) for one in found], dtype=np.float64).ravel()

    return Family(
        name=name,
        kind="gauge",
        meaning=meaning,
        labels=("model", "window", *more[0]),
        lines=lines,
        values=values,
    )


def by_model(
    name: str,
    meaning: str,
    read: Callable[[Watched], Sequence[float]],
    more: Sequence[Labels] = ({},),
) -> Family:
    """Return a family with numbers of each model, one for each label set.

    Args:
        name: of the family.
        meaning: in one sentence.
        read: the numbers of what is known of a model; NaN where one is undefined.
        more: further labels, one set for each number.
    """
    return Family(
        name=name,
        kind="gauge",
        meaning=meaning,
        labels=("model", *more[0]),
        lines=lambda shape: [line(model=m.name, **labels) for m in shape.models for labels in more],
        values=lambda snapshot: np.array(
            [read(model.watched) for model in snapshot.models], dtype=np.float64
        ).ravel(),
    )
