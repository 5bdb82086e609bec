"""Comparisons where rates of wrong labels are known as ranges.

A comparison is made at the ends of the ranges, each combination. What holds at all of them is
certain, whatever the true rates are. The rates are the same before and after, unless audits show
that they changed between them: then those of before and after are combined as well.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import NamedTuple

import numpy as np

from monitor.counts import ConfusionCounts, Outcome
from monitor.drift import Judgement, Status, Verdict
from monitor.drift.compared_outcomes import ComparedOutcomes
from monitor.drift.component_changes import BetweenDays
from monitor.drift.decided_by_curve import judge_at_rates
from monitor.drift.dispersion import Dispersion
from monitor.drift.label_quality import LabelChange
from monitor.drift.verdict import DEGRADED, IMPROVED
from monitor.events.columns import Int64Array
from monitor.labels.regime import LabelRegime
from monitor.labels.sampled_labels import expected
from monitor.metrics.corrected_scores import actual_classes
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.possible_rates import possible_for_days
from monitor.windows.weights import SUMS

_ALONG_A_CURVE = frozenset({Verdict.OPERATING_POINT_MOVED, Verdict.THRESHOLD_MOVED})
"""Verdicts by which both rates moved in one direction."""


class Corner(NamedTuple):
    """A comparison at rates at the ends of their ranges.

    Attributes:
        before: outcomes of the earlier window, by blocks of time.
        after: those of the later one.
        dispersion: variance of rows over that of independent ones.
        scores: of the earlier one by block of time, (blocks, bins); None without scores.
    """

    before: ConfusionCounts
    after: ConfusionCounts
    dispersion: Dispersion
    scores: ScoreHistogram | None = None


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

    def corrected(self, scores: ScoreHistogram | None) -> ScoreHistogram | None:
        """Return scores by actual class, estimated at the rates of all its blocks together.

        Args:
            scores: labelled scores of the same stretch of time, (blocks of time, bins); None
                without scores.

        Returns:
            None without scores, and where the rates are undefined.
        """
        errors = self.errors
        if scores is None or not errors.known:
            return None
        return actual_classes(scores, errors)

    def at_corners(
        self, scores: ScoreHistogram | None = None
    ) -> list[tuple[ConfusionCounts, Dispersion, ScoreHistogram | None]]:
        """Return outcomes by blocks, their dispersion, and scores, at each end of the ranges.

        Args:
            scores: see `corrected`.
        """
        cells, opens = self.cells[:, None], self.opens
        unweighted = np.zeros((len(cells), 1, SUMS), dtype=np.int64)
        found = []
        for regime in self.regime.corners:
            outcomes, factors = expected(regime, cells, unweighted, opens)
            blocks = ConfusionCounts.from_cells(outcomes[:, 0])
            curve = self._replace(regime=regime).corrected(scores)
            found.append((blocks, factors or Dispersion.of(1.0), curve))
        return found


def at_corners(
    before: LabelledBlocks | ConfusionCounts,
    after: LabelledBlocks,
    scores: ScoreHistogram | None = None,
) -> tuple[Corner, ...]:
    """Return a comparison at each combination of the ends of the ranges.

    Args:
        before: counts as labelled; outcomes that are right, by blocks, where the counts were
            given.
        after: counts as labelled.
        scores: labelled scores of before, (blocks of time, bins); None without scores.

    Returns:
        Nothing where both rates are known.
    """
    if not any(one.ranges for one in after.regime.rates):
        return ()
    news = after.at_corners()
    if isinstance(before, ConfusionCounts):
        return tuple(Corner(before, new, factors) for new, factors, _ in news)
    olds = before.at_corners(scores)
    same = before.rates == after.rates
    pairs = zip(olds, news, strict=True) if same else product(olds, news)
    return tuple(
        Corner(old, new, factors.larger(old_factors), curve)
        for (old, old_factors, curve), (new, factors, _) in pairs
    )


def certain_at(
    judgement: Judgement,
    corners: Sequence[Corner],
    between: BetweenDays | None,
    *,
    days: ComparedOutcomes | None = None,
    by_labels: LabelChange | None = None,
) -> Judgement:
    """Return a judgement as far as it holds at all corners.

    Args:
        judgement: at the middle of the ranges.
        corners: see `at_corners`.
        between: what the scatter of days adds.
        days: outcomes by days in the middle of the ranges; None where they are not known by days.
        by_labels: labels that explain the change; None to test for them.

    Returns:
        The judgement without corners. Else a component is changed, or clean, where it is at
        all of them; and the verdict is `insufficient_evidence` where it is not the same, unless
        all blame, or praise, the model, or all find that the point moved along a curve. A model
        that flags by chance does at all of them: its wrong labels are flagged by chance as well.
    """
    if not corners:
        return judgement
    found = [judgement]
    found += [
        judge_at_rates(
            ComparedOutcomes(one.before, one.after),
            one.dispersion,
            between=between,
            scores=one.scores,
            days=days,
            by_chance=judgement.by_chance,
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
        below_reference_curve=_below_at_all([one.below_reference_curve for one in found]),
        on_reference_curve=all(one.on_reference_curve for one in found),
        curve_z=float(np.fmax.reduce([one.curve_z for one in found])),
        dead=all(one.dead for one in found),
        main_driver=replace(driver, certain=driver.certain and sure),
        at_rates=(*found[1:],),
    )


def _below_at_all(found: Sequence[bool | None]) -> bool | None:
    """Return whether recall lies below the curve at all corners; None where one does not say."""
    if False in found:
        return False
    return None if None in found else True


def _common(found: set[Verdict]) -> Verdict:
    """Return the verdict that all of these give."""
    if len(found) == 1:
        return next(iter(found))
    groups = (
        (DEGRADED, Verdict.MODEL_DEGRADED),
        (IMPROVED, Verdict.MODEL_IMPROVED),
        (_ALONG_A_CURVE, Verdict.OPERATING_POINT_MOVED),
    )
    return next((one for group, one in groups if found <= group), Verdict.INSUFFICIENT_EVIDENCE)
