"""The ROC curve of each segment value, before and after."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np

from monitor.counts import CountArray
from monitor.diagnosis.periods import Period
from monitor.drift.segment_attribution import holm
from monitor.events.columns import Series
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.score_changes import ScoreChange, score_change
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_statistics import AREA_UNDER_ROC

FEWEST_SCORES = 30
"""With fewer scored positives or negatives on either side a curve is a small sample."""
_SIGNIFICANCE = 0.01


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentCurve:
    """The area under the ROC curve of one segment value, over the whole days (UTC).

    Attributes:
        before: of the earlier period; NaN where one class has no labelled score.
        after: of the later one, likewise.
        change: after minus before; its limits are NaN where those of a side are.
        cases: labelled scores of before, and of after.
        p_value: of the change, corrected for looking at every value of every key; NaN where
            its interval is undefined, and in a small sample.
        moved: whether the curve certainly fell or rose; None for neither.
    """

    before: Interval
    after: Interval
    change: Interval
    cases: tuple[int, int]
    p_value: float
    moved: Literal["fell", "rose"] | None


def segment_curves(
    series: Sequence[Series], before: Period, after: Period
) -> dict[Series, SegmentCurve]:
    """Return the change of the ROC curve of each segment value that has labelled scores.

    Args:
        series: segment values, of all keys.
        before: the period to compare with.
        after: the period to judge.
    """
    if all(one.scores is None or one.segment_scores is None for one in (before, after)):
        return {}
    compared = {one: _compared(_scores(before, one), _scores(after, one)) for one in series}
    compared = {one: both for one, both in compared.items() if any(both.cases)}
    found = [*compared.values()]
    p_values = np.array([one.change.p_value if one.is_enough else math.nan for one in found])
    tested = np.isfinite(p_values)
    p_values[tested] = holm(p_values[tested])
    return {
        one: SegmentCurve(
            before=change.before,
            after=change.after,
            change=change.change,
            cases=cases,
            p_value=p_value,
            moved=_moved(change, p_value),
        )
        for one, (change, cases, _), p_value in zip(compared, found, p_values.tolist(), strict=True)
    }


class _Compared(NamedTuple):
    """The change of one value; its histograms, which are large, are not held."""

    change: ScoreChange
    cases: tuple[int, int]
    is_enough: bool


def _compared(before: ScoreHistogram | None, after: ScoreHistogram | None) -> _Compared:
    return _Compared(
        score_change(before, after, AREA_UNDER_ROC),
        (_cases(before), _cases(after)),
        _are_enough(before, after),
    )


def _scores(period: Period, series: Series) -> ScoreHistogram | None:
    return None if period.segment_scores is None else period.segment_scores(series)


def _are_enough(*sides: ScoreHistogram | None) -> bool:
    return all(
        side is not None and min(_number(side.positive), _number(side.negative)) >= FEWEST_SCORES
        for side in sides
    )


def _cases(scores: ScoreHistogram | None) -> int:
    return 0 if scores is None else _number(scores.positive) + _number(scores.negative)


def _number(cases: CountArray) -> int:
    """Return how many cases there are; those of wide bins are spread over fine ones."""
    return round(float(cases.sum()))


def _moved(found: ScoreChange, p_value: float) -> Literal["fell", "rose"] | None:
    if not p_value < _SIGNIFICANCE:
        return None
    if found.change.upper < 0:
        return "fell"
    return "rose" if found.change.lower > 0 else None
