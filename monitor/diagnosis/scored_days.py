"""How many labelled cases of a period have a score, and whether cases are flagged by it."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.diagnosis.periods import Period
from monitor.drift.implied_threshold import FlaggedScores
from monitor.drift.interpolated_roc import InterpolatedRoc
from monitor.drift.roc import decides_flags
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.rates import false_positive_rate, recall

_WORTH_A_WORD = 0.01
"""Share of cases without a score that is said."""
_UNLIKE = 0.05
"""Difference between log r of the scored cases and of all from which corrections are withheld."""
_CERTAIN = 3.2905267314919255
"""Standard errors by which the classes then differ: p < .001."""


class Unscored(NamedTuple):
    """Labelled cases without a score.

    Attributes:
        share: of all cases.
        of_positives: of the positives; NaN where labels have errors.
        of_negatives: likewise.
        log_ratio: log r of the scored cases minus that of all; NaN likewise.
        errors: its standard error, were scores missing at random.
    """

    share: float
    of_positives: float = math.nan
    of_negatives: float = math.nan
    log_ratio: float = math.nan
    errors: float = math.nan

    @property
    def is_worth_a_word(self) -> bool:
        """Whether so many have none, or so unlike shares of the classes, that it matters."""
        return self.share > _WORTH_A_WORD or self.is_unlike

    @property
    def is_unlike(self) -> bool:
        """Whether scores certainly are missing more often in one class than in the other."""
        return abs(self.log_ratio) > max(_UNLIKE, _CERTAIN * self.errors)


def flagged_scores(period: Period) -> FlaggedScores | None:
    """Return flagged cases and scores of the whole days, where cases are flagged by their scores.

    Args:
        period: of which.
    """
    scored = _scored_days(period)
    if scored is None:
        return None
    days, scores = scored
    unscored = int(days.total.sum()) - _cases(scores)
    found = FlaggedScores(days.predicted_positive, scores, unscored)
    return found if found.follow_scores(int(days.tp.sum())) else None


def unscored(period: Period) -> Unscored | None:
    """Return the labelled cases of the whole days without a score; None where that is not known.

    It is not known where scores are stored by the week.

    Args:
        period: of which.
    """
    scores = period.scores if period.scores is not None else period.scores_as_labelled
    days = _whole_days(period)
    if scores is None or days is None or period.scores_by_week:
        return None
    total = float(days.total.sum())
    if not total > 0 or _cases(scores) > round(total):
        return None
    share = max(0.0, 1 - _cases(scores) / total)
    if period.scores is None:
        return Unscored(share)
    scored = [float(one.sum()) for one in (scores.positive, scores.negative)]
    every = [float(one.sum()) for one in (days.actual_positive, days.actual_negative)]
    if not all(scored):
        return Unscored(share)
    kept = [part / whole for part, whole in zip(scored, every, strict=True)]
    pooled = 1 - share
    errors = math.sqrt(share / pooled * sum(1 / whole for whole in every))
    return Unscored(share, 1 - kept[0], 1 - kept[1], math.log(kept[0] / kept[1]), errors)


class NotFlaggedBy(NamedTuple):
    """Scores that do not decide which cases are flagged.

    Attributes:
        false_positive_rate: of the predictions.
        recall: of the predictions.
        by_scores: recall of the scores at that false-positive rate.
    """

    false_positive_rate: float
    recall: float
    by_scores: float


def not_flagged_by(period: Period) -> NotFlaggedBy | None:
    """Return the rates that show that scores decide no predictions; None where none do.

    Args:
        period: of which.
    """
    curve, total = period.curve, period.total
    if curve is None or decides_flags(curve, total):
        return None
    rate = np.asarray(false_positive_rate(total))
    by_scores = InterpolatedRoc.of(curve.sum()).at(rate)
    return NotFlaggedBy(float(rate), float(recall(total)), float(by_scores))


def _cases(scores: ScoreHistogram) -> int:
    return int(scores.positive.sum() + scores.negative.sum())


def _whole_days(period: Period) -> ConfusionCounts | None:
    """Return outcomes of its whole days; None where these are not known."""
    if period.by_day is None or period.opens is None or period.closes is None:
        return None
    first, end = -(-period.opens // DAY_MS), period.closes // DAY_MS
    skipped = first - period.opens // DAY_MS
    return period.by_day[skipped : skipped + max(0, end - first)]


def _scored_days(period: Period) -> tuple[ConfusionCounts, ScoreHistogram] | None:
    """Return outcomes and scores of the whole days that have outcomes; None where some lack scores.

    A day without an outcome may have a row of scores.
    """
    days, scores = _whole_days(period), period.scores
    if scores is None or days is None or period.scores_by_week:
        return None
    held = np.asarray(days.total) > 0
    if len(scores.positive) == len(held):
        nothing = np.zeros_like(scores.unlabelled[held])
        scores = ScoreHistogram(
            positive=scores.positive[held], negative=scores.negative[held], unlabelled=nothing
        )
    days = days[held]
    cases, whole = (scores.positive + scores.negative).sum(axis=-1), np.round(days.total)
    return (days, scores) if len(cases) == len(whole) and (cases <= whole).all() else None
