"""Two stretches of recorded events of a model of many classes, compared class by class."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from monitor.clock import DAY_MS
from monitor.diagnosis.time_ranges import TimeRange, check_apart, parse_time_range
from monitor.drift.class_attribution import (
    ClassAttribution,
    ConfusionChanges,
    attribute_classes,
    confusion_changes,
)
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.metrics.class_report import ClassReport, class_report
from monitor.windows.class_counts import DAYS


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
    """

    model: str
    ranges: tuple[TimeRange, TimeRange]
    sides: tuple[ClassReport, ClassReport]
    attribution: ClassAttribution
    changes: ConfusionChanges
    mature_until: int | None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes, in the order of all arrays."""
        return self.sides[0].names


def whole_days(option: str, text: str | None) -> TimeRange:
    """Return a range of whole days (UTC).

    Args:
        option: where it was written, for the error.
        text: what was written; None for nothing.

    Raises:
        UsageError: there is none, or it is not one of whole days.
    """
    if text is None:
        raise UsageError(f"{option}: must be given for a model of more than two classes")
    found = parse_time_range(option, text)
    if found.opens % DAY_MS or found.closes % DAY_MS:
        raise UsageError(
            f"{option}: must be whole days (UTC) for a model of more than two classes, got {text!r}"
        )
    return found


def compare_classes(
    monitor: Monitor, model: str, before: TimeRange, after: TimeRange
) -> ClassComparison:
    """Compare the classes of a model in two stretches of time.

    Args:
        monitor: to which all events were applied.
        model: name of a model of many classes.
        before: what to compare with, whole days.
        after: what to judge, whole days.

    Raises:
        UsageError: they overlap; or one is older than the stored days, or has no outcome.
    """
    check_apart(before, after)
    state = next(state for state in monitor.snapshot().models if state.name == model)
    names, number = state.classes["all"].names, monitor.models.index(model)
    until, days, sides = state.now_ms, [], []
    for option, asked in (("--before", before), ("--after", after)):
        if until is not None and asked.opens < (until // DAY_MS - DAYS + 1) * DAY_MS:
            raise UsageError(f"{option}: days are stored for {DAYS - 1} days, got {asked}")
        table = monitor.classes.days(number, asked.opens // DAY_MS, asked.closes // DAY_MS)
        if not table.matrix.any():
            raise UsageError(f"{option}: no outcome of {model!r} lies in {asked}")
        days.append(table.matrix[table.matrix.any(axis=(1, 2))])
        sides.append(class_report(names, table.matrix.sum(axis=0), table.predictions.sum(axis=0)))
    return ClassComparison(
        model=model,
        ranges=(before, after),
        sides=(sides[0], sides[1]),
        attribution=attribute_classes(*days),
        changes=confusion_changes(*days),
        mature_until=state.mature_until,
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
