"""Divides days into stretches of one level, since a change of level is no scatter."""

from __future__ import annotations

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift.day_scatter import influences
from monitor.events.columns import Int64Array
from monitor.metrics.ratio import FloatArray

_FEWEST = 5
"""Days of a stretch; shorter ones tell little of its level."""
_FEWEST_OCCUPIED = 2
"""Days with outcomes: one on each side of a change."""
_OF_A_CHANGE = 0.65
"""Share of the variance of days that a change of level explains at least."""
_OF_AN_EPISODE = 0.75
"""The same of an episode: by chance as rare, although both of its ends are chosen."""
_RATES = 3
_SMALLEST = 1e-12


def at_one_level(
    days: ConfusionCounts, *, of_ratio: bool = False, episodes: bool = False
) -> list[ConfusionCounts]:
    """Divide days where their level changed, since a change of level is no scatter.

    Args:
        days: outcomes by day along the last axis.
        of_ratio: divide them by changes of log r alone.
        episodes: divide them by an episode, too: some days at another level, after which the
            level is as before (circular binary segmentation; Olshen et al. 2004).

    Returns:
        The days as they are; or two parts, where the best division explains over .65 of
        the variance of a day's log r, TPR or FPR; or three, around an episode that explains over
        .75 of it. Days that hang together rarely reach that. Parts of fewer than 5 days are
        dropped, or not divided off.
    """
    occupied = np.flatnonzero(days.total > 0)
    if days.shape[-1] < 2 * _FEWEST or len(occupied) < _FEWEST_OCCUPIED:
        return [days]
    influence = influences(days)[0][: 1 if of_ratio else _RATES]
    first = np.arange(1, len(occupied))
    share = _explained(influence, np.zeros_like(first), first)
    best = int(share.argmax())
    if share[best] >= _OF_A_CHANGE:
        return _parts(days, [int(occupied[first[best]])], whole=of_ratio)
    if not episodes:
        return [days]
    starts, ends = (inner + 1 for inner in np.triu_indices(len(occupied) - 1, _FEWEST))
    share = _explained(influence, starts, ends)
    if not len(share) or share.max() < _OF_AN_EPISODE:
        return [days]
    best = int(share.argmax())
    return _parts(days, occupied[[starts[best], ends[best]]].tolist())


def _explained(influence: FloatArray, starts: Int64Array, ends: Int64Array) -> FloatArray:
    """Return the share of the variance that days [start, end) explain beside the others.

    Args:
        influence: of each day, (rates, days).
        starts: first days, (divisions,).
        ends: days after the last, (divisions,).

    Returns:
        The largest share of all rates, (divisions,).
    """
    count = influence.shape[1]
    deviation = influence - influence.mean(axis=1, keepdims=True)
    sums = np.cumsum(np.pad(deviation, ((0, 0), (1, 0))), axis=1)
    inside = ends - starts
    explained = (sums[:, ends] - sums[:, starts]) ** 2 * (1 / inside + 1 / (count - inside))
    whole = np.maximum((deviation**2).sum(axis=1, keepdims=True), _SMALLEST)
    return np.asarray((explained / whole).max(axis=0))


def _parts(days: ConfusionCounts, cuts: list[int], *, whole: bool = False) -> list[ConfusionCounts]:
    """Return the parts between cuts that have days enough; `whole` for all days if one has not."""
    parts = [days[part] for part in np.split(np.arange(days.shape[-1]), cuts)]
    long = [part for part in parts if part.shape[-1] >= _FEWEST]
    return [days] if whole and len(long) < len(parts) else long
