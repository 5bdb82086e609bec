"""Cuts a batch where the days of a model close, so that they close one by one.

Days are closed behind each part of a batch, by the labels that have come until then. Without
these cuts a batch of several days would close all of them with its last label: a reference
would be taken, and the detector by days stepped, with labels later than maturity.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import IntEnum

import numpy as np

from monitor.clock import DAY_MS
from monitor.engine.label_quarters import LABELS_AHEAD_MS, LabelQuarters
from monitor.events.columns import NO_TIME, BoolArray, EventBatch, Int64Array
from monitor.events.crossings import TimePath, crossings
from monitor.events.model_times import ModelTimes
from monitor.events.time_columns import NEVER
from monitor.labels.maturity import Maturities

_NO_DAY = -1
_UNLABELLED_MS = 2 * DAY_MS


class _Of(IntEnum):
    """Column of what is known of a model.

    Days close, and the awaited reference, at these milliseconds after midnight; the maturity, and
    the day since 1970 that it is of; the time at which the model was judged last; and the time
    until which it is judged every hour while no label has come.
    """

    CLOSES = 0
    AGE = 1
    DAY = 2
    JUDGED = 3
    REFERENCE = 4
    UNLABELLED = 5


_NEW = (0, 0, _NO_DAY, NO_TIME, 0, NO_TIME)


class DayCuts:
    """Where batches are cut so that the days of all models close one by one.

    A model enters a day of event time at midnight (UTC), and closes one in the hour in which
    midnight is as old as its maturity. So does the reference that it awaits. Before the first
    label, for two days, it is judged as each hour begins.

    Args:
        maturities: of the models.
        step_ms: length of the panes that are judged, milliseconds; a divisor of a day.
        awaits: returns a moment at which the reference that a model awaits may close, or whole
            days from it, by its number and the moment up to which outcomes are mature, epoch
            milliseconds; None where it awaits none.

    Attributes:
        outdated: True where moments at which days close have changed since `any_in`: the rest of
            a batch is to be planned anew.
    """

    def __init__(
        self,
        maturities: Maturities,
        step_ms: int,
        awaits: Callable[[int, int], int | None] = lambda _model, _mature: None,
    ) -> None:
        self._maturities = maturities
        self._step = step_ms
        self._awaits = awaits
        self._known: Int64Array = np.zeros((0, len(_Of)), dtype=np.int64)
        self._next: Int64Array = np.zeros(0, dtype=np.int64)  # when each model is judged again
        self._quarters = LabelQuarters()
        self._furthest = NO_TIME
        self.outdated = False

    def age_at(self, model: int, now: int) -> int | None:
        """Return the maturity of a model, and close its days by it from now on.

        Within a day (UTC) it does not become shorter: batches of any size close days by the same.

        Args:
            model: its number.
            now: its time, epoch milliseconds.

        Returns:
            Milliseconds; None where it is not known yet.
        """
        self._ensure(model + 1)
        age, day, known = self._maturities.judged(model, now), now // DAY_MS, self._known[model]
        before = known.tolist()
        if age is None:
            if known[_Of.UNLABELLED] == NO_TIME:
                known[_Of.UNLABELLED], self.outdated = now + _UNLABELLED_MS, True
                self._note_next(slice(model, model + 1))
            return None
        if day == known[_Of.DAY]:
            age = max(age, int(known[_Of.AGE]))
        known[_Of.AGE], known[_Of.DAY] = age, day
        awaited = self._awaits(model, now - age)
        known[_Of.CLOSES] = self._after_midnight(age)
        known[_Of.REFERENCE] = self._after_midnight(age + (awaited or 0))
        for at in (_Of.CLOSES, _Of.REFERENCE):
            self.outdated |= before[at] != known[at]
        self.outdated |= before[_Of.DAY] == _NO_DAY
        self._note_next(slice(model, model + 1))
        return age

    def known_age(self, model: int) -> int | None:
        """Return the maturity that the days of a model close by; None where it is not known yet.

        Args:
            model: its number.
        """
        self._ensure(model + 1)
        known = self._known[model]
        return None if known[_Of.DAY] == _NO_DAY else int(known[_Of.AGE])

    def due(
        self, times: ModelTimes, width_ms: int, labels: Int64Array, *, whole: bool = False
    ) -> Int64Array | None:
        """Return the times of the models to be judged behind a part of a batch; others `NO_TIME`.

        They are those for which a day begins or closes: a cut is made for one model, and costs
        nothing for the others.

        Args:
            times: of the models.
            width_ms: width of a pane, as in `judged_times`.
            labels: times of the labels of the part, epoch milliseconds.
            whole: all are judged.

        Returns:
            None where no model is to be judged.
        """
        settled = times.settled
        self._ensure(len(settled))
        before, self._furthest = self._furthest, _furthest(settled)
        carries = self._quarters.hear(labels, before, self._furthest)
        following = self._next[: len(settled)]
        if not (carries or whole or (settled >= following).any()):
            return None
        judged = judged_times(times, width_ms)
        due = np.flatnonzero((judged >= following) | whole)
        self._known[due, _Of.JUDGED] = judged[due]
        self._note_next(due)
        found = np.full_like(judged, NO_TIME)
        found[due] = judged[due]
        return found

    def following(self, times: Int64Array) -> Int64Array:
        """Return the next moment at which each model begins or closes a day.

        Args:
            times: of the models, epoch milliseconds; what is returned is later.
        """
        self._ensure(len(times))
        return _following(self._known[: len(times)], times)

    def any_in(self, batch: EventBatch, times: ModelTimes, seen: ModelTimes) -> bool:
        """Return whether a day begins or closes within a batch; nearly always none does.

        Args:
            batch: its rows in the order of their records.
            times: of the models before the batch.
            seen: the same behind it.
        """
        self.outdated = False
        after = seen.settled
        self._ensure(len(after))
        if bool((after >= self._next[: len(after)]).any()):
            return True
        return bool(self._quarters.places(batch, _furthest(times.settled)))

    def places(self, batch: EventBatch, paths: Sequence[TimePath], times: ModelTimes) -> set[int]:
        """Return where to cut a batch so that the days of its models close one by one.

        Args:
            batch: its groups by their numbers, its rows in the order of their records.
            paths: of its models through it.
            times: of the models before the batch.

        Returns:
            Places in the sequence of its rows behind which a part ends.
        """

        def furthest_at(place: int) -> int:
            return max(int(path.time[path.place.searchsorted(place, "right")]) for path in paths)

        furthest = _furthest(times.settled)
        at = furthest_at if paths else None
        found = set(self._quarters.places(batch, furthest, at))
        for late in _moments(self._known):
            found.update(one.place for one in crossings(paths, DAY_MS, late))
        unlabelled = _unlabelled(self._known)
        hourly = [path for path in paths if unlabelled[path.model]]
        nothing = np.zeros(len(unlabelled), dtype=np.int64)
        return found.union(one.place for one in crossings(hourly, self._step, nothing))

    def state(self) -> list[list[int]]:
        """Plain values, by model."""
        return [[*row] for row in self._known.tolist()]

    @property
    def quarters(self) -> LabelQuarters:
        """Labels that lie ahead of all models."""
        return self._quarters

    def restore(
        self, state: list[list[int]] | list[int], models: Int64Array, judged: Int64Array
    ) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; without maturities in an older one, and where it is empty
                days close at midnight, until the first panes are judged. The row of a model that
                begins anew is empty.
            models: old numbers of the models that are still there.
            judged: times at which these were judged last where the state does not have them.
        """
        known = [[row] if isinstance(row, int) else row for row in state]
        rows = [[*row, *_NEW[len(row) :]] for row in known]
        table = np.array(rows, dtype=np.int64).reshape(-1, len(_Of))
        left = models[models < len(known)]
        self._known = table[left]
        older = np.array([0 < len(row) <= _Of.JUDGED for row in known], dtype=np.bool_)[left]
        self._known[older, _Of.JUDGED] = judged[: len(left)][older]
        self._furthest = _furthest(judged)
        self._next = np.zeros(len(self._known), dtype=np.int64)
        self._note_next(slice(None))

    def _ensure(self, models: int) -> None:
        more = models - len(self._known)
        if more > 0:
            fresh = np.array([_NEW] * more, dtype=np.int64)
            self._known = np.concatenate([self._known, fresh])
            self._next = np.append(self._next, _following(fresh, fresh[:, _Of.JUDGED]))

    def _after_midnight(self, moment: int) -> int:
        """Return when the hour begins, after midnight, in which a moment has passed."""
        return -(-moment // self._step) * self._step % DAY_MS

    def _note_next(self, rows: slice | Int64Array) -> None:
        known = self._known[rows]
        last = known[:, _Of.JUDGED]
        hour = np.where(_unlabelled(known), last // self._step * self._step + self._step, NEVER)
        self._next[rows] = np.minimum(_following(known, last), hour)


def _moments(known: Int64Array) -> tuple[Int64Array, Int64Array, Int64Array]:
    """Return when days begin, and close, after midnight, by rows of `_Of`; and the reference."""
    return np.zeros(len(known), dtype=np.int64), known[:, _Of.CLOSES], known[:, _Of.REFERENCE]


def _unlabelled(known: Int64Array) -> BoolArray:
    """Return which models are judged every hour, before their first label, by rows of `_Of`."""
    young = known[:, _Of.JUDGED] < known[:, _Of.UNLABELLED]
    return np.asarray((known[:, _Of.DAY] == _NO_DAY) & young)


def _following(known: Int64Array, times: Int64Array) -> Int64Array:
    """Return the first moment after some times at which days begin or close, by rows of `_Of`."""
    ends = [(times - at) // DAY_MS * DAY_MS + DAY_MS + at for at in _moments(known)]
    found: Int64Array = np.minimum.reduce(ends)
    return found


def judged_times(times: ModelTimes, width_ms: int) -> Int64Array:
    """Return the time that each model is judged at, epoch milliseconds; `NO_TIME` before any.

    It is the settled time, which the model's own events decide one by one. Labels carry it to
    `LABELS_AHEAD_MS` before themselves, where no other events come.

    Args:
        times: of the models.
        width_ms: width of a pane, milliseconds; within one, labels carry nothing.
    """
    settled = times.settled
    if not ((times.at_most - LABELS_AHEAD_MS) // width_ms > settled // width_ms).any():
        return settled
    carried = np.maximum(settled, times.now - LABELS_AHEAD_MS)
    return np.where(settled == NO_TIME, NO_TIME, carried)


def _furthest(times: Int64Array) -> int:
    return int(times.max(initial=NO_TIME))
