"""Intervals and limits of a comparison that hold at all possible rates of wrong labels."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import NamedTuple, TypeVar

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift import Attribution, Judgement, Verdict, attribute
from monitor.drift.all_looks import Looks
from monitor.drift.component_changes import BetweenDays
from monitor.drift.dispersion import Dispersion
from monitor.drift.recall_evidence import (
    Because,
    RecallEvidence,
    false_positive_rate_above,
    recall_evidence,
    why_open,
)
from monitor.labels.error_ranges import Corner

T = TypeVar("T")


class RangeFindings(NamedTuple):
    """What was found on a window, at some rates of wrong labels.

    Attributes:
        judgement: of the change.
        attribution: of the change of precision.
        recall: limits of recall in the window.
    """

    judgement: Judgement
    attribution: Attribution
    recall: RecallEvidence


def widened(
    attribution: Attribution, corners: Sequence[Corner], between: BetweenDays | None
) -> Attribution:
    """Return an attribution whose intervals hold at all corners.

    Args:
        attribution: at the middle of the ranges.
        corners: see `at_corners`.
        between: what the scatter of days adds.
    """
    if not corners:
        return attribution
    found = [attribution]
    found += [attribute(one.before, one.after, one.dispersion, between=between) for one in corners]
    return replace(
        attribution,
        lower_points={
            cause: float(np.min([one.lower_points[cause] for one in found]))
            for cause in attribution.points
        },
        upper_points={
            cause: float(np.max([one.upper_points[cause] for one in found]))
            for cause in attribution.points
        },
        change_lower_points=float(np.min([one.change_lower_points for one in found])),
        change_upper_points=float(np.max([one.change_upper_points for one in found])),
    )


def widened_recall(
    recall: RecallEvidence,
    corners: Sequence[Corner],
    between: BetweenDays | None,
    looks: Looks,
) -> RecallEvidence:
    """Return limits of recall that hold at all corners.

    Args:
        recall: at the middle of the ranges.
        corners: see `at_corners`.
        between: what the scatter of days adds.
        looks: the window, as it is looked at.
    """
    found = [recall, *_of_windows(partial(recall_evidence, looks=looks), corners, between)]
    lower, upper, excluded = zip(*found, strict=True)
    return RecallEvidence(float(np.min(lower)), float(np.max(upper)), float(np.min(excluded)))


def widened_false_positive_rate(
    above: float, corners: Sequence[Corner], between: BetweenDays | None, looks: Looks
) -> float:
    """Return the false positive rate that is excluded at all corners; NaN where none is.

    Args:
        above: at the middle of the ranges.
        corners: see `at_corners`.
        between: what the scatter of days adds.
        looks: the window, as it is looked at.
    """
    excluded = partial(false_positive_rate_above, looks=looks)
    found = [above, *_of_windows(excluded, corners, between)]
    return math.nan if any(map(math.isnan, found)) else max(found)


def why_open_within(
    certain: RangeFindings, middle: RangeFindings, usual_recall: float, *, fewest: int
) -> Because | None:
    """Return why a window has no verdict.

    Args:
        certain: what holds at all corners.
        middle: what was found at the middle of the ranges; the same without corners.
        usual_recall: recall of the reference; NaN where it is unknown.
        fewest: see `recall_evidence.why_open`.

    Returns:
        None where it has one. `MOVED` where other labels explain a change. `LABEL_ERRORS` where
        the outcomes say nothing at all corners together, and say something at the middle: a
        verdict, a change, or a fall that is excluded.
    """
    open_ = certain.judgement.verdict is Verdict.INSUFFICIENT_EVIDENCE
    if open_ and certain.judgement.labels_may_explain:
        return Because.MOVED
    why, at_middle = (
        why_open(one.judgement, one.attribution, usual_recall, one.recall.excluded, fewest=fewest)
        if one.judgement.verdict is Verdict.INSUFFICIENT_EVIDENCE
        else None
        for one in (certain, middle)
    )
    few = Because.TOO_FEW
    return Because.LABEL_ERRORS if why is few and at_middle is not few else why


def _of_windows(
    excluded: Callable[[ConfusionCounts, Dispersion, BetweenDays | None], T],
    corners: Sequence[Corner],
    between: BetweenDays | None,
) -> list[T]:
    """Return what the later window excludes at each corner."""
    return [excluded(one.after.sum(axis=-1), one.dispersion, between) for one in corners]
