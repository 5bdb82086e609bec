"""Which class is predicted as which one more often, or less often, than before.

The rates are of the cases of an actual class, so that they do not change where classes become
more or less frequent. A change is certain where it is beyond what independent cases explain, and,
of counts by day, beyond what days scatter.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config.quantities import format_time
from monitor.drift.class_attribution import blocks_of, rates_of
from monitor.drift.components import Component
from monitor.drift.share_tests import by_days, share_tests, taken_for
from monitor.events.columns import BoolArray, Int64Array
from monitor.metrics.ratio import FloatArray

SIGNIFICANCE = 0.01
"""P-value below which a change is certain, of all rates together."""


class ConfusionChanges(NamedTuple):
    """Changes of the rates at which cases of a class are predicted as one.

    All arrays are (classes, classes), by predicted and actual class.

    Attributes:
        before: share of the cases of the actual class; NaN without any.
        after: the same.
        p_values: of the change, two-sided, in [0, 1], corrected for all cells (Holm); 1 where
            a side has no case.
        rose: the rate certainly rose.
        fell: the rate certainly fell.
    """

    before: FloatArray
    after: FloatArray
    p_values: FloatArray
    rose: BoolArray
    fell: BoolArray

    @property
    def cells(self) -> list[tuple[int, int]]:
        """The rates that certainly changed, by predicted and actual class; the largest first."""
        changed = self.rose | self.fell
        size = np.where(changed, np.abs(self.after - self.before), -1.0)
        order = np.argsort(-size, axis=None, kind="stable")[: int(changed.sum())]
        predicted, actual = np.unravel_index(order, changed.shape)
        return list(zip(predicted.tolist(), actual.tolist(), strict=True))

    def named(self, names: Sequence[str]) -> tuple[Confusion, ...]:
        """Return the rates that certainly changed, the largest change first.

        Args:
            names: of the classes.
        """
        return tuple(
            Confusion(
                names[actual],
                names[predicted],
                float(self.before[predicted, actual]),
                float(self.after[predicted, actual]),
            )
            for predicted, actual in self.cells
        )

    @property
    def worse_classes(self) -> BoolArray:
        """Which classes are certainly predicted worse, and in nothing better, (classes,)."""
        return predicted_worse(self.rose, self.fell, self._had_cases)

    @property
    def better_classes(self) -> BoolArray:
        """Which classes are certainly predicted better, and in nothing worse, (classes,)."""
        return predicted_worse(self.fell, self.rose, self._had_cases)

    @property
    def _had_cases(self) -> BoolArray:
        return np.asarray(~np.isnan(self.before).any(axis=0))


def predicted_worse(rose: BoolArray, fell: BoolArray, had_cases: BoolArray) -> BoolArray:
    """Return which classes are predicted worse, and in nothing better, (classes,).

    Cases of another class are mistaken for it more often, or its own are recognised less
    often. Where the threshold of a class slides, the one becomes better as the other becomes
    worse. A class without a case before is predicted neither worse nor better than before: if
    it takes cases of another class, that one is recognised less often.

    Args:
        rose: shares of the cases of an actual class that rose, (classes, classes), by predicted
            and actual class.
        fell: those that fell.
        had_cases: classes of which there was a case before, (classes,).
    """
    own = np.eye(len(rose), dtype=np.bool_)
    worse = np.where(own, fell, rose).any(axis=1)
    better = np.where(own, rose, fell).any(axis=1)
    return np.asarray(worse & ~better & had_cases)


class ConfusionBegan(NamedTuple):
    """When a confusion changed, to the day (UTC), epoch milliseconds.

    Attributes:
        at: beginning of the likeliest day.
        earliest: lower limit of its 95 % interval, the beginning of a day; None where the
            likeliest is the first day after the reference, so that the confusion may have changed
            in the days before.
        latest: upper limit of the interval, the end of a day.
    """

    at: int
    earliest: int | None
    latest: int


class Confusion(NamedTuple):
    """A share of the cases of a class that are predicted as another one, or as it, which changed.

    Attributes:
        actual: name of the class that they are of.
        predicted: name of the one they are predicted as; the share is its recall where it is the
            same.
        before: share in the reference, in [0, 1].
        after: share in the window.
        began: when it changed, to the day (UTC); None where no days are stored.
    """

    actual: str
    predicted: str
    before: float
    after: float
    began: ConfusionBegan | None = None

    @property
    def is_recall(self) -> bool:
        """Whether it is the recall of a class, and no confusion."""
        return self.actual == self.predicted

    @property
    def text(self) -> str:
        """The change in words.

        >>> found = Confusion("card", "loan", 0.021, 0.09)
        >>> found.text
        'card → loan confusions rose from 2.1 to 9.0 %'
        >>> day = 1_788_220_800_000
        >>> found._replace(began=ConfusionBegan(day, day, day + DAY_MS)).text
        'card → loan confusions rose from 2.1 to 9.0 %, since 2026-09-01'
        """
        way = "rose" if self.after > self.before else "fell"
        shares = f"{100 * self.before:.1f} to {100 * self.after:.1f} %"
        pair = f"{self.actual} → {self.predicted} confusions"
        rate = f"recall of {self.actual}" if self.is_recall else pair
        text = f"{rate} {way} from {shares}"
        if self.began is None:
            return text
        at, earliest, latest = self.began
        if earliest is None:
            return f"{text}, since on or before {_day(latest - 1)}"
        return f"{text}, since {'' if latest - earliest <= DAY_MS else 'about '}{_day(at)}"


def _day(moment: int) -> str:
    return format_time(moment)[: len("2026-09-01")]


def confusion_changes(before: Int64Array, after: Int64Array) -> ConfusionChanges:
    """Compare the rates at which cases of each class are predicted as each class.

    Args:
        before: labelled predictions by predicted and actual class, (classes, classes), or by
            days before these, (days, classes, classes). The scatter of days enters where both
            sides are by days.
        after: the same classes in the same order.

    Returns:
        Changes of all rates. However the shares of the classes move, at most one comparison
        in a hundred has a rate that moved by chance.

    Source:
        See `share_tests`; of days, `day_scatter`.

    >>> before = np.array([[98, 2], [2, 98]]) * 10
    >>> found = confusion_changes(before, np.array([[910, 2], [90, 98]]))
    >>> [one.text for one in found.named(["card", "loan"])][0]
    'card → loan confusions rose from 2.0 to 9.0 %'
    >>> found.worse_classes.tolist()
    [True, True]
    """
    blocks = blocks_of(before), blocks_of(after)
    p_values, deviate = share_tests(*blocks)
    if before.ndim == after.ndim == blocks[0].ndim:
        for predicted, actual in zip(*np.nonzero(p_values < SIGNIFICANCE), strict=True):
            sides = (taken_for(side, predicted, actual) for side in blocks)
            p_value = by_days(*sides, component=Component.RECALL) * p_values.size
            p_values[predicted, actual] = min(max(p_values[predicted, actual], p_value), 1.0)
    certain = p_values < SIGNIFICANCE
    return ConfusionChanges(
        before=rates_of(blocks[0].sum(axis=0)),
        after=rates_of(blocks[1].sum(axis=0)),
        p_values=p_values,
        rose=certain & (deviate > 0),
        fell=certain & (deviate < 0),
    )
