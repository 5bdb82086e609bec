"""One window against the reference: verdict, causes, and a look ahead of the labels."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts, Outcome
from monitor.drift import (
    Judgement,
    Verdict,
    attribute,
    block_seconds,
    judge,
    judge_within_segments,
)
from monitor.drift.label_free import Nowcast, nowcast
from monitor.events import Int64Array
from monitor.snapshot import WindowVerdict
from monitor.watch.reference import Reference
from monitor.windows import DAY_MS, Windows
from monitor.windows.scores import Scores

DEGRADED = frozenset({Verdict.MODEL_DEGRADED, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED})
"""Verdicts that lay a fall to the model."""
OF_THE_MODEL = DEGRADED | {
    Verdict.MODEL_IMPROVED,
    Verdict.PREVALENCE_SHIFT_AND_MODEL_IMPROVED,
}
"""Verdicts that lay a change to the model."""
NOT_OF_THE_MODEL = frozenset(
    {Verdict.NO_CHANGE, Verdict.PREVALENCE_SHIFT, Verdict.OPERATING_POINT_MOVED}
)
"""Verdicts that are sure the model is not to blame."""

_UNJUDGED = WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE)


class Cuts(NamedTuple):
    """How the outcomes of a model are cut into series.

    Attributes:
        totals: series of all its outcomes.
        segments: for each segment key that is kept, the series of its values.
    """

    totals: int
    segments: tuple[Int64Array, ...]


class Judge:
    """Judges the windows of one model against one reference.

    Where segments are kept, a verdict that lays a change to the model must hold
    within them too: if in some cut into segments it does not, the mix has
    changed, and the verdict within the segments is taken.

    Args:
        model: its number.
        reference: what its windows are compared with.
        windows: where counts are kept.
        scores: where score histograms are kept.
    """

    def __init__(self, model: int, reference: Reference, windows: Windows, scores: Scores) -> None:
        self.reference = reference
        self._model = model
        self._windows = windows
        self._scores = scores
        self._known: dict[str, tuple[Int64Array, WindowVerdict]] = {}

    def all(self, now: int, age: int, cuts: Cuts) -> dict[str, WindowVerdict]:
        """The verdict on each window by name.

        Args:
            now: the moment that windows end by, epoch milliseconds.
            age: the model's maturity, milliseconds.
            cuts: the totals' series, and for each segment key those of its values.
        """
        return {
            name: replace(self._verdict(name, now, age, cuts), nowcast=self._nowcast(name, now))
            for name in self._windows.names
        }

    def says_degraded(self, now: int, age: int, cuts: Cuts) -> bool:
        """Whether the verdict on some window lays a fall to the model."""
        names = self._windows.names
        return any(self._verdict(name, now, age, cuts).verdict in DEGRADED for name in names)

    def _verdict(self, name: str, now: int, age: int, cuts: Cuts) -> WindowVerdict:
        """Judged again only where the counts have changed."""
        length, closes = self._windows.length(name), self.reference.closes
        if closes is not None and now - age - length < closes:
            return _UNJUDGED
        block_ms = int(block_seconds(length / 1000)) * 1000
        rows = np.concatenate([[cuts.totals], *cuts.segments]).astype(np.int64)
        cells = self._windows.blocks(name, rows, now, age, block_ms)[..., : len(Outcome)]
        cells = np.moveaxis(cells, 0, 1)
        known = self._known.get(name)
        if known is None or not np.array_equal(known[0], cells):
            known = self._known[name] = (cells, self._judged(cells, cuts))
        return known[1]

    def _judged(self, cells: Int64Array, cuts: Cuts) -> WindowVerdict:
        """From counts (series, blocks, 4), the totals first and then each cut."""
        after = ConfusionCounts.from_cells(cells[0])
        if not after.total.any():
            return _UNJUDGED
        before, dispersion = self.reference.blocks, self.reference.dispersion
        judgement = judge(before, after, dispersion)
        if judgement.verdict in OF_THE_MODEL:
            judgement = self._within_segments(judgement, cells[1:], cuts)
        return WindowVerdict(
            verdict=judgement.verdict,
            judgement=judgement,
            attribution=attribute(before, after, dispersion),
        )

    def _within_segments(self, whole: Judgement, cells: Int64Array, cuts: Cuts) -> Judgement:
        start = 0
        for rows in cuts.segments:
            after = ConfusionCounts.from_cells(cells[start : start + len(rows)])
            before = self.reference.blocks_of(rows)
            start += len(rows)
            if before is None:
                continue
            within = judge_within_segments(before, after, self.reference.dispersion)
            if within.verdict in NOT_OF_THE_MODEL:
                return within
        return whole

    def _nowcast(self, name: str, now: int) -> Nowcast:
        """From score histograms where both are there and whole days fit, else from counts."""
        positive, negative = self._windows.population(name, self._model, now)
        length, known = self._windows.length(name), self.reference.scores
        live = self._scores.histogram(self._model, now - length + DAY_MS, now)
        scored = int(live.total.sum()) > 0 and length >= DAY_MS
        use_scores = known is not None and scored
        with np.errstate(all="ignore"):
            return nowcast(
                predicted_positive=positive,
                total=positive + negative,
                reference=self.reference.counts,
                scores=live.total if use_scores else None,
                reference_scores=known if use_scores else None,
            )
