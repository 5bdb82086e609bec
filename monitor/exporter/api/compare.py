"""Why precision moved between two stretches of time, from what a running monitor keeps."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

from monitor.config import Labelling
from monitor.config.quantities import format_time
from monitor.diagnosis import Diagnosis, Period, block_ms_of, diagnose
from monitor.diagnosis.comparison import Comparison, mature_until
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift.verdict import roc_decides
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.metrics.histogram import ScoreHistogram
from monitor.snapshot import ModelState, Snapshot
from monitor.windows.history import HISTORY_DAYS
from monitor.windows.recalled import Recalled
from monitor.windows.scores import DAYS

_WITHOUT_SEGMENTS = (
    "segments are left out: of a stretch so long ago they are kept by the day, and only of one "
    "that begins and ends at midnight (UTC) and is at least 20 days long"
)
_WITHOUT_CURVE = (
    f"whether recall lies below the ROC curve of before: labelled scores are kept for {DAYS} days, "
    "and those of the reference; diagnose recorded events with --feed FILE"
)


class RecalledComparison(NamedTuple):
    """What is kept of the two.

    Attributes:
        before: None where the reference is given as counts.
        after: what is judged.
        before_scores: by day, which the ROC curve of before rests on; None where they
            are not kept, or labels are not complete.
        after_scores: of the later one.
    """

    before: Recalled | None
    after: Recalled
    before_scores: ScoreHistogram | None
    after_scores: ScoreHistogram


def recall(monitor: Monitor, asked: Comparison, labelling: Labelling) -> RecalledComparison:
    """What is kept of both; to be called by the thread that feeds the monitor.

    Raises:
        UsageError: one lies further back than anything is kept.
    """
    before = None if asked.before is None else _recalled(monitor, asked.model, asked.before)
    after = _recalled(monitor, asked.model, asked.after)
    curved = asked.before is not None and labelling is Labelling.COMPLETE
    return RecalledComparison(
        before,
        after,
        monitor.scores_by_day(asked.model, *asked.before) if asked.before and curved else None,
        monitor.scores(asked.model, *asked.after),
    )


def compared(
    snapshot: Snapshot,
    model: ModelState,
    asked: Comparison,
    kept: RecalledComparison,
) -> Diagnosis:
    """The diagnosis of the two.

    Raises:
        UsageError: nothing was predicted in one of them.
    """
    before = replace(_before(snapshot, model, asked, kept.before), scores=kept.before_scores)
    after = _period(
        snapshot, model, asked.after, kept.after, name="after", source=asked.after_source
    )
    found = diagnose(
        before,
        after,
        model=asked.model,
        labelling=Labelling(model.labelling),
        mature_until=mature_until(model),
    )
    recalled = [part for part in (kept.before, kept.after) if part is not None]
    if any(part.without_segments for part in recalled) and model.segments:
        found = replace(found, notes=(*found.notes, _WITHOUT_SEGMENTS))
    if _curve_is_gone(model, kept, found):
        found = replace(found, notes=(*found.notes, _WITHOUT_CURVE))
    return found


def _curve_is_gone(model: ModelState, kept: RecalledComparison, found: Diagnosis) -> bool:
    """Whether the ROC curve of before could have told more, and is no longer kept."""
    scored = kept.before is not None and int(kept.after_scores.total.sum()) > 0
    complete = Labelling(model.labelling) is Labelling.COMPLETE
    return scored and complete and kept.before_scores is None and roc_decides(found.judgement)


def is_mature(snapshot: Snapshot, model: ModelState, asked: Comparison) -> bool:
    """Whether all labels of what is judged have come."""
    until = mature_until(model)
    return until is not None and asked.after.closes <= until


def _recalled(monitor: Monitor, model: str, asked: TimeRange) -> Recalled:
    try:
        return monitor.recall(model, *asked, block_ms_of(*asked))
    except ValueError as error:
        raise UsageError(
            f"{asked}: lies further back, or is longer, than what is kept: {HISTORY_DAYS} days; "
            "diagnose recorded events with --feed FILE"
        ) from error


def _before(
    snapshot: Snapshot, model: ModelState, asked: Comparison, kept: Recalled | None
) -> Period:
    reference = model.watched.reference
    if asked.before is None or kept is None:
        assert reference is not None  # noqa: S101  # `compared_live` raises
        return Period.given(reference.counts)
    return _period(snapshot, model, asked.before, kept, name="before", source=asked.before_source)


def _period(
    snapshot: Snapshot,
    model: ModelState,
    asked: TimeRange,
    kept: Recalled,
    *,
    name: str,
    source: str,
) -> Period:
    labelling = Labelling(model.labelling)
    until = mature_until(model)
    silent = labelling is Labelling.NEGATIVES_BY_TIMEOUT
    if silent and (until is None or asked.closes > until):
        known = "nothing yet" if until is None else f"predictions up to {format_time(until)}"
        raise UsageError(
            f"{name}: ends before silence is known to be a negative, got {asked}; under labelling "
            f"negatives_by_timeout the timeout has passed for {known}: end it there or earlier"
        )
    period = Period.counted(kept, model.name, *asked, source=source, labelling=labelling)
    if not period.predictions:
        raise UsageError(f"{name}: nothing was predicted in {asked}")
    return period
