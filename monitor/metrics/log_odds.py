"""Metrics as log-odds of cells: the scale on which intervals of incomplete labels are computed.

Every share of cells is such a metric: the odds of recall are TP / FN. Skill is the
quotient of two odds, those of precision and the class ratio. The log of odds is unbounded,
and its gradient has a closed form, so that one row gives the interval of a metric where
labels are a sample (`sampled`) and where labels are still to come
(`monitor.labels.corrected`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from monitor.counts import CountArray
    from monitor.metrics.ratio import FloatArray

_PREDICTED_CLASSES = ({Outcome.TP, Outcome.FP}, {Outcome.FN, Outcome.TN})


class CellOdds(NamedTuple):
    """Odds of some cells of the confusion matrix against others.

    Attributes:
        above: cells of the numerator.
        below: cells of the denominator; none of `above`.
    """

    above: tuple[Outcome, ...]
    below: tuple[Outcome, ...]

    def trials(self, counts: ConfusionCounts) -> tuple[CountArray, CountArray]:
        """Return the cases above, and the cases above or below.

        >>> recall = CellOdds((Outcome.TP,), (Outcome.FN,))
        >>> [int(n) for n in recall.trials(ConfusionCounts(tp=90, fp=50, fn=10, tn=850))]
        [90, 100]
        """
        cells = (counts.tp, counts.fp, counts.fn, counts.tn)
        successes = _sum_of(cells, self.above)
        return successes, successes + _sum_of(cells, self.below)

    def log(self, cells: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """Return the log of the odds, see `LogOdds.value`."""
        odds: FloatArray = np.log(_sum_of(cells, self.above) / _sum_of(cells, self.below))
        return odds

    def gradient(self, cells: FloatArray) -> FloatArray:
        """Return the gradient of the log of the odds, see `LogOdds.gradient`."""
        slope = np.zeros(cells.shape)
        for sign, group in ((1, self.above), (-1, self.below)):
            chosen = cells[..., list(group)]
            slope[..., list(group)] = sign * chosen / chosen.sum(axis=-1, keepdims=True)
        return slope


class LogOdds(NamedTuple):
    """A metric on an unbounded scale: the log of odds, or of a quotient of two odds.

    Attributes:
        odds: the odds, or the numerator of the quotient.
        back: takes the scale back to the metric.
        divisor: denominator of the quotient; None without one.
    """

    odds: CellOdds
    back: Callable[[FloatArray], FloatArray]
    divisor: CellOdds | None = None

    @property
    def of_one_predicted_class(self) -> bool:
        """True where the other predicted class has no part in it, as for precision."""
        cells = {*self.odds.above, *self.odds.below}
        return self.divisor is None and any(cells <= those for those in _PREDICTED_CLASSES)

    def value(self, cells: Sequence[FloatArray] | FloatArray) -> FloatArray:
        """Return the metric on this scale.

        Args:
            cells: counts or shares, in the order of `Outcome`, each of any one shape.

        Returns:
            Same shape; infinite where one side of the odds is 0, NaN where both are.
        """
        value = self.odds.log(cells)
        return value if self.divisor is None else value - self.divisor.log(cells)

    def gradient(self, cells: FloatArray) -> FloatArray:
        """Return the derivative of `value` by the log of each cell.

        Args:
            cells: counts above 0, (..., 4) by `Outcome`.

        Returns:
            Same shape.
        """
        slope = self.odds.gradient(cells)
        return slope if self.divisor is None else slope - self.divisor.gradient(cells)


def _sum_of(cells: Sequence[CountArray] | CountArray, group: tuple[Outcome, ...]) -> CountArray:
    first, *others = (cells[cell] for cell in group)
    for other in others:
        first = first + other
    return first
