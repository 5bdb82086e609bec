"""Quotients, NaN where the denominator is 0; their logs; the check of metric parameters."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

FloatArray = NDArray[np.float64]
"""Floats of any shape; a NumPy float scalar where the input is a scalar."""


def ratio(numerator: ArrayLike, denominator: ArrayLike) -> FloatArray:
    """Divide, with NaN where the denominator is 0.

    Args:
        numerator: any shape.
        denominator: any shape that broadcasts against it.

    Returns:
        The quotient in the broadcast shape, a NumPy float for scalars; NaN
        where the denominator is zero, whatever the numerator.

    >>> print(ratio(3, 4), ratio(3, 0), ratio([1, 0], [2, 0]))
    0.75 nan [0.5 nan]
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        quotient: FloatArray = np.where(
            np.equal(denominator, 0), np.nan, np.true_divide(numerator, denominator)
        )[()]
    return quotient


def log_of_quotient(above: FloatArray, below: FloatArray) -> FloatArray:
    """Return the log of a quotient, as the difference of two logs.

    Args:
        above: any shape, at least 0.
        below: any shape that broadcasts against it, at least 0.

    Returns:
        -∞ where only `above` is 0, +∞ where only `below` is, NaN where both are.

    >>> print(log_of_quotient(np.float64(1), np.float64(1)))
    0.0
    """
    logarithm: FloatArray = np.log(above) - np.log(below)
    return logarithm


def at_least_zero(where: str, value: ArrayLike) -> FloatArray:
    """Convert a parameter to floats, and check that it is finite and at least 0.

    NaN is allowed: a parameter may be an undefined measurement itself, such as the class
    ratio of an empty window, and makes the metric NaN there.

    Args:
        where: name of the parameter, for the message.
        value: numbers of any shape.

    Returns:
        The numbers as floats.

    Raises:
        ValueError: a number is negative or infinite.

    >>> print(at_least_zero("precision_at: class_ratio", 1))
    1.0
    """
    numbers = np.asarray(value, dtype=np.float64)
    if (numbers < 0).any() or np.isinf(numbers).any():
        raise ValueError(f"{where}: must be finite and at least 0, got {value!r}; r = P/N, β ≥ 0")
    return numbers[()]


def one_class_ratio(where: str, value: object) -> float:
    """Return a class ratio that a person gives: one number, which is never undefined.

    Args:
        where: name of the parameter, for the message.
        value: actual positives per actual negative.

    Raises:
        ValueError: it is no number, negative, infinite or NaN.

    >>> one_class_ratio("PrecisionAt: class_ratio", 1)
    1.0
    """
    try:
        number = float(value)  # type: ignore[arg-type]  # what is no number has the same fault
    except (TypeError, ValueError):
        number = math.nan
    if not 0 <= number < math.inf:
        raise ValueError(f"{where}: must be one number, finite and at least 0, got {value!r}")
    return number
