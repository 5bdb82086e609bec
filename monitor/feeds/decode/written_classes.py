"""Classes as the compiled kernel writes them: codes of what fields hold, and what these mean."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from monitor.events.class_names import name_numbers
from monitor.events.columns import NO_CLASS, BoolArray, Int64Array
from monitor.feeds.decode.class_lists import ClassList, PredictedClasses
from monitor.feeds.decode.field_columns import LEFT_OUT

_NONE = -1
"""Code of a field without a class."""
_UNFIT = -2
"""In place of the number of a class that a model does not have."""


class WrittenClasses:
    """Codes of classes, for models of which some have names for their classes.

    A code means what the value in its field means to `ClassList`, by which records are decoded
    one by one.

    Args:
        names: of the classes of all models, each once; at least two.
        two: some model has two classes, so that 0, 1, false and true may be labels.

    Attributes:
        names: as given, and those of the values 0 and 1.
        given: the names in UTF-8, the values of labels with them, and `two`, as the kernel takes
            them.
    """

    def __init__(self, names: Sequence[str], *, two: bool) -> None:
        values: list[Any] = [0, 1, False, True]
        for name in names:
            values += [name, _integer(name)]
        self._values = values
        self.names = tuple(dict.fromkeys([*names, "0", "1"]))
        self.given = tuple(name.encode() for name in names), name_numbers(names), two

    def predicted(
        self, code: Int64Array, group: Int64Array, lists: Sequence[ClassList]
    ) -> PredictedClasses:
        """Return the predicted classes of records, none of which has `scores`.

        Args:
            code: of each record's class.
            group: of each record, an index into `lists`.
            lists: classes of the model of each group.
        """
        number, many = self._meant(code, group, lists)
        missing = code == _NONE
        return PredictedClasses(
            given=np.where(missing, LEFT_OUT, np.where(many, 1, number)),
            number=np.where(many, number, NO_CLASS),
            fit=np.where(missing, ~many, number != _UNFIT),
        )

    def actual(
        self, code: Int64Array, group: Int64Array, lists: Sequence[ClassList]
    ) -> tuple[Int64Array, BoolArray]:
        """Return the numbers of actual classes, and which records have one of their model, or none.

        Args:
            code: of each record's class.
            group: of each record, an index into `lists`.
            lists: classes of the model of each group.

        Returns:
            As `monitor.feeds.decode.class_lists.actual` does.
        """
        number, _ = self._meant(code, group, lists)
        missing = code == _NONE
        return np.where(missing, 0, number), missing | (number != _UNFIT)

    def _meant(
        self, code: Int64Array, group: Int64Array, lists: Sequence[ClassList]
    ) -> tuple[Int64Array, BoolArray]:
        """Return the number of each class in the list of its record, and which lists are long."""
        distinct = {classes: number for number, classes in enumerate(dict.fromkeys(lists))}
        table = np.array([self._numbers(classes) for classes in distinct], np.int64)
        many = np.array([classes.is_many for classes in distinct])
        if len(distinct) == 1:
            return table[0][code], np.broadcast_to(many, len(code))
        which = np.array([distinct[classes] for classes in lists])[group]
        return table[which, code], many[which]

    def _numbers(self, classes: ClassList) -> list[int]:
        """Return the number of each code in a list; of a field without a class at the end."""
        found = map(classes.number, self._values)
        return [*(_UNFIT if number is None else number for number in found), _UNFIT]


def _integer(name: str) -> int | None:
    """Return the integer of which a name is the text; None if it is none."""
    digits = name.removeprefix("-")
    number = int(name) if digits.isdecimal() else None
    return number if str(number) == name else None
