"""Messages on verdicts, detections, false times, forgotten models: one line each, with figures."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from monitor.clock import SECOND_MS
from monitor.config.classes import MOST_CLASSES
from monitor.config.quantities import count_of, format_time
from monitor.events.came_expired import NONE_CAME
from monitor.events.columns import OTHER_VALUE
from monitor.events.jumps import NO_JUMPS
from monitor.events.set_aside import FEWEST
from monitor.report.durations import duration_text
from monitor.report.points import points_text
from monitor.report.printable import one_line
from monitor.report.reference_answer import stand_in_text, whom_it_pages
from monitor.report.reference_text import (
    far_text,
    mixed_text,
    prevalence_text,
    reference_text,
    warming_up_text,
)
from monitor.report.vocabulary import ADDITIVE_CAUSES
from monitor.snapshot import CELL_NAMES, ModelState, Snapshot
from monitor.verdicts import Detected, WindowVerdict

_TAKE_BACK = (
    "stop the monitor and set the time back by `precision-monitor state take-back`, see "
    "EventTimesAhead in deploy/README.md"
)


def announcements(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Return a line for each change: of verdicts, references, detections, times and models.

    Args:
        before: the snapshot that was announced last.
        after: the current snapshot.
    """
    return map(one_line, _announcements(before, after))


def _announcements(before: Snapshot, after: Snapshot) -> Iterator[str]:
    known = {model.name: model for model in before.models}
    for model in after.models:
        old = known.get(model.name)
        for window, found in model.watched.verdicts.items():
            last = old.watched.verdicts.get(window) if old else None
            if last is not None and last.verdict != found.verdict:
                yield f"{model.name}, {window}: {last.verdict} -> {found.verdict}{_causes(found)}"
            if found.far_from_reference and (last is None or not last.far_from_reference):
                yield f"CAUTION: {model.name}, {window}: {far_text(found)}"
        yield from _set_aside(model, old)
        yield from _times(model, old)
        yield from _classes(model, old)
        yield from _reference(model, old)
        yield from _detections(model, old.watched.detections if old else ())
    yield from _forgotten(before, after)


def _forgotten(before: Snapshot, after: Snapshot) -> Iterator[str]:
    """Return a line for each model that was forgotten, and one for those never seen before."""
    count = after.forgotten.models - before.forgotten.models
    left = {model.name for model in after.models}
    gone = [model for model in before.models if model.name not in left][:count]
    for model in gone:
        cells = before.lifetime.counts.cells[model.row].tolist()
        outcomes = ", ".join(f"{n:,} {name}" for name, n in zip(CELL_NAMES[1:], cells, strict=True))
        yield (
            f"{model.name}: forgotten, as it has been silent for forget_after; "
            f"precision_monitor_forgotten_outcomes_total has what it counted: {outcomes}"
        )
    if count > len(gone):
        others = count_of(count - len(gone), "model")
        yield f"{others} that came and fell silent meanwhile: forgotten"


def _set_aside(model: ModelState, old: ModelState | None) -> Iterator[str]:
    """Return a line where events are set aside and none were before."""
    before = (0, 0) if old is None else old.aside
    if model.aside[0] and not before[0] and model.watermark_ms is not None:
        yield (
            f"CAUTION: {model.name}: {count_of(model.aside[1] - before[1], 'event')} dated far "
            f"ahead of {format_time(model.watermark_ms)}, the time of the model, or of the clock; "
            f"they count, but move no window until {FEWEST} or more agree with them; after a "
            "gap in the predictions that is no fault, otherwise correct the clock or the unit of "
            "time of their producer"
        )


def _times(model: ModelState, old: ModelState | None) -> Iterator[str]:
    """Return lines on a time that went far ahead, and on predictions that came far behind it."""
    jumps, before = model.jumps, old.jumps if old else NO_JUMPS
    if jumps.believed > before.believed:
        yield (
            f"CAUTION: {model.name}: its time went from {format_time(jumps.before)} to "
            f"{format_time(jumps.after)}, as {count_of(jumps.events, 'event')} agreed; after a gap "
            f"in the predictions that is no fault, otherwise {_TAKE_BACK}"
        )
    came, known = model.came_expired, old.came_expired if old else NONE_CAME
    if _digits(came.events) > _digits(known.events):
        yield (
            f"CAUTION: {model.name}: {count_of(came.events, 'prediction')} came up to "
            f"{duration_text(came.furthest_ms / SECOND_MS)} behind the time of the model, after "
            "their horizon: they are expired, and their labels count nowhere; where they are dated "
            f"rightly, false times have carried the time of the model: {_TAKE_BACK}"
        )


def _digits(number: int) -> int:
    return len(str(number)) if number else 0


def _classes(model: ModelState, old: ModelState | None) -> Iterator[str]:
    """Return lines on classes that a model has learned."""
    report = next(iter(model.classes.values()), None)
    if report is None or not report.learned:
        return
    before = set() if old is None else {n for one in old.classes.values() for n in one.names}
    new = [name for name in report.names if name not in before]
    if OTHER_VALUE in new:
        new.remove(OTHER_VALUE)
        yield (
            f"CAUTION: {model.name}: a label has a class that was never predicted before, or there "
            f"are over {MOST_CLASSES - 1} classes: it counts as {OTHER_VALUE}"
        )
    if new:
        yield f"{model.name}: new among the predicted classes: {', '.join(new)}"


def _reference(model: ModelState, old: ModelState | None) -> Iterator[str]:
    """Return lines on a changed reference."""
    now, before = model.watched.reference, old.watched.reference if old else None
    if now is not None and (before is None or before.version != now.version):
        yield f"{model.name}: {reference_text(now)}"
        if stands_in := stand_in_text(model.watched.awaited):
            yield f"{model.name}: {stands_in}"
        if pages := whom_it_pages(now):
            yield f"{model.name}: {pages}"
        if mixed := mixed_text(now):
            yield f"CAUTION: {model.name}: {mixed}"
        if changed := prevalence_text(now):
            yield f"{model.name}: {changed}"
        if why := warming_up_text(model.watched):
            yield f"{model.name}: {why}"
    elif now is not None and before is not None and now.held_back and not before.held_back:
        yield f"CAUTION: {model.name}: {mixed_text(now)}"


def _detections(model: ModelState, announced: Sequence[Detected]) -> Iterator[str]:
    for found in model.watched.detections:
        if found not in announced:
            of_class = f" of {one_line(found.of_class)}" if found.of_class else ""
            yield f"{model.name}: {found.kind}{of_class} detected as of {format_time(found.at)}"


def _causes(found: WindowVerdict) -> str:
    """Return precision before and after, and the points of each cause that has some."""
    parts = found.attribution
    if parts is None:
        return ""
    change = f"; precision {_precision(parts.precision_before)} -> "
    change += _precision(parts.precision_after)
    if math.isnan(parts.precision_before + parts.precision_after):
        return change
    points = ", ".join(
        f"{cause.words} {points_text(parts.points[name])}"
        for name, cause in ADDITIVE_CAUSES.items()
        if math.isfinite(parts.points[name])
    )
    return f"{change}, in points: {points}" if points else change


def _precision(value: float) -> str:
    return "undefined, as nothing is flagged" if math.isnan(value) else f"{value:.3f}"
