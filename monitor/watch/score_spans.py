"""The narrowest scores that stretches of a model's past had, up to a day or two ago."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest

from monitor.clock import DAY_MS
from monitor.drift.known_predictions import LENGTHS
from monitor.drift.score_spread import FEWEST_IN_SPAN, NO_SPAN, WIDEST, ScoreSpan
from monitor.events.renumbering import State

_Spans = tuple[ScoreSpan, ...]
_NOTHING: _Spans = (WIDEST,) * len(LENGTHS)


class NarrowestSpans:
    """The narrowest scores of stretches of each of `LENGTHS` so far.

    Those of today and of yesterday do not count yet: scores that have just become narrow would
    otherwise be usual before enough cases show it.
    """

    def __init__(self) -> None:
        self._day = 0
        self._before = self._yesterday = self._today = _NOTHING

    @property
    def before(self) -> _Spans:
        """Those up to the day before yesterday, by length."""
        return self._before

    def see(self, at: int, spans: Sequence[ScoreSpan]) -> None:
        """Take the spans of the stretches that end at a moment, in which nothing is wrong.

        Args:
            at: epoch milliseconds, not before that of the last call.
            spans: by length, the longest left out where they are wide; those of fewer than 20
                cases count not at all.
        """
        day = at // DAY_MS
        for _ in range(min(day - self._day, 2)):
            self._before = _narrower(self._before, self._yesterday)
            self._yesterday, self._today = self._today, _NOTHING
        self._day = day
        self._today = _narrower(self._today, spans)

    def state(self) -> State:
        """Serializable state."""
        stages = (self._before, self._yesterday, self._today)
        return {"day": self._day, "spans": [[list(one) for one in stage] for stage in stages]}

    @classmethod
    def restored(cls, state: State) -> NarrowestSpans:
        """Return what `state` returned."""
        found = cls()
        found._day = state["day"]
        stages = [tuple(ScoreSpan(*one) for one in stage) for stage in state["spans"]]
        found._before, found._yesterday, found._today = stages
        return found


def _narrower(known: _Spans, spans: Sequence[ScoreSpan]) -> _Spans:
    """Return the narrower of two spans of each length, by width and by number of scores."""
    return tuple(
        old
        if new.cases < FEWEST_IN_SPAN
        else ScoreSpan(new.cases, min(old.width, new.width), min(old.different, new.different))
        for old, new in zip_longest(known, spans, fillvalue=NO_SPAN)
    )
