"""`compare`: why precision moved between two tables, two ranges, or two pairs of arrays."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.diagnosis import Diagnosis, Period, block_ms_of, diagnose
from monitor.diagnosis.model_scatter import DayCounts, ModelScatter, scatter_of
from monitor.diagnosis.periods import ranges_of
from monitor.diagnosis.time_ranges import TimeRange, check_apart, parse_time_range
from monitor.engine import CountingMonitor, Monitor
from monitor.errors import UsageError
from monitor.events.columns import EARLIEST_MS, LATEST_MS, EventBatch, Int64Array
from monitor.exporter.api.curve import curve_answer
from monitor.exporter.api.explanation import curve_aim
from monitor.exporter.api.series import SeriesContext, series_answer
from monitor.exporter.api.series_answer import SeriesAnswer
from monitor.join.deltas import known
from monitor.labels.regime import LabelRegime
from monitor.metrics.histogram import ScoreHistogram
from monitor.python.case_tables import CaseReader, span_of
from monitor.python.comparison_report import ComparisonReport
from monitor.python.table_columns import as_table
from monitor.windows.history import History

STEPS = 160
"""Steps of the chart over time, at most."""


class _Counted(NamedTuple):
    """One side.

    Attributes:
        period: its outcomes.
        model: name of its model; "" where it has none.
        scores: its labelled scores.
        days: its counts by day; None where no time is known.
        rows: of its table, those outside of its range too; none where no time is known, and
            where the other side has the rows of the one table of both.
    """

    period: Period
    model: str
    scores: ScoreHistogram
    days: History | None
    rows: Sequence[EventBatch] = ()


def compare(
    before: Any,
    after: Any,
    table: Any = None,
    *,
    values: Mapping[str, Any] | None = None,
    time: Mapping[str, Any] | None = None,
    threshold: float | None = None,
    **columns: Any,
) -> ComparisonReport:
    """Explain why precision moved between two periods.

    Each side is a table (as `Monitor.feed` takes it) of which each row is a case, a pair
    `(y_true, y_pred)`, or `ConfusionCounts`. Two ranges of time, such as "2013-07" and
    "2013-09", choose rows of `table`.

    Args:
        before: what to compare with.
        after: what to judge.
        table: the table that the ranges choose rows of.
        values: values of the classes, see `Monitor.feed`.
        time: zone and unit of times, see `Monitor.feed`.
        threshold: score from which a case is predicted positive, where there are scores alone.
        **columns: column of each field, see `Monitor.feed`: `prediction`, `label`, and
            optionally `score`, `ts` and `segment`. With `ts`, errors are taken between
            hours or days, which scatter more than independent cases. How much they do is
            learned of all rows of `table`, or of both tables, as `precision-monitor diagnose`
            learns it of a feed.

    Returns:
        The whole diagnosis.

    Raises:
        ValueError: a side cannot be read, or the two cannot be compared.

    >>> july = ConfusionCounts(tp=1303, fp=1551, fn=525, tn=2333)
    >>> september = ConfusionCounts(tp=405, fp=1414, fn=354, tn=3268)
    >>> compare(july, september).causes["prevalence"].points
    -0.231...
    """
    reading = _Reading(CaseReader(columns, values, time, threshold))
    if isinstance(before, str) and isinstance(after, str):
        sides = reading.ranges(before, after, table)
    elif table is not None:
        raise ValueError("table: is for two ranges of time, such as '2013-07' and '2013-09'")
    else:
        sides = reading.side("before", before), reading.side("after", after)
    return _report(*sides, reading)


class _Reading:
    """Reads both sides by the same columns."""

    def __init__(self, cases: CaseReader) -> None:
        self._cases = cases

    def side(self, name: str, given: Any) -> _Counted:
        """Read one side.

        Args:
            name: of the side, for messages.
            given: a table, a pair of arrays, or counts.
        """
        if isinstance(given, ConfusionCounts):
            return _Counted(Period.given(given.sum() if given.shape else given), "", _NOTHING, None)
        if isinstance(given, tuple) and len(given) == 2:  # noqa: PLR2004  # a pair
            actual, predicted = given
            counts = ConfusionCounts.from_labels(actual, predicted)
            return _Counted(Period.given(counts), "", _NOTHING, None)
        if isinstance(given, str):
            raise ValueError(  # noqa: TRY004  # names the argument, as for every wrong value
                f"{name}: must be a table, or both must be ranges, got {given!r}"
            )
        given = as_table(given)
        timed = self._cases.is_timed(given)
        batches = self._cases.batches(name, given, timed=timed)
        if not timed:
            return self._counted(batches, TimeRange(0, DAY_MS), timed=False)
        return self._counted(batches, span_of(batches), timed=True)._replace(rows=batches)

    def ranges(self, before: str, after: str, table: Any) -> tuple[_Counted, _Counted]:
        """Read both ranges of a table."""
        if table is None:
            raise ValueError("table: is missing, whose rows the two ranges choose")
        try:
            asked = [parse_time_range(n, t) for n, t in (("before", before), ("after", after))]
            check_apart(*asked, prefix="")
        except UsageError as error:
            raise ValueError(str(error)) from error
        batches = self._cases.batches("table", as_table(table), timed=True)
        cases = [[_within(batch, one) for batch in batches] for one in asked]
        for name, one, some in zip(("before", "after"), asked, cases, strict=True):
            if not any(len(part) for batch in some for part in (batch.predictions, batch.outcomes)):
                raise ValueError(f"{name}: no row is in {one}; the table has {span_of(batches)}")
        first, second = (
            self._counted(some, one, timed=True) for some, one in zip(cases, asked, strict=True)
        )
        return first._replace(rows=batches), second

    def learned(self, before: _Counted, after: _Counted) -> _Learned:
        """Return what a monitor learns of the rows of both sides.

        Args:
            before: the one side.
            after: the other one.

        Returns:
            Nothing unless `before` ends by the time `after` begins: a monitor takes rows in
            the order of their time.
        """
        closes, opens = before.period.closes, after.period.opens
        if closes is None or opens is None or closes > opens:
            return _Learned(None, None)
        monitor = Monitor(self._cases.config)
        counted = monitor.count_range(EARLIEST_MS, LATEST_MS, DAY_MS)
        for batch in (*before.rows, *after.rows):
            monitor.apply(batch)
        model = next(one for one in monitor.snapshot().models if one.name == before.model)
        days = DayCounts(*counted.steps(counted.series(model.name)[0]))
        ranges = ranges_of(before.period, after.period)
        scatter = scatter_of(model, "", days, LabelRegime(), ranges)
        return _Learned(scatter, model.mature_until)

    def _counted(self, batches: Sequence[EventBatch], asked: TimeRange, *, timed: bool) -> _Counted:
        monitor = CountingMonitor(self._cases.config)
        whole = monitor.count_range(*asked, block_ms_of(*asked))
        days = monitor.count_range(*_whole_days(asked), DAY_MS)
        scored = monitor.count_scores(*_whole_days(asked))
        for batch in batches:
            monitor.apply(batch)
        if len(monitor.models) != 1:
            names = ", ".join(monitor.models) or "none"
            raise ValueError(f"model: one at a time is compared, got {names}")
        (model,) = monitor.models
        scores = scored.days(model)
        period = Period.counted(whole, model, *asked)
        period = replace(period, scores=scores, segment_scores=scored.of)
        if not timed:
            period = replace(
                period, opens=None, closes=None, block_ms=None, by_day=None, labelling_cells=None
            )
        total = _NOTHING if scores is None else scores.sum()
        by_day = History(*days.steps(days.series(model)[0])) if timed else None
        return _Counted(period, model, total, by_day)


class _Learned(NamedTuple):
    """What a monitor learns of rows.

    Attributes:
        scatter: how days scatter; None where nobody knows which are mature.
        mature_until: up to this moment, epoch milliseconds, outcomes are mature; None where
            it is not known.
    """

    scatter: ModelScatter | None
    mature_until: int | None


_NOTHING = ScoreHistogram.zeros()


def _report(before: _Counted, after: _Counted, reading: _Reading) -> ComparisonReport:
    names = {side.model for side in (before, after) if side.model}
    if len(names) > 1:
        raise ValueError(f"model: one at a time is compared, got {', '.join(sorted(names))}")
    learned = reading.learned(before, after)
    model = next(iter(names), "default")
    found = diagnose(
        before.period,
        after.period,
        model=model,
        scatter=learned.scatter,
        mature_until=learned.mature_until,
    )
    ratio, objective = curve_aim(found, None)
    curve = curve_answer(
        after.scores, reference_ratio=ratio, objective=objective, regime=LabelRegime()
    )
    return ComparisonReport(found, curve, _series(found, before.days, after.days))


def _series(found: Diagnosis, *sides: History | None) -> SeriesAnswer | None:
    """The model by days; None where no time is known, or the two periods overlap."""
    held = sorted((s for s in sides if s is not None and len(s.open)), key=lambda s: int(s.open[0]))
    if len(held) != len(sides) or held[0].open[-1] >= held[1].open[0]:
        return None
    first, last = int(held[0].open[0]), int(held[-1].open[-1])
    opens = np.arange(first, last + DAY_MS, DAY_MS)
    cells = np.zeros((len(opens), held[0].cells.shape[1]), np.int64)
    for side in held:
        cells[(side.open - first) // DAY_MS] = side.cells
    context = SeriesContext(
        model=found.model,
        regime=LabelRegime(),
        mature_until=None,
        reference=found.before.counts,
    )
    return series_answer(History(opens, known(cells)), context, most=STEPS)


def _within(batch: EventBatch, asked: TimeRange) -> EventBatch:
    """The cases of a batch whose prediction lies in a range."""

    def inside(times: Int64Array) -> Any:
        return (times >= asked.opens) & (times < asked.closes)

    return replace(
        batch,
        predictions=batch.predictions.take(inside(batch.predictions.time)),
        labels=batch.labels.take(inside(batch.labels.prediction_time) | batch.labels.alone),
        outcomes=batch.outcomes.take(inside(batch.outcomes.time)),
        rejected=(),
    )


def _whole_days(asked: TimeRange) -> TimeRange:
    return TimeRange(asked.opens // DAY_MS * DAY_MS, -(-asked.closes // DAY_MS) * DAY_MS)
