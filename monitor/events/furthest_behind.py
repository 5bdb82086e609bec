"""Which model is furthest behind, and where it stands.

A label without its prediction names no model, so it waits by the model furthest behind. The
first events of a model do not settle its time; until they do, it stands at the earliest. A
model that is silent while the others go on holds nothing back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Self

import numpy as np

from monitor.events.columns import NO_TIME, BoolArray, Int64Array
from monitor.events.time_columns import NEVER, TimeColumns

QUIET_STEPS = 8
"""Steps of the common time without an event of a model after which it holds nothing back."""


class FurthestBehind(NamedTuple):
    """What decides which models hold labels back, by model number; never changed in place.

    Attributes:
        earliest: event of each model that is not settled, since it was last quiet, epoch
            milliseconds; `NEVER` without one, and of models that are settled.
        spoke: step of the common time in which each last had an event, by its first moment in
            epoch milliseconds; `NO_TIME` before the models have a common time.
    """

    earliest: Int64Array
    spoke: Int64Array

    @classmethod
    def of(cls, models: int) -> Self:
        """Return what so many models without events decide."""
        return cls(np.full(models, NEVER, dtype=np.int64), np.full(models, NO_TIME, dtype=np.int64))

    @classmethod
    def restored(
        cls, columns: Sequence[Sequence[int]] | None, left: Sequence[int], common: int
    ) -> Self:
        """Return this as it was stored.

        Args:
            columns: of the models of that state; None in one of an earlier version.
            left: old numbers of the models that are still there.
            common: step of the common time, epoch milliseconds.
        """
        if columns is None:
            return cls.of(len(left)).after(np.zeros(len(left), dtype=np.bool_), NO_TIME, common)
        return cls(*(np.array([column[old] for old in left], dtype=np.int64) for column in columns))

    def joined(self, more: FurthestBehind) -> FurthestBehind:
        """Return this with more models."""
        return FurthestBehind(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))

    def quiet(self, reached: Int64Array, common: int, step_ms: int) -> BoolArray:
        """Return which models have been silent for too long to hold labels back.

        Args:
            reached: time of each model, of its earliest event before that is settled.
            common: step of the common time now, epoch milliseconds.
            step_ms: its length, milliseconds.
        """
        known: BoolArray = self.spoke != NO_TIME
        return known & (common - np.maximum(self.spoke, reached) > QUIET_STEPS * step_ms)

    def begun(self, number: int, first: int, *, anew: bool) -> Self:
        """Return this after events of a model.

        Args:
            number: of the model.
            first: earliest of the events, epoch milliseconds; `NEVER` of a model that is settled.
            anew: whether the model was quiet until then.
        """
        known = int(self.earliest[number])
        if first == known or (first != NEVER and not anew and first > known):
            return self
        earliest = self.earliest.copy()
        earliest[number] = first
        return self._replace(earliest=earliest)

    def after(self, models: BoolArray, before: int, common: int) -> Self:
        """Return this after events.

        Args:
            models: flags of those that had some.
            before: step of the common time before the events, epoch milliseconds.
            common: the step after them.
        """
        if before == NO_TIME != common:
            return self._replace(spoke=np.full_like(self.spoke, common))
        if (self.spoke[models] == before).all():
            return self
        return self._replace(spoke=np.where(models, before, self.spoke))

    def begins_by(self, later: FurthestBehind, quiet: BoolArray) -> bool:
        """Return whether a model may have begun to hold labels back.

        Args:
            later: this after more events.
            quiet: flags of the models that are quiet before them.
        """
        speaks = quiet & (self.spoke != later.spoke)
        return self.earliest is not later.earliest or bool(speaks.any())

    def path(
        self, number: int, times: Int64Array, settled: Int64Array, *, quiet: bool
    ) -> Int64Array:
        """Return where a model stands through a batch, see `Standing`.

        Args:
            number: of the model.
            times: of its events, epoch milliseconds.
            settled: its settled time before the first of them and after each; else `NO_TIME`.
            quiet: whether it is quiet before them.
        """
        known = NEVER if quiet else self.earliest[number]
        earliest = np.minimum.accumulate(np.append(known, times))
        return np.where(settled == NO_TIME, earliest, settled)


class Standing(NamedTuple):
    """Where the models stand at a moment of the stream.

    Attributes:
        columns: of the models.
        behind: of the models.
        common: step of the common time, epoch milliseconds.
        quiet: flags of the models that have been silent for too long to hold labels back.
        reached: where each model stands, epoch milliseconds; `NEVER` where it holds nothing back.
        slowest: step that the model furthest behind has entered, epoch milliseconds; `NO_TIME`
            before the models have a common time, when any may still be further behind.
    """

    columns: TimeColumns
    behind: FurthestBehind
    common: int
    quiet: BoolArray
    reached: Int64Array
    slowest: int

    @classmethod
    def of(cls, columns: TimeColumns, behind: FurthestBehind, common: int, step_ms: int) -> Self:
        """Return it.

        Args:
            columns: as above.
            behind: as above.
            common: as above.
            step_ms: length of a step, milliseconds.
        """
        reached = np.where(columns.settled, columns.time, behind.earliest)
        quiet = behind.quiet(reached, common, step_ms)
        if quiet.any():
            reached = np.where(quiet, NEVER, reached)
        least = int(reached.min(initial=NEVER))
        unknown = least == NEVER or common == NO_TIME
        slowest = NO_TIME if unknown else least // step_ms * step_ms
        return cls(columns, behind, common, quiet, reached, slowest)

    def is_of(self, columns: TimeColumns, behind: FurthestBehind, common: int) -> bool:
        """Return whether it was found from these.

        Args:
            columns: of the models.
            behind: of the models.
            common: step of the common time, epoch milliseconds.
        """
        return self.columns is columns and self.behind is behind and self.common == common
