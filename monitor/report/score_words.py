"""The words for the metrics of scores."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill


class ScoreWords(NamedTuple):
    """A metric of scores that has an interval and series.

    Attributes:
        words: its full name, in lower case.
        meaning: one sentence; the HELP text of its series.
        stem: name of its series without bound and unit.
        unit: suffix of its series, "ratio" or none.
        of: reads it.
    """

    words: str
    meaning: str
    stem: str
    unit: Literal["ratio", ""]
    of: Callable[[ScoreSkill], Interval]

    def series(self, bound: Literal["", "lower", "upper"] = "") -> str:
        """Name of its series by window.

        Args:
            bound: end of the 95 % interval; "" for the estimate.

        >>> SCORE_WORDS["brier_score"].series("lower"), SCORE_WORDS["roc_auc"].series()
        ('classifier_brier_score_lower', 'classifier_roc_auc_ratio')
        """
        return "_".join(filter(None, (self.stem, bound, self.unit)))


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


def _slid(change: Interval) -> str:
    if not math.isfinite(change.lower):
        return f"{change.estimate:+.3f}"
    return f"{change.estimate:+.3f} ({change.lower:+.3f} to {change.upper:+.3f})"


SCORE_WORDS: Mapping[str, ScoreWords] = {
    "roc_auc": ScoreWords(
        words="area under the ROC curve",
        meaning="Share of pairs of a positive and a negative whose scores are in the right "
        "order; of the whole days (UTC) in the window.",
        stem="classifier_roc_auc",
        unit="ratio",
        of=lambda found: found.roc_auc,
    ),
    "average_precision": ScoreWords(
        words="average precision",
        meaning="Mean over the positives of the precision at their own score; of the whole days "
        "(UTC) in the window.",
        stem="classifier_average_precision",
        unit="ratio",
        of=lambda found: found.average_precision,
    ),
    "brier_score": ScoreWords(
        words="Brier score",
        meaning="Mean squared distance of the scores from the labels; of the whole days (UTC) in "
        "the window.",
        stem="classifier_brier_score",
        unit="",
        of=lambda found: found.brier_score,
    ),
}
"""By name in JSON and Python."""
