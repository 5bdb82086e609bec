"""Diagnoses why precision moved between two time ranges, from the history of a running monitor."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import xxhash

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.config.quantities import count_of
from monitor.diagnosis import Diagnosis, Period, block_ms_of, diagnose
from monitor.diagnosis.comparison import (
    Comparison,
    check_audits,
    check_silence,
    level_of,
)
from monitor.diagnosis.label_notes import with_audits, with_label_sources
from monitor.diagnosis.model_scatter import DayCounts, knows_all_days, scatter_of
from monitor.diagnosis.periods import ranges_of
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift.decided_by_curve import roc_decides
from monitor.engine import Monitor
from monitor.errors import UsageError
from monitor.labels.faults import LabelFault
from monitor.labels.regime import LabelRegime
from monitor.metrics.histogram import ScoreHistogram
from monitor.snapshot import ModelState
from monitor.windows.days_then_weeks import DAYS, WEEK_DAYS
from monitor.windows.history import HISTORY_DAYS
from monitor.windows.recalled import Recalled
from monitor.windows.value_scores import MOST_VALUES, MOST_VERSIONS, ScoresByValue

_WITHOUT_SEGMENTS = (
    "segments are left out: so long ago they are stored by the day, which is enough only for a "
    "range that begins and ends at midnight (UTC) and is at least 20 days long"
)
_WITHOUT_CURVE = (
    "whether recall is below the ROC curve of before: labelled scores of both classes are needed; "
    f"those older than {DAYS} days are stored by the week (UTC, from Thursday on), and the range "
    "holds no whole one; diagnose recorded events with --feed FILE"
)

_WITHOUT_VALUE_CURVES = (
    f"ROC curves of some segment values are left out: scores of {MOST_VALUES} values of a model "
    f"are stored, those that came first, of versions the last {MOST_VERSIONS}; diagnose recorded "
    "events with --feed FILE for the others"
)


class RecalledComparison(NamedTuple):
    """The stored counts and scores of two time ranges.

    Attributes:
        before: counts to compare with; None if the reference is given as counts.
        after: counts to judge.
        before_scores: labelled scores of before by block of time; None if they are not
            stored, or labels are not complete.
        after_scores: scores of the later range.
        after_labelled: its labelled scores by block of time; None where there are none, or
            labels are not complete.
        before_values: labelled scores of before by segment value; of none where labels are not
            complete.
        after_values: the same of after.
        days: counts of the days of the model that tell how they scatter; None where those of its
            reference do.
    """

    before: Recalled | None
    after: Recalled
    before_scores: ScoreHistogram | None
    after_scores: ScoreHistogram
    after_labelled: ScoreHistogram | None
    before_values: ScoresByValue
    after_values: ScoresByValue
    days: DayCounts | None = None


def recall(monitor: Monitor, asked: Comparison, regime: LabelRegime) -> RecalledComparison:
    """Read the stored counts of two time ranges; only for the thread that feeds the monitor.

    Args:
        monitor: the running monitor.
        asked: the ranges.
        regime: how labels of the model come, and how often they are wrong.

    Raises:
        UsageError: a range is further back, or longer, than the stored history.
    """
    before = None if asked.before is None else _recalled(monitor, asked.model, asked.before)
    after = _recalled(monitor, asked.model, asked.after)
    plain = regime.is_plain
    scored = [
        part if plain or regime.corrects_scores else None for part in (asked.before, asked.after)
    ]
    blocks = [part and monitor.scores_by_block(asked.model, *part) for part in scored]
    values = [
        monitor.value_scores.blocks(asked.model, *part) if part and plain else ScoresByValue()
        for part in (asked.before, asked.after)
    ]
    return RecalledComparison(
        before,
        after,
        blocks[0],
        monitor.scores(asked.model, *asked.after),
        blocks[1],
        before_values=values[0],
        after_values=values[1],
        days=_days(monitor, asked) if knows_all_days(regime.labelling) else None,
    )


def _days(monitor: Monitor, asked: Comparison) -> DayCounts | None:
    if asked.days_until is None:
        return None
    return DayCounts.of_hours(*monitor.history(asked.model)).until(asked.days_until)


def compared(
    model: ModelState,
    asked: Comparison,
    recalled: RecalledComparison,
    fault: LabelFault | None = None,
) -> Diagnosis:
    """Diagnose the later of two time ranges.

    Args:
        model: the state of the model.
        asked: the ranges.
        recalled: their counts and scores.
        fault: of the labels of the later one, where it is known of them otherwise.

    Raises:
        UsageError: a range has no prediction; or under labelling `negatives_by_timeout`,
            it ends before the label timeout has passed.
    """
    regime = LabelRegime.now(model)
    before = _with_scores(
        _before(model, asked, recalled.before),
        recalled.before_scores,
        recalled.before_values,
        regime,
    )
    after = _with_scores(
        _period(model, asked.after, recalled.after, name="after", source=asked.after_source),
        recalled.after_labelled,
        recalled.after_values,
        regime,
    )
    found = diagnose(
        before,
        after,
        model=asked.model,
        labelling=Labelling(model.labelling),
        mature_until=model.mature_until,
        scatter=scatter_of(
            model, asked.before_source, recalled.days, regime, ranges_of(before, after)
        ),
        objective=model.objective.get("precision"),
        fault=fault,
    )
    ranges = [part for part in (recalled.before, recalled.after) if part is not None]
    if any(part.without_segments for part in ranges) and model.segments:
        found = replace(found, notes=(*found.notes, _WITHOUT_SEGMENTS))
    weeks = [
        _by_week("before", asked.before, recalled.before_scores, before),
        _by_week("after", asked.after, recalled.after_labelled, after),
    ]
    found = replace(found, notes=(*found.notes, *filter(None, weeks)))
    if _curve_is_gone(model, recalled, found):
        found = replace(found, notes=(*found.notes, _WITHOUT_CURVE))
    stored, curves = recalled.after_values.cells, [part.curve for part in found.segments]
    if any(curves) and any(part.series not in stored for part in found.segments):
        found = replace(found, notes=(*found.notes, _WITHOUT_VALUE_CURVES))
    found = with_audits(found, model.audits, LabelRegime.now(model))
    return with_label_sources(found, model.label_sources)


def _with_scores(
    period: Period, scores: ScoreHistogram | None, by_value: ScoresByValue, regime: LabelRegime
) -> Period:
    if scores is not None and period.opens is not None and period.closes is not None:
        asked = TimeRange(period.opens, period.closes)
        by_week = scored_stretch(asked, len(scores.positive)) is not None
        period = replace(period, scores_by_week=by_week)
    if regime.corrects_scores:
        return replace(period, scores_as_labelled=scores)
    return replace(period, scores=scores, segment_scores=by_value.of)


def _by_week(
    name: str, asked: TimeRange | None, scores: ScoreHistogram | None, period: Period
) -> str:
    """Return that a side, or a part of it, has the scores of whole weeks alone; "" otherwise."""
    if asked is None or scores is None:
        return ""
    stretch = scored_stretch(asked, len(scores.positive))
    if stretch is None:
        return ""
    cases = round(float(scores.positive.sum() + scores.negative.sum()))
    return (
        f"scores of {name} that are older than {DAYS} days are those of whole weeks (UTC, from "
        f"Thursday on): {stretch}, {cases:,} of "
        f"{count_of(round(float(period.labelled.total)), 'outcome')}; "
        "intervals between few weeks are wide; diagnose recorded events with --feed FILE"
    )


def scored_stretch(asked: TimeRange, blocks: int) -> TimeRange | None:
    """Return the stretch whose scores are stored, of a range that is short of some.

    Args:
        asked: the range.
        blocks: stored of it: whole weeks, then days; see `Scores.blocks`.

    Returns:
        From its first whole week on; to its last one where it has no days. None where all of its
        whole days are stored.

    >>> july = TimeRange(15_887 * DAY_MS, 15_918 * DAY_MS)
    >>> str(scored_stretch(july, 4)), scored_stretch(july, 31)
    ('2013-07-04T00:00:00Z..2013-08-01T00:00:00Z', None)
    >>> str(scored_stretch(TimeRange(15_887 * DAY_MS, 15_920 * DAY_MS), 2 + 15))
    '2013-07-04T00:00:00Z..2013-08-03T00:00:00Z'
    """
    first, end = -(-asked.opens // DAY_MS), asked.closes // DAY_MS
    if blocks >= end - first:
        return None
    opens, closes = -(-first // WEEK_DAYS), end // WEEK_DAYS
    if blocks > closes - opens:
        return TimeRange(opens * WEEK_DAYS * DAY_MS, end * DAY_MS)
    return TimeRange(opens * WEEK_DAYS * DAY_MS, closes * WEEK_DAYS * DAY_MS)


def _curve_is_gone(model: ModelState, recalled: RecalledComparison, found: Diagnosis) -> bool:
    """Return whether the ROC curve of before would decide the verdict, but is not stored."""
    scored = recalled.before is not None and int(recalled.after_scores.total.sum()) > 0
    regime = LabelRegime.now(model)
    known = regime.is_plain or regime.corrects_scores
    return scored and known and recalled.before_scores is None and roc_decides(found.judgement)


def is_mature(model: ModelState, asked: Comparison) -> bool:
    """Return whether the range to judge is mature.

    Args:
        model: one of its models.
        asked: the ranges.
    """
    until = model.mature_until
    return until is not None and asked.after.closes <= until


def _recalled(monitor: Monitor, model: str, asked: TimeRange) -> Recalled:
    try:
        return monitor.recall(model, *asked, block_ms_of(*asked))
    except ValueError as error:
        raise UsageError(
            f"{asked}: is further back, or longer, than the stored {HISTORY_DAYS} days; diagnose "
            "recorded events with --feed FILE"
        ) from error


def _before(model: ModelState, asked: Comparison, counted: Recalled | None) -> Period:
    if asked.before is None or counted is None:
        level = level_of(model) if asked.before_source == "level" else None
        reference = level or model.watched.reference
        assert reference is not None  # noqa: S101  # `compared_live` raises
        return Period.given(reference.counts, asked.before_source)
    return _period(model, asked.before, counted, name="before", source=asked.before_source)


def _period(
    model: ModelState,
    asked: TimeRange,
    counted: Recalled,
    *,
    name: str,
    source: str,
) -> Period:
    regime = LabelRegime.now(model)
    check_audits(model.name, regime, model.audits)
    if regime.labelling is Labelling.NEGATIVES_BY_TIMEOUT:
        check_silence(name, asked, model.mature_until)
    period = Period.counted(counted, model.name, *asked, source=source, regime=regime)
    if not period.predictions:
        raise UsageError(f"{name}: nothing was predicted in {asked}")
    audits = model.audits.days if model.audits is not None and regime.has_errors else None
    return period if audits is None else replace(period, audited=audits.during)


def given_reference(model: ModelState) -> tuple[float, ...] | None:
    """Return the outcomes of a model's reference."""
    reference = model.watched.reference
    return None if reference is None else tuple(reference.counts.cells.tolist())


def digest(counted: RecalledComparison) -> str:
    """Return a hash of all counts of a comparison."""
    arrays: list[Any] = []
    for part in counted:
        if isinstance(part, Recalled):
            arrays += [part.cells, part.label_weights]
        elif isinstance(part, ScoresByValue):
            arrays += [*part.cells.values(), part.whole]
        elif isinstance(part, DayCounts):
            arrays += [*part]
        elif part is not None:
            arrays += [part.positive, part.negative]
    found = xxhash.xxh3_128()
    for array in arrays:
        found.update(repr(array.shape).encode())
        found.update(np.ascontiguousarray(array).data)
    return found.hexdigest()
