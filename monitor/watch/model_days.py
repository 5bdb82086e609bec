"""Days of one model's outcomes, and what was learned of how they scatter."""

from __future__ import annotations

from typing import NamedTuple, Protocol, Self

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts, CountArray, Outcome
from monitor.drift.day_levels import at_one_level
from monitor.drift.day_scatter import DayScatter
from monitor.events.catalogue import Catalogue
from monitor.events.columns import Int64Array
from monitor.events.renumbering import State
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.watch.cuts import Cuts
from monitor.watch.reference import MatureReference
from monitor.windows import Windows

STRETCH_DAYS = 28
"""Length of the stretches that a model's scatter is learned from after its reference."""
_HELD_BACK_DAYS = 7
"""Last days that are left out of a stretch in progress: a fault of these must not be scatter."""
_MOST_STRETCHES = 13
_FEWEST_DAYS = 10


class RecentDays(NamedTuple):
    """Successive days of one model; days without a prediction are left out.

    Attributes:
        numbers: of the days since 1970, ascending.
        cells: all counts, (days, series, 6), the series as in `Cuts.in_order`.
        weights: of its labels, (days, series, 8).
    """

    numbers: Int64Array
    cells: Int64Array
    weights: Int64Array

    @property
    def opens(self) -> Int64Array:
        """First moment of each day, epoch milliseconds."""
        return self.numbers * DAY_MS

    @property
    def positives(self) -> int:
        """Number of labelled actual positives."""
        return int(self.cells[:, 0, [Outcome.TP, Outcome.FN]].sum())

    def between(self, first: int, end: int) -> RecentDays:
        """Return the days [first, end) of these.

        Args:
            first: number of the first day since 1970, UTC.
            end: number of the day after the last.
        """
        some = slice(*np.searchsorted(self.numbers, (first, end)).tolist())
        return RecentDays(self.numbers[some], self.cells[some], self.weights[some])

    def but_last(self, count: int) -> RecentDays:
        """Return these days without the last ones.

        Args:
            count: of days that are left out, those without a prediction included.
        """
        if not len(self.numbers):
            return self
        return self.between(int(self.numbers[0]), int(self.numbers[-1]) + 1 - count)


class DayReader(Protocol):
    """Reads days of models."""

    def days(self, model: int, cuts: Cuts, first: int, end: int) -> RecentDays:
        """Return the days [first, end) of a model.

        Args:
            model: its number.
            cuts: its series by segment key.
            first: number of the first day since 1970, UTC.
            end: number of the day after the last.

        Returns:
            Days before those that are stored are left out.
        """
        ...


class SeriesDays:
    """Reads days of models from the counts of their series.

    Args:
        catalogue: numbers of models and series.
        windows: counts.
    """

    def __init__(self, catalogue: Catalogue, windows: Windows) -> None:
        self._catalogue = catalogue
        self._windows = windows

    def days(self, model: int, cuts: Cuts, first: int, end: int) -> RecentDays:
        """As `DayReader.days`; where segment values are not stored by days, counts are zeros."""
        found = self._windows.past.recall(model, first * DAY_MS, end * DAY_MS, DAY_MS)
        rows = cuts.in_order
        column = {self._catalogue.series[row]: row for row in rows.tolist()}
        place = {column[one]: at for at, one in enumerate(found.columns) if one in column}
        at = np.array([place.get(row, -1) for row in rows.tolist()])
        cells, weights = found.cells[:, at], found.label_weights[:, at]
        cells[:, at < 0] = 0
        weights[:, at < 0] = 0
        return RecentDays(found.numbers, cells, weights)


class LearnedScatter:
    """How the days of one model scatter: of its reference, and of the time since.

    Every 28 days that follow the reference are learned from, divided where a page starts or
    ends, or where the level of a day's rates changed. A reference of fewer than 28 days tells
    little of scatter: after it, the stretch in progress counts, but for its last seven days. Each
    stretch counts by the deviations from its own level. Stretches in which a model pages count
    as well: were they left out, a model that pages by chance would never learn that its days
    scatter more. Stretches whose labels are faulty do not.

    Args:
        reference: of the model.
        regime: how labels come, and how often they are wrong.
    """

    def __init__(self, reference: MatureReference, regime: LabelRegime) -> None:
        self._regime = regime
        self._sampling = reference.sampling(regime)
        self._reference = reference.by_day
        self._since: list[CountArray] = []
        self._goes_on = False
        self.scatter = self._learned()

    @property
    def knows_little(self) -> bool:
        """True while reference and finished stretches are fewer than 28 days."""
        known = 0 if self._reference is None else self._reference.shape[-1]
        return bool(known + sum(map(len, self._finished)) < STRETCH_DAYS)

    def learn(self, days: RecentDays, *, goes_on: bool = False) -> None:
        """Learn from a stretch of days.

        Fewer than ten teach nothing: where the level changed in them, as on the day that
        starts a page, they are too few to be divided there.

        Args:
            days: of the stretch; they take the place of those of a stretch in progress.
            goes_on: True for a stretch in progress; its last seven days are left out.
        """
        known, self._since, self._goes_on = self._since, self._finished, False
        if goes_on:
            days = days.but_last(_HELD_BACK_DAYS)
        if len(days.numbers) >= _FEWEST_DAYS:
            outcomes, _ = expected(self._regime, days.cells, days.weights, days.opens)
            self._since = [*self._since, outcomes[:, 0]][-_MOST_STRETCHES:]
            self._goes_on = goes_on
        if self._since is not known:
            self.scatter = self._learned()

    def follow(self, older: LearnedScatter, days: int) -> None:
        """Take over what was learned before a new reference: of an earlier one, and since.

        Args:
            older: learned until the new reference closes.
            days: length of the new reference; stretches that may overlap it are left out.
        """
        known = [] if older._reference is None else [older._reference.cells]
        overlapping = -(-days // STRETCH_DAYS)
        self._since = [*known, *older._finished[:-overlapping]][-_MOST_STRETCHES:]
        self.scatter = self._learned()

    def state(self) -> State:
        """Serializable state: outcomes by day of each stretch since the reference."""
        since = [stretch.copy() for stretch in self._since]
        return {"since": since, "goes_on": True} if self._goes_on else {"since": since}

    def restored(self, state: State) -> Self:
        """Load what `state` returned, and return itself."""
        self._since = [stretch.copy() for stretch in state["since"]]
        self._goes_on = state.get("goes_on", False)
        self.scatter = self._learned()
        return self

    @property
    def _finished(self) -> list[CountArray]:
        return self._since[:-1] if self._goes_on else self._since

    def _learned(self) -> DayScatter:
        since = [ConfusionCounts.from_cells(cells) for cells in self._since]
        stretches = [part for days in since for part in at_one_level(days)]
        if self._reference is not None:
            # A change of its rates makes it a mixture; see `MatureReference.level_change`.
            stretches = [*at_one_level(self._reference, of_ratio=True), *stretches]
        factors = self._sampling
        return DayScatter.learn(
            stretches,
            sampling=[factors.class_ratio, factors.recall, factors.false_positive_rate],
        )
