"""Knowledge of one model's predictions: what is usual, and the alarm."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS, HOUR_MS
from monitor.drift.degenerate import DEAD, Degeneracy, Found, Present
from monitor.drift.known_predictions import LENGTHS, KnownPredictions
from monitor.drift.score_spread import KnownSpread, ScoreSpan
from monitor.events.renumbering import State
from monitor.watch.latest_scores import LatestScores
from monitor.watch.score_spans import NarrowestSpans
from monitor.windows.scores import RECENT_MS

Spans = Sequence[ScoreSpan]
"""Spans of the scores of the last hours, see `LatestScores.spans`."""

ACCEPTED_MS = 28 * DAY_MS
"""Age at which another rate of flagged cases becomes what is usual."""

_FULL_MS = 28 * DAY_MS
_LEARN_DAYS = 7


class Alarm(NamedTuple):
    """Predictions outside the range learned from the model's past.

    Attributes:
        at: the moment of the alarm, epoch milliseconds.
        found: what is wrong; the latest kind, with the beginning of the first.
        changed: first moment of the other rate of flagged cases, epoch milliseconds; None for
            a dead model.
    """

    at: int
    found: Found
    changed: int | None

    @property
    def since(self) -> int:
        """The first moment of the predictions that the latest kind is about."""
        return self.found.began if self.changed is None else self.changed

    def state(self) -> State:
        """Serializable state."""
        return {
            **self.found._asdict(),
            "kind": str(self.found.kind),
            "at": self.at,
            "changed": self.changed,
        }

    @classmethod
    def restored(cls, state: State) -> Alarm:
        """Return what `state` returned."""
        found = Found(Degeneracy(state["kind"]), state["began"], state["times"], state["length"])
        return cls(state["at"], found, state["changed"])


@dataclass(slots=True, kw_only=True)
class ModelPredictions:
    """Knowledge of one model's predictions.

    Attributes:
        done: end of the last look, epoch milliseconds.
        since: first moment that what is usual is learned from, epoch milliseconds.
        learned: day since 1970, UTC, at whose start it was learned last.
        known: what is usual; None while the past is too short.
        longest_same: number of cases of the longest run of one score so far.
        spread: how far scores usually spread; None while the past is too short.
        narrowest: the narrowest scores of stretches of the past.
        alarm: the current one; None without one.
        wrong: stretches of past alarms, epoch milliseconds.
    """

    done: int
    since: int
    learned: int | None = None
    known: KnownPredictions | None = None
    longest_same: int = 0
    spread: KnownSpread | None = None
    narrowest: NarrowestSpans = field(default_factory=NarrowestSpans)
    alarm: Alarm | None = None
    wrong: list[tuple[int, int]] = field(default_factory=list)

    def state(self) -> State:
        """Serializable state."""
        alarm = self.alarm
        return {
            "done": self.done,
            "since": self.since,
            "learned": self.learned,
            "known": None if self.known is None else self.known.state(),
            "longest_same": self.longest_same,
            "spread": None if self.spread is None else self.spread._asdict(),
            "narrowest": self.narrowest.state(),
            "alarm": None if alarm is None else alarm.state(),
            "wrong": [list(stretch) for stretch in self.wrong],
        }

    @classmethod
    def restored(cls, state: State) -> ModelPredictions:
        """Return what `state` returned."""
        alarm = None
        if state["alarm"] is not None:
            alarm = Alarm.restored(state["alarm"])
        known, spread = state["known"], state.get("spread")
        return cls(
            done=state["done"],
            since=state["since"],
            learned=state["learned"],
            known=None if known is None else KnownPredictions.restored(known),
            longest_same=state["longest_same"],
            spread=None if spread is None else KnownSpread(**spread),
            narrowest=NarrowestSpans.restored(state["narrowest"])
            if "narrowest" in state
            else NarrowestSpans(),
            alarm=alarm,
            wrong=[(opens, closes) for opens, closes in state["wrong"]],
        )

    def is_to_learn(self, day: int) -> bool:
        """Return whether what is usual is learned anew at the start of a day.

        Args:
            day: since 1970, UTC.
        """
        if self.known is None or self.learned is None or day * DAY_MS - self.since < _FULL_MS:
            return self.learned != day
        return day - self.learned >= _LEARN_DAYS

    @property
    def from_moment(self) -> int:
        """The first moment whose predictions count for the present, epoch milliseconds."""
        return max([self.since, *(closes for _, closes in self.wrong)])

    def end(self, at: int) -> None:
        """End the alarm: predictions are as usual again.

        Args:
            at: epoch milliseconds.
        """
        if self.alarm is not None:
            self.wrong.append((self.alarm.found.began, at))
            self.alarm = self.learned = None

    def raise_alarm(self, found: Found, at: int) -> None:
        """Start an alarm, or note what is wrong now.

        Args:
            found: what is wrong.
            at: epoch milliseconds.
        """
        alarm = self.alarm or Alarm(at, found, None)
        changed = None
        if found.kind not in DEAD:
            changed = found.began if alarm.changed is None else alarm.changed
        began = min(found.began, alarm.found.began)
        self.alarm = Alarm(alarm.at, found._replace(began=began), changed)

    def may_end(self, found: Found | None) -> bool:
        """Return whether the alarm may end beside what is found now.

        The last hours still hold those of a dead model when it is back.

        Args:
            found: what is wrong now.
        """
        if self.alarm is None or found is None:
            return self.alarm is not None
        return self.alarm.found.kind in DEAD and found.kind not in DEAD

    def is_back(self, present: Present, scored: LatestScores, at: int, moment: int) -> bool:
        """Return whether predictions are certainly as usual again.

        Args:
            present: stretches up to the present.
            scored: the latest scores.
            at: number of the stretch at whose end it is asked.
            moment: that end, epoch milliseconds.
        """
        alarm, known = self.alarm, self.known
        if alarm is None or known is None:
            return False
        if alarm.found.kind is Degeneracy.CONSTANT_SCORE:
            return scored.differ(moment, alarm.at, known.modal_share)
        if alarm.found.kind is Degeneracy.NARROW_SCORES:
            return scored.spread_again(moment, alarm.at, self.spread)
        return present.is_back(alarm.found, at, alarm.at)

    def has_lasted(self, at: int) -> bool:
        """Return whether the rate has been another one for so long that it is the usual one.

        Args:
            at: epoch milliseconds.
        """
        if self.alarm is None or self.alarm.changed is None:
            return False
        return at - self.alarm.changed >= ACCEPTED_MS

    def accept(self, since: int) -> None:
        """End the alarm, and learn from the predictions since a moment what is usual.

        Args:
            since: epoch milliseconds.
        """
        self.since, self.wrong = since, []
        self.alarm = self.known = self.learned = self.spread = None
        self.narrowest = NarrowestSpans()

    def narrow_scores(self, spans: Spans, at: int) -> Found | None:
        """Return the last hours in which scores are closer together than ever; None without.

        Args:
            spans: of the latest scores, see `LatestScores.spans`.
            at: the moment at which they end, epoch milliseconds.
        """
        usual = self.narrowest.before(at)
        if self.spread is None or usual is None:
            return None
        for hours, seen, narrowest in zip(LENGTHS, spans, usual, strict=False):
            if self.spread.is_narrow(seen, narrowest):
                return Found(Degeneracy.NARROW_SCORES, at - hours * HOUR_MS)
        return None

    def ever_narrow(self, looked: Mapping[int, Spans]) -> bool:
        """Return whether `narrow_scores` finds any at moments of one day.

        Args:
            looked: spans of the latest scores by the moment at which they end, in order.
        """
        alike = groupby(looked, looked.__getitem__)
        return any(self.narrow_scores(spans, next(moments)) for spans, moments in alike)

    def learn_spans(self, scored: LatestScores, end: int, looked: Mapping[int, Spans]) -> None:
        """Count the scores of a day that ends among the usual ones, but for narrow ones.

        They do not count before the day after tomorrow, so that a day is learned as a whole, at
        the same record whatever the size of batches. Those since an alarm began do not count.

        Args:
            scored: the latest scores.
            end: of the day, epoch milliseconds.
            looked: spans that are known already, by the moment at which they end.
        """
        healthy = end if self.alarm is None else self.alarm.found.began
        moments = range(end - DAY_MS + RECENT_MS, min(end, healthy) + 1, RECENT_MS)
        missing = [moment for moment in moments if moment not in looked]
        known = {**looked, **scored.spans(np.array(missing, dtype=np.int64))}
        for spans, alike in groupby(moments, known.__getitem__):  # see() them once is enough
            moment = next(alike)
            if self.narrow_scores(spans, moment) is None:
                self.narrowest.see(moment, spans)
