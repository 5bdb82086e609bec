"""Confusion counts of a binary classifier: scalars or arrays of any shape.

Defines the counts and their arithmetic (add, subtract, merge, index). Time, models
and metrics are elsewhere: `windows` decides which outcomes count at a moment,
`metrics` computes ratios from counts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields
from enum import IntEnum
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

CountArray = NDArray[Any]
"""int64 for counted outcomes, float64 for weighted ones."""
_FIRST = 512
"""Numbers of a column that are looked at first."""


class Outcome(IntEnum):
    """Cell of the confusion matrix that a prediction and its label fall into.

    The values index the last axis of every array of cells in this program.
    """

    TP = 0
    FP = 1
    FN = 2
    TN = 3


@dataclass(frozen=True, slots=True, init=False, eq=False, repr=False)
class ConfusionCounts:
    """Confusion counts: four scalars, or four arrays of one shape.

    The arguments are keyword-only, so that no two counts can be swapped by position.
    Integers stay integers; fractional counts (weighted labels) are floats.
    Shapes are broadcast against each other.

    Args:
        tp: predicted positive, actually positive.
        fp: predicted positive, actually negative.
        fn: predicted negative, actually positive.
        tn: predicted negative, actually negative.

    Raises:
        ValueError: a count is negative or not finite, or the shapes do not match.
        TypeError: a count is not a number.

    >>> counts = ConfusionCounts(tp=90, fp=50, fn=10, tn=850)
    >>> int(counts.actual_positive), int(counts.predicted_positive), int(counts.total)
    (100, 140, 1000)
    """

    tp: CountArray
    fp: CountArray
    fn: CountArray
    tn: CountArray

    def __init__(self, *, tp: ArrayLike, fp: ArrayLike, fn: ArrayLike, tn: ArrayLike) -> None:
        cells = {"tp": tp, "fp": fp, "fn": fn, "tn": tn}
        arrays = [_checked(name, value) for name, value in cells.items()]
        try:
            arrays = list(np.broadcast_arrays(*arrays))
        except ValueError as error:
            shapes = {name: array.shape for name, array in zip(cells, arrays, strict=True)}
            raise ValueError(
                f"ConfusionCounts: shapes must match or broadcast, got {shapes}"
            ) from error
        for name, array in zip(cells, arrays, strict=True):
            object.__setattr__(self, name, array)

    @classmethod
    def from_cells(cls, cells: ArrayLike) -> Self:
        """Create counts from an array of cells.

        Args:
            cells: array whose last axis is tp, fp, fn, tn (see `Outcome`).

        Raises:
            ValueError: a count is negative or not finite, or the last axis is not of four.
            TypeError: a count is not a number.
        """
        array = _checked("cells", cells)
        if array.shape[-1:] != (len(Outcome),):
            raise ValueError(
                f"ConfusionCounts: the last axis must be tp, fp, fn, tn, got shape {array.shape}"
            )
        return cls._unchecked(array[..., 0], array[..., 1], array[..., 2], array[..., 3])

    @classmethod
    def from_labels(
        cls, y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Count predictions against their labels.

        Args:
            y_true: actual classes, 0 or 1, one-dimensional: an array, a series, a list.
            y_pred: predicted classes, as many.
            sample_weight: weight of each row, finite and at least 0; each counts 1 without it.

        Returns:
            Four scalars: integers, or floats with weights.

        Raises:
            ValueError: a class is neither 0 nor 1, or the lengths differ; names the argument.

        >>> ConfusionCounts.from_labels([1, 0, 0, 1], [1, 1, 0, 0])
        ConfusionCounts(tp=1, fp=1, fn=1, tn=1)
        """
        actual, predicted = _classes("y_true", y_true), _classes("y_pred", y_pred)
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        for name, column in {"y_pred": predicted, "sample_weight": weight}.items():
            if column is not None and column.shape != actual.shape:
                raise ValueError(
                    f"{name}: must be as long as y_true ({len(actual)}), got {column.shape}"
                )
        if weight is not None and not (np.isfinite(weight).all() and (weight >= 0).all()):
            raise ValueError("sample_weight: must be finite and at least 0")
        cell = 2 * (1 - predicted) + (1 - actual)
        return cls.from_cells(np.bincount(cell, weight, minlength=len(Outcome)))

    @classmethod
    def zeros(cls, shape: int | tuple[int, ...] = ()) -> Self:
        """Create counts of zero.

        Args:
            shape: shape of each of the four counts; scalars by default.
        """
        nothing = np.zeros(shape, dtype=np.int64)
        return cls(tp=nothing, fp=nothing, fn=nothing, tn=nothing)

    @property
    def cells(self) -> CountArray:
        """The four counts, stacked along a new last axis in the order of `Outcome`."""
        return np.stack([self.tp, self.fp, self.fn, self.tn], axis=-1)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of each of the four counts; () for scalars."""
        return self.tp.shape

    @property
    def actual_positive(self) -> CountArray:
        """P: cases whose label is positive."""
        return self.tp + self.fn

    @property
    def actual_negative(self) -> CountArray:
        """N: cases whose label is negative."""
        return self.fp + self.tn

    @property
    def predicted_positive(self) -> CountArray:
        """Cases that the classifier predicted as positive."""
        return self.tp + self.fp

    @property
    def predicted_negative(self) -> CountArray:
        """Cases that the classifier predicted as negative."""
        return self.fn + self.tn

    @property
    def total(self) -> CountArray:
        """All cases."""
        return self.tp + self.fp + self.fn + self.tn

    def sum(self, axis: int | tuple[int, ...] | None = None) -> ConfusionCounts:
        """Sum the counts along an axis, or over all axes where `axis` is None."""
        return self._map(lambda cell: np.asarray(cell.sum(axis=axis)))

    def __add__(self, other: ConfusionCounts) -> ConfusionCounts:
        return ConfusionCounts(
            tp=self.tp + other.tp,
            fp=self.fp + other.fp,
            fn=self.fn + other.fn,
            tn=self.tn + other.tn,
        )

    def __sub__(self, other: ConfusionCounts) -> ConfusionCounts:
        """Subtract counts; raises ValueError where a count would be negative."""
        return ConfusionCounts(
            tp=self.tp - other.tp,
            fp=self.fp - other.fp,
            fn=self.fn - other.fn,
            tn=self.tn - other.tn,
        )

    def __getitem__(self, index: Any) -> ConfusionCounts:
        return self._map(lambda cell: np.asarray(cell[index]))

    def _map(self, change: Callable[[CountArray], CountArray]) -> ConfusionCounts:
        """Change each of the four counts in a way that leaves them finite and at least 0."""
        return self._unchecked(*map(change, (self.tp, self.fp, self.fn, self.tn)))

    @classmethod
    def _unchecked(cls, *cells: CountArray) -> Self:
        """Create counts from arrays that were checked before, in the order of `Outcome`."""
        counts = cls.__new__(cls)
        tp, fp, fn, tn = cells
        object.__setattr__(counts, "tp", tp)
        object.__setattr__(counts, "fp", fp)
        object.__setattr__(counts, "fn", fn)
        object.__setattr__(counts, "tn", tn)
        return counts

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ConfusionCounts):
            return NotImplemented
        return all(
            np.array_equal(getattr(self, f.name), getattr(other, f.name)) for f in fields(self)
        )

    __hash__ = None  # type: ignore[assignment]  # arrays are mutable, so counts cannot be keys

    def __repr__(self) -> str:
        cells = ", ".join(f"{f.name}={getattr(self, f.name).tolist()}" for f in fields(self))
        return f"ConfusionCounts({cells})"


def add_at(table: CountArray, row: CountArray, column: CountArray, amount: ArrayLike) -> None:
    """Add amounts to cells of a table, in place; repeated cells accumulate.

    Costs a quarter of `np.add.at` on two indices.

    Args:
        table: (rows, columns), C-contiguous; modified in place.
        row: row of each amount, zero-based.
        column: column of each amount, zero-based.
        amount: one amount for all, or one for each index.

    Raises:
        ValueError: the table is not C-contiguous.

    >>> table = np.zeros((2, 2), np.int64)
    >>> add_at(table, np.array([0, 1, 1]), np.array([1, 0, 0]), 1)
    >>> table.tolist()
    [[0, 1], [2, 0]]
    """
    if not table.flags.c_contiguous:
        raise ValueError("add_at: the table must be C-contiguous")
    np.add.at(table.reshape(-1), row * table.shape[1] + column, amount)


def add_once(counters: CountArray, numbers: CountArray) -> None:
    """Add 1 to each counter that is named, in place, however often it is named.

    Costs half of `counters[numbers] += 1`, which does the same.

    Args:
        counters: one-dimensional; modified in place.
        numbers: of the counters, zero-based.

    >>> counters = np.zeros(3, np.int64)
    >>> add_once(counters, np.array([2, 0, 2]))
    >>> counters.tolist()
    [1, 0, 1]
    """
    counters += named(numbers, len(counters))


def named(numbers: CountArray, count: int) -> NDArray[np.bool_]:
    """Return which of the numbers from 0 on occur in a column.

    Args:
        numbers: at least 0, and below `count`.
        count: of flags.

    >>> named(np.array([2, 0, 2]), 4).tolist()
    [True, False, True, False]
    >>> named(np.array([0] * 10_000 + [1]), 3).tolist()
    [True, True, False]
    """
    flags = np.zeros(count, dtype=np.bool_)
    flags[numbers[:_FIRST]] = True  # of few numbers these nearly always have all
    if not flags.all():
        flags[numbers[_FIRST:]] = True
    return flags


def _classes(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.ndim != 1:
        raise ValueError(f"{name}: must be one-dimensional, got {array.ndim} dimensions")
    unfit = np.flatnonzero(~((array == 0) | (array == 1)).astype(np.bool_))
    if len(unfit):
        value = array[unfit[0] :].tolist()[0]
        where = f"got {value!r} at position {unfit[0]}"
        raise ValueError(f"{name}: must be 0 or 1, {where}; {_class_to_give(name, value)}")
    return array.astype(np.int64)


def _class_to_give(name: str, value: object) -> str:
    """Return what to give in place of a value that is no class."""
    if isinstance(value, str):
        return f"give where it is the positive class, as {name} == {value!r}"
    if isinstance(value, float) and 0 < value < 1:
        return f"give decisions in place of scores, as {name} >= 0.5"
    return "leave cases without a class out of both"


def _checked(name: str, value: ArrayLike) -> CountArray:
    array = np.asarray(value)
    if array.dtype.kind not in "iuf":
        raise TypeError(f"ConfusionCounts: {name} must be a number, got {value!r}")
    real = array.dtype.kind == "f"
    counts: CountArray = array.astype(np.float64 if real else np.int64, copy=False)
    lowest = counts.min(initial=0)
    if not (lowest >= 0 and (not real or counts.max(initial=0) < np.inf)):  # NaN is neither
        raise ValueError(f"ConfusionCounts: {name} must be finite and at least 0, got {value!r}")
    return counts
