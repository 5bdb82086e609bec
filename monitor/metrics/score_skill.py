"""How well a model's scores separate the classes, and how well they are calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Self

import numpy as np

from monitor.metrics import score_statistics as by
from monitor.metrics.binned_loss import hides_calibration, hides_log_loss
from monitor.metrics.calibration import CalibrationLine
from monitor.metrics.corrected_scores import actual_classes, with_label_errors
from monitor.metrics.curves import tied_pairs
from monitor.metrics.label_errors import NO_ERRORS, ErrorRates, true_share
from monitor.metrics.rates import class_ratio, false_positive_rate
from monitor.metrics.reliability import BrierParts, ReliabilityCurve, reliability_curve, root
from monitor.metrics.score_intervals import Interval, ScoredDays, Statistic, interval

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

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
        errors: rates of wrong labels that the metrics are corrected for (`corrected_scores`);
            of ranges, estimates are those in the middle, and intervals hold at all ends.

    >>> from monitor.metrics.histogram import ScoreHistogram
    >>> day = ScoreHistogram.from_scores(positive=[.9, .6], negative=[.6, .2])
    >>> ScoreSkill(by_day=ScoreHistogram(
    ...     positive=day.positive[None], negative=day.negative[None],
    ...     unlabelled=day.unlabelled[None]))
    ScoreSkill(days=1, positives=2, negatives=2, roc_auc=0.875)
    """

    by_day: ScoreHistogram
    reference: ConfusionCounts | None = None
    errors: ErrorRates = NO_ERRORS

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
        """Share of pairs of a positive and a negative whose scores lie in one bin.

        Of actual classes, as the area under the ROC curve is, where labels have errors.
        """
        share = float(tied_pairs(actual_classes(self.by_day.sum(), self.errors)))
        return min(max(share, 0.0), 1.0)  # NaN stays NaN

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
        """Area under the precision-recall-gain curve, at most 1.

        NaN where labels have errors: the correction is biased where the curve begins.
        """
        if any(self.errors):
            return Interval(_NAN)
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
        whole = self.by_day.sum()
        return BrierParts(*self._all_of(lambda errors: by.parts_of_brier(whole, errors)))

    @cached_property
    def calibration_error(self) -> Interval:
        """See `reliability.calibration_error`."""
        return _root(self.brier.reliability)

    @cached_property
    def calibration(self) -> CalibrationLine[Interval]:
        """Logistic calibration of the scores; NaN where bins hide it (`hidden_by_bins`)."""
        if "calibration_slope" in self.hidden_by_bins:
            return CalibrationLine(Interval(_NAN), Interval(_NAN), Interval(_NAN))
        whole = self.by_day.sum()
        return CalibrationLine(*self._all_of(lambda errors: by.calibration(whole, errors)))

    @cached_property
    def log_loss(self) -> Interval:
        """Mean negative log likelihood, nats.

        The limits allow for where in its bin each score may lie. NaN where that hides too much
        (`hidden_by_bins`).
        """
        return self._log_loss("log_loss", balanced=False)

    @cached_property
    def balanced_brier_score(self) -> Interval:
        """Brier score with both classes of equal weight, so that prevalence cancels out."""
        return self._of(by.brier(balanced=True))

    @cached_property
    def balanced_calibration_error(self) -> Interval:
        """Calibration error with both classes of equal weight.

        Scores that are calibrated where classes are not equal have one, too: compare it.
        """
        whole = self.by_day.sum()
        (squared,) = self._all_of(
            lambda errors: (by.distance_from_rates(whole, errors, balanced=True),)
        )
        return _root(squared)

    @cached_property
    def balanced_log_loss(self) -> Interval:
        """Log loss with both classes of equal weight, so that prevalence cancels out.

        Limits and NaN as those of `log_loss`.
        """
        return self._log_loss("balanced_log_loss", balanced=True)

    @cached_property
    def hidden_by_bins(self) -> tuple[str, ...]:
        """Names of metrics that are NaN because they depend on where in a bin scores lie.

        As where many positives have a score in the first bin, or negatives in the last one; and
        of calibration, where most cases have one (`hides_calibration`). Of ranges of errors, bins
        hide a metric where they do at an end.
        """
        whole = self.by_day.sum()
        actual = [actual_classes(whole, one) for one in (self.errors, *self.errors.corners)]
        names: tuple[str, ...] = ()
        if any(map(hides_calibration, actual)):
            names = "calibration_slope", "calibration_in_the_large"
        if any(map(hides_log_loss, actual)):
            names = *names, "log_loss"
        if any(hides_log_loss(one, balanced=True) for one in actual):
            names = *names, "balanced_log_loss"
        return names

    @cached_property
    def reliability(self) -> ReliabilityCurve:
        """Scores and rates of positives in groups."""
        curve, errors = reliability_curve(self.by_day.sum()), self.errors
        if not any(errors):
            return curve
        return curve._replace(rate=true_share(curve.rate, errors.false_positive, errors.left))

    @property
    def _rate(self) -> float:
        return _NAN if self.reference is None else float(false_positive_rate(self.reference))

    def _log_loss(self, name: str, *, balanced: bool) -> Interval:
        if name in self.hidden_by_bins:
            return Interval(_NAN)
        return self._of(by.log_likelihood(balanced=balanced))

    def _of(self, statistic: Statistic) -> Interval:
        return self._all_of(lambda _: (statistic,))[0]

    def _all_of(self, build: Callable[[ErrorRates], Iterable[Statistic]]) -> tuple[Interval, ...]:
        """Return some metrics, each with the lowest and highest limit at the ends of the rates."""
        days = ScoredDays.of(self.by_day)

        def at(errors: ErrorRates) -> list[Interval]:
            return [interval(days, with_label_errors(one, errors)) for one in build(errors)]

        middle = at(self.errors)
        if not self.errors.ranges:
            return tuple(middle)
        ends = [at(corner) for corner in self.errors.corners]
        return tuple(map(_within, middle, *ends))


def _within(middle: Interval, *ends: Interval) -> Interval:
    """Return an estimate with the outermost limits; NaN where one of them is."""
    lower, upper = (end.lower for end in ends), (end.upper for end in ends)
    return Interval(middle.estimate, float(np.min([*lower])), float(np.max([*upper])))


def _root(squared: Interval) -> Interval:
    return Interval(*(float(root(np.asarray(end))) for end in squared))
