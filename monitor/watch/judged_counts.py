"""Counts that are judged, and what a judgement of them rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from monitor.counts import ConfusionCounts
from monitor.drift import Judgement, block_seconds
from monitor.drift.component_changes import BetweenDays
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import no_scores
from monitor.events.columns import Int64Array
from monitor.labels.error_ranges import Corner
from monitor.labels.faults import LabelFault
from monitor.metrics.histogram import ScoreHistogram
from monitor.windows.outcome_reader import OutcomeReader


class Counts(NamedTuple):
    """Counts of a stretch of time, of the totals and then of each segment key.

    Attributes:
        cells: by blocks of time, (blocks, series, 6).
        weights: of the labels, (blocks, series, 8).
        block_ms: length of a block, milliseconds.
        scores: returns the labelled scores by day, (days, bins).
    """

    cells: Int64Array
    weights: Int64Array
    block_ms: int
    scores: Callable[[], ScoreHistogram | None] = no_scores


class Tested(NamedTuple):
    """A judgement, and what it rests on.

    Attributes:
        judgement: on the totals, or within segments where a change of mix explains more.
        fault: of the labels behind it; None where there is none.
        total: all outcomes, a scalar.
        days: length of the stretch.
        dispersion: variance of rows over that of independent ones.
        between: what the scatter of days adds.
        corners: the comparison at the ends of the ranges of wrong labels; none without.
    """

    judgement: Judgement
    fault: LabelFault | None
    total: ConfusionCounts
    days: float
    dispersion: Dispersion
    between: BetweenDays
    corners: tuple[Corner, ...]


def block_length(windows: OutcomeReader, name: str, now: int, age: int) -> int:
    """Return the length of the blocks of time into which a window is divided for its errors.

    Args:
        windows: counts.
        name: of the window.
        now: epoch milliseconds.
        age: maturity, milliseconds.

    Returns:
        Milliseconds: an hour, or a day in windows of 20 days and more, rounded down to whole
        panes; a pane where it is longer.
    """
    width = windows.width(windows.pane_range(name, now, age))
    wanted = int(block_seconds(windows.length(name) / 1000)) * 1000
    return max(1, wanted // width) * width
