"""Outcomes of a stretch of time by blocks, in total and by segment."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Self

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.counts import ConfusionCounts, Outcome
from monitor.diagnosis.period_labels import PeriodOutcomes, Sample
from monitor.diagnosis.time_ranges import TimeRange
from monitor.drift import Dispersion, block_seconds
from monitor.drift.component_changes import BetweenDays
from monitor.drift.day_levels import at_one_level
from monitor.drift.day_scatter import UNDATED_DAYS, DayScatter, days_behind
from monitor.events.columns import Int64Array, Series
from monitor.join.deltas import PREDICTED_POSITIVE, known
from monitor.labels.audits_decide import AuditedDuring, no_audits
from monitor.labels.error_ranges import LabelledBlocks
from monitor.labels.regime import LabelRegime
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.sampled import SampledCounts
from monitor.windows.recalled import CountedRange

_COMPLETE = LabelRegime()


def block_ms_of(opens: int, closes: int) -> int:
    """Return the length of blocks that errors are estimated between: a day or an hour.

    Args:
        opens: first moment of a period, epoch milliseconds.
        closes: first moment after it.

    Returns:
        Milliseconds.

    >>> block_ms_of(0, 30 * 86_400_000), block_ms_of(0, 7 * 86_400_000)
    (86400000, 3600000)
    """
    return int(block_seconds((closes - opens) / 1000)) * 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Outcomes of the predictions made in a stretch of time.

    Attributes:
        opens: first moment, epoch milliseconds; None where counts were given
            that no time is known of.
        closes: first moment after it; None likewise.
        blocks: outcomes by blocks of time along one axis; one block where no
            time is known. Those estimated where labels are a sample or have errors.
        block_ms: length of a block; None where no time is known.
        starts: first moment of each block, epoch milliseconds; None likewise.
        predictions: made in it, labelled or not; None where it is not known.
        predicted_positive: of them, those predicted positive; None likewise.
        segments: outcomes of each segment value by the same blocks of time.
        source: where it comes from, such as `first` for the first days of a
            feed; "" where its bounds were asked for.
        sample: what the outcomes rest on where labels are a sample or have errors; else None.
        samples: the same of each segment value; empty where labels are neither.
        by_day: outcomes by days of UTC, of which the first and the last may be shorter;
            None where no time is known.
        scores: labelled scores of the whole days inside it, (days, bins), which its ROC
            curve is drawn from; None where there are none, or outcomes are estimated.
        scores_as_labelled: the same where labels have errors; None where they have none.
        scores_by_week: scores of some days are left out, or are those of whole weeks.
        segment_scores: returns the same of a segment value, None where it has none; None
            where they are not stored by segment value, or outcomes are estimated.
        labelling_cells: labelled outcomes and predictions by the same blocks, (blocks, 6),
            where every prediction is to get a label; else None.
        labelled_blocks: the same with the rates at which labels are wrong; None where they are not.
        audited: returns the audited cases of a part of it; None where rates of wrong labels are
            not learned from them.
    """

    opens: int | None
    closes: int | None
    blocks: ConfusionCounts
    block_ms: int | None
    starts: Int64Array | None = None
    predictions: int | None = None
    predicted_positive: int | None = None
    segments: Mapping[Series, ConfusionCounts] = field(default_factory=dict)
    source: str = ""
    sample: Sample | None = None
    samples: Mapping[Series, Sample] = field(default_factory=dict)
    by_day: ConfusionCounts | None = None
    scores: ScoreHistogram | None = None
    scores_as_labelled: ScoreHistogram | None = None
    scores_by_week: bool = False
    segment_scores: Callable[[Series], ScoreHistogram | None] | None = None
    labelling_cells: Int64Array | None = None
    labelled_blocks: LabelledBlocks | None = None
    audited: AuditedDuring = no_audits

    @classmethod
    def counted(
        cls,
        counts: CountedRange,
        model: str,
        opens: int,
        closes: int,
        *,
        source: str = "",
        regime: LabelRegime = _COMPLETE,
    ) -> Self:
        """Return the period of counts.

        Args:
            counts: a range that holds the stretch.
            model: whose outcomes.
            opens: first moment, epoch milliseconds; a bound of the range or of its blocks.
            closes: first moment after it; likewise.
            source: see `Period`.
            regime: how labels come, and how often they are wrong.
        """
        width = block_ms_of(opens, closes)
        found = {
            series: _outcomes(counts, series, (opens, closes, width), regime)
            for series in counts.series(model)
        }
        totals, *segments = found
        stretch = opens, closes, width
        cells, starts = counts.blocks(totals, *stretch), counts.starts(*stretch)
        made = cells[:, PREDICTED_POSITIVE:].sum(axis=0)
        samples = {series: found[series].sample for series in segments}
        return cls(
            opens=opens,
            closes=closes,
            blocks=found[totals].blocks,
            block_ms=width,
            starts=starts,
            predictions=int(made.sum()),
            predicted_positive=int(made[0]),
            segments={series: found[series].blocks for series in segments},
            source=source,
            sample=found[totals].sample,
            samples={series: sample for series, sample in samples.items() if sample},
            by_day=_outcomes(counts, totals, (opens, closes, DAY_MS), regime).blocks,
            labelling_cells=known(cells) if regime.labelling is Labelling.COMPLETE else None,
            labelled_blocks=LabelledBlocks(regime, known(cells), starts)
            if regime.has_errors
            else None,
        )

    @classmethod
    def given(cls, counts: ConfusionCounts, source: str = "counts") -> Self:
        """Return the period of given counts, which have no time.

        Args:
            counts: a scalar.
            source: see `Period`.

        >>> Period.given(ConfusionCounts(tp=9, fp=5, fn=1, tn=85)).total.total.item()
        100
        """
        blocks = ConfusionCounts.from_cells(counts.cells.reshape(1, len(Outcome)))
        return cls(opens=None, closes=None, blocks=blocks, block_ms=None, source=source)

    @property
    def curve(self) -> ScoreHistogram | None:
        """The scores that its ROC curve is drawn from, by actual class; None without."""
        if self.labelled_blocks is None:
            return self.scores
        return self.labelled_blocks.corrected(self.scores_as_labelled)

    @property
    def days_or_blocks(self) -> ConfusionCounts:
        """Its outcomes by days; by blocks where they are not known by days."""
        return self.blocks if self.by_day is None else self.by_day

    @property
    def total(self) -> ConfusionCounts:
        """All outcomes, a scalar."""
        return self.blocks.sum(axis=-1)

    def in_days(self, blocks: ConfusionCounts) -> ConfusionCounts | None:
        """Return outcomes of its blocks by the days of UTC that hold some; None without a time.

        Args:
            blocks: outcomes by its blocks, one axis.
        """
        if self.starts is None:
            return None
        _, first = np.unique(self.starts // DAY_MS, return_index=True)
        cells = np.add.reduceat(blocks.cells, first, axis=0) if len(first) else blocks.cells
        return ConfusionCounts.from_cells(cells)

    @property
    def labelled(self) -> ConfusionCounts:
        """Outcomes that have a label, or whose silence is one; a scalar."""
        return self.total if self.sample is None else self.sample.labelled

    @property
    def counts(self) -> SampledCounts:
        """Outcomes as labelled, and all predictions that they stand for; scalars."""
        if self.sample is not None:
            return self.sample.counts
        total = self.total
        return SampledCounts(
            labelled=total,
            predicted_positive=total.predicted_positive,
            predicted_negative=total.predicted_negative,
        )

    @property
    def days(self) -> float:
        """Its length in days; as assumed for counts without a time."""
        if self.opens is None or self.closes is None:
            return UNDATED_DAYS
        return (self.closes - self.opens) / DAY_MS

    @property
    def days_behind(self) -> float:
        """Number of days that its outcomes stem from, at least 1.

        Counted by days of UTC, a stretch that starts within one touches a day more than it is
        long. It counts as at most the effective number of its whole days and the rest of a day.
        """
        if self.by_day is None:
            return UNDATED_DAYS
        whole, rest = divmod(max(self.days, 1.0), 1)
        return min(days_behind(self.by_day.total, 1), (whole + rest) ** 2 / (whole + rest**2))

    @property
    def dispersion(self) -> Dispersion:
        """Variance over that of as many labelled outcomes."""
        return Dispersion.of(1.0) if self.sample is None else self.sample.dispersion

    @property
    def held(self) -> int:
        """Blocks of time that hold an outcome."""
        return int(np.count_nonzero(self.blocks.total))

    @property
    def unlabelled(self) -> float:
        """Share of the predictions without a label; NaN where it is not known."""
        if not self.predictions:
            return float("nan")
        return 1 - float(self.labelled.total) / self.predictions


@dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """The basis of the errors of a change from one period to another.

    Attributes:
        rows: variance of the rows over that of independent ones, above 1 where outcomes
            are estimated.
        between: what the scatter of days adds; None where neither period has a time, so
            that rows are taken to be independent.
        scatter: how days scatter; None likewise.
    """

    rows: Dispersion
    between: BetweenDays | None
    scatter: DayScatter | None

    @classmethod
    def of(cls, before: Period, after: Period, scatter: DayScatter | None) -> Self:
        """Return the errors of the change between two periods.

        Args:
            before: the period to compare with.
            after: the period to judge.
            scatter: how the days of the model scatter, where more of them are known. None to
                learn it from the days of both periods, each about its own level.
        """
        rows = before.dispersion.larger(after.dispersion)
        by_day = [period.by_day for period in (before, after) if period.by_day is not None]
        if not by_day:
            return cls(rows=rows, between=None, scatter=None)
        if scatter is None:
            factors = [rows.class_ratio, rows.recall, rows.false_positive_rate]
            stretches = [part for days in by_day for part in at_one_level(days)]
            scatter = DayScatter.learn(stretches, sampling=factors)
        between = scatter.between(before.days_behind, after.days_behind)
        return cls(rows=rows, between=between, scatter=scatter)


def ranges_of(*periods: Period) -> list[TimeRange]:
    """Return the ranges of time of periods; none of those given without a time."""
    return [
        TimeRange(one.opens, one.closes)
        for one in periods
        if one.opens is not None and one.closes is not None
    ]


def _outcomes(
    counts: CountedRange, series: Series, stretch: tuple[int, int, int], regime: LabelRegime
) -> PeriodOutcomes:
    """Return outcomes by blocks of UTC; the first and the last may be shorter.

    Args:
        counts: a range that holds the stretch.
        series: of these.
        stretch: first moment, first moment after it, and the length of a block, milliseconds.
        regime: how labels come, and how often they are wrong.
    """
    cells, weights = (part(series, *stretch) for part in (counts.blocks, counts.weights))
    of_series = regime.of_series(series.segment, series.value)
    return PeriodOutcomes.of(of_series, cells, weights, counts.starts(*stretch))
