"""Cuts a batch where the days of a model close, so that they close one by one.

Days are closed behind each part of a batch, by the labels that have come until then. Without
these cuts a batch of several days would close all of them with its last label: a reference
would be taken, and the detector by days stepped, with labels later than maturity.
"""

from __future__ import annotations

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import NO_TIME, EventBatch, Int64Array
from monitor.events.crossings import apart, label_days
from monitor.events.model_times import ModelTimes
from monitor.labels.maturity import Maturities


class DayCuts:
    """Where batches are cut so that the days of all models close one by one.

    A model enters a day of event time at midnight (UTC), and closes one when midnight is as
    old as its maturity; a batch is cut by the maturity that is known when it begins. Within a
    day the moment at which a pane is judged is the end of its batch.

    Args:
        maturities: of the models.
    """

    def __init__(self, maturities: Maturities) -> None:
        self._maturities = maturities
        self._closes: Int64Array = np.zeros(0, dtype=np.int64)  # after midnight

    def age_at(self, model: int, now: int) -> int | None:
        """Return the maturity of a model, and close its days by it from now on.

        Args:
            model: its number.
            now: its time, epoch milliseconds.

        Returns:
            Milliseconds; None where it is not known yet.
        """
        age = self._maturities.judged(model, now)
        self._ensure(model + 1)
        self._closes[model] = (age or 0) % DAY_MS
        return age

    def any_in(self, batch: EventBatch, times: ModelTimes, seen: ModelTimes) -> bool:
        """Return whether a day begins or closes within a batch; nearly always none does.

        Args:
            batch: its rows in the order of their records.
            times: of the models before the batch.
            seen: the same behind it.
        """
        before, after = times.settled, seen.settled
        self._ensure(len(after))
        closes = self._closes[: len(after)]
        for late in (0, closes):
            if bool(np.any((before - late) // DAY_MS != (after - late) // DAY_MS)):
                return True
        latest = int(batch.labels.time.max(initial=NO_TIME))
        if latest <= _furthest(after):
            return False
        reached = _reached(times, seen)
        return any((latest - at) // DAY_MS > (reached - at) // DAY_MS for at in self._moments())

    def added_to(
        self,
        steps: list[int],
        batch: EventBatch,
        model_of_group: Int64Array,
        times: ModelTimes,
        seen: ModelTimes,
    ) -> list[int]:
        """Return where to cut a batch so that the days of its models close one by one.

        A model whose day ends within as many rows as there are models behind another cut is
        judged at the next one: a day of many models costs a few cuts, not one for each.

        Args:
            steps: places where the batch is cut anyway, in order.
            batch: its groups by their numbers, its rows in the order of their records.
            model_of_group: model number of each group.
            times: of the models before the batch.
            seen: the same behind it.

        Returns:
            Places in the sequence of its rows behind which a part ends, `steps` among them, in
            order.
        """
        reached = _reached(times, seen)
        late = np.zeros_like(self._closes), self._closes
        places = [
            crossing.place
            for closes in late
            for crossing in times.crossings(batch, model_of_group, DAY_MS, closes)
        ]
        for moment in self._moments():
            places += label_days(batch, reached, moment)
        return sorted({*steps, *apart(places, steps, len(times.settled))})

    def state(self) -> list[int]:
        """Plain values."""
        closes: list[int] = self._closes.tolist()
        return closes

    def restore(self, state: list[int], models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; an empty one closes days at midnight until the first
                panes are judged.
            models: old numbers of the models that are still there.
        """
        self._closes = np.array(state, dtype=np.int64)[models[models < len(state)]]

    def _ensure(self, models: int) -> None:
        more = models - len(self._closes)
        if more > 0:
            self._closes = np.append(self._closes, np.zeros(more, dtype=np.int64))

    def _moments(self) -> list[int]:
        """Moments of the day at which days begin or close, milliseconds after midnight."""
        return [*{0, *self.state()}]


def _reached(times: ModelTimes, seen: ModelTimes) -> int:
    """Return a time that labels must pass to carry another one, epoch milliseconds."""
    return max(_furthest(seen.settled), _furthest(times.at_most))


def _furthest(times: Int64Array) -> int:
    return int(times.max(initial=NO_TIME))
