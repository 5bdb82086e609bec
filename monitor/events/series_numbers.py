"""The numbers of the series: totals of models, and values of their segment keys up to a cap."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from monitor.events.columns import OTHER_VALUE, Series


class SegmentValue(NamedTuple):
    """A value of a segment key of a model, by name."""

    model: str
    key: str
    value: str

    @property
    def series(self) -> Series:
        """The series that counts it alone."""
        return Series(*self)


class SeriesNumbers:
    """Numbers series in the order of their appearance.

    Args:
        series: that there are already, by number.

    >>> numbers = SeriesNumbers([Series("fraud")])
    >>> values = [SegmentValue("fraud", "country", name) for name in ("at", "be", "ch")]
    >>> [numbers.counted(value, most_values=1, most_series=10) for value in values]
    ['at', '__other__', '__other__']
    >>> [numbers.of_value(value) for value in values]
    [1, 2, 2]
    """

    def __init__(self, series: Iterable[Series] = ()) -> None:
        self._rows = {one: row for row, one in enumerate(series)}
        self._names = tuple(self._rows)
        self._taken: dict[tuple[str, str], int] = {}
        for one in self._names:
            self._take(one)

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def names(self) -> tuple[Series, ...]:
        """The series, by number."""
        if len(self._names) != len(self._rows):
            self._names = tuple(self._rows)
        return self._names

    def enter(self, series: Series) -> int:
        """Return the number of a series, a new one where it has none.

        Args:
            series: the totals of a model, or a value of a segment key.
        """
        row = self._rows.get(series)
        if row is None:
            row = self._rows[series] = len(self._rows)
            self._take(series)
        return row

    def counted(self, series: SegmentValue, most_values: int, most_series: int) -> str:
        """Return the value that a value of a segment key counts as; a new one gets a number.

        Args:
            series: the value, with its model and key.
            most_values: that the key may have.
            most_series: that there may be, other than those of `OTHER_VALUE`.

        Returns:
            The value, or `OTHER_VALUE` where there is no room for another.
        """
        if self.has_own(series) or series.value == OTHER_VALUE:
            return series.value
        if self.room(series.model, series.key, most_values, most_series) <= 0:
            return OTHER_VALUE
        self.enter(series.series)
        return series.value

    def has_own(self, series: SegmentValue) -> bool:
        """Return whether a value of a segment key has a number of its own.

        Args:
            series: the value, with its model and key.
        """
        names: tuple[str | None, ...] = series  # equal to those of its `Series`
        return names in self._rows

    def room(self, model: str, key: str, most_values: int, most_series: int) -> int:
        """Return how many more values of a segment key can get a number; may be negative.

        Args:
            model: name of the model.
            key: the segment key.
            most_values: that the key may have.
            most_series: that there may be, other than those of `OTHER_VALUE`.
        """
        free = most_values - self._taken.get((model, key), 0)
        return min(free, most_series - len(self._rows))

    def hand_over(self, ended: SegmentValue, value: str) -> int:
        """Give the number of a value to another value of the same key, which has none.

        Args:
            ended: the value, with its model and key.
            value: the other value.

        Returns:
            The number.
        """
        old, new = ended.series, ended._replace(value=value).series
        row = self._rows[old]
        self._rows = {new if one == old else one: at for one, at in self._rows.items()}
        self._names = tuple(self._rows)
        return row

    def of_totals(self, model: str) -> int:
        """Return the number of the totals of a model.

        Args:
            model: its name.

        Raises:
            KeyError: it has none.
        """
        return self._rows[Series(model)]

    def of_value(self, series: SegmentValue) -> int:
        """Return the number of the series that a value counts in: its own, or that of the others.

        Args:
            series: the value, with its model and key.
        """
        row = self._rows.get(series.series)
        return self.enter(Series(series.model, series.key, OTHER_VALUE)) if row is None else row

    def _take(self, series: Series) -> None:
        """Count a value of a segment key."""
        if series.segment is not None and series.value != OTHER_VALUE:
            key = series.model, series.segment
            self._taken[key] = self._taken.get(key, 0) + 1
