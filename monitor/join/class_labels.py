"""Labels that name a class, at the moment they meet their prediction.

A label does not name its model. Once its prediction is known, the name turns into the class
that the model of the prediction gives that name. A label whose model has no such class is
*misnamed*: it is counted, and changes nothing. Of a model that learns its classes it counts as
`OTHER_VALUE`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from monitor.config.classes import LearnedNames, are_many
from monitor.events.catalogue import Catalogue
from monitor.events.class_names import FIRST_CLASS, name_numbers
from monitor.events.columns import RETRACTED, BoolArray, Int64Array
from monitor.events.predicted_classes import LearnedClasses

_BINARY = (0, 1)
_MOST_KNOWN = 4096
"""Most lists of names in the cache: one that grows is another list."""


class Misnamed(NamedTuple):
    """Labels with a class that the model of their prediction does not have.

    Attributes:
        model: number of the model of each.
        time: event time of the prediction of each, epoch milliseconds.
    """

    model: Int64Array
    time: Int64Array


class _Known(NamedTuple):
    """Values of labels that a model knows, in rising order, and what each turns into."""

    given: Int64Array
    value: Int64Array


class LabelClasses:
    """The classes of all models, by what labels may have for them.

    Args:
        catalogue: models and their settings.

    Attributes:
        in_use: some model has names for its classes.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._learned = LearnedClasses(catalogue)
        self.in_use = any(setting.has_class_names for setting in catalogue.possible_settings)
        self._known: dict[tuple[str, ...], _Known] = {}

    def resolved(self, model: Int64Array, value: Int64Array) -> tuple[Int64Array, BoolArray]:
        """Return labels as their models have them.

        Args:
            model: number of the model of each label's prediction.
            value: of each label as decoded, see `monitor.events.Labels`.

        Returns:
            0, 1, `RETRACTED`, or `FIRST_CLASS` plus the number of a class of a model of many;
            and which labels the model has a class for.
        """
        kinds = {names: n for n, names in enumerate(self._kinds())}
        if len(kinds) == 1:
            return self._of_kind(next(iter(kinds)), model, value)
        out, fit = np.empty_like(value), np.empty(len(value), dtype=np.bool_)
        kind = np.array([kinds[setting.classes] for setting in self._catalogue.settings])[model]
        for names, number in kinds.items():
            rows = np.flatnonzero(kind == number)
            out[rows], fit[rows] = self._of_kind(names, model[rows], value[rows])
        return out, fit

    def _of_kind(
        self, names: tuple[str, ...], model: Int64Array, value: Int64Array
    ) -> tuple[Int64Array, BoolArray]:
        """As `resolved`, for models whose classes have the same names."""
        found, fit = self._resolved(names, value)
        if isinstance(names, LearnedNames) and not fit.all():
            other = {number: self._learned.other(number) for number in set(model[~fit].tolist())}
            found[~fit] = [FIRST_CLASS + other[number] for number in model[~fit].tolist()]
            fit = np.ones(len(value), dtype=np.bool_)
        return found, fit

    def _kinds(self) -> Iterable[tuple[str, ...]]:
        """Return the names of the classes of all models, each list once."""
        return dict.fromkeys(setting.classes for setting in self._catalogue.settings)

    def _resolved(self, names: tuple[str, ...], value: Int64Array) -> tuple[Int64Array, BoolArray]:
        known = self._of(names)
        place = np.minimum(np.searchsorted(known.given, value), len(known.given) - 1)
        return known.value[place], known.given[place] == value

    def _of(self, names: tuple[str, ...]) -> _Known:
        if names not in self._known:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            many = are_many(names)
            first = FIRST_CLASS if many else 0
            named = {n: first + i for i, n in enumerate(name_numbers(names).tolist())}
            plain = {value: value for value in _BINARY}
            if many:
                plain = {v: first + names.index(str(v)) for v in _BINARY if str(v) in names}
            pairs = sorted((plain | named | {RETRACTED: RETRACTED}).items())
            self._known[names] = _Known(*np.array(pairs, dtype=np.int64).T)
        return self._known[names]
