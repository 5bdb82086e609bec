"""One window against the reference: verdict, causes, and a look ahead of the labels."""

from __future__ import annotations

import numpy as np

from monitor.counts import ConfusionCounts, Outcome
from monitor.drift import Attribution, Judgement, Verdict, attribute, block_seconds, judge
from monitor.drift.label_free import Nowcast, nowcast
from monitor.snapshot import WindowVerdict
from monitor.watch.reference import Reference
from monitor.windows import DAY_MS, Windows
from monitor.windows.scores import Scores

DEGRADED = frozenset({Verdict.MODEL_DEGRADED, Verdict.PREVALENCE_SHIFT_AND_MODEL_DEGRADED})
"""Verdicts that lay it to the model."""


class Judge:
    """Judges the windows of one model at one moment.

    Args:
        model: its number.
        reference: what its windows are compared with.
        windows: where counts are kept.
        scores: where score histograms are kept.
    """

    def __init__(self, model: int, reference: Reference, windows: Windows, scores: Scores) -> None:
        self._model = model
        self._reference = reference
        self._windows = windows
        self._scores = scores

    def all(self, now: int, age: int) -> dict[str, WindowVerdict]:
        """The verdict on each window by name.

        Args:
            now: the moment that windows end by, epoch milliseconds.
            age: the model's maturity, milliseconds.
        """
        return {name: self._window(name, now, age) for name in self._windows.names}

    def _window(self, name: str, now: int, age: int) -> WindowVerdict:
        length, closes = self._windows.length(name), self._reference.closes
        ahead = self._nowcast(name, now)
        overlaps = closes is not None and now - age - length < closes
        block_ms = int(block_seconds(length / 1000)) * 1000
        cells = self._windows.blocks(name, self._model, now, age, block_ms)[:, : len(Outcome)]
        if overlaps or not cells.any():
            return WindowVerdict(verdict=Verdict.INSUFFICIENT_EVIDENCE, nowcast=ahead)
        judgement, attribution = self._judged(ConfusionCounts.from_cells(cells))
        return WindowVerdict(
            verdict=judgement.verdict, judgement=judgement, attribution=attribution, nowcast=ahead
        )

    def _judged(self, after: ConfusionCounts) -> tuple[Judgement, Attribution]:
        before, dispersion = self._reference.blocks, self._reference.dispersion
        return judge(before, after, dispersion), attribute(before, after, dispersion)

    def _nowcast(self, name: str, now: int) -> Nowcast:
        """From score histograms where both are there and whole days fit, else from counts."""
        positive, negative = self._windows.population(name, self._model, now)
        length, known = self._windows.length(name), self._reference.scores
        live = self._scores.histogram(self._model, now - length + DAY_MS, now)
        scored = int(live.total.sum()) > 0 and length >= DAY_MS
        use_scores = known is not None and scored
        with np.errstate(all="ignore"):
            return nowcast(
                predicted_positive=positive,
                total=positive + negative,
                reference=self._reference.counts,
                scores=live.total if use_scores else None,
                reference_scores=known if use_scores else None,
            )
