"""The scatter of days as a factor on the variance of independent rows."""

from __future__ import annotations

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift.components import COMPONENTS, Component, SmoothedRates
from monitor.drift.dispersion import Dispersion
from monitor.metrics.ratio import FloatArray


def as_dispersion(counts: ConfusionCounts, added: FloatArray) -> Dispersion:
    """Return the scatter of days as a factor on the variance of independent rows.

    Args:
        counts: outcomes of the window, a scalar; half a count is added to each cell.
        added: variance that days add to the window's components, (8,).

    Returns:
        (rows + days) / rows of log r, logit TPR and logit FPR, at least 1.
    """
    rates = SmoothedRates.of(counts)
    rows = rates.variances(Dispersion.of(1.0))
    ratio, recall, false = (1 + added[stream] / rows[stream] for stream in range(3))
    return Dispersion(class_ratio=ratio, recall=recall, false_positive_rate=false)


def off_the_curve(counts: ConfusionCounts, added: FloatArray) -> Dispersion:
    """Return the scatter of days off the ROC curve as a factor on the variance of rows.

    Days move a point along the curve and off it. What moves both rates alike stays on it, so
    that the scatter of the odds ratio stands for that of recall at a given FPR.

    Args:
        counts: outcomes of the window, a scalar; half a count is added to each cell.
        added: variance that days add to the window's components, (8,).

    Returns:
        Factors for `roc.below_reference_curve`, at least 1.
    """
    scatter = np.zeros(COMPONENTS)
    scatter[Component.RECALL] = min(added[Component.RECALL], added[Component.ODDS_RATIO])
    return as_dispersion(counts, scatter)
