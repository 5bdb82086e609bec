"""The narrowest scores that stretches of a model's past had, by day."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from monitor.clock import DAY_MS
from monitor.drift.known_predictions import FEWEST_DAYS, LENGTHS
from monitor.drift.score_spread import FEWEST_IN_SPAN, NO_SPAN, WIDEST, ScoreSpan
from monitor.events.renumbering import State

_Spans = tuple[ScoreSpan, ...]
_NOTHING: _Spans = (WIDEST,) * len(LENGTHS)
_LATEST_DAYS, _KEPT_DAYS = 2, 30


class NarrowestSpans:
    """The narrowest scores of stretches of each of `LENGTHS`, over four weeks.

    Those of today and of yesterday do not count yet: scores that have just become narrow would
    otherwise be usual before enough cases show it.
    """

    def __init__(self) -> None:
        self._first: int | None = None
        self._days: dict[int, _Spans] = {}
        self._known: tuple[int, _Spans] | None = None

    def before(self, at: int) -> _Spans | None:
        """Return those up to the day before yesterday, by length.

        Args:
            at: epoch milliseconds.

        Returns:
            None until a week of days is known.
        """
        day = (at - 1) // DAY_MS
        if self._first is None or day - self._first < FEWEST_DAYS:
            return None
        if self._known is None or self._known[0] != day:
            found = _NOTHING
            for known, spans in self._days.items():
                if known <= day - _LATEST_DAYS:
                    found = _narrower(found, spans)
            self._known = day, found
        return self._known[1]

    def see(self, at: int, spans: Sequence[ScoreSpan]) -> None:
        """Take the spans of the stretches that end at a moment, in which nothing is wrong.

        Args:
            at: epoch milliseconds, not before that of the last call.
            spans: by length, the longest left out where they are wide; those of fewer than 20
                cases count not at all.
        """
        day = (at - 1) // DAY_MS
        if self._first is None:
            self._first = day
        if self._known is not None and (self._known[0] != day or day not in self._days):
            self._known = None
        if day not in self._days:
            self._days = {n: one for n, one in self._days.items() if n > day - _KEPT_DAYS}
        self._days[day] = _narrower(self._days.get(day, _NOTHING), spans)

    def state(self) -> State:
        """Serializable state."""
        days = [[day, [list(one) for one in spans]] for day, spans in self._days.items()]
        return {"first": self._first, "days": days}

    @classmethod
    def restored(cls, state: State) -> NarrowestSpans:
        """Return what `state` returned."""
        found = cls()
        found._first = state["first"]
        found._days = {day: tuple(ScoreSpan(*o) for o in spans) for day, spans in state["days"]}
        return found


def _narrower(known: _Spans, spans: Sequence[ScoreSpan]) -> _Spans:
    """Return the narrower of two spans of each length, by width and by number of scores."""
    return tuple(
        old
        if new.cases < FEWEST_IN_SPAN
        else ScoreSpan(new.cases, min(old.width, new.width), min(old.different, new.different))
        for old, new in zip_longest(known, spans, fillvalue=NO_SPAN)
    )
