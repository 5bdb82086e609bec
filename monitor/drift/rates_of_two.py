"""Recall and false-positive rate of two versions, and the errors of what follows from them.

The versions are A, the one to compare with, and B, the one that is judged. Cases that only one
of them scored are compared at the same mix (`at_equal_mix`). Cases that both scored are
compared pair by pair (`of_pairs`): the two predictions of a case agree mostly, so that their
difference is far better known than either rate.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import IntEnum
from typing import Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri, rel_entr, stdtrit

from monitor.drift.equal_mix import Blocks, blocks, equal_mix_rate
from monitor.drift.version_outcomes import VersionOutcomes
from monitor.metrics.ratio import FloatArray, ratio

FEWEST_DAYS = 10
"""Least number of days for errors between days."""
_FEW = 5
"""Hits or misses below which Wald's error of a logit does not hold."""
_HALF = 0.5
_CERTAIN = 0.975


class Joint(IntEnum):
    """Index of the last axis of cases that both versions scored."""

    BOTH = 0
    ONLY_A = 1
    ONLY_B = 2
    NEITHER = 3


class Change(IntEnum):
    """Index of a change from A to B."""

    RECALL = 0
    FALSE_POSITIVE_RATE = 1
    LOG_LIKELIHOOD_RATIO = 2
    NEGATIVE_LOG_LIKELIHOOD_RATIO = 3
    ODDS_RATIO = 4


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesOfTwo:
    """Recall of A and of B, and false-positive rate of A and of B, in this order.

    Attributes:
        rates: as they are, (4,); NaN without cases.
        smoothed: with half a case added to hits and misses, (4,), in (0, 1).
        cases: number of independent cases with as much information, (4,); where no outcomes
            can be compared, the number of all.
        covariance: of the smoothed rates for independent cases, (4, 4).
        influence: effect of each day on the rates, (4, days).
        days: days that have cases of both versions.
        left_out: share of the positives, and of the negatives, that could not be compared
            since their segment and quarter of the day lacks one version, (2,); NaN without cases.
        together: share of the outcomes of the version with fewer of them that lie in days in
            which the other one has outcomes; 0 where no outcomes can be compared although both
            versions have positives and negatives.
        most_change: largest change of the log odds ratio in any blocks of time, at least 0.
    """

    rates: FloatArray
    smoothed: FloatArray
    cases: FloatArray
    covariance: FloatArray
    influence: FloatArray
    days: int
    left_out: FloatArray
    together: float = 1.0
    most_change: float = 0.0

    @classmethod
    def at_equal_mix(cls, outcomes: VersionOutcomes) -> Self:
        """Return the rates of two versions at the same mix of strata.

        Of the blocks of time that cases allow those decide in which the log odds ratio is least
        certain to have changed: a difference that hours, or days, explain is not the versions'.

        Args:
            outcomes: of A and of B.
        """
        counts = outcomes.counts
        classes = counts.actual_positive, counts.actual_negative
        ways = [{one.hours: one for one in blocks(cases, outcomes)} for cases in classes]
        hours = sorted(ways[0].keys() & ways[1].keys())
        found: list[Self] = []
        for recall, false in ((ways[0][one], ways[1][one]) for one in hours):
            one = cls._in_blocks(outcomes, recall, false)
            found.append(one)
            if one.is_known and recall.days == false.days == 1:
                break
        known = [one for one in found if one.is_known]
        if not known:
            cases = np.concatenate([one.sum(axis=1) for one in classes])
            return replace(found[-1], cases=cases, together=0.0 if (cases > 0).all() else 1.0)
        moved = [one.changes() for one in known]
        sizes = [abs(float(change[Change.ODDS_RATIO])) for change, _ in moved]
        certain = [
            size / float(error[Change.ODDS_RATIO])
            for size, (_, error) in zip(sizes, moved, strict=True)
        ]
        least = known[int(np.argmin(certain))]
        return replace(least, together=_together(outcomes), most_change=max(sizes))

    @classmethod
    def _in_blocks(cls, outcomes: VersionOutcomes, of_recall: Blocks, of_false: Blocks) -> Self:
        counts = outcomes.counts
        recall = equal_mix_rate(counts.tp, counts.actual_positive, outcomes, of_recall)
        false = equal_mix_rate(counts.fp, counts.actual_negative, outcomes, of_false)
        with np.errstate(invalid="ignore"):
            variance = np.concatenate([recall.variance, false.variance])
        return cls(
            rates=np.concatenate([recall.rate, false.rate]),
            smoothed=np.concatenate([recall.smoothed, false.smoothed]),
            cases=np.concatenate([r.cases / r.within for r in (recall, false)]),
            covariance=np.diag(variance),
            influence=np.concatenate([recall.influence, false.influence]),
            days=min(recall.days, false.days),
            left_out=np.array([recall.left_out, false.left_out]),
        )

    @classmethod
    def of_pairs(cls, positive: FloatArray, negative: FloatArray) -> Self:
        """Return the rates on cases that both versions scored.

        Args:
            positive: actual positives by day, (days, 4), by which versions flagged them
                (`Joint`).
            negative: actual negatives, likewise.
        """
        found = [_pairs(np.asarray(one, dtype=np.float64)) for one in (positive, negative)]
        covariance = np.zeros((4, 4))
        covariance[:2, :2], covariance[2:, 2:] = (one.covariance for one in found)
        occupied = (np.sum(positive, axis=1) > 0) & (np.sum(negative, axis=1) > 0)
        return cls(
            rates=np.concatenate([one.rates for one in found]),
            smoothed=np.concatenate([one.smoothed for one in found]),
            cases=np.repeat([one.cases for one in found], 2),
            covariance=covariance,
            influence=np.concatenate([one.influence for one in found]),
            days=int(occupied.sum()),
            left_out=np.zeros(2),
        )

    @property
    def is_known(self) -> bool:
        """True where both versions have positives and negatives that can be compared."""
        return bool(np.isfinite(self.rates).all())

    def changes(self) -> tuple[FloatArray, FloatArray]:
        """Return the changes from A to B, and their standard errors, (5,) each, see `Change`.

        The error is that of independent cases, or that between days where there are at least
        10 and it is larger. What a day does to both versions alike cancels out. Where a version
        has under 5 hits or misses, the error of a change of more than 1 is that of the likelihood
        ratio: Wald's grows faster than the change (Hauck and Donner 1977), so that a version
        without a single miss would never be found better.

        Returns:
            Changes of logit TPR, logit FPR, log LR+, log LR- and of the log odds ratio; the
            errors are infinite where a version has no case to compare.
        """
        recall, false = self.smoothed[:2], self.smoothed[2:]
        components = [
            np.log(recall / (1 - recall)),
            np.log(false / (1 - false)),
            np.log(recall / false),
            np.log((1 - recall) / (1 - false)),
        ]
        components.append(components[0] - components[1])
        change = np.array([float(pair[1] - pair[0]) for pair in components])
        gradients = self._gradients()
        error = self.errors(gradients)
        if self.is_known:
            between = np.sqrt(self._between_days(gradients))
            rates = [Change.RECALL, Change.FALSE_POSITIVE_RATE]
            error[rates] = np.minimum(error[rates], self._near_the_end(change[rates]))
            if not self.covariance[0, 1]:
                apart = float(np.hypot(*error[rates]))
                error[Change.ODDS_RATIO] = min(float(error[Change.ODDS_RATIO]), apart)
            error = np.maximum(error, between)
        return change, error

    def errors(self, gradients: FloatArray) -> FloatArray:
        """Return the standard errors of functions of the rates.

        Args:
            gradients: derivatives by the four rates, (functions, 4).
        """
        if not self.is_known:
            return np.full(len(gradients), np.inf)
        rows = np.einsum("ci,ij,cj->c", gradients, self.covariance, gradients)
        return np.asarray(np.sqrt(np.maximum(rows, self._between_days(gradients))))

    def inflation(self, gradients: FloatArray) -> FloatArray:
        """Return the factor by which days raise the variances of functions above that of rows.

        Args:
            gradients: derivatives by the four rates, (functions, 4).
        """
        rows = np.einsum("ci,ij,cj->c", gradients, self.covariance, gradients)
        return np.asarray(np.maximum(ratio(self._between_days(gradients), rows), 1.0))

    def _between_days(self, gradients: FloatArray) -> FloatArray:
        if self.days < FEWEST_DAYS:
            return np.zeros(len(gradients))
        effects = gradients @ self.influence
        few = stdtrit(self.days - 1, _CERTAIN) / ndtri(_CERTAIN)
        variance = (effects**2).sum(axis=1) * self.days / (self.days - 1)
        return np.asarray(variance * few**2)

    def _near_the_end(self, change: FloatArray) -> FloatArray:
        """Errors of changes of logits by the likelihood ratio; infinite where Wald's will do."""
        cases = self.cases.reshape(2, 2)  # recall of A and of B, then the false-positive rate
        hits = np.clip(self.rates.reshape(2, 2), 0, 1) * cases  # sums of shares may exceed 1
        pooled = (hits.sum(axis=1) / cases.sum(axis=1))[:, None]
        apart = rel_entr(hits, pooled * cases) + rel_entr(cases - hits, (1 - pooled) * cases)
        deviance = 2 * np.maximum(apart.sum(axis=1), 0.0)
        few = np.minimum(hits, cases - hits).min(axis=1) < _FEW
        wanted = (
            few & (np.abs(change) > 1) & (deviance > 0) & (self.covariance[[0, 2], [1, 3]] == 0)
        )
        return np.where(wanted, ratio(np.abs(change), np.sqrt(deviance)), np.inf)

    def _gradients(self) -> FloatArray:
        recall, false = self.smoothed[:2], self.smoothed[2:]
        sign, none = np.array([-1.0, 1.0]), np.zeros(2)
        logit_recall, logit_false = 1 / (recall * (1 - recall)), 1 / (false * (1 - false))
        return np.array(
            [
                [*(sign * logit_recall), *none],
                [*none, *(sign * logit_false)],
                [*(sign / recall), *(-sign / false)],
                [*(-sign / (1 - recall)), *(sign / (1 - false))],
                [*(sign * logit_recall), *(-sign * logit_false)],
            ]
        )


def _together(outcomes: VersionOutcomes) -> float:
    """Share of the outcomes of the version with fewer in days in which the other has some."""
    _, day = np.unique(outcomes.day, return_inverse=True)
    by_day = np.array([np.bincount(day, one) for one in outcomes.counts.total])
    fewer = by_day[int(np.argmin(by_day.sum(axis=1)))]
    return float(ratio(fewer[(by_day > 0).all(axis=0)].sum(), fewer.sum()))


@dataclass(frozen=True, slots=True)
class _Pairs:
    """The rates of A and B on the actual positives, or negatives, that both scored."""

    rates: FloatArray
    smoothed: FloatArray
    cases: float
    covariance: FloatArray
    influence: FloatArray


def _pairs(by_day: FloatArray) -> _Pairs:
    flagged: NDArray[np.float64] = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 0.0, 1.0, 0.0]])
    joint, cases = by_day.sum(axis=0), float(by_day.sum())
    rates = ratio(flagged @ joint, cases)
    share = (joint + _HALF) / (cases + 4 * _HALF)
    smoothed = flagged @ share
    covariance = (flagged * share) @ flagged.T - np.outer(smoothed, smoothed)
    deviation = flagged @ by_day.T - np.outer(np.nan_to_num(rates), by_day.sum(axis=1))
    return _Pairs(
        rates=np.asarray(rates),
        smoothed=smoothed,
        cases=cases,
        covariance=covariance / max(cases, _HALF),
        influence=np.nan_to_num(ratio(deviation, cases)),
    )
