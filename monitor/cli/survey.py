"""Surveys recorded events for a configuration: their models, labels, delays and volume."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from monitor.cli.proposed_reference import (
    Labelled,
    ProposedReference,
    ProposedWindows,
    proposed_reference,
    proposed_windows,
)
from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config, Labelling
from monitor.config.mapping import FIELDS, SEGMENT
from monitor.config.quantities import parse_duration
from monitor.counts import ConfusionCounts
from monitor.diagnosis.unlabelled_end import UnlabelledEnd, unlabelled_end
from monitor.engine import CountingMonitor
from monitor.events.columns import EARLIEST_MS, LATEST_MS, Int64Array
from monitor.feeds.segment_keys import MOST_KEYS, MOST_VALUES, values_by_name
from monitor.snapshot import ModelState, Snapshot
from monitor.watch.first_days import CountsUpTo
from monitor.windows.range_counts import RangeCounts

TIMEOUTS = ("1d", "2d", "3d", "7d", "14d", "30d", "60d", "90d", "180d", "365d")
"""Label timeouts to choose from."""
UNKNOWN_TIMEOUT = "30d"
"""The shortest label timeout to propose where the events do not show how late labels come."""

_SLACK = 2.0
"""The label timeout is at least so many times the age by which .99 of the labels have come."""
_UNEVEN = 2.0
"""Coverage of predicted positives over that of negatives, from which labels are a sample."""


class Segment(NamedTuple):
    """A segment key to propose.

    Attributes:
        key: its name.
        column: where records hold it, nested names with dots.
        values: number of its values in the first records.
    """

    key: str
    column: str
    values: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SurveyedModel:
    """One model of the events.

    Attributes:
        name: its name.
        predictions: distinct predictions.
        counts: labelled outcomes, scalars.
        days: length of the stretch with predictions, days.
        late_days: age by which .99 of the labels of the slower class have come, days; None
            without labels, or where the events do not say when they came.
        unlabelled: the last stretch of time, where labels are missing; None where they are not.
        timeout: label timeout to propose.
        windows: windows that its volume can carry.
        reference: the reference to propose, complete within the events where one is.
        labelling: how its labels seem to come.
        classes: names of its classes that came; none where they are 0 and 1.
    """

    name: str
    predictions: int
    counts: ConfusionCounts
    days: float
    late_days: float | None
    unlabelled: UnlabelledEnd | None
    timeout: str
    windows: ProposedWindows
    reference: ProposedReference
    labelling: Labelling
    classes: tuple[str, ...] = ()


class Surveyor:
    """Counts recorded events; create it before they come, and read it after.

    Args:
        config: of the count.

    Attributes:
        monitor: receives the events.
    """

    def __init__(self, config: Config) -> None:
        self.monitor = CountingMonitor(config)
        self._all: RangeCounts = self.monitor.count_range(EARLIEST_MS, LATEST_MS, HOUR_MS)

    def models(self) -> tuple[SurveyedModel, ...]:
        """Return what the events show of each model that has predictions."""
        snapshot = self.monitor.snapshot()
        predicted = self._all.models
        models = (model for model in snapshot.models if model.name in predicted)
        return tuple(self._model(snapshot, model) for model in models)

    def _model(self, snapshot: Snapshot, model: ModelState) -> SurveyedModel:
        counts = snapshot.lifetime.counts[model.row]
        first, last = self._all.span(model.name)
        days = max((last - first) / DAY_MS, 1 / 24)
        timed = bool(model.delay_sum.any())
        late = model.maturity_ms / DAY_MS if timed and model.maturity_ms is not None else None
        blocks = self._all.steps(self._all.series(model.name)[0])
        unlabelled = unlabelled_end(*blocks, last, model.last_label_ms, timed=timed)
        labelled_days = days if unlabelled is None else days - unlabelled.days
        timeout = _timeout(late, _without_labels(counts, days, unlabelled))
        labelling = Labelling.COMPLETE if model.classes else _labelling(counts, model)
        by_timeout = labelling is Labelling.NEGATIVES_BY_TIMEOUT or model.maturity_ms is None
        age = parse_duration(timeout) if by_timeout else model.maturity_ms or 0
        sums = _sums(*blocks)
        reference = proposed_reference(Labelled(first, last, labelled_days, age, counts, sums))
        flagged_a_day = float(counts.predicted_positive) / labelled_days
        return SurveyedModel(
            name=model.name,
            predictions=model.predictions_positive + model.predictions_negative,
            counts=counts,
            days=days,
            late_days=late,
            unlabelled=unlabelled,
            timeout=timeout,
            windows=proposed_windows(flagged_a_day, reference, last),
            reference=reference,
            labelling=labelling,
            classes=_classes(model),
        )


def proposed_segments(
    rows: Sequence[Mapping[str, Any]], used: frozenset[str]
) -> tuple[Segment, ...]:
    """Return columns of few values, those with the fewest first.

    Args:
        rows: the first records.
        used: columns that hold fields of events.
    """
    found = [
        Segment(column.rpartition(".")[2], column, len(those))
        for column, those in values_by_name(rows).items()
        if 1 < len(those) <= MOST_VALUES and len(those) * 2 <= len(rows)
        if column not in used and column not in FIELDS and not set(column) & set('"\\')
    ]
    return tuple(sorted(found, key=lambda segment: segment.values)[:MOST_KEYS])


def _sums(opens: Int64Array, counts: Int64Array) -> CountsUpTo:
    """Return a function that sums blocks, (blocks, 6), up to each of some moments."""
    nothing = np.zeros((1, counts.shape[1]), dtype=np.int64)
    counted = np.concatenate([nothing, counts.cumsum(axis=0)])

    def up_to(moments: Sequence[int]) -> Int64Array:
        return np.asarray(counted[np.searchsorted(opens, moments)])

    return up_to


def _without_labels(counts: ConfusionCounts, days: float, end: UnlabelledEnd | None) -> float:
    """Return how many days at the end have no labels, all of them where none came."""
    if not int(counts.total):
        return days
    return 0.0 if end is None else end.days


def _timeout(late_days: float | None, unlabelled_days: float) -> str:
    """Return the shortest label timeout in which the labels come, as far as is known.

    Args:
        late_days: age by which .99 of the labels have come; None where it is not known.
        unlabelled_days: days at the end without labels, which may be that late.
    """
    if late_days is None:
        needed = max(unlabelled_days * _SLACK * DAY_MS, parse_duration(UNKNOWN_TIMEOUT))
    else:
        needed = late_days * _SLACK * DAY_MS
    return next((text for text in TIMEOUTS if parse_duration(text) >= needed), TIMEOUTS[-1])


def _classes(model: ModelState) -> tuple[str, ...]:
    """Return the names of the classes that were predicted or labelled."""
    if not model.classes:
        return ()
    ever = model.classes["all"]
    came = ever.predictions + ever.matrix.sum(axis=0)
    return tuple(name for name, cases in zip(ever.names, came.tolist(), strict=True) if cases)


def _labelling(counts: ConfusionCounts, model: ModelState) -> Labelling:
    positive, negative = int(counts.actual_positive), int(counts.actual_negative)
    flagged, others = int(counts.predicted_positive), int(counts.predicted_negative)
    if flagged and not others and model.predictions_negative:
        return Labelling.FLAGGED_ONLY
    if positive and not negative:
        return Labelling.NEGATIVES_BY_TIMEOUT
    shares = [
        came / made if made else math.nan
        for came, made in (
            (flagged, model.predictions_positive),
            (others, model.predictions_negative),
        )
    ]
    return Labelling.SAMPLED if shares[0] > _UNEVEN * shares[1] else Labelling.COMPLETE


def segment_field(segment: Segment) -> str:
    """Return the field of a mapping that names a segment's column.

    Args:
        segment: the proposed key.
    """
    return f"{SEGMENT}{segment.key}"
