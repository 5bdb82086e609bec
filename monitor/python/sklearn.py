"""Scores and scorers for scikit-learn, such as for `cross_val_score`.

Needs scikit-learn, which this package does not install.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.metrics import make_scorer  # type: ignore[import-untyped]  # has no types

from monitor import metrics
from monitor.counts import ConfusionCounts
from monitor.metrics.ratio import one_class_ratio

_CLASSES = 2


def balanced_precision_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = 1,
) -> float:
    """Return precision as it were if half of the cases were positive.

    Args:
        y_true: actual classes, one-dimensional.
        y_pred: predicted classes, as many.
        sample_weight: weight of each case; each counts 1 without it.
        pos_label: the positive class.

    Returns:
        Ratio in [0, 1]; NaN where it is undefined, see `monitor.metrics.balanced_precision`.

    Raises:
        ValueError: the lengths differ, or there are other classes than `pos_label` and one more.

    >>> balanced_precision_score([1, 1, 0, 0, 0, 0], [1, 0, 1, 0, 0, 0])
    0.666...
    """
    return float(metrics.balanced_precision(_counts(y_true, y_pred, sample_weight, pos_label)))


def precision_at_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    class_ratio: float,
    sample_weight: ArrayLike | None = None,
    pos_label: Any = 1,
) -> float:
    """Return precision as it were at a given class ratio.

    Args:
        y_true: actual classes, one-dimensional.
        y_pred: predicted classes, as many.
        class_ratio: actual positives per actual negative, at least 0.
        sample_weight: weight of each case; each counts 1 without it.
        pos_label: the positive class.

    Returns:
        Ratio in [0, 1]; NaN where it is undefined, see `monitor.metrics.precision_at`.

    Raises:
        ValueError: the lengths differ, the class ratio is out of range, or there are other
            classes than `pos_label` and one more.
    """
    counts = _counts(y_true, y_pred, sample_weight, pos_label)
    return float(metrics.precision_at(counts, class_ratio=class_ratio))


balanced_precision = make_scorer(balanced_precision_score)
"""Scorer of `balanced_precision_score`, for the argument `scoring` of `cross_val_score`."""


def precision_at(class_ratio: float, *, pos_label: Any = 1) -> Any:
    """Return a scorer of `precision_at_score`.

    Args:
        class_ratio: actual positives per actual negative, at least 0.
        pos_label: the positive class.

    Raises:
        ValueError: the class ratio is out of range.
    """
    one_class_ratio("precision_at: class_ratio", class_ratio)  # a fault while scoring is NaN there
    return make_scorer(precision_at_score, class_ratio=class_ratio, pos_label=pos_label)


def _counts(
    y_true: ArrayLike, y_pred: ArrayLike, sample_weight: ArrayLike | None, pos_label: Any
) -> ConfusionCounts:
    columns = [np.asarray(column) for column in (y_true, y_pred)]
    classes = {pos_label}.union(*(column.ravel().tolist() for column in columns))
    if len(classes) > _CLASSES:
        found = ", ".join(sorted(map(repr, classes - {pos_label})))
        raise ValueError(
            f"y_true and y_pred: must have two classes, of which pos_label is one; got {found} "
            f"beside pos_label {pos_label!r}"
        )
    actual, predicted = (column == pos_label for column in columns)
    return ConfusionCounts.from_labels(actual, predicted, sample_weight)
