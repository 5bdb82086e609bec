"""The families about windows: the quality of the classifier, and the outcomes behind it.

The monitor computes windows, rather than leaving them to `increase()`, because they are
windows of event time over labels that come late, which a scraper cannot rebuild.
Configured windows exist for models and for segments, the lifetime (`window="all"`) for
models. Windows overlap, and segments lie inside totals: never add up either.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import FloatArray, Series
from monitor.prometheus.class_families import metric_of_classes, with_classes
from monitor.prometheus.family import BOUNDS, Bound, Family, Labels, Line, Shape, line
from monitor.report.label_words import WINDOW_STATUSES
from monitor.report.vocabulary import METRIC_WORDS
from monitor.snapshot import Snapshot, Window

Read = Callable[[Window], NDArray[Any]]
"""A number for each row of a window, or a row of numbers."""

_ROW = ("model", "window", "segment", "value")
_OUTCOMES = ("tp", "fp", "fn", "tn")
_PREDICTED = ("positive", "negative")
_OF_THE_REFERENCE = "reference"
_STATUSES = tuple(WINDOW_STATUSES)


def window_families() -> Iterator[Family]:
    """Yield the families about windows, in the order of the exposition."""
    for name, row in METRIC_WORDS.items():
        for bound in BOUNDS:
            series, meaning = row.series(bound.infix), row.meaning + bound.remark
            family = _by_window(series, meaning, _metric(name, bound.field))
            yield with_classes(family, metric_of_classes(name, bound))
    yield from map(_at_reference, BOUNDS)
    yield _outcomes()
    yield _coverage()
    yield _status()
    yield _edge(
        "classifier_window_open_timestamp_seconds",
        "First moment of the window, event time.",
        lambda window: window.open,
    )
    yield _edge(
        "classifier_window_close_timestamp_seconds",
        "First moment after the window, event time.",
        lambda window: window.close,
    )
    yield _names()


def _rows(shape: Shape) -> Iterator[tuple[Labels, tuple[float, ...]]]:
    """Labels and class ratios of all rows of all windows, then of the models' lifetimes."""
    for name, class_ratios in shape.windows:
        for series in shape.series:
            yield _row_labels(series, name), class_ratios
    for model in shape.models:
        yield {"model": model.name, "window": shape.lifetime.name}, shape.lifetime.class_ratios


def _row_labels(series: Series, window: str) -> Labels:
    labels = {"model": series.model, "window": window}
    if series.segment is not None:
        labels |= {"segment": series.segment, "value": series.value or ""}
    return labels


def _totals(snapshot: Snapshot) -> list[int]:
    return [model.row for model in snapshot.models]


def _numbers(snapshot: Snapshot, read: Read) -> FloatArray:
    """The numbers that `read` gives, in the order of `_rows`."""
    parts = [read(window).ravel() for window in snapshot.windows]
    parts.append(read(snapshot.lifetime)[_totals(snapshot)].ravel())
    return np.concatenate(parts, dtype=np.float64)


def _by_window(
    name: str, meaning: str, read: Read, label: str = "", label_values: Sequence[str] = ()
) -> Family:
    """A gauge for every row of every window, and for each value of one more label."""
    more = [{label: value} for value in label_values] or [{}]
    return Family(
        name=name,
        kind="gauge",
        meaning=meaning,
        labels=(*_ROW, label) if label else _ROW,
        lines=lambda shape: [line(**row, **extra) for row, _ in _rows(shape) for extra in more],
        values=lambda snapshot: _numbers(snapshot, read),
    )


def _metric(metric: str, field: str) -> Read:
    return lambda window: np.asarray(getattr(window.metrics[metric], field))


def _at_reference(bound: Bound) -> Family:
    """Precision at each configured class ratio, and always at that of the reference.

    Models that do not ask for a ratio have NaN there.
    """

    def values(snapshot: Snapshot) -> FloatArray:
        def read(window: Window) -> FloatArray:
            estimates = [*window.precision_at.values(), snapshot.precision_at_reference(window)]
            columns = [getattr(estimate, bound.field) for estimate in estimates]
            return np.array(columns, dtype=np.float64).reshape(len(columns), len(window.open)).T

        return _numbers(snapshot, read)

    return Family(
        name="_".join(filter(None, ("classifier_reference_precision", bound.infix, "ratio"))),
        kind="gauge",
        meaning="Precision if positives to negatives stood at class_ratio; always at the "
        "reference's own, too (class_ratio=reference)." + bound.remark,
        labels=(*_ROW, "class_ratio"),
        lines=lambda shape: [
            line(**row, class_ratio=ratio)
            for row, class_ratios in _rows(shape)
            for ratio in (*map(_shortest, class_ratios), _OF_THE_REFERENCE)
        ],
        values=values,
    )


def _shortest(number: float) -> str:
    """A number as a label value, in the shortest form that reads back the same: 1, not 1.0."""
    return repr(float(number)).removesuffix(".0")


def _outcomes() -> Family:
    family = _by_window(
        "classifier_window_outcomes",
        "Labelled outcomes of the predictions made in the window. Windows overlap: never add them.",
        lambda window: window.counts.cells,
        "outcome",
        _OUTCOMES,
    )
    return with_classes(family, lambda report: report.counts.cells, "outcome", *_OUTCOMES)


def _coverage() -> Family:
    def read(window: Window) -> FloatArray:
        counts = window.counts
        labelled = np.stack([counts.predicted_positive, counts.predicted_negative], axis=-1)
        made = np.stack([window.predicted_positive, window.predicted_negative], axis=-1)
        share: FloatArray = np.full(made.shape, np.nan)
        np.divide(labelled, made, out=share, where=made > 0)
        return share

    return _by_window(
        "classifier_label_coverage_ratio",
        "Share of the predictions made in the window that are labelled, by what was predicted.",
        read,
        "predicted",
        _PREDICTED,
    )


def _edge(name: str, meaning: str, read: Read) -> Family:
    """A moment of each configured window of each model; NaN before event time begins."""

    def values(snapshot: Snapshot) -> FloatArray:
        unit = np.nan if snapshot.now_ms is None else 1000
        moments = [read(window)[_totals(snapshot)] / unit for window in snapshot.windows]
        return np.concatenate([np.empty(0), *moments])

    return Family(
        name=name,
        kind="gauge",
        meaning=meaning,
        labels=("model", "window"),
        lines=_configured,
        values=values,
    )


def _status() -> Family:
    """Of the totals of each configured window; segments mature with their model."""

    def values(snapshot: Snapshot) -> FloatArray:
        rows = _totals(snapshot)
        parts = [
            (window.status[rows, np.newaxis] == np.array(_STATUSES)).ravel()
            if len(window.status)
            else np.full(len(rows) * len(_STATUSES), np.nan)
            for window in snapshot.windows
        ]
        return np.concatenate([np.empty(0), *parts])

    return Family(
        name="classifier_window_status",
        kind="gauge",
        meaning="1 for the labels that the window rests on: mature, corrected for those still to "
        "come, immature (too few; its metrics are absent), or untrusted (absent too, except "
        "precision where predicted positives are labelled).",
        labels=("model", "window", "status"),
        lines=lambda shape: [
            line(model=m.name, window=w.name, status=status)
            for w in shape.windows
            for m in shape.models
            for status in _STATUSES
        ],
        values=values,
    )


def _names() -> Family:
    return Family(
        name="classifier_window_info",
        kind="info",
        meaning="The configured windows of each model; elsewhere, window=all is its lifetime.",
        labels=("model", "window"),
        lines=_configured,
        values=lambda snapshot: np.ones(len(snapshot.windows) * len(snapshot.models)),
    )


def _configured(shape: Shape) -> list[Line]:
    return [line(model=m.name, window=w.name) for w in shape.windows for m in shape.models]
