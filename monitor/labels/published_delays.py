"""The delays of a model's labels in force, as they are published: in wide bins, and as limits."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from monitor.counts import Outcome
from monitor.events.columns import FloatArray, Int64Array
from monitor.labels.delay_bins import EDGES_SECONDS, OCTAVES

PUBLISHED_EDGES_SECONDS: FloatArray = np.append(4.0 ** np.arange(OCTAVES // 2), np.inf)
"""Every eighth edge, for the exported histogram."""
SHARES = (0.5, 0.99)
"""Shares of the labels whose limits are published."""
ACTUAL_POSITIVE = np.array([outcome in (Outcome.TP, Outcome.FN) for outcome in Outcome])
_PUBLISHED_BIN = np.searchsorted(PUBLISHED_EDGES_SECONDS, EDGES_SECONDS)


class PublishedDelays(NamedTuple):
    """Delays of labels; do not write to the arrays.

    Attributes:
        counts: labels by class (negative, positive) and published bin, (2, bins).
        sums: sums of the delays by class, seconds, (2,).
        within: seconds within which each of `SHARES` of all labels came, at most 19 % or a second
            too long; infinite beyond the longest delay that is told apart, NaN without labels.
    """

    counts: Int64Array
    sums: FloatArray
    within: tuple[float, ...]


def published_delays(counts: Int64Array, total_ms: Int64Array) -> PublishedDelays:
    """Return delays as they are published.

    Args:
        counts: labels by outcome and bin of `delay_bins`, (4, bins).
        total_ms: sum of the delays by outcome, milliseconds, (4,).

    >>> counts = np.zeros((4, len(EDGES_SECONDS)), dtype=np.int64)
    >>> counts[Outcome.TP, [0, 9, 17]] = 60, 39, 1  # at once, within 4 seconds, within 16
    >>> published_delays(counts, np.zeros(4)).within
    (0.0, 4.0)
    """
    classes = (~ACTUAL_POSITIVE, ACTUAL_POSITIVE)
    by_class = [np.bincount(_PUBLISHED_BIN, weights=counts[of].sum(axis=0)) for of in classes]
    sums = np.array([total_ms[of].sum() for of in classes]) / 1000
    return PublishedDelays(np.stack(by_class).astype(np.int64), sums, _within(counts))


def _within(counts: Int64Array) -> tuple[float, ...]:
    came = np.cumsum(np.maximum(counts.sum(axis=0), 0))  # labels taken back may go below 0
    if not came[-1]:
        return (float("nan"),) * len(SHARES)
    return tuple(float(EDGES_SECONDS[np.searchsorted(came, share * came[-1])]) for share in SHARES)
