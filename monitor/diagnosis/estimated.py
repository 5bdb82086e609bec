"""A number with its interval, which Python takes for a number where it is defined."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Estimated:
    """A number with its 95 % interval; NaN where it is undefined or refused.

    It compares with numbers and other estimates, rounds, formats and converts as its `estimate`
    does. What is undefined is no number: to compare, round or convert it raises `ValueError`, so
    that no test passes or fails by accident. Only `format` writes it, as `nan` or `inf`.
    `is_defined` says whether there is a number.

    Two estimates are equal where all three numbers are; an estimate and a number, where the
    estimate is that number.

    Attributes:
        estimate: the number itself, NaN where it is undefined or refused, for arrays.
        lower: lower limit; NaN where there is none.
        upper: upper limit; NaN where there is none.

    >>> precision = Estimated(estimate=0.5749, lower=0.534, upper=0.615)
    >>> precision, precision < 0.6, f"{precision:.2f}", round(precision, 1), float(precision)
    (Estimate(.575, .534 to .615), True, '0.57', 0.6, 0.5749)
    """

    estimate: float
    lower: float
    upper: float

    @property
    def is_defined(self) -> bool:
        """True where it is a finite number."""
        return math.isfinite(self.estimate)

    def __float__(self) -> float:
        if not self.is_defined:
            raise ValueError(
                "estimate: is undefined or refused, and no number; ask is_defined first, or take "
                "estimate, which is NaN"
            )
        return self.estimate

    def __round__(self, digits: int | None = None) -> float | int:
        return round(float(self), digits)

    def __format__(self, spec: str) -> str:
        return format(self.estimate, spec) if spec else str(self)

    def __lt__(self, other: Estimated | float) -> bool:
        return float(self) < float(other) if _is_number(other) else NotImplemented

    def __le__(self, other: Estimated | float) -> bool:
        return float(self) <= float(other) if _is_number(other) else NotImplemented

    def __gt__(self, other: Estimated | float) -> bool:
        return float(self) > float(other) if _is_number(other) else NotImplemented

    def __ge__(self, other: Estimated | float) -> bool:
        return float(self) >= float(other) if _is_number(other) else NotImplemented

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Estimated):
            mine = self.estimate, self.lower, self.upper
            return mine == (other.estimate, other.lower, other.upper)
        return float(self) == other if isinstance(other, Real) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.estimate)

    def __repr__(self) -> str:
        if not self.is_defined:
            return "Estimate(undefined)"
        shown = _three_digits(self.estimate)
        if math.isfinite(self.lower) and math.isfinite(self.upper):
            shown += f", {_three_digits(self.lower)} to {_three_digits(self.upper)}"
        return f"Estimate({shown})"


def _is_number(other: object) -> bool:
    return isinstance(other, Estimated | Real)


def _three_digits(value: float) -> str:
    """A number without the zero before its point."""
    text = f"{value:.3f}"
    return text.replace("0.", ".", 1) if abs(value) < 1 and text.lstrip("-")[0] == "0" else text
