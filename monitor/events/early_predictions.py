"""The first predictions of a version, which say which of two versions was there before.

A record may begin in the middle of a rollout, with a prediction of the canary by chance. The one
that makes its 32nd prediction first was there before, however much the canary grows.
"""

from __future__ import annotations

import numpy as np

from monitor.events.columns import Int64Array

ENOUGH = 32
"""Predictions that tell a canary of one fifth of the traffic from the rest by their times."""
Early = tuple[tuple[int, int], ...]
"""Moments of the first 32 predictions, epoch milliseconds, ascending, each with all made at it."""


def earliest(times: Int64Array, many: Int64Array, known: Early = ()) -> Early:
    """Return the moments of the first 32 predictions.

    Args:
        times: of predictions, in any order, epoch milliseconds.
        many: how many predictions each of them stands for.
        known: moments of others.

    >>> earliest(np.array([9, 7]), np.array([30, 1]), ((8, 1),))
    ((7, 1), (8, 1), (9, 30))
    >>> earliest(np.array([5, 6]), np.array([31, 1]), ((7, 1), (8, 1), (9, 30)))
    ((5, 31), (6, 1))
    """
    if len(times) > ENOUGH:
        early = times <= np.partition(times, ENOUGH - 1)[ENOUGH - 1]
        times, many = times[early], many[early]
    found = dict(known)
    for moment, count in zip(times.tolist(), many.tolist(), strict=True):
        found[moment] = found.get(moment, 0) + count
    ordered, made = sorted(found.items()), 0
    for place, (_, count) in enumerate(ordered):
        made += count
        if made >= ENOUGH:
            return tuple(ordered[: place + 1])
    return tuple(ordered)


def changes(early: Early, first: int) -> bool:
    """Return whether a prediction is among the first ones.

    Args:
        early: the first ones so far.
        first: its time, epoch milliseconds.
    """
    return first <= early[-1][0] if settled_at(early) is not None else True


def settled_at(early: Early) -> float | None:
    """Return when the 32nd prediction was made, epoch milliseconds; None before it.

    Predictions of one moment count as spread over its millisecond: where times are days or hours,
    the version with most on the first one comes first.

    Args:
        early: the first predictions.

    >>> settled_at(((5, 31), (6, 4))), settled_at(((5, 31),))
    (6.25, None)
    """
    if not early or sum(count for _, count in early) < ENOUGH:
        return None
    last, made = early[-1]
    return last + (ENOUGH - sum(count for _, count in early[:-1])) / made
