"""Classes whose change of precision has no interval, as one day alone defines it.

Errors between days come from leaving out each day in turn. Where all right, or all wrong,
predictions of a class lie on one day, its precision without that day has no finite odds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from msgspec import Struct

from monitor.drift.class_attribution import ClassAttribution
from monitor.events.columns import Int64Array

SideName = Literal["before", "after"]


class LoneDay(Struct, frozen=True, kw_only=True):
    """Why the change of a class's precision has no interval.

    Attributes:
        side: the stretch of time.
        predictions: which of the predictions as this class all lie on one day of it.
    """

    side: SideName
    predictions: Literal["right", "wrong"]


def lone_days(
    names: Sequence[str], found: ClassAttribution, before: Int64Array, after: Int64Array
) -> dict[str, LoneDay]:
    """Return the classes whose change is defined and has no interval, each with its reason.

    Args:
        names: of the classes.
        found: the attribution of these days.
        before: labelled predictions by day, predicted and actual class.
        after: likewise.
    """
    points, lower = found.change.points, found.change.lower_points
    lacking = np.flatnonzero(np.isfinite(points) & ~np.isfinite(lower)).tolist()
    reasons: dict[str, LoneDay] = {}
    sides: list[tuple[SideName, Int64Array]] = [("before", before), ("after", after)]
    for side, days in sides:
        right = np.diagonal(days, axis1=1, axis2=2)
        wrong = days.sum(axis=2) - right
        for number in lacking:
            if np.count_nonzero(right[:, number]) == 1:
                reasons.setdefault(names[number], LoneDay(side=side, predictions="right"))
            if np.count_nonzero(wrong[:, number]) == 1:
                reasons.setdefault(names[number], LoneDay(side=side, predictions="wrong"))
    return reasons
