"""The curves of equal score in the plane of precision and recall."""

from __future__ import annotations

import math
from typing import NamedTuple


class IsoCurves(NamedTuple):
    """The family of curves along which a score stays the same.

    Attributes:
        beta: weight of recall against precision.
        rho: -2 for F, -1 for the geometric mean; see `monitor.metrics.means.g`.
    """

    beta: float = 1.0
    rho: float = -2.0

    @property
    def name(self) -> str:
        """Name of the score."""
        if self.rho == -2:  # noqa: PLR2004  # F is that member of the family
            return f"F{self.beta:g}"
        return f"G (beta {self.beta:g}, rho {self.rho:g})"

    def precision(self, score: float, recall: float) -> float | None:
        """Return the precision that gives a score at a recall; None where none does.

        Args:
            score: in [0, 1].
            recall: in (0, 1].

        >>> round(IsoCurves().precision(0.5, 0.5), 9), IsoCurves().precision(0.8, 0.3)
        (0.5, None)
        """
        gamma = self.beta if self.rho == 0 else self.beta**self.rho
        power = self.rho + 1
        try:
            if power == 0:
                found = (score ** (1 + gamma) / recall) ** (1 / gamma)
            else:
                rest = (score**power * (1 + gamma) - recall**power) / gamma
                found = rest ** (1 / power) if rest > 0 else math.nan
        except (OverflowError, ZeroDivisionError):
            return None
        return found if 0 <= found <= 1 else None
