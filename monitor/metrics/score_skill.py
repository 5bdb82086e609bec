"""How well a model's scores separate the classes, and how well they are calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from monitor.metrics import score_statistics as by
from monitor.metrics.calibration import CalibrationLine
from monitor.metrics.curves import tied_pairs
from monitor.metrics.rates import class_ratio, false_positive_rate
from monitor.metrics.reliability import BrierParts, ReliabilityCurve, reliability_curve, root
from monitor.metrics.score_intervals import Interval, ScoredDays, Statistic, interval

if TYPE_CHECKING:
    from monitor.counts import ConfusionCounts
    from monitor.metrics.histogram import ScoreHistogram

_NAN = float("nan")


@dataclass(frozen=True, kw_only=True, eq=False)
class ScoreSkill:
    """Metrics of the scores of one stretch of time; NaN where undefined.

    Each is computed when it is first read: most readers need few of them.

    Args:
        by_day: labelled cases by score, (days, bins); blocks of time, as weeks of long ago,
            count as days.
        reference: outcomes of the reference, a scalar, for the metrics at its class ratio
            and its false-positive rate; None without one.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> day = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2])
    >>> ScoreSkill(by_day=ScoreHistogram(
    ...     positive=day.positive[None], negative=day.negative[None],
    ...     unlabelled=day.unlabelled[None]))
    ScoreSkill(days=1, positives=2, negatives=2, roc_auc=0.875)
    """

    by_day: ScoreHistogram
    reference: ConfusionCounts | None = None

    def __repr__(self) -> str:
        return (
            f"ScoreSkill(days={self.days}, positives={self.positives}, "
            f"negatives={self.negatives}, roc_auc={self.roc_auc.estimate:.3f})"
        )

    def for_scrapes(self) -> Self:
        """Return these with the metrics computed that always have series, before any scrape."""
        _ = self.roc_auc, self.average_precision, self.brier_score
        return self

    @cached_property
    def days(self) -> int:
        """Blocks of time with labelled scores: days, or weeks of long ago."""
        return ScoredDays.of(self.by_day).held

    @cached_property
    def positives(self) -> int:
        """Labelled positives with a score."""
        return int(self.by_day.positive.sum())

    @cached_property
    def negatives(self) -> int:
        """Labelled negatives with a score."""
        return int(self.by_day.negative.sum())

    @cached_property
    def roc_auc(self) -> Interval:
        """Area under the ROC curve."""
        return self._of(by.AREA_UNDER_ROC)

    @cached_property
    def tied_pairs(self) -> float:
        """Share of pairs of a positive and a negative whose scores lie in one bin."""
        return float(tied_pairs(self.by_day.sum()))

    @cached_property
    def average_precision(self) -> Interval:
        """Average precision at the class ratio of these cases."""
        return self._of(by.AVERAGE_PRECISION)

    @cached_property
    def average_precision_at_reference(self) -> Interval:
        """Average precision at the reference's class ratio, so that prevalence cancels out."""
        odds = _NAN if self.reference is None else float(class_ratio(self.reference))
        return self._of(by.average_precision_at(odds))

    @cached_property
    def precision_recall_gain(self) -> Interval:
        """Area under the precision-recall-gain curve, at most 1."""
        return self._of(by.GAIN_AREA)

    @cached_property
    def mean_recall(self) -> Interval:
        """Mean recall over false-positive rates from half to twice the reference's."""
        return self._of(by.mean_recall_around(self._rate))

    @cached_property
    def recall_at_reference(self) -> Interval:
        """Recall at the reference's false-positive rate."""
        return self._of(by.recall_at_rate(self._rate))

    @cached_property
    def brier_score(self) -> Interval:
        """Mean squared distance of the scores from the labels."""
        return self._of(by.brier())

    @cached_property
    def brier(self) -> BrierParts[Interval]:
        """Parts of the Brier score."""
        return BrierParts(*map(self._of, by.parts_of_brier(self.by_day.sum())))

    @cached_property
    def calibration_error(self) -> Interval:
        """See `reliability.calibration_error`."""
        return _root(self.brier.reliability)

    @cached_property
    def calibration(self) -> CalibrationLine[Interval]:
        """Logistic calibration of the scores."""
        return CalibrationLine(*map(self._of, by.calibration(self.by_day.sum())))

    @cached_property
    def log_loss(self) -> Interval:
        """Mean negative log likelihood, nats."""
        return self._of(by.log_likelihood())

    @cached_property
    def balanced_brier_score(self) -> Interval:
        """Brier score with both classes of equal weight, so that prevalence cancels out."""
        return self._of(by.brier(balanced=True))

    @cached_property
    def balanced_calibration_error(self) -> Interval:
        """Calibration error with both classes of equal weight.

        Scores that are calibrated where classes are not equal have one, too: compare it.
        """
        return _root(self._of(by.distance_from_rates(self.by_day.sum(), balanced=True)))

    @cached_property
    def balanced_log_loss(self) -> Interval:
        """Log loss with both classes of equal weight, so that prevalence cancels out."""
        return self._of(by.log_likelihood(balanced=True))

    @cached_property
    def reliability(self) -> ReliabilityCurve:
        """Scores and rates of positives in groups."""
        return reliability_curve(self.by_day.sum())

    @property
    def _rate(self) -> float:
        return _NAN if self.reference is None else float(false_positive_rate(self.reference))

    def _of(self, statistic: Statistic) -> Interval:
        return interval(ScoredDays.of(self.by_day), statistic)


def _root(squared: Interval) -> Interval:
    return Interval(*(float(root(np.asarray(end))) for end in squared))
