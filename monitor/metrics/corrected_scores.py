"""Scores by actual class where labels have errors at known rates.

A label is wrong at a rate that depends on the actual class alone: not on the score, nor on what
was predicted. A bin with p positive and n negative labels then holds on average

    ((1 - fp) p - fp n) / (1 - fp - fn)    actual positives
    ((1 - fn) n - fn p) / (1 - fp - fn)    actual negatives,

as many in all as there are labels. Either may be below 0 in one bin, by chance. These estimates
are without bias, and so is any metric that is linear in them; bounds on each bin would give the
many bins with few positives too many of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.score_influences import Influences
from monitor.metrics.score_intervals import Statistic

if TYPE_CHECKING:
    from monitor.metrics.binned_loss import HiddenLoss
    from monitor.metrics.label_errors import ErrorRates
    from monitor.metrics.ratio import FloatArray


def actual_classes(labelled: ScoreHistogram, errors: ErrorRates) -> ScoreHistogram:
    """Return estimated numbers of actual positives and negatives in each bin.

    Args:
        labelled: labelled cases by score; axes before the bins are allowed.
        errors: rates of wrong labels; of ranges the middle.

    Returns:
        The same where no label is wrong; fractions of cases elsewhere, which may lie below 0.

    Source:
        Natarajan et al. 2013, lemma 1; Menon et al. 2015 (the area under the ROC curve).

    >>> from monitor.metrics.label_errors import ErrorRates
    >>> labelled = ScoreHistogram.from_scores(positive=[.9] * 96 + [.1] * 9, negative=[.1] * 95)
    >>> print(actual_classes(labelled, ErrorRates(.04, .05)).positive.sum().round(2))
    106.59
    """
    if not any(errors):
        return labelled
    positive, negative = labelled.positive, labelled.negative
    wrong, missed = errors.false_positive, errors.false_negative
    return ScoreHistogram(
        positive=((1 - wrong) * positive - wrong * negative) / errors.left,
        negative=((1 - missed) * negative - missed * positive) / errors.left,
        unlabelled=labelled.unlabelled,
    )


def with_label_errors(statistic: Statistic, errors: ErrorRates) -> Statistic:
    """Return a metric of actual classes as one of labelled cases.

    Args:
        statistic: metric of cases whose classes are right.
        errors: rates of wrong labels; of ranges the middle.

    Returns:
        The metric of `actual_classes`, NaN unless there are estimated to be cases of both. Its
        influences are those of one more label of each kind, so that its interval allows for
        which labels happen to be wrong. What bins hide of it is what they hide of that of
        `actual_classes`.
    """
    if not any(errors):
        return statistic
    wrong, missed, left = errors.false_positive, errors.false_negative, errors.left

    def value(labelled: ScoreHistogram) -> FloatArray:
        actual = actual_classes(labelled, errors)
        both = np.minimum(actual.positive.sum(axis=-1), actual.negative.sum(axis=-1)) > 0
        return np.asarray(np.where(both, statistic.value(actual), np.nan))

    def influence(labelled: ScoreHistogram) -> Influences:
        positive, negative = statistic.influence(actual_classes(labelled, errors))
        return Influences(
            ((1 - wrong) * positive - missed * negative) / left,
            ((1 - missed) * negative - wrong * positive) / left,
        )

    bounds = statistic.hidden
    if bounds is None:
        return Statistic(value, influence, statistic.scale)

    def hidden(labelled: ScoreHistogram) -> HiddenLoss:
        return bounds(actual_classes(labelled, errors))

    return Statistic(value, influence, statistic.scale, hidden)
