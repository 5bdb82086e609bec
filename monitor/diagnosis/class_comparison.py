"""Two stretches of time of a model of many classes, compared class by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.diagnosis.class_label_faults import class_label_faults
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift.class_attribution import ClassAttribution, attribute_classes
from monitor.drift.class_confusions import ConfusionChanges, confusion_changes
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.labels.faults import LabelFault
from monitor.metrics.class_report import ClassReport, class_report
from monitor.snapshot import ModelState
from monitor.windows.class_counts import ClassTable


@dataclass(frozen=True, slots=True, kw_only=True)
class ClassComparison:
    """What moved the precision of each class, and which confusions became more frequent.

    Attributes:
        model: its name.
        ranges: before and after, whole days (UTC).
        sides: the classes before and after.
        attribution: of the change of each class's precision.
        changes: of the rates at which each class is predicted as each.
        mature_until: moment up to which outcomes are mature, epoch milliseconds; None if unknown.
        label_faults: of the classes whose own labels are missing, by their names; empty where
            labels of `after` still come, and under a labelling other than `complete`.
    """

    model: str
    ranges: tuple[TimeRange, TimeRange]
    sides: tuple[ClassReport, ClassReport]
    attribution: ClassAttribution
    changes: ConfusionChanges
    mature_until: int | None
    label_faults: Mapping[str, LabelFault]

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes, in the order of all arrays."""
        return self.sides[0].names


def counted_days(monitor: Monitor, model: str, asked: ClassRanges) -> tuple[ClassTable, ClassTable]:
    """Read the counts of two stretches of time by day; only for the thread that feeds the monitor.

    Args:
        monitor: the engine.
        model: name of a model of many classes.
        asked: the stretches.
    """
    number = monitor.models.index(model)
    before, after = (
        monitor.classes.days(number, stretch.opens // DAY_MS, stretch.closes // DAY_MS)
        for stretch in (asked.before, asked.after)
    )
    return before, after


def compare_classes(
    model: ModelState, asked: ClassRanges, counted: tuple[ClassTable, ClassTable]
) -> ClassComparison:
    """Compare the classes of a model in two stretches of time.

    Args:
        model: the state of a model of many classes.
        asked: the stretches.
        counted: their counts by day.

    Raises:
        UsageError: one of them has no outcome.
    """
    names, ranges = model.classes["all"].names, (asked.before, asked.after)
    for option, stretch, table in zip(asked.options, ranges, counted, strict=True):
        if not table.matrix.any():
            raise UsageError(f"{option}: no outcome of {model.name!r} lies in {stretch}")
    is_mature = model.mature_until is not None and asked.after.closes <= model.mature_until
    checked = is_mature and model.labelling == Labelling.COMPLETE
    days = [table.matrix[table.matrix.any(axis=(1, 2))] for table in counted]
    before, after = (
        class_report(names, table.matrix.sum(axis=0), table.predictions.sum(axis=0))
        for table in counted
    )
    return ClassComparison(
        model=model.name,
        ranges=ranges,
        sides=(before, after),
        attribution=attribute_classes(*days),
        changes=confusion_changes(*days),
        mature_until=model.mature_until,
        label_faults=class_label_faults(names, *counted) if checked else {},
    )


def moved_confusions(found: ClassComparison) -> list[tuple[int, int]]:
    """Return the cells whose rate certainly changed, the largest change first.

    Args:
        found: the comparison.

    Returns:
        Pairs of a predicted and an actual class, by number; a class itself is its recall.
    """
    moved = found.changes.rose | found.changes.fell
    size = np.where(moved, np.abs(found.changes.after - found.changes.before), -1.0)
    order = np.argsort(-size, axis=None, kind="stable")[: int(moved.sum())]
    predicted, actual = np.unravel_index(order, moved.shape)
    return list(zip(predicted.tolist(), actual.tolist(), strict=True))
