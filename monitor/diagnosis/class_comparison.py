"""Two stretches of time of a model of many classes, compared class by class."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.diagnosis.class_ranges import ClassRanges
from monitor.diagnosis.judged_classes import judge_class
from monitor.diagnosis.lone_days import LoneDay, lone_days
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift.class_attribution import ClassAttribution, attribute_classes
from monitor.drift.class_confusions import ConfusionChanges
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.labels.faults import LabelFault
from monitor.labels.unknown_classes import UnknownCounts, untrusted_classes
from monitor.metrics.class_report import ClassReport, class_report
from monitor.snapshot import ModelState
from monitor.verdicts import WindowVerdict
from monitor.watch.class_verdicts import (
    JudgedTogether,
    judged_together,
    occupied,
    own_label_faults,
    verdict_on_whole,
)
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
        verdicts: on each class against all others, by its name, as those on a live window.
        verdict: on all of them together.
        mature_until: moment up to which outcomes are mature, epoch milliseconds; None if unknown.
            Where labels of `after` still come, missing labels are no fault of theirs.
        lone_days: why the change of a class has no interval, by its name.
        paging: names of the classes that page now, where days are judged that end within a day of
            the latest mature ones.
    """

    model: str
    ranges: tuple[TimeRange, TimeRange]
    sides: tuple[ClassReport, ClassReport]
    attribution: ClassAttribution
    changes: ConfusionChanges
    verdicts: Mapping[str, WindowVerdict]
    verdict: WindowVerdict
    mature_until: int | None
    lone_days: Mapping[str, LoneDay]
    paging: frozenset[str] = frozenset()

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the classes, in the order of all arrays."""
        return self.sides[0].names

    @property
    def label_faults(self) -> dict[str, LabelFault]:
        """Of the classes whose own labels are at fault, by their names."""
        return own_label_faults(self.verdicts)


class CountedClasses(NamedTuple):
    """The counts of two stretches of time.

    Attributes:
        before: cases of known classes, by day.
        after: the same of the stretch that is judged.
        unknown: records of that stretch that name a class which the model does not have.
    """

    before: ClassTable
    after: ClassTable
    unknown: UnknownCounts


def counted_days(monitor: Monitor, model: str, asked: ClassRanges) -> CountedClasses:
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
    unknown = monitor.unknown_classes.count(number, asked.after.opens, asked.after.closes)
    return CountedClasses(before, after, unknown)


def compare_classes(
    model: ModelState, asked: ClassRanges, counted: CountedClasses
) -> ClassComparison:
    """Compare the classes of a model in two stretches of time.

    Args:
        model: the state of a model of many classes.
        asked: the stretches.
        counted: their counts.

    Raises:
        UsageError: one of them has no outcome.
    """
    names, ranges = model.classes["all"].names, (asked.before, asked.after)
    tables = counted.before, counted.after
    for option, stretch, table in zip(asked.options, ranges, tables, strict=True):
        if not table.matrix.any():
            raise UsageError(f"{option}: no outcome of {model.name!r} lies in {stretch}")
    is_mature = model.mature_until is not None and asked.after.closes <= model.mature_until
    checks_labels = is_mature and model.labelling == Labelling.COMPLETE
    watched = model.watched.classes
    scatters = {} if watched is None else {n: w.day_scatter for n, w in watched.by_class.items()}
    against_rest = [
        judge_class(number, ranges, tables, scatter=scatters.get(name), checks_labels=checks_labels)
        for number, name in enumerate(names)
    ]
    days = [occupied(table.matrix) for table in tables]
    judged = judged_together(against_rest, *days)
    before, after = (
        class_report(names, table.matrix.sum(axis=0), table.predictions.sum(axis=0))
        for table in tables
    )
    attribution = attribute_classes(*days)
    return ClassComparison(
        model=model.name,
        ranges=ranges,
        sides=(before, after),
        attribution=attribution,
        changes=judged.changes,
        verdicts=dict(zip(names, judged.verdicts, strict=True)),
        verdict=_verdict(judged, counted),
        mature_until=model.mature_until,
        lone_days=lone_days(names, attribution, *days),
        paging=_paging(model, asked),
    )


def _verdict(judged: JudgedTogether, counted: CountedClasses) -> WindowVerdict:
    """Return the verdict on all classes together."""
    outcomes, predictions = (int(cells.sum()) for cells in counted.after)
    found = verdict_on_whole(
        judged.verdicts, outcomes, held=judged.held, moved=bool(judged.changes.cells)
    )
    spoilt = counted.unknown.are_too_many(outcomes, predictions)
    return untrusted_classes(found) if spoilt else found


def _paging(model: ModelState, asked: ClassRanges) -> frozenset[str]:
    watched, mature = model.watched.classes, model.mature_until
    if watched is None or mature is None or asked.after.closes <= mature - DAY_MS:
        return frozenset()
    return frozenset(name for name, one in watched.by_class.items() if one.degradation_detected)
