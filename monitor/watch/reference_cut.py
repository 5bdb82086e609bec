"""Cuts a reference out of the outcomes of a stretch of time, or out of a longer reference."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift import Dispersion, block_seconds
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.metrics.histogram import ScoreHistogram
from monitor.watch.as_labelled import AsLabelled
from monitor.watch.cuts import Cuts
from monitor.watch.level import Stretch
from monitor.watch.reference import MatureReference
from monitor.windows.outcome_reader import PaneReader


class StretchScores(NamedTuple):
    """Scores of a stretch of time; None where it has none.

    Attributes:
        whole: all of them.
        by_day: the labelled ones of its whole days.
    """

    whole: ScoreHistogram | None = None
    by_day: ScoreHistogram | None = None


NO_SCORES = StretchScores()


def cut_reference(
    reader: PaneReader,
    stretch: Stretch,
    cuts: Cuts,
    regime: LabelRegime,
    scores: StretchScores = NO_SCORES,
    *,
    rates_move: bool = False,
) -> MatureReference:
    """Return the outcomes of a stretch of time as a reference.

    Args:
        reader: of the outcomes.
        stretch: mature, and its panes are still stored.
        cuts: series of the model.
        regime: how labels come, and how often they are wrong.
        scores: of the same stretch.
        rates_move: True where the rates of wrong labels may be others later: learned ones, and
            configured ones of which labels may exclude a part.
    """
    rows, step = cuts.rows, reader.step_ms
    start, end = stretch.opens // step, stretch.closes // step
    table = reader.panes(start, end, rows)
    seconds = (stretch.closes - stretch.opens) / 1000
    per_block = max(1, int(block_seconds(seconds)) * 1000 // step)
    firsts = np.arange(0, len(table), per_block)
    cells = np.add.reduceat(table, firsts, axis=0)
    weights = np.add.reduceat(reader.pane_weights(start, end, rows), firsts, axis=0)
    own = int(np.flatnonzero(rows == cuts.totals)[0])
    order = np.concatenate([[own], np.arange(len(rows))])
    opens = start * step + per_block * step * np.arange(len(cells), dtype=np.int64)
    blocks, dispersion = expected(regime, cells[:, order], weights[:, order], opens)
    panes = ConfusionCounts.from_cells(table[:, own, : len(Outcome)])
    return MatureReference(
        source=stretch.source,
        opens=start * step,
        closes=end * step,
        counts=ConfusionCounts.from_cells(blocks[:, 0].sum(axis=0)),
        blocks=ConfusionCounts.from_cells(blocks[:, 0]),
        panes=panes,
        series=np.moveaxis(blocks[:, 1:], 0, 1),
        rows=rows,
        scores=scores.whole,
        dispersion=dispersion or _dispersion(panes, step),
        labelling=cells[:, own],
        scores_by_day=scores.by_day,
        block_ms=per_block * step,
        step_seconds=step / 1000,
        as_labelled=AsLabelled(regime, cells[:, order]) if rates_move else None,
    )


def shortened(
    longer: MatureReference, closes: int, scores: ScoreHistogram | None
) -> MatureReference:
    """Return a reference up to a moment, without the days behind it.

    The panes that it was cut from need not be stored any more. So that its counts as labelled
    correct it later, they end there as well.

    Args:
        longer: of outcomes as counted, not estimated, of some stretch of time.
        closes: whole days behind its first moment, epoch milliseconds; it stays as it is if it
            closes then, or earlier.
        scores: all scores of the days that remain; None without scores.
    """
    if longer.opens is None or longer.closes is None or closes >= longer.closes:
        return longer
    length, step = closes - longer.opens, int(longer.step_seconds * 1000)
    end, panes = length // longer.block_ms, longer.panes
    left = None if panes is None else panes[: length // step]
    blocks, known = longer.blocks[:end], longer.as_labelled
    return replace(
        longer,
        closes=closes,
        counts=blocks.sum(),
        blocks=blocks,
        panes=left,
        series=longer.series[:, :end],
        scores=scores,
        scores_by_day=_first_days(longer, closes),
        dispersion=longer.dispersion if left is None else _dispersion(left, step),
        labelling=longer.labelling[:end],
        as_labelled=None if known is None else known._replace(cells=known.cells[:end]),
    )


def _first_days(longer: MatureReference, closes: int) -> ScoreHistogram | None:
    """Return the scores by day before a moment; None where one class has no label in them."""
    days, whole = longer.days, longer.scores_by_day
    if days is None or whole is None:
        return None
    end = max(0, closes // DAY_MS - days[0])
    positive, negative = whole.positive[:end], whole.negative[:end]
    if not (positive.any() and negative.any()):
        return None
    return ScoreHistogram(positive=positive, negative=negative, unlabelled=whole.unlabelled[:end])


def _dispersion(panes: ConfusionCounts, step: int) -> Dispersion:
    """Return the dispersion of outcomes by panes of a width, milliseconds."""
    return Dispersion.estimate(panes, sorted({1, max(1, DAY_MS // step)}))
