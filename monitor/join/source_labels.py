"""Labels of sources: which one of several counts, and how sources label the same cases.

Of each remembered prediction the latest label of each source is stored, 19 bytes each. From
these follow the rank of the label in force, and the *combination* of labels that sources give
the case. Cases are counted by model, week of the prediction and combination; the counts stay
when predictions are forgotten, for a year.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.catalogue import Catalogue
from monitor.events.columns import (
    EARLIEST_MS,
    RETRACTED,
    BoolArray,
    Columns,
    Int64Array,
    KeyArray,
    Labels,
)
from monitor.events.renumbering import GONE, Numbers, State, new_numbers
from monitor.events.sourced_labels import SourcedLabels
from monitor.join import packing as words
from monitor.join.forgetting import Over
from monitor.join.keyed_runs import KeyedRuns
from monitor.join.source_combinations import MANY_WORDS, WORDS, combinations_of, labels_of
from monitor.join.source_names import NO_SOURCE, NumberedLabels, SourceArray, SourceNames
from monitor.join.table import PredictionTable

WEEK_MS = 7 * DAY_MS
WEEKS = 53
"""Weeks for which cases are counted, back from the time of their model."""
MOST_COUNTS = 50_000
"""Counts of cases, by model, week and combination; above it the oldest weeks are left out."""
_EARLIEST = EARLIEST_MS // WEEK_MS - 1
_LAST = np.iinfo(np.int8).max

Place = tuple[int, ...]
"""Model number, week since 1970, and combination of labels, one word or several."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Latest(Columns):
    """The latest label of each source, of remembered predictions."""

    key: KeyArray = field(default_factory=lambda: np.empty(0, dtype=np.uint64))
    time: Int64Array = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    source: SourceArray = field(default_factory=lambda: np.empty(0, dtype=np.int8))
    value: SourceArray = field(default_factory=lambda: np.empty(0, dtype=np.int8))


_NONE = _Latest()


class SourceLabels:
    """Stores the labels of sources, ranks them, and counts how they combine.

    Args:
        catalogue: models and their settings.
        table: of predictions.

    Attributes:
        names: the sources.
        outranked: by model number, labels that came when one of a higher rank was in force.
        left_out: cases that are no longer counted because there were more than `MOST_COUNTS`.
        edition: rises with each change of the counts.
    """

    def __init__(self, catalogue: Catalogue, table: PredictionTable) -> None:
        self._catalogue = catalogue
        self._table = table
        self.names = SourceNames(
            name for one in catalogue.possible_settings for name in one.label_sources.order
        )
        self._ranked = bool(self.names.all)
        many = any(one.has_many_classes for one in catalogue.possible_settings)
        self._words = MANY_WORDS if many else WORDS
        self._latest = KeyedRuns(_NONE)
        self._cases: dict[Place, int] = defaultdict(int)
        self._first = np.zeros(0, dtype=np.int64)
        self.outranked = np.zeros(0, dtype=np.int64)
        self.left_out = 0
        self.edition = 0

    def numbered(self, labels: Labels) -> Labels:
        """Return labels with the numbers of their sources, if any has one."""
        return self.names.numbered(labels) if isinstance(labels, SourcedLabels) else labels

    def concern(self, labels: Labels) -> bool:
        """Tell whether a batch has labels of sources, or of ids whose label has a rank."""
        if isinstance(labels, NumberedLabels):
            return True
        if not (self._ranked and len(self._latest)):
            return False
        return len(self._latest.find(_storable(labels.key))[0]) > 0

    def ranks_of(self, labels: Labels, model: Int64Array) -> Int64Array:
        """Return the rank of each label under its model; the greater counts first.

        Args:
            labels: whose predictions are known.
            model: number of the model of each.
        """
        source = labels.widened(NumberedLabels).source
        return self._ranks(model, np.asarray(source, dtype=np.int64))

    def ranks_in_force(self, slots: Int64Array, model: Int64Array) -> Int64Array:
        """Return the rank of the label in force of each prediction; 0 without one.

        Args:
            slots: of the predictions.
            model: number of the model of each.
        """
        of_slot, latest = self._latest.find(self._table.keys(slots))
        found = np.zeros(len(slots), dtype=np.int64)
        ranks = self._ranks(model[of_slot], latest.source.astype(np.int64))
        np.maximum.at(found, of_slot, ranks)
        return found

    def _ranks(self, model: Int64Array, source: Int64Array) -> Int64Array:
        found = np.zeros(len(model), dtype=np.int64)
        for number in np.unique(model).tolist():
            if order := self._catalogue.settings[number].label_sources.order:
                rows = model == number
                found[rows] = self.names.ranks(order)[source[rows] + 1]
        return found

    def add(self, slots: Int64Array, labels: Labels) -> None:
        """Store labels of predictions, each the latest of its source or not, and count the cases.

        Args:
            slots: of the predictions.
            labels: as their models have them; those without a source are left out.
        """
        labels = labels.widened(NumberedLabels)
        mine = labels.source != NO_SOURCE
        key, value = self._table.keys(slots[mine]), labels.value[mine]
        if not len(key):
            return
        given = _Latest(
            key=key,
            time=labels.time[mine],
            source=labels.source[mine],
            value=value.astype(np.int8),
        )
        before = self._latest.take(np.unique(key))
        after = _latest(_Latest.concatenate([before, given]))
        self._latest.add(after)
        self._count(before, -1)
        self._count(after, +1)

    def outrank(self, model: Int64Array) -> None:
        """Count labels that changed nothing, by the number of their model."""
        np.add.at(self.outranked, model, 1)
        self.edition += bool(len(model))

    def move(self, slots: Int64Array, old_when: KeyArray, lost: BoolArray) -> None:
        """Count cases anew whose prediction an earlier one superseded.

        Args:
            slots: of the predictions, distinct, as they are now.
            old_when: first word of each before.
            lost: those whose label no longer counts; so do those of all its sources.
        """
        if not len(self._latest):
            return
        keys = self._table.keys(slots)
        before = self._latest.take(keys)
        order = np.argsort(keys)
        place = order[np.searchsorted(keys[order], before.key)]
        self._count(before, -1, old_when[place])
        left = before.take(~lost[place])
        self._latest.add(left)
        self._count(left, +1)

    def forget(self, slots: Int64Array) -> None:
        """Forget the labels of predictions; call before these are forgotten. Counts stay."""
        if len(self._latest):
            self._latest.take(self._table.keys(slots))

    def trim(self, over: Over) -> None:
        """Leave out cases of more than a year ago, and the oldest of too many.

        Args:
            over: moments before which horizons have ended, of all models.
        """
        if not self._cases:
            return
        self._leave_out(over.by_model // WEEK_MS - WEEKS)
        while len(self._cases) > MOST_COUNTS:
            before, oldest = sum(self._cases.values()), min(place[1] for place in self._cases)
            self._leave_out(np.full_like(self._first, oldest + 1))
            self.left_out += before - sum(self._cases.values())

    def _leave_out(self, first: Int64Array) -> None:
        """Leave out what lies before a week of each model, now and from now on."""
        if (first <= self._first).all():
            return
        self._first = np.maximum(self._first, first)
        for place in [*self._cases]:
            if place[1] < self._first[place[0]]:
                del self._cases[place]
        self.edition += 1

    def cases(self, model: int) -> tuple[Int64Array, SourceArray, Int64Array]:
        """Return the combinations of labels that sources give cases of a model, by week.

        Args:
            model: its number.

        Returns:
            First moment of each week of predictions, epoch milliseconds; the class that each
            source gives, (combinations, sources), see `labels_of`; and how many cases of the
            week have the combination.
        """
        rows = [(*place, n) for place, n in sorted(self._cases.items()) if place[0] == model]
        table = np.array(rows, dtype=np.int64).reshape(-1, self._words + 3)
        many = self._catalogue.settings[model].has_many_classes
        return table[:, 1] * WEEK_MS, labels_of(table[:, 2:-1], many=many), table[:, -1]

    def ensure(self, models: int) -> None:
        """Extend the arrays to so many models."""
        more = np.zeros(max(models - len(self.outranked), 0), dtype=np.int64)
        self.outranked = np.concatenate([self.outranked, more])
        self._first = np.concatenate([self._first, more + _EARLIEST])

    def _count(self, latest: _Latest, sign: int, when: KeyArray | None = None) -> None:
        """Add cases to the counts, or take them out.

        Args:
            latest: all labels of sources of these cases.
            sign: 1, or -1 to take them out.
            when: first word of the prediction of each label; of the table if left out.
        """
        order = np.argsort(latest.key, kind="stable")
        latest = latest.take(order)
        first = np.flatnonzero(np.diff(latest.key, prepend=np.uint64(0)))
        if not len(first):
            return
        if when is None:
            when = self._table.when(self._table.find(latest.key[first]))
        else:
            when = when[order][first]
        week = words.times_of(when) // WEEK_MS
        model = self._catalogue.model_of_group[words.groups_of(when)]
        labels = np.diff(first, append=len(latest))
        source, value = latest.source.astype(np.int64), latest.value.astype(np.int64)
        many = np.repeat(self._many()[model], labels)
        combination = combinations_of(source, value, first, many, self._words)
        counted = combination.any(axis=1) & (week >= self._first[model])
        places = np.column_stack([model, week, combination])[counted]
        distinct, count = np.unique(places, axis=0, return_counts=True)
        for place, cases in zip(map(tuple, distinct.tolist()), count.tolist(), strict=True):
            self._cases[place] += sign * cases
            if not self._cases[place]:
                del self._cases[place]
        self.edition += 1

    def _many(self) -> BoolArray:
        """Return which models have more than two classes."""
        return np.array([one.has_many_classes for one in self._catalogue.settings], dtype=np.bool_)

    def state(self) -> State:
        """Return names, labels and counts."""
        latest = self._latest.rows()
        places = np.array(sorted(self._cases), dtype=np.int64).reshape(-1, 2 + self._words)
        return {
            "names": [*self.names.all],
            "latest": {name: getattr(latest, name) for name in latest.names()},
            "places": places,
            "cases": np.array([count for _, count in sorted(self._cases.items())], dtype=np.int64),
            "first": self._first.copy(),
            "outranked": self.outranked.copy(),
            "left_out": self.left_out,
        }

    def restore(self, state: State, left: Numbers) -> None:
        """Restore from `state`; the predictions must be restored already.

        Args:
            state: from `state`.
            left: models of that state that still exist.

        Raises:
            ConfigError: it has no number left for a source that is configured.
        """
        self.names.restore(state["names"])
        latest = _Latest(**state["latest"])
        self._latest.restore(latest.take(self._table.find(latest.key) >= 0))
        number = new_numbers(left.models)
        self._cases.clear()
        places = state["places"]
        width = min(places.shape[1] - 2, self._words)
        more = [0] * (self._words - width)
        for (model, *place), count in zip(
            places[:, : 2 + width].tolist(), state["cases"].tolist(), strict=True
        ):
            new = int(number[min(model, len(number) - 1)])
            if new != GONE:
                self._cases[(new, *place, *more)] = count
        self._first = state["first"][left.models]
        self.outranked = state["outranked"][left.models]
        self.left_out = state["left_out"]
        self.edition += 1


def _latest(labels: _Latest) -> _Latest:
    """Return the latest label of each key and source; at one time null, else the last class."""
    value = np.where(labels.value == RETRACTED, _LAST, labels.value)
    order = np.lexsort((value, labels.time, labels.source, labels.key))
    key, source = labels.key[order], labels.source[order]
    last = np.append((key[1:] != key[:-1]) | (source[1:] != source[:-1]), True)
    return labels.take(order[last])


def _storable(keys: KeyArray) -> KeyArray:
    return np.maximum(keys, np.uint64(1))
