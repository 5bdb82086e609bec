"""Score histograms of the past year by model and class: half-hours, then days, then weeks.

The latest scores are stored by the half-hour. As the time of their model moves on, half-hours
are merged into days, and days into weeks: each score is stored once.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import Outcome, add_once
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array, rows_where
from monitor.events.renumbering import State
from monitor.events.score_bins import NO_SCORE, SCORE_BINS
from monitor.join import Deltas
from monitor.metrics.histogram import ScoreHistogram
from monitor.windows.compiled_tallies import compiled_tallies, tallied
from monitor.windows.days_then_weeks import DaysThenWeeks
from monitor.windows.panes import PaneRing

RECENT_MS = 1_800_000
"""Length of the stretches in which the latest scores are stored."""
RECENT = 52
"""Number of these stretches: 26 hours, more than a batch takes event time forward at once."""

_A_DAY = DAY_MS // RECENT_MS
_MOST_CACHED = 8
_POSITIVE, _NEGATIVE, _ALL = range(3)
_Days = tuple[int, int]
_KIND_OF_CELL = np.array([_POSITIVE, _NEGATIVE, _POSITIVE, _NEGATIVE, _ALL, _ALL])
assert [Outcome.TP, Outcome.FP, Outcome.FN, Outcome.TN] == [0, 1, 2, 3]  # noqa: S101  # the order above


class Scores:
    """Score histograms by model and day of the prediction, those of older days by the week.

    Args:
        catalogue: numbers of models and groups.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._past = DaysThenWeeks(3 * SCORE_BINS)
        self._recent = PaneRing(width=RECENT_MS, span=RECENT, cells=SCORE_BINS)
        self._changes = np.zeros(0, dtype=np.int64)
        self._room = 0
        self._known: dict[int, tuple[tuple[int, int | None], dict[_Days, ScoreHistogram]]] = {}
        self._compiled = compiled_tallies()

    @property
    def nbytes(self) -> int:
        """Memory reserved."""
        return self._past.nbytes + self._recent.nbytes

    def apply(self, deltas: Deltas) -> None:
        """Count scored predictions and their outcomes."""
        self._ensure()
        if self._compiled is not None and self._tallied(self._compiled, deltas):
            return
        scored = rows_where(deltas.score_bin != NO_SCORE)
        if not len(deltas.score_bin[scored]):
            return
        model = self._catalogue.model_of_group[deltas.group[scored]]
        add_once(self._changes, model)
        time, kind = deltas.time[scored], _KIND_OF_CELL[deltas.cell[scored]]
        score, count = deltas.score_bin[scored], deltas.count[scored]
        pane, fresh = self._recent.pane_of(time), kind == _ALL
        fresh[self._recent.has_left(pane, model)] = False
        now, then = np.flatnonzero(fresh), np.flatnonzero(~fresh)
        self._recent.add(pane[now], model[now], score[now], count[now])
        cell = kind[then] * SCORE_BINS + score[then]
        self._past.add(time[then] // DAY_MS, model[then], cell, count[then])

    def _tallied(self, compiled: Any, deltas: Deltas) -> bool:
        """Count as `apply` does, with the kernel; return False if it leaves that to Python."""
        return tallied(
            compiled.count_scores,
            deltas,
            "score_bin",
            self._catalogue.model_of_group,
            _KIND_OF_CELL,
            _ALL,
            NO_SCORE,
            SCORE_BINS,
            self._changes,
            rings=(self._recent, self._past.days),
        )

    def advance(self, times: Int64Array) -> None:
        """Move the panes on to the times of the models, as `PaneRing.advance` takes them.

        Scores that leave the half-hours join those of their day, days that leave theirs those
        of their week, by each model's own time.
        """
        self._ensure()
        self._past.advance(times)
        if len(self._recent.ahead):
            pane, model, score, count = self._recent.take_passed(times).T
            self._past.add(pane // _A_DAY, model, _ALL * SCORE_BINS + score, count)
        for models, old, new in self._recent.moves(times):
            first, end = old - RECENT + 1, min(new - RECENT, old) + 1
            while first < end:
                day = first // _A_DAY
                following = min((day + 1) * _A_DAY, end)
                passed = self._recent.sum(first, following, models)
                row, score = np.nonzero(passed)
                cell, of_day = _ALL * SCORE_BINS + score, np.full(len(row), day, dtype=np.int64)
                self._past.add(of_day, models[row], cell, passed[row, score])
                first = following
        self._recent.advance(times)

    def version(self, model: int) -> int:
        """Return a number that differs from an earlier one where a count of a model changed.

        Args:
            model: its number.
        """
        self._ensure()
        return int(self._changes[model])

    def keeps(self, model: int, opens: int) -> bool:
        """Return whether the days of a model from a moment on are stored by the day.

        Args:
            model: its number.
            opens: the moment, epoch milliseconds.
        """
        return self._past.days.reaches_back(opens // DAY_MS, model)

    def days(self, model: int, opens: int, closes: int) -> ScoreHistogram:
        """Return histograms of the whole days inside a stretch of event time, (days, bins).

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded up to a day.
            closes: first moment after it; rounded down.
        """
        return _histogram(self._by_day(model, -(-opens // DAY_MS), closes // DAY_MS))

    def blocks(self, model: int, opens: int, closes: int) -> ScoreHistogram:
        """Return histograms of a stretch of the past year by blocks of time, (blocks, bins).

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded up to a day.
            closes: first moment after it; rounded down.

        Returns:
            The weeks that lie inside the stretch as a whole, as far as it is stored by the
            week, then its days. The last of these weeks may be short of days that are
            stored by the day.
        """
        start, end = -(-opens // DAY_MS), closes // DAY_MS
        weeks = self._by_week(model, start, end)
        by_day = self._by_day(model, max(start, self._past.since(model)), end)
        return _histogram(np.concatenate([weeks, by_day]))

    def labelled(self, model: int, opens: int, closes: int) -> ScoreHistogram | None:
        """Return `blocks`; None where one class has no label in them.

        Args:
            model: its number.
            opens: as in `blocks`.
            closes: as in `blocks`.
        """
        found = self.blocks(model, opens, closes)
        return found if found.positive.any() and found.negative.any() else None

    def _by_day(self, model: int, start: int, end: int) -> Int64Array:
        """Return the counts of the days [start, end), (days, 3, bins)."""
        self._ensure()
        row = np.array([model])
        table = self._past.days.table(start, max(start, end), row)
        cells = table.reshape(len(table), 3, SCORE_BINS)
        for day in range(max(start, self._held_since(model) // _A_DAY), end):
            cells[day - start, _ALL] += self._recent_sum(day, day + 1, row)
        return cells

    def _by_week(self, model: int, start: int, end: int) -> Int64Array:
        """Return the counts of weeks inside the days [start, end), (weeks, 3, bins)."""
        self._ensure()
        table = self._past.by_week(model, np.array([model]), start, end)
        return table.reshape(len(table), 3, SCORE_BINS)

    def recent(self, model: int, opens: int, closes: int) -> tuple[Int64Array, Int64Array]:
        """Return the scores of all predictions, labelled or not, by the half-hour.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded up to a stored half-hour.
            closes: first moment after it; rounded down.

        Returns:
            First moment of each half-hour, and cases (half-hours, bins); half-hours behind the
            newest one, and behind all cases, are left out, however long a silence is.
        """
        self._ensure()
        row, newest = np.array([model]), self._recent.newest(model)
        start = max(-(-opens // RECENT_MS), self._held_since(model))
        end = max(start, closes // RECENT_MS)
        ahead, *_ = self._recent.ahead.placed(start, end, row)
        last = int(ahead.max(initial=start - 1 if newest is None else newest))
        end = max(start, min(end, last + 1))
        table = self._recent.table(start, end, row)[:, 0]
        return np.arange(start, end) * RECENT_MS, np.maximum(table, 0, out=table)

    def state(self) -> State:
        """Serializable state."""
        return {**self._past.state(), "recent": self._recent.state()}

    def restore(self, state: State, models: Int64Array) -> None:
        """Load what `state` returned.

        Args:
            state: of an earlier run; one without recent scores has them all by day, and one
                without weeks has none.
            models: old numbers of the models that are still there.
        """
        owners = np.arange(len(models))
        self._past.restore(state, models, models, owners)
        if "recent" in state:
            self._recent.restore(state["recent"], models, models, owners)
        self._room = 0

    def histogram(self, model: int, opens: int, closes: int) -> ScoreHistogram:
        """Return the histogram of a model's scores in whole days of event time.

        Args:
            model: its number.
            opens: first moment, epoch milliseconds; rounded down to its day.
            closes: first moment after it; rounded up.

        Returns:
            The sum of `blocks`: of what is stored by the week, the weeks that lie inside as
            a whole. The same object until a count changes; do not write to it.
        """
        self._ensure()
        days = opens // DAY_MS, -(-closes // DAY_MS)
        state = int(self._changes[model]), self._past.days.newest(model)
        known = self._known.get(model)
        if known is None or known[0] != state:
            known = self._known[model] = (state, {})
        if days not in known[1]:
            known[1][days] = self._summed(model, *days)
            while len(known[1]) > _MOST_CACHED:
                del known[1][next(iter(known[1]))]
        return known[1][days]

    def _summed(self, model: int, start: int, end: int) -> ScoreHistogram:
        row = np.array([model])
        counted = self._past.days.sum(start, end, row).reshape(3, SCORE_BINS)
        counted[_ALL] += self._recent_sum(start, end, row)
        return _histogram(counted + self._by_week(model, start, end).sum(axis=0))

    def _held_since(self, model: int) -> int:
        """Return the number of the first half-hour stored of a model; 0 before it has a time."""
        newest = self._recent.newest(model)
        return 0 if newest is None else newest - RECENT + 1

    def _recent_sum(self, start: int, end: int, row: Int64Array) -> Int64Array:
        """Sum a model's scores that are stored by the half-hour, over the days [start, end)."""
        return self._recent.sum(start * _A_DAY, end * _A_DAY, row).reshape(-1)

    def _ensure(self) -> None:
        models = len(self._catalogue.models)
        if models == self._room:
            return
        self._room = models
        self._past.ensure(np.arange(models))
        self._recent.ensure(np.arange(models))
        if len(self._changes) < models:
            fresh = np.zeros(models - len(self._changes), dtype=np.int64)
            self._changes = np.concatenate([self._changes, fresh])


def _histogram(cells: Int64Array) -> ScoreHistogram:
    """Return the histogram of counts by kind, (..., 3, bins)."""
    positive, negative = cells[..., _POSITIVE, :], cells[..., _NEGATIVE, :]
    unlabelled = cells[..., _ALL, :] - positive - negative
    return ScoreHistogram(positive=positive, negative=negative, unlabelled=unlabelled)
