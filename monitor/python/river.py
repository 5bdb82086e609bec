"""Metrics and a drift detector for [river](https://riverml.xyz), with its interfaces.

Needs the extra `river`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from river import base, metrics

from monitor.counts import ConfusionCounts
from monitor.drift.detectors import ShiryaevRoberts, suffices
from monitor.feeds.scalars import plain_class
from monitor.metrics.precision import balanced_precision, precision_at
from monitor.metrics.ratio import one_class_ratio


class _OfCounts(metrics.base.BinaryMetric):
    """A metric of the confusion counts; undefined is NaN.

    A case without a label or a prediction (None) is left out: it is no negative.
    """

    def update(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Add one case.

        Raises:
            ValueError: a class is a name and `pos_val` is none, or the other way round, so that
                no case would be positive.
        """
        if self._is_whole(y_true, y_pred):
            super().update(y_true, y_pred, w)

    def revert(self, y_true: Any, y_pred: Any, w: float = 1.0) -> None:
        """Remove one case that was added before.

        Raises:
            ValueError: as of `update`.
        """
        if self._is_whole(y_true, y_pred):
            super().revert(y_true, y_pred, w)

    def _is_whole(self, y_true: Any, y_pred: Any) -> bool:
        """Return whether a case has a label and a prediction; both have to be of pos_val's kind."""
        named = isinstance(self.pos_val, str)
        for argument, value in (("y_true", y_true), ("y_pred", y_pred)):
            if value is not None and isinstance(value, str) != named:
                raise ValueError(
                    f"{type(self).__name__}: {argument}: must be {self.pos_val!r} or another "
                    f"{'name' if named else 'number'}, got {value!r}; give the positive class "
                    f"as labels write it, pos_val={value!r} for one"
                )
        return y_true is not None and y_pred is not None

    @property
    def counts(self) -> ConfusionCounts:
        """The confusion counts so far, as floats."""
        # `update` turns labels into booleans, whatever `pos_val` is
        tp = self.cm.true_positives(True)
        fp, fn = self.cm.false_positives(True), self.cm.false_negatives(True)
        cells = [tp, fp, fn, self.cm.total_weight - tp - fp - fn]
        return ConfusionCounts.from_cells(np.maximum(np.array(cells, np.float64), 0.0))


class BalancedPrecision(_OfCounts):
    """Precision if half of the cases were positive; see `monitor.metrics.balanced_precision`.

    Rarer positives do not move it. NaN where there are no actual positives, no actual
    negatives, or no predicted positives.

    Args:
        cm: confusion matrix to share with other metrics of river; its own by default.
        pos_val: value of the positive class; its name where classes have names.

    >>> metric = BalancedPrecision()
    >>> for actual, predicted in [(True, True), (True, False), (False, True), (False, False)]:
    ...     metric.update(actual, predicted)
    >>> metric
    BalancedPrecision: 50.00%
    >>> named = BalancedPrecision(pos_val="fraud")
    >>> for actual, predicted in [("fraud", "fraud"), ("fraud", "fine"), ("fine", "fine")]:
    ...     named.update(actual, predicted)
    >>> named
    BalancedPrecision: 100.00%
    """

    def get(self) -> float:
        """Return the metric, in [0, 1]; NaN where it is undefined."""
        return float(balanced_precision(self.counts))


class PrecisionAt(_OfCounts):
    """Precision at a given class ratio; see `monitor.metrics.precision_at`.

    Args:
        class_ratio: actual positives per actual negative, at least 0.
        cm: confusion matrix to share with other metrics of river; its own by default.
        pos_val: value of the positive class; its name where classes have names.

    Raises:
        ValueError: the class ratio is out of range.

    >>> metric = PrecisionAt(class_ratio=1 / 9)
    >>> for actual, predicted in [(True, True), (True, False), (False, True), (False, False)]:
    ...     metric.update(actual, predicted)
    >>> metric
    PrecisionAt: 10.00%
    """

    def __init__(self, class_ratio: float, cm: Any = None, pos_val: Any = True) -> None:  # noqa: FBT002  # river's own argument
        super().__init__(cm, pos_val)  # type: ignore[no-untyped-call]  # river's own
        one_class_ratio("PrecisionAt: class_ratio", class_ratio)
        self.class_ratio = class_ratio

    def get(self) -> float:
        """Return the metric, in [0, 1]; NaN where it is undefined."""
        return float(precision_at(self.counts, class_ratio=self.class_ratio))


class SkillDrift(base.DriftDetector):
    """Detects that the model got worse: recall falls, or the false-positive rate rises.

    The detector of the monitor behind river's interface. A change of prevalence alone does
    not affect it. It takes the outcomes that come first as normal, until they hold 1,000
    positives and 500 false positives; after a drift it learns anew.

    Args:
        run_length: least mean number of outcomes between two false alarms, at least `pane`.
        pane: number of outcomes after which the evidence is updated, at least 1.

    Raises:
        ValueError: an argument is out of range.

    Source:
        See `monitor.drift.detectors.ShiryaevRoberts`.

    >>> detector = SkillDrift(run_length=100_000)
    >>> def feed(hits: int) -> bool:
    ...     for n in range(12_000):
    ...         actual = n % 4 == 0
    ...         detector.update((actual, n % 100 < hits if actual else n % 10 == 1))
    ...         if detector.drift_detected:
    ...             return True
    ...     return False
    >>> feed(hits=80), feed(hits=40)
    (False, True)
    """

    def __init__(self, run_length: int = 1_000_000, pane: int = 50) -> None:
        super().__init__()
        if pane < 1 or run_length < pane:
            raise ValueError(
                f"SkillDrift: run_length must be at least pane, and pane at least 1, got "
                f"run_length={run_length!r}, pane={pane!r}"
            )
        self.run_length = run_length
        self.pane = pane
        self._reset()

    def _reset(self) -> None:
        super()._reset()
        self._cells = np.zeros(4, np.int64)
        self._seen = 0
        self._detector: ShiryaevRoberts | None = None

    @property
    def warming_up(self) -> bool:
        """True until enough outcomes came to know what is normal."""
        return self._detector is None

    @property
    def evidence(self) -> float:
        """Statistic over its threshold, a drift from 1 on; NaN while warming up."""
        return float("nan") if self._detector is None else float(self._detector.evidence)

    def update(self, x: Any) -> None:
        """Add one outcome.

        Args:
            x: the pair (y_true, y_pred), each true for the positive class. An error alone
                does not say which of the two rates it belongs to.

        Raises:
            ValueError: it is no such pair.
        """
        if self.drift_detected:
            self._reset()
        actual, predicted = _classes(x)
        self._cells[2 * (not predicted) + (not actual)] += 1
        self._seen += 1
        if self._seen % self.pane:
            return
        counts = ConfusionCounts.from_cells(self._cells)
        if self._detector is not None:
            self._drift_detected = bool(self._detector.update(counts))
            self._cells[:] = 0
        elif suffices(counts):
            panes = self.run_length / self.pane
            self._detector = ShiryaevRoberts(reference=counts, threshold=max(2 * panes, 1.0))
            self._cells = np.zeros(4, np.int64)


def _classes(x: Any) -> tuple[bool, bool]:
    """Return the actual and the predicted class of an outcome.

    Raises:
        ValueError: it is no pair of classes.
    """
    try:
        actual, predicted = map(plain_class, x)
    except (TypeError, ValueError):
        actual = predicted = None
    if not all(isinstance(value, int) and value in (0, 1) for value in (actual, predicted)):
        raise ValueError(
            f"SkillDrift: x: must be a pair (y_true, y_pred), each True, False, 1 or 0, got {x!r}"
        )
    return bool(actual), bool(predicted)
