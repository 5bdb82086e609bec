"""What "before" means for a model: its reference, from where the configuration says."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from monitor.config import Labelling, ReferenceCounts
from monitor.counts import ConfusionCounts, CountArray, Outcome
from monitor.drift import Dispersion, block_seconds
from monitor.drift.profile import SeasonalProfile
from monitor.events.catalogue import Catalogue
from monitor.events.columns import FloatArray, Int64Array
from monitor.events.renumbering import Numbers, State, new_numbers
from monitor.join.deltas import CELLS
from monitor.labels.sampled import expected
from monitor.metrics.histogram import ScoreHistogram
from monitor.watch.first_days import FIRST_MS, end_of_first_days
from monitor.windows import Windows
from monitor.windows.days import DAY_MS
from monitor.windows.scores import Scores


@dataclass(frozen=True, slots=True, kw_only=True)
class Reference:
    """What a model's windows are compared with.

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
        scores_by_day: labelled scores of the whole days inside it, (days, bins), which its
            ROC curve is drawn from; None where there are none or labels are a sample.
        block_ms: length of its blocks; 0 where counts were given.
        step_seconds: width of its panes; likewise.
        dispersion: variance over that of independent rows.
        labelling: all counts by the same blocks, (blocks, 6): labelled outcomes and
            predictions; one block without unlabelled predictions where counts were given.
        version: 1 for the first that was found; one more each time it moves on.

    Where labels are a sample, outcomes are those expected of all predictions.
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

    def cells_of(self, rows: Int64Array) -> CountArray:
        """Outcomes of some series, (series, 4); of those that came up later, nothing."""
        known = dict(zip(self.rows.tolist(), self.series.sum(axis=1), strict=True))
        nothing = np.zeros(len(Outcome), dtype=np.int64)
        return np.array([known.get(row, nothing) for row in rows.tolist()])

    def blocks_of(self, rows: Int64Array) -> ConfusionCounts | None:
        """Outcomes of some series by blocks, (series, blocks); None for given counts."""
        if not len(self.rows):
            return None
        known = dict(zip(self.rows.tolist(), self.series, strict=True))
        nothing = np.zeros(self.series.shape[1:], dtype=np.int64)
        return ConfusionCounts.from_cells([known.get(row, nothing) for row in rows.tolist()])

    def state(self) -> State:
        """All of it, as plain values."""
        return {
            "source": self.source,
            "opens": self.opens,
            "closes": self.closes,
            "counts": self.counts.cells,
            "blocks": self.blocks.cells,
            "panes": None if self.panes is None else self.panes.cells,
            "series": self.series,
            "rows": self.rows,
            "scores": _scores_state(self.scores),
            "scores_by_day": _scores_state(self.scores_by_day),
            "block_ms": self.block_ms,
            "step_seconds": self.step_seconds,
            "dispersion": [
                self.dispersion.class_ratio,
                self.dispersion.recall,
                self.dispersion.false_positive_rate,
            ],
            "labelling": self.labelling,
            "version": self.version,
        }

    @classmethod
    def restored(cls, state: State, left: Numbers) -> Reference:
        """What `state` was given by, with the new numbers of its series."""
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
            scores=_restored_scores(state["scores"]),
            scores_by_day=_restored_scores(state["scores_by_day"]),
            block_ms=state["block_ms"],
            step_seconds=state["step_seconds"],
            dispersion=Dispersion(
                class_ratio=class_ratio, recall=recall, false_positive_rate=false_positive_rate
            ),
            labelling=state["labelling"].copy(),
            version=state["version"],
        )

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
        """What its class ratio was at each time of the day; None for given counts."""
        return None if self.panes is None else SeasonalProfile.learn(self.opened, self.panes)


def _scores_state(scores: ScoreHistogram | None) -> list[CountArray] | None:
    return None if scores is None else [scores.positive, scores.negative, scores.unlabelled]


def _restored_scores(kept: list[CountArray] | None) -> ScoreHistogram | None:
    if kept is None:
        return None
    positive, negative, unlabelled = (part.copy() for part in kept)
    return ScoreHistogram(positive=positive, negative=negative, unlabelled=unlabelled)


class References:
    """Finds each model's reference as soon as it is mature, and keeps it.

    Args:
        catalogue: models, their settings and series.
        windows: where counts are kept.
        scores: where score histograms are kept.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows, scores: Scores) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._scores = scores
        self._found: dict[int, Reference] = {}

    def of(self, model: int, mature: int) -> Reference | None:
        """The reference of a model; None while it is not known.

        Args:
            model: its number.
            mature: up to this moment, epoch milliseconds, outcomes are mature.
        """
        known = self._found.get(model)
        if known is not None and not self._is_outdated(model, known, mature):
            return known
        found = self._find(model, mature)
        if found is not None:
            number = 1 if known is None else known.version + 1
            self._found[model] = found = replace(found, version=number)
            self._windows.forget_beginning(model)
        return found or known

    def found(self, model: int) -> Reference | None:
        """The reference that was found last."""
        return self._found.get(model)

    def keep(self, model: int, reference: Reference) -> None:
        """Go on with a reference that was found earlier."""
        self._found[model] = reference

    def _is_outdated(self, model: int, known: Reference, mature: int) -> bool:
        """A trailing reference moves on when it lies a whole length behind its place."""
        length = self._catalogue.settings[model].reference.trailing
        if length is None or known.closes is None:
            return False
        return mature - length >= known.closes + length

    def _find(self, model: int, mature: int) -> Reference | None:
        setting = self._catalogue.settings[model].reference
        if setting.counts is not None:
            return _given(setting.counts)
        if setting.window is not None:
            opens, closes = setting.window.open, setting.window.end
            return self._cut("window", model, opens, closes) if closes <= mature else None
        if setting.trailing is not None:
            closes = mature - setting.trailing
            return self._after_first("trailing", model, closes - setting.trailing, closes)
        return self._first(model, setting.first or FIRST_MS, mature)

    def _after_first(self, source: str, model: int, opens: int, closes: int) -> Reference | None:
        first = self._windows.first_pane(model)
        if first is None or first * self._windows.step_ms > opens:
            return None
        return self._cut(source, model, opens, closes)

    def _first(self, model: int, length: int, mature: int) -> Reference | None:
        """Cut the first days, once they hold enough outcomes or cannot grow further."""
        first = self._windows.first_pane(model)
        if first is None:
            return None
        step = self._windows.step_ms
        opens = first * step

        def sums(ends: Sequence[int]) -> Int64Array:
            return self._windows.sums_from_first(model, [closes // step for closes in ends])

        closes = end_of_first_days(opens, length, mature, sums)
        return None if closes is None else self._cut("first", model, opens, closes)

    def _totals_row(self, model: int) -> int:
        return self._catalogue.totals_row(self._catalogue.models[model])

    def _cut(self, source: str, model: int, opens: int, closes: int) -> Reference:
        step = self._windows.step_ms
        start, end = opens // step, closes // step
        rows = self._catalogue.rows_of(model)
        table = self._windows.panes(start, end, rows)
        per_block = max(1, int(block_seconds((closes - opens) / 1000)) * 1000 // step)
        firsts = np.arange(0, len(table), per_block)
        cells = np.add.reduceat(table, firsts, axis=0)
        weights = np.add.reduceat(self._windows.pane_weights(start, end, rows), firsts, axis=0)
        own = int(np.flatnonzero(rows == self._totals_row(model))[0])
        order = np.concatenate([[own], np.arange(len(rows))])
        labelling = self._catalogue.settings[model].labelling
        blocks, dispersion = expected(labelling, cells[:, order], weights[:, order])
        panes = ConfusionCounts.from_cells(table[:, own, : len(Outcome)])
        scores = self._scores.histogram(model, opens, closes)
        lengths = sorted({1, max(1, DAY_MS // step)})
        return Reference(
            source=source,
            opens=start * step,
            closes=end * step,
            counts=ConfusionCounts.from_cells(blocks[:, 0].sum(axis=0)),
            blocks=ConfusionCounts.from_cells(blocks[:, 0]),
            panes=panes,
            series=np.moveaxis(blocks[:, 1:], 0, 1),
            rows=rows,
            scores=scores if scores.counts[0].total else None,
            dispersion=dispersion or Dispersion.estimate(panes, lengths),
            labelling=cells[:, own],
            scores_by_day=self._scores_by_day(model, opens, closes),
            block_ms=per_block * step,
            step_seconds=step / 1000,
        )

    def _scores_by_day(self, model: int, opens: int, closes: int) -> ScoreHistogram | None:
        if self._catalogue.settings[model].labelling is not Labelling.COMPLETE:
            return None
        days = self._scores.days(model, opens, closes)
        return days if days.positive.any() and days.negative.any() else None


def _given(counts: ReferenceCounts) -> Reference:
    given = ConfusionCounts(tp=counts.tp, fp=counts.fp, fn=counts.fn, tn=counts.tn)
    labelling = np.zeros((1, CELLS), dtype=np.int64)
    labelling[0] = [*given.cells, given.predicted_positive, given.predicted_negative]
    return Reference(
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
