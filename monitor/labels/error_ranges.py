"""Comparisons where rates of wrong labels are known as ranges.

A comparison is made at the ends of the ranges, each combination. What holds at all of them is
certain, whatever the true rates are. The rates are the same before and after, unless audits show
that they changed between them: then those of before and after are combined as well.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from typing import NamedTuple, TypeVar

import numpy as np

from monitor.counts import ConfusionCounts, Outcome
from monitor.drift import Attribution, Judgement, Status, Verdict, attribute, judge
from monitor.drift.all_looks import Looks
from monitor.drift.component_changes import BetweenDays
from monitor.drift.dispersion import Dispersion
from monitor.drift.label_quality import LabelChange
from monitor.drift.recall_evidence import (
    Because,
    RecallEvidence,
    false_positive_rate_above,
    recall_evidence,
    why_open,
)
from monitor.drift.verdict import DEGRADED, IMPROVED
from monitor.events.columns import Int64Array
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.possible_rates import possible_for_days
from monitor.windows.weights import SUMS

T = TypeVar("T")


class Corner(NamedTuple):
    """A comparison at rates at the ends of their ranges.

    Attributes:
        before: outcomes of the earlier window, by blocks of time.
        after: those of the later one.
        dispersion: variance of rows over that of independent ones.
    """

    before: ConfusionCounts
    after: ConfusionCounts
    dispersion: Dispersion


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


class LabelledBlocks(NamedTuple):
    """Counts as labelled, by blocks of time.

    Attributes:
        regime: how labels come, and how often they are wrong.
        cells: (blocks, 6).
        opens: first moment of each block, epoch milliseconds.
    """

    regime: LabelRegime
    cells: Int64Array
    opens: Int64Array

    @property
    def rates(self) -> set[ErrorRates]:
        """The rates of wrong labels that its blocks are corrected for."""
        return {self.regime.rates[one] for one in self.regime.stretches(self.opens).tolist()}

    @property
    def errors(self) -> ErrorRates:
        """The rates of wrong labels of all its blocks together."""
        cases = self.cells[:, : len(Outcome)].sum(axis=1)
        return self.regime.of_blocks(self.opens, cases).errors

    @property
    def rates_fit(self) -> bool:
        """False where its labels exclude every rate that they are corrected for."""
        if not self.regime.has_errors or not len(self.cells):
            return True
        counts = ConfusionCounts.from_cells(self.cells[:, : len(Outcome)])
        return possible_for_days(self.errors, counts, self.regime.limits.dispersion).known

    def at_corners(self) -> list[tuple[ConfusionCounts, Dispersion]]:
        """Return outcomes by blocks, and their dispersion, at each end of the ranges."""
        cells, opens = self.cells[:, None], self.opens
        unweighted = np.zeros((len(cells), 1, SUMS), dtype=np.int64)
        found = [expected(regime, cells, unweighted, opens) for regime in self.regime.corners]
        return [
            (ConfusionCounts.from_cells(outcomes[:, 0]), factors or Dispersion.of(1.0))
            for outcomes, factors in found
        ]


def at_corners(
    before: LabelledBlocks | ConfusionCounts, after: LabelledBlocks
) -> tuple[Corner, ...]:
    """Return a comparison at each combination of the ends of the ranges.

    Args:
        before: counts as labelled; outcomes that are right, by blocks, where the counts were
            given.
        after: counts as labelled.

    Returns:
        Nothing where both rates are known.
    """
    if not any(one.ranges for one in after.regime.rates):
        return ()
    news = after.at_corners()
    if isinstance(before, ConfusionCounts):
        return tuple(Corner(before, new, factors) for new, factors in news)
    olds = before.at_corners()
    same = before.rates == after.rates
    pairs = zip(olds, news, strict=True) if same else product(olds, news)
    return tuple(
        Corner(old, new, factors.larger(old_factors))
        for (old, old_factors), (new, factors) in pairs
    )


def certain_at(
    judgement: Judgement,
    corners: Sequence[Corner],
    between: BetweenDays | None,
    *,
    by_labels: LabelChange | None = None,
) -> Judgement:
    """Return a judgement as far as it holds at all corners.

    Args:
        judgement: at the middle of the ranges.
        corners: see `at_corners`.
        between: what the scatter of days adds.
        by_labels: labels that explain the change; None to test for them.

    Returns:
        The judgement without corners. Else a component is changed, or clean, where it is at
        all of them; and the verdict is `insufficient_evidence` where it is not the same, unless
        all blame, or praise, the model. A dead model is dead at all of them: wrong labels of
        a model that flags by chance are flagged by chance as well.
    """
    if not corners:
        return judgement
    found, dead = [judgement], judgement.dead
    found += [
        judge(
            one.before,
            one.after,
            one.dispersion,
            between=between,
            by_chance=dead,
            by_labels=by_labels,
        )
        for one in corners
    ]
    fell, rose = (
        tuple(
            name for name in getattr(judgement, way) if all(name in getattr(j, way) for j in found)
        )
        for way in ("fell", "rose")
    )
    open_ = {name for one in found for name in (*one.unknown, *one.fell, *one.rose)}
    unknown = tuple(n for n in judgement.change if n in open_ and n not in (*fell, *rose))
    status = {
        name: Status.CHANGED
        if name in (*fell, *rose)
        else (Status.UNKNOWN if name in unknown else Status.CLEAN)
        for name in judgement.status
    }
    driver = judgement.main_driver
    sure = all(j.main_driver.certain and j.main_driver.cause == driver.cause for j in found)
    return replace(
        judgement,
        verdict=_common({one.verdict for one in found}),
        status=status,
        fell=fell,
        rose=rose,
        unknown=unknown,
        operating_point_moved=all(one.operating_point_moved for one in found),
        dead=all(one.dead for one in found),
        main_driver=replace(driver, certain=driver.certain and sure),
    )


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
        None where it has one. `LABEL_ERRORS` where the outcomes say nothing at all corners
        together, and say something at the middle: a verdict, a change, or a fall that is excluded.
    """
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


def _common(found: set[Verdict]) -> Verdict:
    """Return the verdict that all of these give."""
    if len(found) == 1:
        return next(iter(found))
    groups = ((DEGRADED, Verdict.MODEL_DEGRADED), (IMPROVED, Verdict.MODEL_IMPROVED))
    return next((one for group, one in groups if found <= group), Verdict.INSUFFICIENT_EVIDENCE)
