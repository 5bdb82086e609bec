"""The limit on the series of a scrape: what of a snapshot is exported.

Each model, each source of counts and each segment value takes a fixed number of series, the
possible ones, so that what fits does not change with what is defined; each version of a model
adds some, and so do each class of a model of more than two and each source of labels. Models come
first, then sources, then segment values, each in the order of their appearance: what was exported
stays so until a model, a version or a source of labels appears. Whatever is left out, the rest is
exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import VERSION_KEY, Int64Array, Series
from monitor.prometheus.families import FAMILIES
from monitor.prometheus.family import ModelShape, Shape, shape_of
from monitor.snapshot import Estimate, Snapshot, Window


class LeftOut(NamedTuple):
    """Number of models, sources and segment values that a scrape leaves out.

    Attributes:
        models: number of models.
        sources: number of sources of counts.
        segment_values: number of segment values, those of left-out models included.
    """

    models: int = 0
    sources: int = 0
    segment_values: int = 0


class _Sizes(NamedTuple):
    """Possible series of a snapshot without models, and of each further part.

    A `version` is a segment value; `of_version`, `comparison`, `shadows`, `of_class`, `classes`,
    the series of all classes together, `of_labeller` and `labellers`, likewise of all sources of
    labels, come with their model.
    """

    fixed: int
    model: int
    source: int
    value: int
    version: int
    of_version: int
    comparison: int
    shadows: int
    of_class: int
    classes: int
    of_labeller: int
    labellers: int

    def of_model(self, shape: ModelShape) -> int:
        """Return the size of a model with its versions and classes."""
        compared = len(shape.compared) * self.comparison
        shadows = self.shadows if shape.has_shadows else 0
        classes = self.classes + len(shape.classes) * self.of_class if shape.classes else 0
        versions = len(shape.versions) * self.of_version
        own = self.model + versions + compared + shadows + classes
        labellers = len(shape.label_sources)
        return own + self.labellers + labellers * self.of_labeller if labellers else own

    def of_value(self, series: Series) -> int:
        """Return the size of a segment value."""
        return self.version if series.segment == VERSION_KEY else self.value


def limited(snapshot: Snapshot, most: int) -> tuple[Snapshot, LeftOut]:
    """Return the part of a snapshot that has at most so many series, and what is left out.

    Args:
        snapshot: the snapshot.
        most: maximum number of possible series; the monitor's own are exported in any case.
    """
    sizes = _sizes_of(snapshot)
    room = most - sizes.fixed
    models, room = _fitting([*map(sizes.of_model, shape_of(snapshot).models)], room)
    sources, room = _fitting([sizes.source] * len(snapshot.sources), room)
    exported = {model.name for model in snapshot.models[:models]}
    of_models = [i for i, series in enumerate(snapshot.series) if series.model in exported]
    values = [i for i in of_models if snapshot.series[i].segment is not None]
    fitting, _ = _fitting([sizes.of_value(snapshot.series[i]) for i in values], room)
    all_values = sum(series.segment is not None for series in snapshot.series)
    left = LeftOut(
        models=len(snapshot.models) - models,
        sources=len(snapshot.sources) - sources,
        segment_values=all_values - fitting,
    )
    if not any(left):
        return snapshot, left
    dropped = set(values[fitting:])
    return _part(snapshot, models, sources, [i for i in of_models if i not in dropped]), left


def _sizes_of(snapshot: Snapshot) -> _Sizes:
    """Return how many series the parts of a snapshot can have."""
    shape = shape_of(replace(snapshot, series=(), models=(), sources=()))
    return _sizes(shape)


@lru_cache(maxsize=8)
def _sizes(nothing: Shape) -> _Sizes:
    model = nothing._replace(series=(Series("m"),), models=(ModelShape("m", "", 0),))
    versioned = ModelShape("m", "", 0, versions=("v",))
    compared = ModelShape("m", "", 0, versions=("v",), compared=(("u", "v"),))
    shadowed = ModelShape("m", "", 0, has_shadows=True)
    parts = ("a",), ("a", "b")
    one, two = (
        _count(model._replace(models=(ModelShape("m", "", 0, classes=names),))) for names in parts
    )
    alone, both = (
        _count(model._replace(models=(ModelShape("m", "", 0, label_sources=names),)))
        for names in parts
    )
    fixed, of_versioned = _count(nothing), _count(model._replace(models=(versioned,)))
    return _Sizes(
        fixed=fixed,
        model=_count(model) - fixed,
        source=_count(nothing._replace(sources=("s",))) - fixed,
        value=_count(nothing._replace(series=(Series("m", "k", "v"),))) - fixed,
        version=_count(nothing._replace(series=(Series("m", VERSION_KEY, "v"),))) - fixed,
        of_version=of_versioned - _count(model),
        comparison=_count(model._replace(models=(compared,))) - of_versioned,
        shadows=_count(model._replace(models=(shadowed,))) - _count(model),
        of_class=two - one,
        classes=2 * one - two - _count(model),
        of_labeller=both - alone,
        labellers=2 * alone - both - _count(model),
    )


def _count(shape: Shape) -> int:
    return sum(len(family.lines(shape)) for family in FAMILIES)


def _fitting(sizes: Sequence[int], room: int) -> tuple[int, int]:
    """Return how many of these parts fit, and the room for others: none unless all fit."""
    taken = np.cumsum(sizes)
    fitting = int(np.searchsorted(taken, room, side="right"))
    return fitting, room - int(taken[-1] if len(taken) else 0) if fitting == len(sizes) else 0


def _part(snapshot: Snapshot, models: int, sources: int, rows: Sequence[int]) -> Snapshot:
    taken = np.array(rows, dtype=np.int64)
    place = {row: number for number, row in enumerate(rows)}
    return replace(
        snapshot,
        series=tuple(snapshot.series[row] for row in rows),
        windows=tuple(_rows(window, taken) for window in snapshot.windows),
        lifetime=_rows(snapshot.lifetime, taken),
        models=tuple(replace(m, row=place[m.row]) for m in snapshot.models[:models]),
        sources=snapshot.sources[:sources],
        hidden_series=len(snapshot.series) - len(rows),
        numbers=tuple(rows),
    )


def _rows(window: Window, rows: Int64Array) -> Window:
    """Return a window with some of its rows."""

    def of(estimate: Estimate) -> Estimate:
        return Estimate(*(ends[rows] for ends in estimate))

    return replace(
        window,
        open=window.open[rows],
        close=window.close[rows],
        counts=window.counts[rows],
        predicted_positive=window.predicted_positive[rows],
        predicted_negative=window.predicted_negative[rows],
        metrics={name: of(estimate) for name, estimate in window.metrics.items()},
        precision_at={ratio: of(estimate) for ratio, estimate in window.precision_at.items()},
        status=_if_any(window.status, rows),
        label_fault=_if_any(window.label_fault, rows),
    )


def _if_any(texts: NDArray[Any], rows: Int64Array) -> NDArray[Any]:
    return texts[rows] if len(texts) else texts
