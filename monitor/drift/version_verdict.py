"""The verdict on two versions: is B worse than A? Valid however often it is asked.

The log odds ratio of recall and false positives decides, as in `skill`: another threshold
hardly moves it. Its confidence sequence gives the verdict:

    worse       it lies below 0
    better      it lies above 0
    equal       it lies within ± .2 (`EQUIVALENCE`)
    not_shown   else

Where recall and false positives moved in one direction, as by another threshold, B is worse
only if no slide along a concave ROC curve leads to it: both fell and LR+ fell, or both rose and
LR- rose; and better likewise (Biggerstaff 2000). Where both certainly moved, a sequence of the
ratio's own decides that, and if it does not, the verdict is `not_shown`: another operating
point.

Where the scores of A are known, they decide in place of the odds ratio: B is worse, or better, if
its distance from the ROC curve of A (`CurveDistance`) certainly lies below 0, or above. The two
differ in their threshold if their rates certainly differ and B lies close to the curve.

A version that hardly tells the classes apart is worse whatever the two rates do: that it flags
nothing, or everything, is no slide of the threshold. Its Youden's J = TPR - FPR then lies below a
quarter of the other's, by a sequence of its own.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import Self

import numpy as np

from monitor.drift.confidence_sequence import information_for, radius
from monitor.drift.rates_of_two import Change, RatesOfTwo
from monitor.drift.roc import CurvePosition
from monitor.drift.skill import EQUIVALENCE
from monitor.drift.version_curve import CurveDistance
from monitor.metrics.ratio import FloatArray

_COMPARABLE = 0.25
FEWEST_CASES = 10.0
"""Positives, and negatives, of either version, below which nothing is judged or projected."""
_DEAD_SHARE = 0.25
_TOGETHER = 0.5
_LOGITS = 5.0  # a difference of rates in units of about a log-odd


class VersionVerdict(StrEnum):
    """Verdict on version B, compared with version A."""

    BETTER = "better"
    WORSE = "worse"
    EQUAL = "equal"
    NOT_SHOWN = "not_shown"


DIFFERENT = frozenset({VersionVerdict.WORSE, VersionVerdict.BETTER})
"""Verdicts by which the two versions certainly differ in skill."""


class NotShown(StrEnum):
    """Why a verdict is `not_shown`; `another_threshold` where scores show why rates differ."""

    MISSING_CLASS = "missing_class"
    OTHER_TIMES = "other_times"
    TOO_FEW_OUTCOMES = "too_few_outcomes"
    ANOTHER_OPERATING_POINT = "another_operating_point"
    ANOTHER_THRESHOLD = "another_threshold"


@dataclass(frozen=True, slots=True, kw_only=True)
class FromCurve:
    """How far version B lies from the ROC curve of version A, by a confidence sequence.

    Attributes:
        recall: of B, less that of the curve at its false-positive rate; a fraction.
        lower: lower end of the sequence, which the bins of the scores make wider.
        upper: upper end.
        position: below the curve, or on it: less than half of the tolerable distance away, and
            certainly less than all of it; open otherwise, also above it.
    """

    recall: float
    lower: float
    upper: float
    position: CurvePosition

    @classmethod
    def of(cls, distance: CurveDistance) -> Self:
        """Return the sequence of a distance."""
        half = radius((_LOGITS * distance.standard_error) ** -2) / _LOGITS
        worse, better = distance.coarse
        recall = distance.recall
        lower, upper = recall - half - better, recall + half + worse
        close = abs(recall) < distance.tolerable / 2
        if upper < 0:
            position = CurvePosition.BELOW
        elif close and max(-lower, upper) < distance.tolerable and lower <= 0:
            position = CurvePosition.ON
        else:
            position = CurvePosition.OPEN
        return cls(recall=recall, lower=max(lower, -1.0), upper=min(upper, 1.0), position=position)

    @property
    def verdict(self) -> VersionVerdict | None:
        """The verdict on B; None where the distance may be 0."""
        if self.upper < 0:
            return VersionVerdict.WORSE
        return VersionVerdict.BETTER if self.lower > 0 else None


@dataclass(frozen=True, slots=True, kw_only=True)
class SequentialVerdict:
    """The verdict, the sequence it rests on, and what would settle it.

    Attributes:
        verdict: on B.
        because: why it is not shown; None where it is.
        change: of the log odds ratio from A to B; NaN where it is not known.
        standard_error: of the change; infinite where it is not known.
        lower: lower end of the confidence sequence; -∞ where nothing is known.
        upper: upper end; ∞ where nothing is known.
        times_the_outcomes: how many times as many outcomes would settle it, if the change
            stays as it is; 1 where it is settled, infinite where no number would, or none can
            be named. Where `is_projected` is false, at least so many are needed.
        is_projected: false where a version has fewer than 10 positives or negatives.
        from_curve: distance of B from the ROC curve of A, which decides; None without scores of A.
    """

    verdict: VersionVerdict
    because: NotShown | None
    change: float
    standard_error: float
    lower: float
    upper: float
    times_the_outcomes: float
    is_projected: bool
    from_curve: FromCurve | None = None

    @property
    def by_curve(self) -> bool:
        """True where the distance decides: not where a version hardly tells the classes apart."""
        found = self.from_curve
        return found is not None and (
            self.verdict not in DIFFERENT or found.verdict is self.verdict
        )


def sequential_verdict(
    rates: RatesOfTwo, distance: CurveDistance | None = None
) -> SequentialVerdict:
    """Return the verdict on B.

    Args:
        rates: of both versions, over all outcomes since the comparison began.
        distance: of B from the ROC curve of A; None without scores of A.

    Returns:
        `not_shown` where one version lacks positives or negatives to compare, or has fewer
        than 10 of either, and where half of the outcomes of one lie in days without the other.
    """
    because = _not_judged(rates)
    if because is not None:
        return SequentialVerdict(
            verdict=VersionVerdict.NOT_SHOWN,
            because=because,
            change=math.nan,
            standard_error=math.inf,
            lower=-math.inf,
            upper=math.inf,
            times_the_outcomes=(
                FEWEST_CASES / float(rates.cases.min())
                if because is NotShown.TOO_FEW_OUTCOMES
                else math.inf
            ),
            is_projected=False,
        )
    change, error = rates.changes()
    found = _Sequences(change, error, rates.most_change, distance)
    verdict = found.verdict
    if _hardly_separates(rates, of_b=True):
        verdict = VersionVerdict.WORSE
    elif _hardly_separates(rates, of_b=False):
        verdict = VersionVerdict.BETTER
    missing = FEWEST_CASES / float(rates.cases.min())
    projected, more = missing <= 1, found.times_the_outcomes
    if not projected:
        verdict, more = VersionVerdict.NOT_SHOWN, missing
    settled = verdict is not VersionVerdict.NOT_SHOWN
    middle, half = float(change[Change.ODDS_RATIO]), float(found.half_width[Change.ODDS_RATIO])
    return SequentialVerdict(
        verdict=verdict,
        because=None if settled else found.because,
        change=middle,
        standard_error=float(error[Change.ODDS_RATIO]),
        lower=middle - half,
        upper=middle + half,
        times_the_outcomes=1.0 if settled else more,
        is_projected=projected,
        from_curve=found.from_curve,
    )


def _not_judged(rates: RatesOfTwo) -> NotShown | None:
    """Return why no change is judged, too few outcomes before other times; None where one is."""
    fewest = float(rates.cases.min())
    if fewest >= FEWEST_CASES:
        return NotShown.OTHER_TIMES if rates.together < _TOGETHER else None
    if rates.is_known:
        return None
    return NotShown.TOO_FEW_OUTCOMES if fewest > 0 else NotShown.MISSING_CLASS


def _hardly_separates(rates: RatesOfTwo, *, of_b: bool) -> bool:
    """Return True if J of one version is certainly below a quarter of that of the other."""
    of_pair = (-_DEAD_SHARE, 1.0) if of_b else (1.0, -_DEAD_SHARE)
    gradient = _LOGITS * np.array([*of_pair, -of_pair[0], -of_pair[1]])
    above = float(gradient @ rates.smoothed)
    other = 0 if of_b else 1
    separates = bool(rates.smoothed[other] > rates.smoothed[other + 2])
    return separates and above + radius(float(rates.errors(gradient[None])[0]) ** -2) < 0


class _Sequences:
    """The confidence sequences of all changes at one moment."""

    def __init__(
        self,
        change: FloatArray,
        error: FloatArray,
        most_change: float,
        distance: CurveDistance | None,
    ) -> None:
        self.change = change
        self.most_change = most_change
        self.information = 1 / error**2
        self.half_width = np.array([radius(float(one)) for one in self.information])
        self.certain = np.abs(change) > self.half_width
        recall, false = change[Change.RECALL], change[Change.FALSE_POSITIVE_RATE]
        sizes = abs(recall), abs(false)
        moved = self.certain[Change.RECALL] and self.certain[Change.FALSE_POSITIVE_RATE]
        self.moved = bool(recall * false > 0 and moved)
        comparable = min(sizes) >= _COMPARABLE * max(sizes)
        self.slid = bool(recall * false > 0 and (moved or comparable))
        self.worse = bool(change[Change.ODDS_RATIO] < 0)
        self.ratio, self.ratio_for_the_worse = self._ratio_that_proves(rising=bool(recall > 0))
        self.distance = distance
        self.from_curve = None if distance is None else FromCurve.of(distance)

    @property
    def verdict(self) -> VersionVerdict:
        """The verdict of these sequences."""
        shown = self._by_rates() if self.from_curve is None else self.from_curve.verdict
        if shown is not None:
            return shown
        index = Change.ODDS_RATIO
        size = max(abs(self.change[index]), self.most_change)
        within = size + self.half_width[index] < EQUIVALENCE
        return VersionVerdict.EQUAL if within and not self.moved else VersionVerdict.NOT_SHOWN

    def _by_rates(self) -> VersionVerdict | None:
        proven = not self.moved or self.certain[self.ratio]
        proven = (self.agrees and proven) or not self.slid
        if not (self.certain[Change.ODDS_RATIO] and proven):
            return None
        return VersionVerdict.WORSE if self.worse else VersionVerdict.BETTER

    @property
    def agrees(self) -> bool:
        """True where the likelihood ratio moved for the worse, or the better, like the odds."""
        return self.ratio_for_the_worse == self.worse

    @property
    def differs(self) -> bool:
        """True where the two certainly have other operating points."""
        return self.moved or bool(self.certain[Change.ODDS_RATIO])

    @property
    def because(self) -> NotShown:
        """Why nothing is shown."""
        if self.from_curve is None:
            return NotShown.ANOTHER_OPERATING_POINT if self.moved else NotShown.TOO_FEW_OUTCOMES
        if not self.differs:
            return NotShown.TOO_FEW_OUTCOMES
        on_curve = self.from_curve.position is CurvePosition.ON
        return NotShown.ANOTHER_THRESHOLD if on_curve else NotShown.ANOTHER_OPERATING_POINT

    @property
    def times_the_outcomes(self) -> float:
        """How many times as many outcomes would settle it, if all changes stay as they are."""
        size = abs(float(self.change[Change.ODDS_RATIO]))
        most = max(size, self.most_change)
        equal = math.inf if self.moved else self._times(Change.ODDS_RATIO, EQUIVALENCE - most)
        if self.distance is not None:
            off, on = _times_from_curve(self.distance)
            other = 1.0 if self.differs else self._times(Change.ODDS_RATIO, size)
            return min(equal, off, max(on, other))
        different = self._times(Change.ODDS_RATIO, size)
        if self.slid and not self.agrees:
            different = math.inf
        elif self.moved:
            needed = abs(float(self.change[self.ratio]))
            different = max(different, self._times(self.ratio, needed))
        return min(equal, different)

    def _times(self, index: Change, half_width: float) -> float:
        return max(information_for(half_width) / float(self.information[index]), 1.0)

    def _ratio_that_proves(self, *, rising: bool) -> tuple[Change, bool]:
        """Likelihood ratio that no slide in this direction moves so, and if for the worse."""
        ends = (Change.LOG_LIKELIHOOD_RATIO, Change.NEGATIVE_LOG_LIKELIHOOD_RATIO)
        ratio = ends[rising == self.worse]
        fell = bool(self.change[ratio] < 0)
        return ratio, fell if ratio is Change.LOG_LIKELIHOOD_RATIO else not fell


def _times_from_curve(distance: CurveDistance) -> tuple[float, float]:
    """How many times as many outcomes would show that B lies off the curve; and close to it."""
    size, (worse, better) = abs(distance.recall), distance.coarse
    off = size - (worse if distance.recall < 0 else better)
    within = size < distance.tolerable / 2
    on = distance.tolerable - size - max(worse, better) if within else 0.0
    information = (_LOGITS * distance.standard_error) ** -2
    shown, close = (max(information_for(_LOGITS * one) / information, 1.0) for one in (off, on))
    return shown, close
