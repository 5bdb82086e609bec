"""The bins of label delays."""

from __future__ import annotations

import numpy as np

from monitor.events.columns import FloatArray, Int64Array

_PER_OCTAVE = 4
OCTAVES = 26
EDGES_SECONDS: FloatArray = np.concatenate(
    [[0.0], 2.0 ** (np.arange(OCTAVES * _PER_OCTAVE) / _PER_OCTAVE), [np.inf]]
)
"""Upper edges of the bins: a quarter of an octave (19 %) apart, from 1 s to two years."""
_LAST_MS: Int64Array = np.floor(EDGES_SECONDS[:-1] * 1000).astype(np.int64)
FIRST_MS: Int64Array = np.append(0, _LAST_MS + 1)
"""Shortest delay of each bin, milliseconds."""
LAST_MS: Int64Array = np.append(_LAST_MS, np.int64(1) << 50)
"""Longest delay of each bin, milliseconds."""


def bins_of(delay: Int64Array) -> Int64Array:
    """Return the bin of each delay, milliseconds; one below 0 counts as 0.

    >>> bins_of(np.array([-5, 0, 1, 1000, 1001])).tolist()
    [0, 0, 1, 1, 2]
    """
    return np.searchsorted(EDGES_SECONDS, np.maximum(delay, 0) / 1000)
