"""Contribution of each cause to a change of precision, in log-odds and in points.

    logit(precision) = log r + log TPR - log FPR

is exact, so that a change of it splits without remainder. In points of precision the
causes interact. The Owen value divides the interaction: first between prevalence and
skill, then, within skill, between recall and false positives. Its parts sum to the change
of precision, lie in [-1, 1], have the sign of their cause, and do not depend on whether
skill is split further.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, ndtri

from monitor.counts import ConfusionCounts
from monitor.drift.component_changes import (
    BetweenDays,
    Changes,
    as_blocks,
    jackknife_variance,
    leave_one_out,
    with_days,
)
from monitor.drift.components import SmoothedRates, covariance_of_logs
from monitor.drift.dispersion import Dispersion
from monitor.metrics.ratio import FloatArray, ratio

COMPONENT_OF = {
    "prevalence": "class_ratio",
    "recall": "recall",
    "false_positives": "false_positive_rate",
    "skill": "log_likelihood_ratio",
}
"""The component of a `Judgement` that each cause follows from."""

CAUSES = tuple(COMPONENT_OF)
"""Order of the causes along the first axis; skill is recall and false positives together."""

# Corners of the cube (class ratio, TPR, FPR), each of before (0) or after (1).
_CORNERS = np.array([[a, t, f] for a in (0, 1) for t in (0, 1) for f in (0, 1)])


def _owen_weights() -> FloatArray:
    """Weight of the precision at each corner in the Owen value of each cause: (4, 8)."""
    sign = 2.0 * _CORNERS.T - 1
    prevalence = np.where(sign[1] == sign[2], sign[0] / 2, 0.0)
    skill_recall, skill_false = sign[1] / 4, sign[2] / 4
    return np.stack([prevalence, skill_recall, skill_false, skill_recall + skill_false])


_WEIGHTS = _owen_weights()


@dataclass(frozen=True, slots=True)
class Attribution:
    """Contribution of each cause to a change of precision, after minus before.

    The mappings have the keys `prevalence`, `recall`, `false_positives` and `skill`, which
    is the sum of the two before it. A part is NaN where it is undefined: where a window
    has no actual positives, no actual negatives or no predicted positives, and in
    log-odds also where precision is exactly 0 or 1.

    Attributes:
        logit: parts of the change of logit(precision), exact, from raw counts.
        points: parts of the change of precision (Owen value), as fractions in [-1, 1];
            -0.233 is 23.3 percentage points down.
        lower_points: lower limit of `points`, at least -1; NaN where nothing is excluded.
        upper_points: upper limit of `points`, at most 1; NaN likewise.
        precision_before: precision of the raw counts before.
        precision_after: precision of the raw counts after.
        change_logit: change of logit(precision), `prevalence` plus `skill` of `logit`.
        change_points: change of precision, `prevalence` plus `skill` of `points`.
        change_lower_points: lower limit of `change_points`, at least -1.
        change_upper_points: its upper limit, at most 1.
        precision_had_prevalence_stayed: precision at the class ratio of before, with the
            recall and the false-positive rate of after.
        precision_had_skill_stayed: precision at the class ratio of after, with the
            recall and the false-positive rate of before.
    """

    logit: Mapping[str, float]
    points: Mapping[str, float]
    lower_points: Mapping[str, float]
    upper_points: Mapping[str, float]
    precision_before: float
    precision_after: float
    change_logit: float
    change_points: float
    change_lower_points: float
    change_upper_points: float
    precision_had_prevalence_stayed: float
    precision_had_skill_stayed: float

    @property
    def by_prevalence(self) -> bool:
        """Test for a certain change of precision, most of it certainly by the class ratio.

        The intervals of the change and of its part leave out 0, both point the same way, and
        the part is the largest of the three.
        """
        certain = self.change_lower_points > 0 or self.change_upper_points < 0
        lower, upper = self.lower_points["prevalence"], self.upper_points["prevalence"]
        part, way = self.points["prevalence"], np.sign(self.change_points)
        largest = all(
            way * part >= way * self.points[cause] for cause in ("recall", "false_positives")
        )
        return bool(certain and (lower > 0 or upper < 0) and way * part > 0 and largest)


def attribute(
    before: ConfusionCounts,
    after: ConfusionCounts,
    dispersion: Dispersion | ArrayLike = 1.0,
    *,
    between: BetweenDays | None = None,
    level: float = 0.95,
) -> Attribution:
    """Split a change of precision into prevalence, recall and false positives.

    Args:
        before: outcomes of the earlier window: its counts (a scalar, fractional ones
            too), or those of its blocks of time along the last axis.
        after: outcomes of the later window, in the same form.
        dispersion: variance over that of independent rows, at least 1.
        between: what the scatter of days adds to the errors of independent rows, instead
            of the scatter of blocks; None to estimate the errors from the blocks.
        level: coverage of the intervals in points, in (0, 1).

    Returns:
        The attribution. The intervals are those of the delta method, with half a count
        added to each cell, or of the scatter between blocks where that is larger. With
        `between`, they use Student's t for the days behind them.

    Raises:
        ValueError: the counts have more than one axis (see `causes`), or the
            level is outside (0, 1).

    Source:
        Williams 2021, eq. 2; Owen 1977 (values of games with a priori unions).

    >>> before = ConfusionCounts(tp=800, fn=200, fp=450, tn=8550)
    >>> found = attribute(before, ConfusionCounts(tp=350, fn=150, fp=475, tn=9025))
    >>> {cause: round(part, 4) for cause, part in found.points.items()}
    {'prevalence': -0.1837, 'recall': -0.0321, 'false_positives': 0.0, 'skill': -0.0321}
    >>> round(found.precision_had_prevalence_stayed, 4)
    0.6087
    """
    if len(before.shape) > 1 or len(after.shape) > 1:
        raise ValueError(
            f"attribute: counts must be scalars or blocks of time along one axis, got shapes "
            f"{before.shape} and {after.shape}; split many series with causes()"
        )
    if not 0 < level < 1:
        raise ValueError(f"attribute: level must lie in (0, 1), got {level!r}")
    old, new = as_blocks(before), as_blocks(after)
    total_old, total_new = old.sum(axis=-1), new.sum(axis=-1)
    logit, points = causes(total_old, total_new)
    errors = _points_errors(old, new, Dispersion.of(dispersion), between)
    *half_widths, whole = errors.margin(float(ndtri((1 + level) / 2)))
    half_width = np.array(half_widths)
    lower, upper = np.maximum(points - half_width, -1.0), np.minimum(points + half_width, 1.0)
    says_nothing = (lower == -1) & (upper == 1)
    lower, upper = (np.where(says_nothing, np.nan, end) for end in (lower, upper))
    change = float(_precision(total_new) - _precision(total_old))
    corners = _corner_precisions(_ratios(total_old), _ratios(total_new))
    return Attribution(
        logit=_named(logit),
        points=_named(points),
        lower_points=_named(lower),
        upper_points=_named(upper),
        precision_before=float(_precision(total_old)),
        precision_after=float(_precision(total_new)),
        change_logit=float(logit[0] + logit[3]),
        change_points=change,
        change_lower_points=max(change - whole, -1.0),
        change_upper_points=min(change + whole, 1.0),
        precision_had_prevalence_stayed=float(corners[3]),
        precision_had_skill_stayed=float(corners[4]),
    )


def causes(before: ConfusionCounts, after: ConfusionCounts) -> tuple[FloatArray, FloatArray]:
    """Split many changes of precision at once, without intervals.

    Args:
        before: outcomes of the earlier window, one series for each index.
        after: outcomes of the later window; the shapes broadcast.

    Returns:
        Parts in log-odds and parts in points, each of shape (4, *series) in the order of
        `CAUSES`; NaN where undefined (see `Attribution`).

    >>> reference = ConfusionCounts(tp=90, fp=50, fn=10, tn=850)
    >>> logit, points = causes(reference, ConfusionCounts(tp=90, fp=10, fn=10, tn=170))
    >>> dict(zip(CAUSES, points.round(3).tolist(), strict=True))
    {'prevalence': 0.257, 'recall': 0.0, 'false_positives': 0.0, 'skill': 0.0}
    """
    old, new = _ratios(before), _ratios(after)
    corners = _corner_precisions(old, new)
    change = _log(new) - _log(old)
    change = np.stack([change[0], change[1], -change[2], change[1] - change[2]])
    # A part is defined where all corners with a weight are, whatever the others.
    points = [
        np.tensordot(weights[weights != 0], corners[weights != 0], axes=1) for weights in _WEIGHTS
    ]
    return change, np.stack(points)


def _points_errors(
    old: ConfusionCounts,
    new: ConfusionCounts,
    dispersion: Dispersion,
    between: BetweenDays | None,
) -> Changes:
    """Errors of each part in points and of their sum, with half a count in each cell."""
    rates_old, rates_new = SmoothedRates.of(old.sum(axis=-1)), SmoothedRates.of(new.sum(axis=-1))
    gradient = _gradient(_smooth_logs(rates_old), _smooth_logs(rates_new))
    rows = np.zeros(len(gradient))
    for side, (blocks, rates) in enumerate(((old, rates_old), (new, rates_new))):
        variance = gradient[:, side] ** 2 @ _log_variances(rates, dispersion)
        if between is None and blocks.shape[-1] > 1:
            left_out = _smooth_logs(SmoothedRates.of(leave_one_out(blocks)))
            around = _smooth_logs(rates)
            linear = gradient[:, side] @ (left_out - around[:, None])
            variance = np.fmax(variance, jackknife_variance(linear, blocks.total > 0))
        rows += variance
    if between is None:
        return with_days(rows, rows, None)
    days = []
    for side, (added, rates) in enumerate(
        ((between.before, rates_old), (between.after, rates_new))
    ):
        covariance, slopes = covariance_of_logs(added, rates), gradient[:, side]
        days.append(np.einsum("pi,ij,pj->p", slopes, covariance, slopes))
    freedom = np.full(len(gradient), float(between.freedom.min()))
    return with_days(rows, rows, BetweenDays(days[0], days[1], freedom))


def _gradient(old: FloatArray, new: FloatArray) -> FloatArray:
    """Gradient of each part and of their sum by log r, log TPR and log FPR: (5, side, 3)."""
    chosen = np.where(_CORNERS == 1, new, old)
    precision = expit(chosen[:, 0] + chosen[:, 1] - chosen[:, 2])
    weights = np.concatenate([_WEIGHTS, _WEIGHTS[:1] + _WEIGHTS[-1:]])
    slope = weights * precision * (1 - precision)
    signs = np.array([1.0, 1.0, -1.0])
    return np.stack([slope @ np.equal(_CORNERS, side) * signs for side in (0, 1)], axis=1)


def _smooth_logs(rates: SmoothedRates) -> FloatArray:
    logs = [rates.log_class_ratio, np.log(rates.recall), np.log(rates.false_positive_rate)]
    return np.stack(logs)


def _log_variances(rates: SmoothedRates, dispersion: Dispersion) -> FloatArray:
    return np.stack(
        [
            rates.log_class_ratio_variance * dispersion.class_ratio,
            rates.recall_variance * dispersion.recall / rates.recall**2,
            rates.false_positive_rate_variance
            * dispersion.false_positive_rate
            / rates.false_positive_rate**2,
        ]
    )


def _ratios(counts: ConfusionCounts) -> FloatArray:
    """Class ratio, TPR and FPR of the raw counts, NaN where a class is missing: (3, ...)."""
    positive, negative = counts.actual_positive, counts.actual_negative
    return np.stack(
        [
            ratio(positive, np.where(positive > 0, negative, 0)),
            ratio(counts.tp, positive),
            ratio(counts.fp, negative),
        ]
    )


def _corner_precisions(old: FloatArray, new: FloatArray) -> FloatArray:
    """Precision with each factor of before or after, in the order of `_CORNERS`: (8, ...)."""
    old, new = np.broadcast_arrays(old, new)
    factors = (old, new)
    precisions = []
    for a, t, f in _CORNERS:
        true = factors[a][0] * factors[t][1]
        precisions.append(ratio(true, true + factors[f][2]))
    return np.stack(precisions)


def _precision(counts: ConfusionCounts) -> FloatArray:
    return ratio(counts.tp, counts.predicted_positive)


def _log(values: FloatArray) -> FloatArray:
    logs: FloatArray = np.full(values.shape, np.nan)
    np.log(values, out=logs, where=values > 0)
    return logs


def _named(parts: FloatArray) -> dict[str, float]:
    return {cause: float(part) for cause, part in zip(CAUSES, parts, strict=True)}
