"""Counts that are judged, and what a judgement of them rests on."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from monitor.counts import ConfusionCounts
from monitor.drift import Judgement
from monitor.drift.component_changes import BetweenDays
from monitor.drift.dispersion import Dispersion
from monitor.drift.judgement_on_curve import no_scores
from monitor.events.columns import Int64Array
from monitor.labels.error_ranges import Corner
from monitor.labels.faults import LabelFault
from monitor.metrics.histogram import ScoreHistogram


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
