"""Classes that events name: those of one model, and those of all models."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from monitor.config.classes import MOST_CLASSES, LearnedNames, are_many
from monitor.config.yaml_text import flow, scalar
from monitor.events.class_names import name_numbers
from monitor.events.columns import NO_CLASS, RETRACTED, BoolArray, Int64Array, Outcomes
from monitor.feeds.decode.field_columns import LEFT_OUT
from monitor.feeds.decode.named_values import (
    NAME_ALLOWED,
    are_finite,
    best_name,
    is_integer,
    name_of,
    number_of_name,
    whole_digits,
)
from monitor.feeds.decode.settings import DecodeSettings

_BINARY = (0, 1)
_SHOWN = 6


class ClassList:
    """The classes of one model.

    Args:
        names: in the configured order; none for a model whose classes are 0 and 1.

    Attributes:
        is_many: the model has more than two classes.
        is_learned: it learns them. Then any name has a number, that of the name.

    >>> classes = ClassList(("card", "loan", "other"))
    >>> classes.number("loan"), classes.number("cash"), classes.number(1)
    (1, None, None)
    >>> classes.best({"card": 0.2, "loan": 0.7, "other": 0.1}), classes.best([0.5, 0.5])
    (1, None)
    """

    def __init__(self, names: tuple[str, ...] = ()) -> None:
        self._number = {name: number for number, name in enumerate(names)}
        self.is_many, self.is_learned = are_many(names), isinstance(names, LearnedNames)
        self._allowed: dict[tuple[str, ...], str] = {}

    def number(self, value: Any) -> int | None:
        """Return the number of a class; None if it is no class of this model.

        Args:
            value: its name, or a whole number whose digits are the name, as 7, 7.0 or "7.0"; 0, 1
                or a bool too, where the model has two classes.
        """
        if self.is_learned:
            name = name_of(value)
            return None if name is None else number_of_name(name)
        if isinstance(value, str) or self.is_many:
            return _found(self._number, value)
        return int(value) if isinstance(value, int | float) and value in _BINARY else None

    def best(self, scores: Any) -> int | None:
        """Return the number of the class with the highest score; the first of equal ones.

        Args:
            scores: finite numbers, by name, or in the order of the classes.

        Returns:
            None unless there is such a number for every class. Where the model learns its
            classes, scores have to be by name.
        """
        if self.is_learned:
            name = best_name(scores)
            return None if name is None else number_of_name(name)
        if isinstance(scores, Mapping):
            scores = [scores.get(name) for name in self._number] if self._fits(scores) else None
        if not isinstance(scores, list | tuple) or len(scores) != len(self._number) or not scores:
            return None
        return max(range(len(scores)), key=scores.__getitem__) if are_finite(scores) else None

    def _fits(self, scores: Mapping[str, Any]) -> bool:
        return scores.keys() == self._number.keys()

    def allowed(self, *others: str) -> str:
        """Return what a value has to be, for a person.

        Args:
            others: what else it may be.
        """
        if (known := self._allowed.get(others)) is None:
            known = self._allowed[others] = self._allowed_or(*others)
        return known

    def _allowed_or(self, *others: str) -> str:
        if self.is_learned:
            return ", or ".join([f"must be {NAME_ALLOWED}", *others])
        known, choices = [*self._number], ["0", "1", "true", "false"]
        if known:
            choices = [*map(repr, known[:_SHOWN]), *["…"] * (len(known) > _SHOWN)]
        *first, last = [*choices, *others]
        return f"must be {', '.join(first)} or {last}"

    @property
    def scores_allowed(self) -> str:
        """What `scores` has to be, for a person."""
        if self.is_learned:
            return "must be an object with a number for each class, by name"
        return "must have a finite number for each class, and no other"

    def line_with(self, value: object) -> str:
        """Return what to configure where a value is a class that is not listed, for a person.

        Args:
            value: of a prediction or a label, none of these classes.

        Returns:
            "" for a model whose classes are 0 and 1, and for what is no name, such as a number
            where no class has one. Of a bool, how to write it where a class may have its name.

        >>> ClassList(("card", "loan")).line_with("7")
        'if it is a class, configure classes: [card, loan, "7"]'
        >>> ClassList(("card", "loan")).line_with(7)
        ''
        """
        if isinstance(value, bool):
            return self._as_text(str(value).lower())
        if not isinstance(value, str | int) or not name_of(value):
            return ""
        known, name = len(self._number), str(value)
        if not known or known >= MOST_CLASSES or not (value == name or self._is_numbered):
            return ""
        if known >= _SHOWN:
            return f"if it is a class, add {scalar(name)} to the model's classes"
        return f"if it is a class, configure classes: {self._flow[:-1]}, {scalar(name)}]"

    @cached_property
    def _is_numbered(self) -> bool:
        return any(name.isdecimal() for name in self._number)

    @cached_property
    def _flow(self) -> str:
        return flow([*self._number])

    def _as_text(self, word: str) -> str:
        """Return how to write a bool, given as its word, that stands for a class of that name."""
        named = [word] if self.is_learned else [n for n in self._number if n.lower() == word]
        return f'write the name of a class as text, "{named[0]}"' if self.is_many and named else ""


ONE_LABEL = "is a list; for several labels a case, configure a model for each label"
"""What is wrong with a list of classes."""
SCORES_WOULD_DO = "scores of all classes would do"
"""What takes the place of a predicted class, of a model of more than two."""


class NamedLabels:
    """The classes of all models, as labels name them.

    Args:
        settings: the accepted models and their classes.

    Attributes:
        names: of the classes of all models together.
        classes: these, as a label is held against them.
    """

    def __init__(self, settings: DecodeSettings) -> None:
        self.names = settings.class_names
        self._learned, self._two = settings.learns_classes, settings.has_two_classes
        self.classes = ClassList(LearnedNames(self.names) if self._learned else self.names)
        self._value = dict(zip(self.names, name_numbers(self.names).tolist(), strict=True))

    def value(self, label: Any) -> int | None:
        """Return the value of a label's column; None if no model has such a class.

        Args:
            label: a name, a whole number, a bool, or None for a retraction. A bool, and a 0 or 1
                that is no name, is a class only where some model has two.
        """
        if label is None:
            return RETRACTED
        if isinstance(label, int | float) and label in _BINARY:
            return int(label) if self._two or self._is_name(label) else None
        found = _found(self._value, label)
        if found is None and self._learned and (name := name_of(label)) is not None:
            return number_of_name(name)
        return found

    def _is_name(self, label: float) -> bool:
        """Return whether 0 or 1 is the name of a class, or may be."""
        return not isinstance(label, bool) and (self._learned or str(int(label)) in self._value)

    def values(self, labels: Sequence[Any]) -> tuple[Int64Array, BoolArray]:
        """Return the values of labels, and which of them fit."""
        found = [self.value(label) for label in labels]
        fit = np.array([value is not None for value in found], np.bool_)
        return np.array([value or 0 for value in found], np.int64), fit


class PredictedClasses(NamedTuple):
    """The predicted classes of records.

    Attributes:
        given: 0, 1 or `LEFT_OUT`; 1 for any class of a model of many.
        number: of the class, where the model has many, or of its name, where it learns them; else
            `NO_CLASS`.
        fit: which records have a class of their model, or none.
        names: those of the classes of models that learn them.
    """

    given: Int64Array
    number: Int64Array
    fit: BoolArray
    names: tuple[str, ...] = ()


def predicted(rows: Sequence[Any], lists: Sequence[ClassList]) -> PredictedClasses:
    """Return the predicted classes of records, where models have names for their classes.

    Args:
        rows: records with `prediction` and `scores`.
        lists: classes of the model of each.
    """
    given = np.full(len(rows), LEFT_OUT, np.int64)
    number, fit = np.full(len(rows), NO_CLASS, np.int64), np.ones(len(rows), np.bool_)
    names: dict[str, int] = {}
    of_names: list[tuple[int, int]] = []
    for index, (row, classes) in enumerate(zip(rows, lists, strict=True)):
        value, scores = row.prediction, row.scores
        if not classes.is_many:
            found = LEFT_OUT if value is None else classes.number(value)
            given[index], fit[index] = found or 0, found is not None
            continue
        given[index] = 1
        if classes.is_learned:
            best = None if scores is None else best_name(scores)
            name = best if value is None else name_of(value)
            fit[index] = name is not None and (best is not None or scores is None)
            if name is not None and fit[index]:
                of_names.append((index, names.setdefault(name, len(names))))
            continue
        best_class = None if scores is None else classes.best(scores)
        found = best_class if value is None else classes.number(value)
        fit[index] = found is not None and (best_class is not None or scores is None)
        number[index] = found or 0
    if of_names:
        places, which = zip(*of_names, strict=True)
        number[[*places]] = name_numbers([*names])[[*which]]
    return PredictedClasses(given, number, fit, tuple(names))


def actual(rows: Sequence[Any], lists: Sequence[ClassList]) -> tuple[Int64Array, BoolArray]:
    """Return the numbers of the actual classes of outcomes, and which of them fit.

    Args:
        rows: records with a `label`.
        lists: classes of the model of each.

    Returns:
        0 and 1 for models of two classes; 0 where there is no label.
    """
    found = [
        0 if row.label is None else classes.number(row.label)
        for row, classes in zip(rows, lists, strict=True)
    ]
    fit = np.array([number is not None for number in found], np.bool_)
    return np.array([number or 0 for number in found], np.int64), fit


def named_outcomes(outcomes: Outcomes, number: Int64Array) -> Outcomes:
    """Return outcomes with the actual classes that records name.

    Args:
        outcomes: with the predicted classes.
        number: of the actual class of each, see `actual`.
    """
    many = outcomes.predicted_class != NO_CLASS
    return replace(
        outcomes,
        actual_positive=np.where(many, True, number == 1),
        actual_class=np.where(many, number, NO_CLASS),
    )


def _found(numbers: Mapping[str, int], value: Any) -> int | None:
    """Return the number of a name, or of a whole number as integers beside gaps are written."""
    found = numbers.get(str(value)) if isinstance(value, str) or is_integer(value) else None
    if found is None and isinstance(value, str | float):
        return numbers.get(whole_digits(value))
    return found
