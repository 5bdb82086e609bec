"""Surveys recorded events for a configuration: their models, labels, delays and volume."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from monitor.cli.unlabelled_end import UnlabelledEnd, unlabelled_end
from monitor.clock import DAY_MS, HOUR_MS
from monitor.config import Config, Labelling
from monitor.config.mapping import FIELDS, SEGMENT
from monitor.config.quantities import parse_duration
from monitor.counts import ConfusionCounts
from monitor.drift.detectors import FEWEST_FALSE_POSITIVES, FEWEST_POSITIVES
from monitor.engine import Monitor
from monitor.events.columns import EARLIEST_MS, LATEST_MS
from monitor.feeds.segment_keys import MOST_KEYS, MOST_VALUES, values_by_name
from monitor.snapshot import ModelState, Snapshot
from monitor.windows.range_counts import RangeCounts

TIMEOUTS = ("1d", "2d", "3d", "7d", "14d", "30d", "60d", "90d", "180d", "365d")
"""Label timeouts to choose from."""
WINDOWS = ("1h", "6h", "1d", "7d", "30d")
"""Windows to choose from."""
UNKNOWN_TIMEOUT = "30d"
"""The shortest label timeout to propose where the events do not show how late labels come."""
REFERENCES = ("7d", "14d", "30d", "60d")
"""Lengths of the reference to choose from."""

_MOST_WINDOWS = 3
_FLAGGED_A_WINDOW = 100
"""Labelled predicted positives that a window needs: its precision is known to about 0.1."""
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
        windows: windows that its volume can carry, at least one.
        reference: length of the reference to propose, no longer than the labels reach where
            they reach that far.
        complete_ms: the end of that reference, epoch milliseconds, where it lies beyond the
            last prediction; else None.
        detectable: shortest length on which detectors can run; None where none is known to do.
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
    windows: tuple[str, ...]
    reference: str
    complete_ms: int | None
    detectable: str | None
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
        self.monitor = Monitor(config)
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
        detectable = _detectable(counts, labelled_days)
        reference = _reference(detectable, labelled_days)
        complete = first + parse_duration(reference)
        return SurveyedModel(
            name=model.name,
            predictions=model.predictions_positive + model.predictions_negative,
            counts=counts,
            days=days,
            late_days=late,
            unlabelled=unlabelled,
            timeout=_timeout(late, _without_labels(counts, days, unlabelled)),
            windows=_windows(float(counts.predicted_positive) / labelled_days),
            reference=reference,
            complete_ms=complete if complete > last else None,
            detectable=detectable,
            labelling=Labelling.COMPLETE if model.classes else _labelling(counts, model),
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


def _windows(flagged_a_day: float) -> tuple[str, ...]:
    carried = [
        text
        for text in WINDOWS
        if flagged_a_day * parse_duration(text) / DAY_MS >= _FLAGGED_A_WINDOW
    ]
    return tuple(carried[:_MOST_WINDOWS]) or WINDOWS[-1:]


def _detectable(counts: ConfusionCounts, days: float) -> str | None:
    """Return the shortest reference that detectors can use; None where none is long enough.

    Args:
        counts: labelled outcomes.
        days: length of the stretch that they are of.
    """
    least = {FEWEST_POSITIVES: counts.actual_positive, FEWEST_FALSE_POSITIVES: counts.fp}
    needed = max(
        (fewest / float(came) * days if came else math.inf) for fewest, came in least.items()
    )
    return next((text for text in REFERENCES if _in_days(text) >= needed), None)


def _reference(detectable: str | None, days: float) -> str:
    """Return the reference that the labels carry: for detectors, or else to compare with at all.

    Args:
        detectable: shortest length on which detectors can run, if there is one.
        days: length of the stretch with labels. A reference that is too short for detectors
            takes at most half of it, so that as much is left to compare.
    """
    if detectable is not None and _in_days(detectable) <= days:
        return detectable
    carried = [text for text in REFERENCES if 2 * _in_days(text) <= days]
    return carried[-1] if carried else REFERENCES[0]


def _in_days(text: str) -> float:
    return parse_duration(text) / DAY_MS


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
