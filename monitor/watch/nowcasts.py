"""Nowcasts: prevalence and precision from the predictions of each window, ahead of labels."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from monitor.drift.label_free import Nowcast, nowcast
from monitor.metrics.histogram import ScoreHistogram
from monitor.watch.reference import MatureReference
from monitor.windows import Windows
from monitor.windows.days import DAY_MS
from monitor.windows.scores import Scores


class Nowcasts:
    """Nowcasts of one model's windows, cached until its predictions change.

    Do not use with labels that are a sample: the intervals would treat estimates as counts.

    Args:
        model: its number.
        reference: whose recall and false-positive rate are assumed to hold.
        windows: counts.
        scores: score histograms.
    """

    def __init__(
        self, model: int, reference: MatureReference, windows: Windows, scores: Scores
    ) -> None:
        self._model = model
        self._reference = reference
        self._windows = windows
        self._scores = scores
        self._known: dict[str, tuple[tuple[int, int], ScoreHistogram, Nowcast]] = {}
        self._populations: dict[str, tuple[Hashable, tuple[int, int]]] = {}

    def of(self, name: str, now: int) -> Nowcast:
        """Return the nowcast of a window that ends now.

        It uses score histograms where reference and window have scores and the window is
        at least a day long, else counts.

        Args:
            name: of the window.
            now: epoch milliseconds.
        """
        called, length = self._population(name, now), self._windows.length(name)
        live = self._scores.histogram(self._model, now - length + DAY_MS, now)
        known = self._known.get(name)
        if known is None or known[0] != called or known[1] is not live:
            found = self._made(called, live, scored=length >= DAY_MS)
            known = self._known[name] = (called, live, found)
        return known[2]

    def _made(self, called: tuple[int, int], live: ScoreHistogram, *, scored: bool) -> Nowcast:
        scores = self._reference.scores
        use_scores = scores is not None and scored and int(live.total.sum()) > 0
        with np.errstate(all="ignore"):
            return nowcast(
                predicted_positive=called[0],
                total=sum(called),
                reference=self._reference.counts,
                scores=live.total if use_scores else None,
                reference_scores=scores if use_scores else None,
            )

    def _population(self, name: str, now: int) -> tuple[int, int]:
        """Count positive and negative predictions, again only where some came."""
        edition = self._windows.predictions_edition(name, self._model, now)
        known = self._populations.get(name)
        if known is None or known[0] != edition:
            counts = self._windows.population(name, self._model, now)
            known = self._populations[name] = (edition, counts)
        return known[1]
