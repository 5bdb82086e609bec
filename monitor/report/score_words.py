"""The words for the metrics of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

from monitor.drift.implied_threshold import ImpliedThresholds
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill
from monitor.report.moved_precision import Points
from monitor.report.points import in_points

_CANCELLED = 0.5
_WORTH_A_POINT = 0.01


class ScoreWords(NamedTuple):
    """A metric of scores that has an interval and series.

    Attributes:
        words: its full name, in lower case.
        meaning: what it is, and the HELP text of its series begins with.
        stem: name of its series without bound and unit.
        unit: suffix of its series, if any.
        of: reads it.
        is_main: whether short tables have it.
        has_series: whether its series are there without `exporter.score_metrics`, and a window
            in Python has it as an attribute.
    """

    words: str
    meaning: str
    stem: str
    unit: Literal["ratio", "logit", ""]
    of: Callable[[ScoreSkill], Interval]
    is_main: bool = False
    has_series: bool = False

    def series(self, bound: Literal["", "lower", "upper"] = "") -> str:
        """Name of its series by window.

        Args:
            bound: end of the 95 % interval; "" for the estimate.

        >>> SCORE_WORDS["brier_score"].series("lower"), SCORE_WORDS["roc_auc"].series()
        ('classifier_brier_score_lower', 'classifier_roc_auc_ratio')
        """
        return "_".join(filter(None, (self.stem, bound, self.unit)))

    @property
    def help(self) -> str:
        """The HELP text of its series."""
        asked = "" if self.has_series else " Only with exporter.score_metrics."
        return f"{self.meaning}; of the whole days (UTC) in the window.{asked}"


def slide_sentence(positive: Interval, negative: Interval) -> str | None:
    """Return how far the scores of each class slid, in one sentence; None where undefined.

    Args:
        positive: change of the mean score of actual positives.
        negative: of actual negatives.

    >>> slide_sentence(Interval(-.08, -.1, -.06), Interval(.002))
    'Scores of positives slid by -0.080 (-0.100 to -0.060), of negatives by +0.002.'
    """
    if not math.isfinite(positive.estimate + negative.estimate):
        return None
    return f"Scores of positives slid by {_slid(positive)}, of negatives by {_slid(negative)}."


def thresholds_sentence(found: ImpliedThresholds) -> str:
    """Return which threshold cases are flagged by, in one sentence.

    >>> threshold = Interval(.31, .3, .32)
    >>> thresholds_sentence(ImpliedThresholds(threshold, threshold, Interval(0, -.01, .01),
    ...                                       Interval(-.02, -.03, -.01)))
    'Cases are flagged from a score of about 0.310, before and after; the scores shifted.'
    """
    old, new = (f"{one.estimate:.3f}" for one in (found.before, found.after))
    if found.is_raised is not None:
        way = "raised" if found.is_raised else "lowered"
        alone = found.is_raised_alone is not None
        return (
            f"Cases are flagged from a score of about {new}, before from {old}: the threshold was "
            f"{way}, and the scores {'did not certainly shift' if alone else 'shifted as well'}."
        )
    if found.scores_shifted or old == new:
        shifted = "; the scores shifted" if found.scores_shifted else ""
        return f"Cases are flagged from a score of about {new}, before and after{shifted}."
    return f"Cases are flagged from a score of about {new}, before from {old}."


def skill_parts_sentence(
    threshold: Points, curve: Points, *, whole: str = "the part of skill"
) -> str:
    """Return what movement along the ROC curve did, and what another curve, in one sentence.

    Another threshold moves the point of recall and false positives along the curve, and so do
    scores that all shift.

    Args:
        threshold: movement along the ROC curve of before; NaN for limits that are undefined.
        curve: movement off it, likewise.
        whole: what both add up to.

    >>> skill_parts_sentence(Points(-.081, -.093, -.069), Points(-.014, math.nan, math.nan))[45:]
    'curve accounts for -8.1 points (-9.3 to -6.9), another curve for -1.4 points.'
    """
    return (
        f"Of {whole}, movement along the ROC curve accounts for {_part(threshold)}, another curve "
        f"for {_part(curve)}."
    )


def cancelling_sentence(threshold: Points, curve: Points) -> str | None:
    """Return that skill is as before in sum alone, in one sentence; None where it is not.

    Two parts cancel where they have opposite signs, a point of precision each or more, one of them
    certainly, and add up to less than half of the smaller one.

    Args:
        threshold: movement along the ROC curve of before; NaN for limits that are undefined.
        curve: movement off it, likewise.

    >>> cancelling_sentence(Points(.029, .018, .04), Points(-.027, -.056, .002))[-62:]
    'another curve for -2.7 points (-5.6 to +0.2), and they cancel.'
    >>> cancelling_sentence(Points(.029, .018, .04), Points(-.01, -.04, .02))
    """
    smaller = min(abs(threshold.estimate), abs(curve.estimate))
    both = threshold.estimate + curve.estimate
    cancel = threshold.estimate * curve.estimate < 0 and abs(both) < _CANCELLED * smaller
    if not (cancel and smaller >= _WORTH_A_POINT and (threshold.certain or curve.certain)):
        return None
    return (
        "Skill (log LR+) is as before in sum alone: movement along the ROC curve accounts for "
        f"{_part(threshold)}, another curve for {_part(curve)}, and they cancel."
    )


def _part(part: Points) -> str:
    text = f"{in_points(part.estimate):+.1f} points"
    if not math.isfinite(part.lower):
        return text
    return f"{text} ({in_points(part.lower):+.1f} to {in_points(part.upper):+.1f})"


def _slid(change: Interval) -> str:
    if not math.isfinite(change.lower):
        return f"{change.estimate:+.3f}"
    return f"{change.estimate:+.3f} ({change.lower:+.3f} to {change.upper:+.3f})"


def ties_sentence(area: float, tied_pairs: float, of: str) -> str | None:
    """Return how far bins hide the area under the ROC curve; None where that is not much.

    Args:
        area: area under the curve of binned scores; NaN where undefined.
        tied_pairs: share of pairs of a positive and a negative whose scores lie in one bin.
        of: what the scores are of.

    >>> ties_sentence(.809, .2, "7d").split(" may be ")[1]
    '0.709 to 0.909 instead of 0.809, if no scores are equal.'
    >>> ties_sentence(.809, .01, "7d")
    >>> ties_sentence(.5, 1.0, "7d")
    'All scores of 7d are equal within .001: they order no cases.'
    """
    if tied_pairs >= 1:
        return f"All scores of {of} are equal within .001: they order no cases."
    hidden = tied_pairs / 2
    if not hidden >= _WORTH_A_WORD:
        return None
    ends = f"{max(area - hidden, 0):.3f} to {min(area + hidden, 1):.3f}"
    return (
        f"Scores count in bins of .001: the area under the ROC curve of {of} may be {ends} "
        f"instead of {area:.3f}, if no scores are equal."
    )


def hidden_sentence(names: Sequence[str], of: str) -> str | None:
    """Return which metrics bins hide, and why; None where they hide none.

    Args:
        names: of the metrics, in words joined by "_".
        of: what the scores are of.

    >>> hidden_sentence(["calibration_slope", "balanced_log_loss"], "7d").split(", because ")[0]
    'Scores count in bins of .001: calibration slope and balanced log loss of 7d are undefined'
    >>> hidden_sentence([], "7d")
    """
    if not names:
        return None
    *others, last = (name.replace("_", " ") for name in names)
    listed = f"{', '.join(others)} and {last} of {of} are" if others else f"{last} of {of} is"
    they = "they depend" if others else "it depends"
    return (
        f"Scores count in bins of .001: {listed} undefined, because {they} on where in its bin a "
        "score lies, and too many scores lie so near to 0 or 1."
    )


_WORTH_A_WORD = 0.01
"""The least part of the area that bins hide for it to be said."""

PARTS_BY_LABELS = "Labels that are wrong more, or less, often change all of these as well."
"""What follows the parts of skill where other labels explain the change, too."""

SCORE_WORDS: Mapping[str, ScoreWords] = {
    "roc_auc": ScoreWords(
        words="area under the ROC curve",
        meaning="Share of pairs of a positive and a negative whose scores are in the right order",
        stem="classifier_roc_auc",
        unit="ratio",
        of=lambda found: found.roc_auc,
        is_main=True,
        has_series=True,
    ),
    "average_precision": ScoreWords(
        words="average precision",
        meaning="Mean over the positives of the precision at their own score",
        stem="classifier_average_precision",
        unit="ratio",
        of=lambda found: found.average_precision,
        is_main=True,
        has_series=True,
    ),
    "brier_score": ScoreWords(
        words="Brier score",
        meaning="Mean squared distance of the scores from the labels",
        stem="classifier_brier_score",
        unit="",
        of=lambda found: found.brier_score,
        is_main=True,
        has_series=True,
    ),
    "average_precision_at_reference": ScoreWords(
        words="average precision, reference r",
        meaning="Average precision at the class ratio of the reference",
        stem="classifier_average_precision_at_reference",
        unit="ratio",
        of=lambda found: found.average_precision_at_reference,
        is_main=True,
    ),
    "recall_at_reference": ScoreWords(
        words="recall at the reference's FPR",
        meaning="Recall at the false-positive rate of the reference",
        stem="classifier_recall_at_reference",
        unit="ratio",
        of=lambda found: found.recall_at_reference,
        is_main=True,
    ),
    "mean_recall": ScoreWords(
        words="mean recall about that FPR",
        meaning="Mean recall over false-positive rates from half to twice that of the reference",
        stem="classifier_mean_recall",
        unit="ratio",
        of=lambda found: found.mean_recall,
    ),
    "precision_recall_gain": ScoreWords(
        words="precision-recall-gain area",
        meaning="Area under the precision-recall-gain curve, at most 1",
        stem="classifier_precision_recall_gain",
        unit="ratio",
        of=lambda found: found.precision_recall_gain,
    ),
    "calibration_error": ScoreWords(
        words="calibration error",
        meaning="Root mean square distance of the scores from the rates of positives, without bias",
        stem="classifier_calibration_error",
        unit="",
        of=lambda found: found.calibration_error,
        is_main=True,
    ),
    "calibration_slope": ScoreWords(
        words="calibration slope",
        meaning="Slope of the logistic calibration of the scores, 1 for calibrated ones",
        stem="classifier_calibration_slope",
        unit="",
        of=lambda found: found.calibration.slope,
        is_main=True,
    ),
    "calibration_in_the_large": ScoreWords(
        words="calibration in the large",
        meaning="Log-odds by which the scores are too low, 0 for calibrated ones",
        stem="classifier_calibration_in_the_large",
        unit="logit",
        of=lambda found: found.calibration.in_the_large,
    ),
    "brier.reliability": ScoreWords(
        words="reliability (Brier score)",
        meaning="What wrong calibration adds to the Brier score, without bias: may be below 0",
        stem="classifier_brier_reliability",
        unit="",
        of=lambda found: found.brier.reliability,
    ),
    "brier.resolution": ScoreWords(
        words="resolution (Brier score)",
        meaning="What telling cases apart takes off the Brier score, without bias: may be below 0",
        stem="classifier_brier_resolution",
        unit="",
        of=lambda found: found.brier.resolution,
    ),
    "brier.uncertainty": ScoreWords(
        words="uncertainty (Brier score)",
        meaning="Variance of the label, by prevalence alone: the Brier score of a constant score",
        stem="classifier_brier_uncertainty",
        unit="",
        of=lambda found: found.brier.uncertainty,
    ),
    "log_loss": ScoreWords(
        words="log loss",
        meaning="Mean negative log likelihood of the labels, nats",
        stem="classifier_log_loss",
        unit="",
        of=lambda found: found.log_loss,
    ),
    "balanced_brier_score": ScoreWords(
        words="Brier score, balanced",
        meaning="Brier score with both classes of equal weight",
        stem="classifier_balanced_brier_score",
        unit="",
        of=lambda found: found.balanced_brier_score,
    ),
    "balanced_calibration_error": ScoreWords(
        words="calibration error, balanced",
        meaning="Calibration error with both classes of equal weight",
        stem="classifier_balanced_calibration_error",
        unit="",
        of=lambda found: found.balanced_calibration_error,
    ),
    "balanced_log_loss": ScoreWords(
        words="log loss, balanced",
        meaning="Log loss with both classes of equal weight",
        stem="classifier_balanced_log_loss",
        unit="",
        of=lambda found: found.balanced_log_loss,
    ),
}
"""By name in JSON; a dot where it is a field of a field."""
MAIN_SCORE_WORDS: Mapping[str, ScoreWords] = {
    name: row for name, row in SCORE_WORDS.items() if row.is_main
}
"""Those of short tables."""
