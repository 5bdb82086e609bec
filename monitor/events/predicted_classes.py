"""Classes that models learn: each gets its number with the record that first predicts it.

A prediction carries the number of its class's name (see `monitor.events.class_names`), and the
batch the names. Where a model has no room for another name, and where a label or an outcome
has a class that its model has never predicted, it counts as `OTHER_VALUE`. So nothing is lost,
and no stream of names takes memory without bound.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from itertools import repeat

import numpy as np

from monitor.config.classes import MOST_CLASSES, LearnedNames
from monitor.events.catalogue import Catalogue
from monitor.events.class_names import are_name_numbers, name_numbers
from monitor.events.columns import OTHER_VALUE, BoolArray, EventBatch, Int64Array
from monitor.events.known_groups import UNKNOWN_GROUP

_KINDS = ("predictions", "outcomes")
_COLUMNS = ("predicted_class", "actual_class")
_Names = tuple[str, ...]
_SEARCHED_AT_ONCE = 4096
"""Rows among which the first that predicts a new class is searched for at once."""


class LearnedClasses:
    """Gives numbers to the classes of models that learn them.

    Args:
        catalogue: models and their settings, which hold the names learned so far.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue

    def numbered(self, batch: EventBatch) -> EventBatch:
        """Return a batch with numbers of classes in place of numbers of their names.

        Args:
            batch: accepted events, with the catalogue's groups.
        """
        if not batch.class_names:
            return batch
        model_of_group = self._catalogue.model_of_group
        self._learn(batch, model_of_group)
        changed = {}
        for kind in _KINDS:
            columns = getattr(batch, kind)
            model = model_of_group[columns.group]
            given = {name: getattr(columns, name) for name in _COLUMNS if name in columns.names()}
            found = {name: self._numbers(model, value) for name, value in given.items()}
            changed[kind] = replace(columns, **found)
        return replace(batch, class_names=(), **changed)

    def newcomer(self, batch: EventBatch, behind: int | None = None) -> int | None:
        """Return the first record that predicts a class that its model has yet to learn.

        Args:
            batch: as decoded.
            behind: a record, as in the `row` columns; what records up to it predict is no news.

        Returns:
            Its `row`; None without one.
        """
        if not batch.class_names:
            return None
        model_of_group, found = self._foreseen(batch), []
        for kind in _KINDS:
            columns = getattr(batch, kind)
            first = 0 if behind is None else int(columns.row.searchsorted(behind, side="right"))
            for start in range(first, len(columns), _SEARCHED_AT_ONCE):
                some = slice(start, start + _SEARCHED_AT_ONCE)
                model, value = model_of_group[columns.group[some]], columns.predicted_class[some]
                if len(news := self._news(model, value)):
                    found.append(int(columns.row[start + news[0]]))
                    break
        return min(found, default=None)

    def other(self, model: int) -> int:
        """Return the number of `OTHER_VALUE` among the classes of a model, which it learns by this.

        Args:
            model: its number.
        """
        names = self._catalogue.settings[model].classes
        if OTHER_VALUE not in names:
            self._enter(model, OTHER_VALUE)
        return (*names, OTHER_VALUE).index(OTHER_VALUE)

    def _learn(self, batch: EventBatch, model_of_group: Int64Array) -> None:
        """Enter a class that is predicted for the first time; the batch is cut before each one."""
        found: list[tuple[int, int, int]] = []
        for kind in _KINDS:
            columns = getattr(batch, kind)
            model, value = model_of_group[columns.group], columns.predicted_class
            news = self._news(model, value)
            for number in np.unique(model[news]).tolist():
                if _has_room(self._names(number)):
                    own = news[model[news] == number]
                    names, place = np.unique(value[own], return_index=True)
                    rows = columns.row[own[place]].tolist()
                    found += zip(rows, repeat(number), names.tolist(), strict=False)
        for _, number, name in sorted(found):
            if _has_room(self._names(number)):
                self._enter(number, _name_of(batch.class_names, name))

    def _enter(self, model: int, name: str) -> None:
        names = self._catalogue.settings[model].classes
        self._catalogue.set_classes(model, LearnedNames((*names, name)))

    def _news(self, model: Int64Array, value: Int64Array) -> Int64Array:
        """Return the places of predicted classes that are news to their model.

        Where no class has room, no name is news to a model that has `OTHER_VALUE`.

        Args:
            model: its number, of each; `UNKNOWN_GROUP` where it is not accepted.
            value: number of the name of the class.
        """
        news = are_name_numbers(value) & (model != UNKNOWN_GROUP)
        for number in np.unique(model[news]).tolist():
            names, own = self._names(number), model == number
            if _has_room(names) or OTHER_VALUE not in names:
                own &= _known(names, value)
            news &= ~own
        return np.flatnonzero(news)

    def _foreseen(self, batch: EventBatch) -> Int64Array:
        """Return the number of the model of each group of a decoded batch.

        All models that are yet to enter have the number that the next one gets.
        """
        numbers = {name: number for number, name in enumerate(self._catalogue.models)}
        new = [group for group in batch.groups if group.model not in numbers][:1]
        entering = self._catalogue.foreseen_models(new).tolist() or [UNKNOWN_GROUP]
        found = [numbers.get(group.model, entering[0]) for group in batch.groups]
        return np.array(found, dtype=np.int64)

    def _names(self, model: int) -> _Names:
        settings = self._catalogue.settings
        return settings[model].classes if model < len(settings) else LearnedNames()

    def _numbers(self, model: Int64Array, value: Int64Array) -> Int64Array:
        """Return numbers of classes in place of numbers of names."""
        rows = np.flatnonzero(are_name_numbers(value))
        if not len(rows):
            return value
        value = value.copy()
        for number in np.unique(model[rows]).tolist():
            own = rows[model[rows] == number]
            names = self._names(number)
            known = _known(names, value[own])
            given, place = _numbers_of(names)
            value[own[known]] = place[np.searchsorted(given, value[own[known]])]
            if not known.all():
                value[own[~known]] = self.other(number)
        return value


def _has_room(names: _Names) -> bool:
    """Return whether a model can learn another name; one place is that of `OTHER_VALUE`."""
    return len({*names, OTHER_VALUE}) < MOST_CLASSES


def _known(names: _Names, value: Int64Array) -> BoolArray:
    """Return which numbers are those of some names."""
    given, _ = _numbers_of(names)
    if not len(given):
        return np.zeros(len(value), dtype=np.bool_)
    return np.asarray(given[np.minimum(np.searchsorted(given, value), len(given) - 1)] == value)


def _name_of(names: _Names, number: int) -> str:
    """Return the name that has a number, among those of a batch."""
    given, place = _numbers_of_batch(names)
    return names[int(place[given.searchsorted(number)])]


def _in_order(names: _Names) -> tuple[Int64Array, Int64Array]:
    """Return the numbers of names in rising order, and the place of each in the list."""
    numbers = name_numbers(names)
    order = np.argsort(numbers)
    return numbers[order], order


_numbers_of = lru_cache(1024)(_in_order)
_numbers_of_batch = lru_cache(1)(_in_order)
"""Of all names of a batch, which may be as many as its records."""
