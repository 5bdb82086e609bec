"""The reference of a model: the outcomes that its windows are compared with."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import ReferenceCounts
from monitor.counts import ConfusionCounts, CountArray, Outcome
from monitor.drift import Dispersion
from monitor.drift.day_scatter import UNDATED_DAYS, days_behind
from monitor.drift.level_change import (
    LevelChange,
    PrevalenceChange,
    find_level_change,
    find_prevalence_change,
)
from monitor.drift.profile import SeasonalProfile
from monitor.drift.reference_news import HeldBack
from monitor.events.columns import FloatArray, Int64Array
from monitor.events.renumbering import Numbers, State, new_numbers
from monitor.join.deltas import CELLS
from monitor.labels.error_ranges import LabelledBlocks
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.metrics.histogram import ScoreHistogram
from monitor.verdicts import ReferenceOutcomes
from monitor.watch.as_labelled import AsLabelled
from monitor.watch.stored_scores import restored_scores, scores_state
from monitor.windows.weights import SUMS


@dataclass(frozen=True, slots=True, kw_only=True)
class MatureReference:
    """A reference whose outcomes are mature.

    Attributes:
        source: `first`, `window`, `trailing` or `counts`, as configured.
        opens: first moment, epoch milliseconds; None for given counts.
        closes: first moment after it.
        counts: its outcomes, a scalar.
        blocks: its outcomes by blocks of time along the last axis; the counts
            themselves where they were given.
        panes: its outcomes by coarse panes; None where counts were given.
        series: outcomes of each series of the model by the same blocks,
            (series, blocks, 4), in the order of `rows`; empty where counts were given.
        rows: series numbers.
        scores: its score histogram, in whole days; None where no scores came.
        scores_by_day: labelled scores of its whole days, (days, bins), for its ROC curve;
            None without scores, or where labels do not come for all cases.
        block_ms: length of its blocks; 0 where counts were given.
        step_seconds: width of its panes; 0 where counts were given.
        dispersion: variance over that of independent rows.
        labelling: all counts by the same blocks, (blocks, 6): labelled outcomes and
            predictions; one block without unlabelled predictions where counts were given.
        version: 1 for the first reference; one more each time a trailing one moves on.
        level_change: the change of level that its days hold; None where none is certain,
            or nobody has looked, see `examined`.
        prevalence_change: the change of its prevalence alone, likewise.
        cut_short: moment of a change of level that the longer first days hold, epoch
            milliseconds, so that it ends before it for good; None where none holds it back.
        worse_since: days from here on, epoch milliseconds, were held back as worse; None for none.
        as_labelled: its counts as labelled; None where no label is taken to be wrong.

    Where labels are a sample or have errors, outcomes are those estimated of all predictions.
    """

    source: str
    opens: int | None
    closes: int | None
    counts: ConfusionCounts
    blocks: ConfusionCounts
    panes: ConfusionCounts | None
    series: CountArray
    rows: Int64Array
    scores: ScoreHistogram | None
    dispersion: Dispersion
    labelling: Int64Array
    scores_by_day: ScoreHistogram | None = None
    block_ms: int = 0
    step_seconds: float = 0.0
    version: int = 1
    level_change: LevelChange | None = None
    prevalence_change: PrevalenceChange | None = None
    cut_short: int | None = None
    worse_since: int | None = None
    as_labelled: AsLabelled | None = None

    def at_rates(self, regime: LabelRegime) -> MatureReference:
        """Return it corrected for the rates of wrong labels that are learned by now.

        Args:
            regime: with the rates; it is as before where they are undefined.
        """
        known = self.as_labelled
        if known is None or regime == known.regime or not regime.errors.known:
            return self
        corrected = replace(self, as_labelled=known._replace(regime=regime))
        if not len(known.cells):
            return corrected
        weights = np.zeros((*known.cells.shape[:2], SUMS), dtype=np.int64)
        blocks, dispersion = expected(regime, known.cells, weights, self.block_opens)
        return replace(
            corrected,
            counts=ConfusionCounts.from_cells(blocks[:, 0].sum(axis=0)),
            blocks=ConfusionCounts.from_cells(blocks[:, 0]),
            series=np.moveaxis(blocks[:, 1:], 0, 1),
            dispersion=dispersion or self.dispersion,
        )

    def is_shorter_than(self, first: int) -> bool:
        """Return whether it stands in for first days of a length, until these are known.

        Args:
            first: their length, milliseconds.
        """
        if self.source != "first" or self.cut_short is not None:
            return False
        return (
            self.opens is not None and self.closes is not None and self.closes - self.opens < first
        )

    @property
    def ends_at_change(self) -> bool:
        """True where it ends before a change of level that is certain by all days."""
        closes, cut = self.closes, self.cut_short
        return cut is not None and closes is not None and cut <= closes

    def is_of(self, stretch: MatureReference) -> bool:
        """Return whether it is another correction of the same outcomes."""
        names = ("source", "version", "opens", "closes")
        return all(getattr(self, name) == getattr(stretch, name) for name in names)

    def examined(self, regime: LabelRegime) -> MatureReference:
        """Return it with the change of level, and of prevalence, that its days hold.

        Args:
            regime: how labels come; estimated outcomes are not looked at.
        """
        days = self.by_day
        if days is None or regime.is_estimated:
            return self
        level, prevalence = find_level_change(days), find_prevalence_change(days)
        return replace(self, level_change=level, prevalence_change=prevalence)

    def is_before(self, since: int | None) -> bool:
        """Return whether it opens before a moment; False for given counts.

        Args:
            since: epoch milliseconds; None for no moment.
        """
        return since is not None and self.opens is not None and self.opens < since

    def cells_of(self, rows: Int64Array) -> CountArray:
        """Return the outcomes of some series, (series, 4); zeros for series added later."""
        known = dict(zip(self.rows.tolist(), self.series.sum(axis=1), strict=True))
        nothing = np.zeros(len(Outcome), dtype=np.int64)
        return np.array([known.get(row, nothing) for row in rows.tolist()])

    def blocks_of(self, rows: Int64Array) -> ConfusionCounts | None:
        """Return the outcomes of some series by blocks, (series, blocks); None for given counts."""
        if not len(self.rows):
            return None
        known = dict(zip(self.rows.tolist(), self.series, strict=True))
        nothing = np.zeros(self.series.shape[1:], dtype=np.int64)
        return ConfusionCounts.from_cells([known.get(row, nothing) for row in rows.tolist()])

    def state(self) -> State:
        """Serializable state."""
        return {
            "source": self.source,
            "opens": self.opens,
            "closes": self.closes,
            "counts": self.counts.cells,
            "blocks": self.blocks.cells,
            "panes": None if self.panes is None else self.panes.cells,
            "series": self.series,
            "rows": self.rows,
            "scores": scores_state(self.scores),
            "scores_by_day": scores_state(self.scores_by_day),
            "block_ms": self.block_ms,
            "step_seconds": self.step_seconds,
            "dispersion": [
                self.dispersion.class_ratio,
                self.dispersion.recall,
                self.dispersion.false_positive_rate,
            ],
            "labelling": self.labelling,
            "version": self.version,
            **({} if self.cut_short is None else {"cut_short": self.cut_short}),
            **({} if self.worse_since is None else {"worse_since": self.worse_since}),
            **({} if self.as_labelled is None else {"as_labelled": self.as_labelled.state()}),
        }

    @classmethod
    def given(cls, counts: ReferenceCounts) -> MatureReference:
        """Return the reference of configured counts, which have no time."""
        given = ConfusionCounts(tp=counts.tp, fp=counts.fp, fn=counts.fn, tn=counts.tn)
        labelling = np.zeros((1, CELLS), dtype=np.int64)
        labelling[0] = [*given.cells, given.predicted_positive, given.predicted_negative]
        return cls(
            source="counts",
            opens=None,
            closes=None,
            counts=given,
            blocks=given,
            panes=None,
            series=np.empty((0, 0, len(Outcome)), dtype=np.int64),
            rows=np.empty(0, dtype=np.int64),
            scores=None,
            dispersion=Dispersion.of(1.0),
            labelling=labelling,
        )

    @classmethod
    def restored(cls, state: State, left: Numbers) -> MatureReference:
        """Load what `state` returned.

        Args:
            state: of an earlier run.
            left: the models and series that are still there.
        """
        panes = state["panes"]
        class_ratio, recall, false_positive_rate = state["dispersion"]
        return cls(
            source=state["source"],
            opens=state["opens"],
            closes=state["closes"],
            counts=ConfusionCounts.from_cells(state["counts"]),
            blocks=ConfusionCounts.from_cells(state["blocks"]),
            panes=None if panes is None else ConfusionCounts.from_cells(panes),
            series=state["series"].copy(),
            rows=new_numbers(left.series)[state["rows"]],
            scores=restored_scores(state["scores"]),
            scores_by_day=restored_scores(state["scores_by_day"]),
            block_ms=state["block_ms"],
            step_seconds=state["step_seconds"],
            dispersion=Dispersion(
                class_ratio=class_ratio, recall=recall, false_positive_rate=false_positive_rate
            ),
            labelling=state["labelling"].copy(),
            version=state["version"],
            cut_short=state.get("cut_short"),
            worse_since=state.get("worse_since"),
            as_labelled=None
            if (known := state.get("as_labelled")) is None
            else AsLabelled.restored(known),
        )

    def sampling(self, regime: LabelRegime) -> Dispersion:
        """Return the variance of its rows over that of independent ones: 1 unless estimated.

        Args:
            regime: how labels come, and how often they are wrong.
        """
        return self.dispersion if regime.is_estimated else Dispersion.of(1.0)

    @property
    def outcomes(self) -> ReferenceOutcomes:
        """Its outcomes, as a snapshot carries them."""
        return ReferenceOutcomes(
            source=self.source,
            opens=self.opens,
            closes=self.closes,
            counts=self.counts,
            version=self.version,
            level_change=self.level_change,
            prevalence_change=self.prevalence_change,
            cut_short=self.cut_short,
            held_back=None if self.worse_since is None else HeldBack(self.worse_since, over=True),
        )

    @property
    def block_opens(self) -> Int64Array:
        """First moment of each of its blocks, epoch milliseconds; 0 for given counts."""
        return (self.opens or 0) + self.block_ms * np.arange(len(self.labelling), dtype=np.int64)

    def labelled_blocks(self, regime: LabelRegime) -> LabelledBlocks | ConfusionCounts:
        """Return its counts as labelled; its outcomes, one block, where counts were given.

        Args:
            regime: how labels come, and how often they are wrong.
        """
        if not self.block_ms:
            return self.blocks[None]
        return LabelledBlocks(regime, self.labelling, self.block_opens)

    def curve(self, regime: LabelRegime) -> ScoreHistogram | None:
        """Return the scores that its ROC curve is drawn from, (days, bins); None without.

        Args:
            regime: how often labels are wrong; scores are estimated by actual class where they
                are, and there are none while the rates are undefined.
        """
        labelled = self.labelled_blocks(regime)
        if not regime.has_errors or isinstance(labelled, ConfusionCounts):
            return self.scores_by_day
        return labelled.corrected(self.scores_by_day)

    @property
    def by_day(self) -> ConfusionCounts | None:
        """Its outcomes by days since its first moment; None for given counts."""
        return self._by_day(self.blocks.cells) if self.block_ms else None

    def days_of(self, rows: Int64Array) -> ConfusionCounts | None:
        """Return the outcomes of some series by days, (series, days); None for given counts."""
        found = self.blocks_of(rows)
        return None if found is None else self._by_day(found.cells)

    def _by_day(self, cells: CountArray) -> ConfusionCounts:
        starts = np.arange(0, cells.shape[-2], max(1, DAY_MS // self.block_ms))
        return ConfusionCounts.from_cells(np.add.reduceat(cells, starts, axis=-2))

    @property
    def days_behind(self) -> float:
        """Number of days that its outcomes stem from, at least 1."""
        by_day = self.by_day
        return UNDATED_DAYS if by_day is None else days_behind(by_day.total, 1)

    @property
    def opened(self) -> FloatArray:
        """Event time at which each of its panes opens, epoch seconds; none for given counts."""
        if self.panes is None or self.opens is None:
            return np.empty(0)
        panes = np.arange(self.panes.shape[-1], dtype=np.float64)
        return np.asarray(self.opens / 1000 + self.step_seconds * panes)

    @property
    def days(self) -> tuple[int, int] | None:
        """Its whole days [first, end), numbered from 1970 on; None for given counts."""
        if self.opens is None or self.closes is None:
            return None
        return -(-self.opens // DAY_MS), self.closes // DAY_MS

    @property
    def profile(self) -> SeasonalProfile | None:
        """The class ratio at each time of the day; None for given counts."""
        return None if self.panes is None else SeasonalProfile.learn(self.opened, self.panes)
