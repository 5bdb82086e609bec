"""Cuts a reference out of the outcomes of a stretch of time."""

from __future__ import annotations

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
    lengths = sorted({1, max(1, DAY_MS // step)})
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
        dispersion=dispersion or Dispersion.estimate(panes, lengths),
        labelling=cells[:, own],
        scores_by_day=scores.by_day,
        block_ms=per_block * step,
        step_seconds=step / 1000,
        as_labelled=AsLabelled(regime, cells[:, order]) if rates_move else None,
    )
