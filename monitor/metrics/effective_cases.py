"""The number of independent cases that clustered cases are worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from monitor.counts import ConfusionCounts

if TYPE_CHECKING:
    from numpy.typing import ArrayLike


def effective(counts: ConfusionCounts, dispersion: ArrayLike) -> ConfusionCounts:
    """Return the number of independent cases with as much information as these counts.

    Args:
        counts: outcomes of any shape.
        dispersion: variance over that of independent cases, at least 1; broadcasts against
            the counts.

    Returns:
        The counts divided by the dispersion: the same rates from fewer cases.

    Raises:
        ValueError: a factor is below 1 or not finite.

    >>> effective(ConfusionCounts(tp=90, fp=50, fn=10, tn=850), 2)
    ConfusionCounts(tp=45.0, fp=25.0, fn=5.0, tn=425.0)
    """
    factor = np.asarray(dispersion, dtype=np.float64)
    if not (np.isfinite(factor).all() and (factor >= 1).all()):
        raise ValueError(
            f"intervals: dispersion must be finite and at least 1, got {dispersion!r}; "
            "1 stands for independent cases"
        )
    if (factor == 1).all() and factor.shape == ():
        return counts
    return ConfusionCounts(
        tp=counts.tp / factor, fp=counts.fp / factor, fn=counts.fn / factor, tn=counts.tn / factor
    )
