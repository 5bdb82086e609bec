"""Cuts a batch where the days of a model close, so that they close one by one.

Days are closed behind each part of a batch, by the labels that have come until then. Without
these cuts a batch of several days would close all of them with its last label: a reference
would be taken, and the detector by days stepped, with labels later than maturity.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import NO_TIME, EventBatch, Int64Array
from monitor.events.crossings import TimePath, crossings, label_days
from monitor.events.model_times import ModelTimes
from monitor.labels.maturity import Maturities

LABELS_AHEAD_MS = DAY_MS
"""How far labels may lie ahead of a model's own events before they carry what is judged."""
_NO_DAY = -1


class DayCuts:
    """Where batches are cut so that the days of all models close one by one.

    A model enters a day of event time at midnight (UTC), and closes one in the hour in which
    midnight is as old as its maturity. Within a day the moment at which a pane is judged is the
    end of its batch.

    Args:
        maturities: of the models.
        step_ms: length of the panes that are judged, milliseconds; a divisor of a day.

    Attributes:
        outdated: True where moments at which days close have changed since `any_in`: the rest of
            a batch is to be planned anew.
    """

    def __init__(self, maturities: Maturities, step_ms: int) -> None:
        self._maturities = maturities
        self._step = step_ms
        self._closes: Int64Array = np.zeros(0, dtype=np.int64)  # after midnight
        self._ages: Int64Array = np.zeros(0, dtype=np.int64)
        self._days: Int64Array = np.zeros(0, dtype=np.int64)
        self._judged: Int64Array = np.zeros(0, dtype=np.int64)
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
        age, day = self._maturities.judged(model, now), now // DAY_MS
        if age is None:
            return None
        if day == self._days[model]:
            age = max(age, int(self._ages[model]))
        self._ages[model], self._days[model] = age, day
        closes = -(-age // self._step) * self._step % DAY_MS
        if closes != self._closes[model]:
            self._closes[model] = closes
            self.outdated = True
        return age

    def due(self, times: ModelTimes, width_ms: int, *, whole: bool) -> Int64Array:
        """Return the times of the models to be judged behind a part of a batch; others `NO_TIME`.

        They are those for which a day begins or closes: a cut is made for one model, and costs
        nothing for the others.

        Args:
            times: of the models.
            width_ms: width of a pane, as in `judged_times`.
            whole: behind the last part of a batch all are judged.
        """
        judged = judged_times(times, width_ms)
        self._ensure(len(judged))
        last, closes = self._judged[: len(judged)], self._closes[: len(judged)]
        due = (judged // DAY_MS != last // DAY_MS) | whole
        due |= (judged - closes) // DAY_MS != (last - closes) // DAY_MS
        self._judged[: len(judged)] = np.where(due, judged, last)
        return np.where(due, judged, NO_TIME)

    def following(self, times: Int64Array) -> Int64Array:
        """Return the next moment at which each model begins or closes a day.

        Args:
            times: of the models, epoch milliseconds; what is returned is later.
        """
        self._ensure(len(times))
        late = np.zeros_like(times), self._closes[: len(times)]
        begins, closes = ((times - at) // DAY_MS * DAY_MS + DAY_MS + at for at in late)
        following: Int64Array = np.minimum(begins, closes)
        return following

    def any_in(self, batch: EventBatch, times: ModelTimes, seen: ModelTimes) -> bool:
        """Return whether a day begins or closes within a batch; nearly always none does.

        Args:
            batch: its rows in the order of their records.
            times: of the models before the batch.
            seen: the same behind it.
        """
        self.outdated = False
        before, after = times.settled, seen.settled
        self._ensure(len(after))
        closes = self._closes[: len(after)]
        for late in (0, closes):
            if bool(np.any((before - late) // DAY_MS != (after - late) // DAY_MS)):
                return True
        latest = int(batch.labels.time.max(initial=NO_TIME)) - LABELS_AHEAD_MS
        if latest <= _furthest(after):
            return False
        reached = _reached(times, seen)
        return any((latest - at) // DAY_MS > (reached - at) // DAY_MS for at in self._moments())

    def places(
        self, batch: EventBatch, paths: Sequence[TimePath], times: ModelTimes, seen: ModelTimes
    ) -> set[int]:
        """Return where to cut a batch so that the days of its models close one by one.

        Args:
            batch: its groups by their numbers, its rows in the order of their records.
            paths: of its models through it.
            times: of the models before the batch.
            seen: the same behind it.

        Returns:
            Places in the sequence of its rows behind which a part ends.
        """
        reached = _reached(times, seen) + LABELS_AHEAD_MS
        late = np.zeros_like(self._closes), self._closes
        found = {one.place for closes in late for one in crossings(paths, DAY_MS, closes)}
        return found.union(*(label_days(batch, reached, moment) for moment in self._moments()))

    def state(self) -> list[list[int]]:
        """Plain values."""
        columns = self._closes.tolist(), self._ages.tolist(), self._days.tolist()
        return [[*row] for row in zip(*columns, strict=True)]

    def restore(self, state: list[list[int]] | list[int], models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; without maturities in an older one, and where it is empty
                days close at midnight, until the first panes are judged.
            models: old numbers of the models that are still there.
        """
        known = [[row, 0, _NO_DAY] if isinstance(row, int) else row for row in state]
        table = np.array(known, dtype=np.int64).reshape(-1, 3)[models[models < len(known)]]
        self._closes, self._ages, self._days = table.T.copy()
        self._judged = np.full(len(table), NO_TIME, dtype=np.int64)

    def _ensure(self, models: int) -> None:
        more = models - len(self._closes)
        if more > 0:
            nothing = np.zeros(more, dtype=np.int64)
            self._closes = np.append(self._closes, nothing)
            self._ages = np.append(self._ages, nothing)
            self._days = np.append(self._days, np.full_like(nothing, _NO_DAY))
            self._judged = np.append(self._judged, np.full_like(nothing, NO_TIME))

    def _moments(self) -> list[int]:
        """Moments of the day at which days begin or close, milliseconds after midnight."""
        return [*{0, *self._closes.tolist()}]


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


def _reached(times: ModelTimes, seen: ModelTimes) -> int:
    """Return a time that labels must pass to carry another one, epoch milliseconds."""
    return max(_furthest(seen.settled), _furthest(times.at_most) - LABELS_AHEAD_MS)


def _furthest(times: Int64Array) -> int:
    return int(times.max(initial=NO_TIME))
