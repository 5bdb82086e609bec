"""Segment values and score ranges in which the labels of a model are missing."""

from __future__ import annotations

from typing import NamedTuple

from monitor.clock import DAY_MS
from monitor.config import Labelling
from monitor.counts import Outcome
from monitor.events.catalogue import Catalogue
from monitor.labels.missing import concentrations, in_score_ranges
from monitor.metrics.histogram import ScoreHistogram
from monitor.verdicts import MissingLabels
from monitor.watch.cuts import Cuts
from monitor.windows import Windows
from monitor.windows.scores import Scores
from monitor.windows.windows import Edition


class _Result(NamedTuple):
    """Missing labels, and the version of the counts and scores that they were found in."""

    edition: Edition | None
    scores: ScoreHistogram | None
    missing: tuple[MissingLabels, ...]

    def is_current(self, edition: Edition | None, scores: ScoreHistogram | None) -> bool:
        return edition is not None and self.edition == edition and self.scores is scores


class MissingLabelTests:
    """Tests for labels missing by segment value and score in the longest window.

    Args:
        catalogue: models, their settings and series.
        windows: counts.
        scores: score histograms.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows, scores: Scores) -> None:
        self._catalogue = catalogue
        self._windows = windows
        self._scores = scores
        self._results: dict[int, _Result] = {}

    def of(self, model: int, cuts: Cuts, now: int, age: int) -> tuple[MissingLabels, ...]:
        """Return where labels are missing; computed again only where counts have changed.

        Args:
            model: its number.
            cuts: its series by segment key.
            now: epoch milliseconds.
            age: its maturity, milliseconds.

        Returns:
            Nothing under labelling regimes that leave predictions without a label.
        """
        if self._catalogue.settings[model].labelling is not Labelling.COMPLETE:
            return ()
        name, length = max(self._windows.names, key=self._windows.length), self._windows.longest
        scores = None
        if length >= DAY_MS:
            scores = self._scores.histogram(model, now - age - length + DAY_MS, now - age - DAY_MS)
        edition = self._windows.edition(name, model, now, age)
        result = self._results.get(model)
        if result is None or not result.is_current(edition, scores):
            missing = self._tested(name, cuts, now, age, scores)
            result = self._results[model] = _Result(edition, scores, missing)
        return result.missing

    def _tested(
        self, name: str, cuts: Cuts, now: int, age: int, scores: ScoreHistogram | None
    ) -> tuple[MissingLabels, ...]:
        length = self._windows.length(name)
        missing: list[MissingLabels] = []
        for rows in filter(len, (*cuts.segments, cuts.versions)):
            cells = self._windows.blocks(name, rows, now, age, length)[0]
            series = [self._catalogue.series[row] for row in rows.tolist()]
            labelled, predicted = cells[:, : len(Outcome)].sum(1), cells[:, len(Outcome) :].sum(1)
            values = [one.value or "" for one in series]
            missing += concentrations(series[0].segment or "", values, labelled, predicted)
        if scores is not None:
            missing += in_score_ranges(scores)
        return tuple(missing)
