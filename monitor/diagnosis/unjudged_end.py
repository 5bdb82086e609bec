"""Predictions that are made later than those that a verdict judges, since labels take long."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from monitor.clock import DAY_MS
from monitor.counts import Outcome
from monitor.events.columns import FloatArray, Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.snapshot import ModelState
from monitor.windows.history import History

_WEEK_MS = 7 * DAY_MS
_LEAST_BEFORE_MS = 4 * _WEEK_MS
_SURELY = 0.0003
"""Error of the test, which takes weeks for independent; days that hang together make it larger."""
_MATTERS = 0.2
"""Log-odds by which a share must have moved to be named, as a rate of a model must."""
_TWO_SIDES = 2
_LATEST_WEEKS = 4
"""Weeks at the end that are compared as well: the share may have changed within the stretch."""
_FEWEST = 3
"""Weeks of both stretches that are needed to learn how weeks scatter, besides one on each side."""


class UnjudgedEnd(NamedTuple):
    """The last stretch of a model's predictions, which no verdict is on yet.

    Attributes:
        since: when it begins, epoch milliseconds.
        length_ms: up to the last prediction.
        predictions: made in it.
        labelled: of these.
        flagged: share of these.
        flagged_before: the same of a stretch before it.
        before_ms: length of that one: of the longest window, or four weeks where that is shorter.
        changed: whether the second share certainly differs from the first, by how whole weeks
            scatter.
    """

    since: int
    length_ms: int
    predictions: int
    labelled: int
    flagged: float
    flagged_before: float
    before_ms: int
    changed: bool


def unjudged_end(model: ModelState, history: History, judged_ms: int) -> UnjudgedEnd | None:
    """Return the stretch of predictions behind the mature ones.

    Args:
        model: its state.
        history: its totals by hour.
        judged_ms: length of its longest window, milliseconds.

    Returns:
        None where the stretch is no longer than that window, and for a model of more than two
        classes, which flags nothing.
    """
    mature, last = model.mature_until, model.last_prediction_ms
    if model.classes or mature is None or last is None or last - mature <= judged_ms:
        return None
    opens, cells = history
    later = opens >= mature
    before_ms = max(judged_ms, _LEAST_BEFORE_MS)
    earlier = ~later & (opens >= mature - before_ms)
    made = cells[:, [PREDICTED_POSITIVE, PREDICTED_NEGATIVE]]
    now, before = made[later].sum(axis=0), made[earlier].sum(axis=0)
    if not (now.sum() and before.sum()):
        return None
    weeks = (opens - mature) // _WEEK_MS
    first, whole = -(before_ms // _WEEK_MS), (last - mature) // _WEEK_MS
    stretches = [(weeks >= begins) & (weeks < ends) for begins, ends in ((first, 0), (0, whole))]
    usual, lately = (_by_week(weeks[side], made[side]) for side in stretches)
    return UnjudgedEnd(
        since=mature,
        length_ms=last - mature,
        predictions=int(now.sum()),
        labelled=int(cells[later, : len(Outcome)].sum()),
        flagged=float(now[0] / now.sum()),
        flagged_before=float(before[0] / before.sum()),
        before_ms=before_ms,
        changed=_differ(usual, lately) or _differ(usual, lately[-_LATEST_WEEKS:]),
    )


def _by_week(weeks: Int64Array, made: Int64Array) -> FloatArray:
    """Return the log-odds of being flagged of each week that has predictions."""
    place = weeks - weeks.min(initial=0)
    flagged, others = (np.bincount(place, weights=column) for column in made.T)
    held = flagged + others > 0
    return np.asarray(np.log((flagged[held] + 0.5) / (others[held] + 0.5)))


def _differ(before: FloatArray, after: FloatArray) -> bool:
    """Return whether two runs of weeks certainly have another mean, by a t-test.

    Args:
        before: log-odds of each week.
        after: the same.
    """
    freedom = len(before) + len(after) - _TWO_SIDES
    if freedom < _FEWEST or not (len(before) and len(after)):
        return False
    moved = float(after.mean() - before.mean())
    around = sum(float(((side - side.mean()) ** 2).sum()) for side in (before, after))
    error = np.sqrt(around / freedom * (1 / len(before) + 1 / len(after)))
    if abs(moved) < _MATTERS:
        return False
    return bool(error == 0 or _TWO_SIDES * stdtr(freedom, -abs(moved) / error) < _SURELY)
