"""How narrow a range of scores, and how few different scores, a model gives on its days.

A model that lost its features may still flag some cases, at a usual rate, while its scores have
shrunk to a narrow range or to a few values. No label is needed to see that: on no day of the past
had so many of its cases scores that close together.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from monitor.events.columns import FloatArray, Int64Array
from monitor.events.score_bins import SCORE_BINS

WIDTHS = (2, 5, 10, 20, 50, 100, 200)
"""Widths of ranges of scores, in bins."""
FEW = (2, 3, 4, 5)
"""Numbers of different scores."""
FEWEST_SCORED_A_DAY = 100
"""Scored cases from which on a day tells how far scores spread."""

FEWEST_IN_SPAN = 20
"""Cases from which on their scores show how far they spread."""

_CERTAIN = -math.log(1e-9)
_HALF = 0.5
_SPREAD = 0.5


class ScoreSpan(NamedTuple):
    """The scores of some successive cases.

    Attributes:
        cases: number of cases.
        width: bins from the lowest to the highest score, both counted; 0 without cases.
        different: number of different scores, by bin.
    """

    cases: int
    width: int
    different: int

    @property
    def is_wide(self) -> bool:
        """True where neither these cases nor any more are narrow, nor half of their span is."""
        return self.width > 2 * WIDTHS[-1] and self.different > 2 * FEW[-1]


NO_SPAN = ScoreSpan(cases=0, width=0, different=0)
"""The span of no case."""
WIDEST = ScoreSpan(cases=0, width=2 * SCORE_BINS, different=2 * SCORE_BINS)
"""The narrowest span of no stretch at all: any other one is narrower."""


class KnownSpread(NamedTuple):
    """The usual spread of the scores of one model, from the days of its past.

    Attributes:
        within: largest share of a day's cases whose scores lie in one range of each of
            `WIDTHS`, in (0, 1].
        few: largest share of a day's cases that have its commonest scores, for each of `FEW`.
    """

    within: FloatArray
    few: FloatArray

    @classmethod
    def learn(cls, days: Int64Array, fewest_days: int) -> KnownSpread | None:
        """Learn from days.

        Args:
            days: scored cases by bin, (days, bins).
            fewest_days: days with 100 scored cases that it takes.

        Returns:
            None where there are fewer days.

        >>> days = np.full((7, 1_000), 1)
        >>> KnownSpread.learn(days, 7).within[-3:].round(3).tolist()
        [0.05, 0.1, 0.2]
        """
        days = days[days.sum(axis=1) >= FEWEST_SCORED_A_DAY]
        if len(days) < fewest_days:
            return None
        shares = days / days.sum(axis=1, keepdims=True)
        up_to = np.insert(np.cumsum(shares, axis=1), 0, 0.0, axis=1)
        within = [float((up_to[:, width:] - up_to[:, :-width]).max()) for width in WIDTHS]
        most = -np.sort(-shares, axis=1)[:, : FEW[-1]].cumsum(axis=1)
        few = [float(most[:, number - 1].max()) for number in FEW]
        return cls(np.minimum(within, 1.0), np.minimum(few, 1.0))

    def is_narrow(self, seen: ScoreSpan, narrowest: ScoreSpan) -> bool:
        """Return whether scores are certainly closer together than ever.

        As many independent cases of the day with the closest scores lie in one range so narrow,
        or have so few different scores, with a probability below 1e-9, wherever these scores are
        (Bonferroni). The range must also be at most half as wide, or the different scores at most
        half as many, as of any stretch of that length: the hours of a night may have closer
        scores than any whole day.

        Args:
            seen: of successive cases; fewer than 20 are not narrow, nor is one score alone, which
                is `constant_score`.
            narrowest: least width, and fewest different scores, of past stretches as long.
        """
        if seen.cases < FEWEST_IN_SPAN or seen.different == 1:
            return False
        by_width = -seen.cases * math.log(self._share_within(seen.width)) - math.log(SCORE_BINS)
        if by_width >= _CERTAIN and seen.width <= _HALF * narrowest.width:
            return True
        if seen.different > FEW[-1]:
            return False
        ways = gammaln(SCORE_BINS + 1) - gammaln(seen.different + 1)
        ways -= gammaln(SCORE_BINS - seen.different + 1)
        by_number = -seen.cases * math.log(self._share_of(seen.different)) - float(ways)
        return by_number >= _CERTAIN and seen.different <= _HALF * narrowest.different

    def is_spread(self, seen: ScoreSpan) -> bool:
        """Return whether scores certainly spread as usual.

        Args:
            seen: of successive cases.

        Returns:
            True for 20 cases or more of which a usual day has half or more in a range as wide,
            and with as many different scores.
        """
        wide = self._share_within(seen.width) >= _SPREAD
        return seen.cases >= FEWEST_IN_SPAN and wide and self._share_of(seen.different) >= _SPREAD

    def _share_within(self, width: int) -> float:
        at = int(np.searchsorted(WIDTHS, width))
        return float(self.within[at]) if at < len(WIDTHS) else 1.0

    def _share_of(self, different: int) -> float:
        at = int(np.searchsorted(FEW, different))
        return float(self.few[at]) if at < len(FEW) else 1.0
