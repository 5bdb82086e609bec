"""The latest scores of one model: runs of one score, and how close together they are."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.drift.degenerate import Degeneracy, Found, SameScores, same_scores
from monitor.drift.known_predictions import LENGTHS
from monitor.drift.score_spread import NO_SPAN, KnownSpread, ScoreSpan
from monitor.events.columns import Int64Array
from monitor.windows.scores import RECENT_MS

_FEWEST_SCORED = 20


class LatestScores(NamedTuple):
    """The scores of the latest predictions by the half-hour.

    Attributes:
        opens: first moment of each half-hour, epoch milliseconds.
        scores: cases by bin, (half-hours, bins), none below 0.
        runs: of successive cases with one score, as of the end of each.
        came: number of cases before each half-hour, and behind the last one.
    """

    opens: Int64Array
    scores: Int64Array
    runs: SameScores
    came: Int64Array

    @classmethod
    def of(cls, opens: Int64Array, scores: Int64Array) -> LatestScores:
        """Return the scores of some half-hours.

        Args:
            opens: first moment of each half-hour, epoch milliseconds.
            scores: cases by bin, (half-hours, bins), none below 0.
        """
        came = np.append(0, scores.sum(axis=1).cumsum())
        return cls(opens, scores, same_scores(opens, scores), came)

    @property
    def longest_ended(self) -> int:
        """Number of cases of the longest run that has ended."""
        began, cases = self.runs
        ended = (began[1:] != began[:-1]) | (cases[1:] == 0)
        return int(cases[:-1][ended].max(initial=0))

    def found(self, at: int, fewest: float) -> Found | None:
        """Return the run of one score at a moment, if it has so many cases.

        Args:
            at: epoch milliseconds.
            fewest: number of cases.
        """
        last = int(self.opens.searchsorted(at - RECENT_MS, side="right")) - 1
        if last < 0 or self.runs.cases[last] < fewest:
            return None
        return Found(Degeneracy.CONSTANT_SCORE, int(self.runs.began[last]))

    def ever_found(self, moments: Int64Array, fewest: float) -> bool:
        """Return whether `found` returns a run at any of some moments.

        Args:
            moments: epoch milliseconds.
            fewest: number of cases.
        """
        ends = self.opens.searchsorted(moments - RECENT_MS, side="right")
        return bool((self.runs.cases[ends[ends > 0] - 1] >= fewest).any())

    def differ(self, at: int, since: int, modal_share: float) -> bool:
        """Return whether scores certainly differ again.

        That is where, of at least 20 cases of the last 1, 6 or 24 hours, the commonest score
        has a share midway between that of the past and 1; or where no scores come for a day.

        Args:
            at: epoch milliseconds.
            since: the moment of the alarm, epoch milliseconds; earlier cases do not count.
            modal_share: largest share of a day's cases that had one score in the past.
        """
        for hours in LENGTHS:
            opens = max(since, at - hours * HOUR_MS)
            chosen = (self.opens >= opens) & (self.opens + RECENT_MS <= at)
            cases = self.scores[chosen].sum(axis=0)
            if cases.sum() >= _FEWEST_SCORED and cases.max() <= cases.sum() * (1 + modal_share) / 2:
                return True
        return self._have_stopped(at, since)

    def spans(self, moments: Int64Array) -> dict[int, list[ScoreSpan]]:
        """Return how close together the scores of the last 1, 6 and 24 hours are at some moments.

        Hours of the day before do not count: behind a batch of a whole day they are not held.

        Args:
            moments: ends of these hours, epoch milliseconds.

        Returns:
            By moment and length, up to the first length whose scores are so wide that longer ones
            are not narrow.
        """
        since = (moments - 1) // DAY_MS * DAY_MS
        lengths = np.array(LENGTHS)[:, None] * HOUR_MS
        firsts = self.opens.searchsorted(np.maximum(since, moments - lengths))
        ends = self.opens.searchsorted(moments - RECENT_MS, side="right")
        # Half-hours without a case between the first case and the last change nothing.
        cases = np.stack([self.came[firsts], self.came[np.maximum(firsts, ends)]], axis=-1)
        known, found = dict[tuple[int, int], ScoreSpan](), dict[int, list[ScoreSpan]]()
        columns = moments, cases.swapaxes(0, 1), firsts.T, ends
        spans, before = list[ScoreSpan](), list[list[int]]()
        for moment, these, starts, end in zip(*(one.tolist() for one in columns), strict=True):
            if these != before:
                spans, before = [], these
                for (came, until), first in zip(these, starts, strict=True):
                    if (came, until) not in known:
                        known[came, until] = self._span(first, end)
                    spans.append(known[came, until])
                    if spans[-1].is_wide:
                        break
            found[moment] = spans
        return found

    def span(self, at: int, hours: int, since: int = 0) -> ScoreSpan:
        """Return how close together the scores of the last hours are.

        Args:
            at: end of these hours, epoch milliseconds.
            hours: how many.
            since: earlier half-hours do not count.
        """
        first = int(self.opens.searchsorted(max(since, at - hours * HOUR_MS)))
        return self._span(first, int(self.opens.searchsorted(at - RECENT_MS, side="right")))

    def _span(self, first: int, end: int) -> ScoreSpan:
        """Return the span of the scores of the half-hours [first, end), by their index."""
        there = self.scores[first:end].sum(axis=0).nonzero()[0]
        if not len(there):
            return NO_SPAN
        cases = int(self.came[end] - self.came[first])
        return ScoreSpan(cases, int(there[-1] - there[0]) + 1, len(there))

    def spread_again(self, at: int, since: int, known: KnownSpread | None) -> bool:
        """Return whether scores certainly spread as usual, or none came for a day.

        Args:
            at: epoch milliseconds.
            since: the moment of the alarm, epoch milliseconds; earlier cases do not count.
            known: how far they usually spread.
        """
        if known is not None and any(known.is_spread(self.span(at, n, since)) for n in LENGTHS):
            return True
        return self._have_stopped(at, since)

    def _have_stopped(self, at: int, since: int) -> bool:
        """Return whether no scores have come for a day since the alarm."""
        latest = self.opens >= at - LENGTHS[-1] * HOUR_MS
        return at - since >= LENGTHS[-1] * HOUR_MS and not self.scores[latest].any()
