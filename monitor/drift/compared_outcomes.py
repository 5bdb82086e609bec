"""The outcomes of two windows that are compared."""

from __future__ import annotations

import math
from typing import NamedTuple

from monitor.counts import ConfusionCounts, CountArray

_ROUNDING = 1e-6


class ComparedOutcomes(NamedTuple):
    """Outcomes of two windows, by blocks of time along the last axis.

    Attributes:
        before: of the reference.
        after: of the window to judge.
    """

    before: ConfusionCounts
    after: ConfusionCounts


def are_all(parts: CountArray, whole: ConfusionCounts) -> bool:
    """Return whether the outcomes of some series are all that there are.

    Args:
        parts: cells of the series, any shape.
        whole: all outcomes, any shape; False where there are none.
    """
    total = float(whole.total.sum())
    return total > 0 and math.isclose(float(parts.sum()), total, rel_tol=_ROUNDING)
