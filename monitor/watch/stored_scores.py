"""Score histograms in a state: whole counts in as few bytes as hold them."""

from __future__ import annotations

import numpy as np

from monitor.counts import CountArray
from monitor.metrics.histogram import ScoreHistogram


def scores_state(scores: ScoreHistogram | None) -> list[CountArray] | None:
    """Return the tables of a histogram for a state, in the fewest bytes that hold their counts.

    Args:
        scores: whole counts, or fractional ones, which stay as they are; None for none.
    """
    if scores is None:
        return None
    return [_narrow(table) for table in (scores.positive, scores.negative, scores.unlabelled)]


def restored_scores(state: list[CountArray] | None) -> ScoreHistogram | None:
    """Return the histogram of a state.

    Args:
        state: what `scores_state` returned, of an earlier run as well.
    """
    if state is None:
        return None
    positive, negative, unlabelled = (
        table.astype(np.int64 if table.dtype.kind in "iu" else table.dtype) for table in state
    )
    return ScoreHistogram(positive=positive, negative=negative, unlabelled=unlabelled)


def _narrow(table: CountArray) -> CountArray:
    """Return whole counts in the fewest bytes a cell that hold them all."""
    for kind in (np.uint8, np.int32) if table.dtype.kind in "iu" else ():
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        if least <= table.min(initial=0) and table.max(initial=0) <= most:
            return table.astype(kind)
    return table
