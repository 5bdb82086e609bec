"""The words for the metrics of scores."""

from __future__ import annotations

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
