"""The families about versions of a model: when each began, its traffic, and how it compares.

The metrics of a version are the series of its segment value, `segment="version"`. A second set
without `segment` would be taken for totals by every query for these.
"""

from collections.abc import Callable, Iterator
from typing import Literal, NamedTuple

import numpy as np

from monitor.drift.version_verdict import SequentialVerdict, VersionVerdict
from monitor.drift.versions_compared import VersionsCompared
from monitor.events.columns import VERSION_KEY, FloatArray
from monitor.prometheus.family import Family, Line, SeriesKind, Shape, line
from monitor.report.worse_version import worse_version_in_use
from monitor.snapshot import ModelState, Snapshot
from monitor.verdicts import VersionsNow


class _Number(NamedTuple):
    """A number of a comparison: what the name of its series has, and its HELP text."""

    part: str
    remark: str
    read: Callable[[SequentialVerdict], float]


_LOWER, _UPPER = (f" {end} end of its confidence sequence." for end in ("Lower", "Upper"))
_LOG_ODDS_RATIO = (
    _Number("", "", lambda found: found.change),
    _Number("_lower", _LOWER, lambda found: found.lower),
    _Number("_upper", _UPPER, lambda found: found.upper),
)
_ROC_DISTANCE = (
    _Number("", "", lambda found: _of_curve(found, "recall")),
    _Number("_lower", _LOWER, lambda found: _of_curve(found, "lower")),
    _Number("_upper", _UPPER, lambda found: _of_curve(found, "upper")),
)


def version_families() -> Iterator[Family]:
    """Yield the families about versions, in the order of the exposition."""
    yield _by_version(
        "classifier_version_info",
        "info",
        "The versions of a model that began last, eight at most.",
        lambda _: 1.0,
    )
    yield _by_version(
        "classifier_version_first_seen_timestamp_seconds",
        "gauge",
        "First prediction of the version, event time: when it was deployed.",
        lambda first: first / 1000,
    )
    yield _traffic()
    yield _verdict()
    yield _worse()
    for number in _LOG_ODDS_RATIO:
        yield _number(
            f"classifier_version_log_odds_ratio{number.part}",
            "Log odds ratio of the version less that of the other, below 0 where it separates the "
            "classes worse. With classifier_version_roc_distance_ratio, that one decides.",
            number,
        )
    for number in _ROC_DISTANCE:
        yield _number(
            f"classifier_version_roc_distance{number.part}_ratio",
            "Recall of the version less that of the ROC curve of the other at the same false "
            "positive rate, below 0 where it is worse at any threshold; absent without scores.",
            number,
        )


def _by_version(name: str, kind: SeriesKind, meaning: str, read: Callable[[int], float]) -> Family:
    """A number of each version, made from the time of its first prediction."""
    return Family(
        name=name,
        kind=kind,
        meaning=meaning,
        labels=("model", "version"),
        lines=lambda shape: [
            line(model=m.name, version=version) for m in shape.models for version in m.versions
        ],
        values=lambda snapshot: np.array(
            [read(first) for m in snapshot.models for _, first in m.latest_versions],
            dtype=np.float64,
        ),
    )


def _traffic() -> Family:
    def lines(shape: Shape) -> list[Line]:
        return [
            line(model=series.model, window=window.name, version=series.value or "")
            for window in shape.windows
            for series in shape.series
            if series.segment == VERSION_KEY
        ]

    def values(snapshot: Snapshot) -> FloatArray:
        totals = {model.name: model.row for model in snapshot.models}
        rows = [
            (i, totals[s.model]) for i, s in enumerate(snapshot.series) if s.segment == VERSION_KEY
        ]
        own, whole = np.array(rows, dtype=np.int64).reshape(-1, 2).T
        parts = [np.empty(0)]
        for window in snapshot.windows:
            made = (window.predicted_positive + window.predicted_negative).astype(np.float64)
            made[made == 0] = np.nan
            parts.append(np.nan_to_num(made[own]) / made[whole])
        return np.concatenate(parts)

    return Family(
        name="classifier_version_traffic_ratio",
        kind="gauge",
        meaning="Share of the predictions made in the window that the version made.",
        labels=("model", "window", "version"),
        lines=lines,
        values=values,
    )


def _verdict() -> Family:
    return Family(
        name="classifier_version_verdict",
        kind="gauge",
        meaning="1 for the verdict on the version that began last, or on one that is worse, "
        "compared with the one beside it over the same time, at equal class ratio and equal mix of "
        "the configured segments; it may be looked at at any time.",
        labels=("model", "version", "against", "verdict"),
        lines=lambda shape: [
            line(**labels, verdict=verdict)
            for labels in _compared(shape)
            for verdict in VersionVerdict
        ],
        values=lambda snapshot: np.array(
            [
                _decided(one).verdict is verdict
                for _, one in _found(snapshot)
                for verdict in VersionVerdict
            ],
            dtype=np.float64,
        ),
    )


def _worse() -> Family:
    return Family(
        name="classifier_version_worse",
        kind="gauge",
        meaning="1 while the version is certainly worse than the one beside it, decides, and "
        "predicted within a day of the latest prediction; 0 otherwise.",
        labels=("model", "version", "against"),
        lines=lambda shape: [line(**labels) for labels in _compared(shape)],
        values=lambda snapshot: np.array(
            [one is worse_version_in_use(model) for model, one in _found(snapshot)],
            dtype=np.float64,
        ),
    )


def _number(name: str, meaning: str, number: _Number) -> Family:
    """A number of each comparison."""
    return Family(
        name=name,
        kind="gauge",
        meaning=f"{meaning}{number.remark}",
        labels=("model", "version", "against"),
        lines=lambda shape: [line(**labels) for labels in _compared(shape)],
        values=lambda snapshot: np.array(
            [_finite(number.read(_decided(one))) for _, one in _found(snapshot)], dtype=np.float64
        ),
    )


def _of_curve(found: SequentialVerdict, name: Literal["recall", "lower", "upper"]) -> float:
    distance = found.from_curve
    return np.nan if distance is None else float(getattr(distance, name))


def _compared(shape: Shape) -> Iterator[dict[str, str]]:
    for model in shape.models:
        for against, version in model.compared:
            yield {"model": model.name, "version": version, "against": against}


def _found(snapshot: Snapshot) -> Iterator[tuple[ModelState, VersionsCompared]]:
    for model in snapshot.models:
        for one in (model.versions_now or VersionsNow()).comparisons:
            yield model, one


def _decided(found: VersionsCompared) -> SequentialVerdict:
    return found.comparison.decided_by.found


def _finite(value: float) -> float:
    return value if np.isfinite(value) else np.nan
