"""The scores of two versions side by side: their areas, and what threshold and curve did.

The verdict does not follow from these: it rests on the distance of B from the ROC curve of A
(`version_curve.CurveDistance`). Areas may differ where the curves do not at the point in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from monitor.counts import ConfusionCounts
from monitor.drift.curve_parts import CurveParts, curve_parts
from monitor.drift.version_curve import lies_on_its_curve
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.score_changes import interval_of_change
from monitor.metrics.score_intervals import Interval
from monitor.metrics.score_skill import ScoreSkill

_MOST_APART = 0.1
"""Share of the outcomes of one version that lie on other days than those of the other, at most,
beyond what chance brings."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class VersionScores:
    """Labelled scores of two versions over the same stretch of time.

    Attributes:
        versions: metrics of the scores of A, and of B; those at a reference refer to A.
        parts: what the threshold, and what the curve, does of the difference of precision that is
            not prevalence, of the rates as they were; None as for `curve_parts`.
        b_on_its_curve: the predictions of B are its scores, cut at one threshold (see
            `version_curve.lies_on_its_curve`): else its area is not that of what it decides by.
    """

    versions: tuple[ScoreSkill, ScoreSkill]
    parts: CurveParts | None
    b_on_its_curve: bool = True

    @classmethod
    def of(
        cls,
        scores: tuple[ScoreHistogram | None, ScoreHistogram | None],
        outcomes: tuple[ConfusionCounts, ...],
    ) -> Self | None:
        """Return the scores compared.

        Returns:
            None where a version lacks scores of a class, or its outcomes lie on other days than
            those of the other: what differs between the days would be taken for the versions'.

        Args:
            scores: labelled scores of A and of B, (days, bins); None for none.
            outcomes: of A and of B, by the same segments, (segments, days).
        """
        a, b = scores
        if a is None or b is None or not have_both_classes(scores):
            return None
        before, after = (one.sum(axis=0) for one in outcomes)
        if not _on_like_days(before, after):
            return None
        total = before.sum(axis=-1)
        skills = (ScoreSkill(by_day=a, reference=total), ScoreSkill(by_day=b))
        return cls(
            versions=skills,
            parts=curve_parts(a, before, after),
            b_on_its_curve=lies_on_its_curve(b, after),
        )

    @property
    def change(self) -> Interval:
        """Area under the ROC curve of B less that of A, with its 95 % interval.

        The interval is that of different cases, which is wide for versions that score the same.
        """
        a, b = (one.roc_auc for one in self.versions)
        return interval_of_change(a, b)

    @property
    def curves_differ(self) -> bool:
        """True where the areas certainly differ (95 %), or the curve certainly moves precision.

        The area of a B that does not lie on its own curve does not count.
        """
        curve = () if self.parts is None else (self.parts.curve,)
        limits = [(one.lower_points, one.upper_points) for one in curve]
        if self.b_on_its_curve:
            limits.append((self.change.lower, self.change.upper))
        return any(lower > 0 or upper < 0 for lower, upper in limits)


def have_both_classes(scores: tuple[ScoreHistogram | None, ScoreHistogram | None]) -> bool:
    """Return whether both versions have labelled scores of both classes."""
    return all(one is not None and one.positive.any() and one.negative.any() for one in scores)


def _on_like_days(before: ConfusionCounts, after: ConfusionCounts) -> bool:
    """Return whether outcomes of two versions, (days,), are divided among the days alike."""
    totals = before.total.sum(), after.total.sum()
    apart = np.abs(before.total / totals[0] - after.total / totals[1]).sum() / 2
    chance = np.sqrt(len(before.total) / (2 * np.pi) * (1 / totals[0] + 1 / totals[1]))
    return bool(apart <= _MOST_APART + chance)
