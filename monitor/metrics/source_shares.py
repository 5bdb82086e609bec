"""Which share of the cases each source labels, by week: who labels, and since when."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.events.columns import Int64Array
from monitor.metrics.ratio import FloatArray

FEWEST_CASES = 400
"""Cases of a stretch of time below which shares are not stated."""


class SourceShares(NamedTuple):
    """Cases that sources label, by week of the prediction.

    Attributes:
        begins: (weeks,), first moment of each, epoch milliseconds.
        week_ms: length of a week.
        cases: (weeks,), cases that any source labels.
        labelled: (weeks, sources), cases that each source labels.
    """

    begins: Int64Array
    week_ms: int
    cases: Int64Array
    labelled: Int64Array

    def within(self, opens: int, closes: int) -> FloatArray:
        """Return the share of the cases of a stretch of time that each source labels, (sources,).

        Args:
            opens: first moment, epoch milliseconds.
            closes: first moment after it.

        Returns:
            Ratios in [0, 1], of the weeks whose middle lies in the stretch; NaN where these have
            under `FEWEST_CASES` cases.

        >>> shares = SourceShares(
        ...     np.array([0, 700, 1400]), 700, np.array([200, 400, 50]),
        ...     np.array([[200, 0], [300, 200], [0, 50]]))
        >>> shares.within(0, 1400).round(3).tolist(), shares.within(1400, 2100).tolist()
        ([0.833, 0.333], [nan, nan])
        """
        middle = self.begins + self.week_ms // 2
        weeks = (middle >= opens) & (middle < closes)
        cases = self.cases[weeks].sum()
        if cases < FEWEST_CASES:
            return np.full(self.labelled.shape[1], np.nan)
        return np.asarray(self.labelled[weeks].sum(axis=0) / cases)

    def is_same(self, other: SourceShares) -> bool:
        """Tell whether another one has the same cases in the same weeks."""
        return (
            np.array_equal(self.begins, other.begins)
            and np.array_equal(self.cases, other.cases)
            and np.array_equal(self.labelled, other.labelled)
        )
