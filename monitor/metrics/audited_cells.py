"""Metrics that audits alone determine, whatever the errors of labels depend on.

Where labels follow the prediction, no rate of wrong labels corrects them. Cases audited at random
within each predicted class and label still show the share of actual positives among these.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from scipy.special import expit, logit

from monitor.metrics.audited_errors import FEWEST_AUDITS
from monitor.metrics.proportions import clopper_pearson

if TYPE_CHECKING:
    from monitor.metrics.audited_errors import AuditedLabels
    from monitor.metrics.ratio import FloatArray

_LEVEL = 0.95
_TINY = 1e-12


class ByAudits(NamedTuple):
    """A metric as audits alone show it, with its 95 % interval.

    Attributes:
        estimate: the value.
        lower: lower limit of the interval.
        upper: upper limit.
    """

    estimate: float
    lower: float
    upper: float


def _precision(cells: FloatArray) -> float:
    """Return precision of shares of all cases, (2, 2) by predicted and actual class."""
    return float(cells[1, 1] / cells[1].sum())


def _recall(cells: FloatArray) -> float:
    return float(cells[1, 1] / max(cells[:, 1].sum(), _TINY))


def _false_positive_rate(cells: FloatArray) -> float:
    return float(cells[1, 0] / max(cells[:, 0].sum(), _TINY))


def _prevalence(cells: FloatArray) -> float:
    return float(cells[:, 1].sum())


def _false_omission_rate(cells: FloatArray) -> float:
    return float(cells[0, 1] / cells[0].sum())


_Metric = Callable[["FloatArray"], float]
_OF_PREDICTED: Mapping[str, tuple[tuple[int, ...], int | None, _Metric]] = {
    "precision": ((1,), None, _precision),
    "recall": ((0, 1), 1, _recall),
    "false_positive_rate": ((0, 1), 0, _false_positive_rate),
    "false_omission_rate": ((0,), None, _false_omission_rate),
    "prevalence": ((0, 1), None, _prevalence),
}
"""Metrics, the predicted classes whose audits determine each, and the actual class it is of."""


def metrics_by_audits(found: AuditedLabels) -> dict[str, ByAudits]:
    """Return the metrics that audits alone determine, of the cases that these stand for.

    Args:
        found: audited cases, drawn at random within each predicted class and label, and all
            labelled ones.

    Returns:
        Those whose predicted classes have `FEWEST_AUDITS` audits, and audits of each label that
        their cases have: precision by flagged cases, the false omission rate by the others, and
        the rest by both. Recall is left out where no audit found an actual positive, and the
        false positive rate where none found an actual negative: both are undefined.

        The limits are the wider of those around the shares as found, and with half a case added
        to either side, on each side.

    Source:
        Begg and Greenes 1983; MOVER by substitution of Clopper and Pearson's limits on the logit
        scale (Zou and Donner 2008).

    >>> from monitor.metrics.audited_errors import AuditedLabels
    >>> audited = np.array([[[245, 5], [30, 70]], [[90, 10], [60, 190]]])
    >>> labelled = np.array([[28_000, 400], [300, 1_300]])
    >>> shown = metrics_by_audits(AuditedLabels(audited, labelled))
    >>> [round(value, 3) for value in shown["precision"]]
    [0.636, 0.586, 0.682]
    >>> [round(value, 3) for value in shown["recall"]]
    [0.548, 0.391, 0.689]
    """
    known = [
        predicted
        for predicted, (audited, labelled) in enumerate(zip(*found, strict=True))
        if audited.sum() >= FEWEST_AUDITS and (audited.sum(axis=1) > 0)[labelled > 0].all()
    ]
    seen = found.audited.sum(axis=(0, 1))
    return {
        name: _by_audits(found, metric)
        for name, (classes, actual, metric) in _OF_PREDICTED.items()
        if set(classes) <= set(known) and (actual is None or seen[actual])
    }


def _by_audits(found: AuditedLabels, metric: _Metric) -> ByAudits:
    """Return a metric of a few shares, with the limits that theirs imply together."""
    positive, audited = found.audited[..., 1].astype(float), found.audited.sum(axis=2).astype(float)
    ones, cases = found.labelled[:, 1].astype(float), found.labelled.sum(axis=1).astype(float)
    # The share of actual positives by predicted class and label, that of label 1 by predicted
    # class, and that of flagged cases.
    seen = np.array([*positive.ravel(), *ones, cases[1]])
    of = np.array([*audited.ravel(), *cases, cases.sum()])
    none = of == 0
    shares = np.where(none, 0.0, seen / np.maximum(of, 1))
    smooth = np.where(none, 0.0, (seen + 0.5) / (of + 1))
    limits = [np.where(none, 0.0, one) for one in clopper_pearson(seen, of, _LEVEL)]
    ends = [_limits(metric, one, limits) for one in (shares, smooth)]
    estimate = metric(_cells(shares))
    lowest, highest = zip(*ends, strict=True)
    return ByAudits(estimate, min(*lowest, estimate), max(*highest, estimate))


def _limits(metric: _Metric, centre: FloatArray, limits: list[FloatArray]) -> tuple[float, float]:
    """Return the limits around a metric: each share moved to its own, and the deviations summed."""
    middle = _logit(metric(_cells(centre)))
    below = above = 0.0
    for place in range(len(centre)):
        for end in limits:
            moved = centre.copy()
            moved[place] = end[place]
            change = _logit(metric(_cells(moved))) - middle
            below, above = below + min(change, 0.0) ** 2, above + max(change, 0.0) ** 2
    return float(expit(middle - np.sqrt(below))), float(expit(middle + np.sqrt(above)))


def _cells(shares: FloatArray) -> FloatArray:
    """Return shares of all cases, (2, 2) by predicted and actual class."""
    positive, one, flagged = shares[:4].reshape(2, 2), shares[4:6], shares[6]
    found = (1 - one) * positive[:, 0] + one * positive[:, 1]
    predicted = np.array([1 - flagged, flagged])
    return np.stack([predicted * (1 - found), predicted * found], axis=1)


def _logit(value: float) -> float:
    return float(logit(np.clip(value, _TINY, 1 - _TINY)))
