"""Two versions of a model over the same stretch of time: what is the model, what its traffic.

Precision of two versions differs for three reasons: the model, its class ratio, and its mix of
cases. With r = P/N, and TPR and FPR as they are or at the same mix (`equal_mix`):

    Δ logit(precision) = Δ log r                                     prevalence
                       + Δ (log TPR - log FPR) at the same mix       the model
                       + the rest of Δ (log TPR - log FPR)           mix

The three add up without remainder. In points each gets its share of the difference, so that
they add up as well.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import bdtr, expit

from monitor import metrics
from monitor.counts import ConfusionCounts, Outcome
from monitor.drift.rates_of_two import Joint, RatesOfTwo
from monitor.drift.version_curve import CurveDistance, lies_on_its_curve
from monitor.drift.version_outcomes import VersionOutcomes
from monitor.drift.version_verdict import SequentialVerdict, sequential_verdict
from monitor.metrics.histogram import ScoreHistogram
from monitor.metrics.ratio import FloatArray, ratio
from monitor.metrics.threshold import has_both_classes

PAIRED_SHARE = 0.9
"""Share of the outcomes of either version that are pairs, from which pairs alone decide."""
RATES = ("recall", "false_positive_rate", "precision")
"""Rates with a difference; precision is taken at the class ratio of both versions together."""
AT_EQUAL_MIX = ("recall", "false_positive_rate", "balanced_precision", "log_likelihood_ratio")
"""Metrics of each version at the same mix; precision at one class ratio comes in addition."""
_EVEN = 0.5


@dataclass(frozen=True, slots=True)
class Range:
    """A number with its 95 % interval; all NaN where undefined.

    Attributes:
        estimate: the number.
        lower: lower limit.
        upper: upper limit.
    """

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True)
class Part:
    """Contribution to the difference of precision, B less A; NaN where undefined.

    Attributes:
        logit: in log-odds.
        points: as a fraction of precision.
    """

    logit: float
    points: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RatesCompared:
    """Two versions compared on the same cases, or at the same mix of cases.

    Attributes:
        rates: recall and false-positive rate of both.
        metrics: of A and of B, by `AT_EQUAL_MIX` and `precision`, at one class ratio.
        differences: B less A, by `RATES`; intervals of a fixed sample.
        parts: of the difference of the raw precision: `model`, `prevalence` and `mix`.
        found: the verdict.
    """

    rates: RatesOfTwo
    metrics: tuple[Mapping[str, Range], Mapping[str, Range]]
    differences: Mapping[str, Range]
    parts: Mapping[str, Part]
    found: SequentialVerdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Cases that both versions scored.

    Attributes:
        positive: actual positives by `Joint`, (4,).
        negative: actual negatives, likewise.
        p_values: of McNemar's exact test of `recall` and `false_positive_rate`, two-sided;
            1 where the versions never disagree.
        compared: the versions on these cases.
    """

    positive: FloatArray
    negative: FloatArray
    p_values: Mapping[str, float]
    compared: RatesCompared


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionComparison:
    """Version B compared with version A.

    Attributes:
        counts: outcomes of A and of B, scalars.
        class_ratio: P/N of both together, which precision is compared at; NaN without
            negatives.
        strata: all outcomes, at the same mix.
        pairs: the cases that both scored; None where there are none.
        paired: share of the outcomes that are pairs, of the version with fewer outcomes.
        off_own_curve: A has scores and outcomes of both classes, and the scores do not decide,
            since its predictions are not these scores cut at one threshold.
    """

    counts: tuple[ConfusionCounts, ConfusionCounts]
    class_ratio: float
    strata: RatesCompared
    pairs: Pairs | None
    paired: float
    off_own_curve: bool = False

    @property
    def by_pairs(self) -> bool:
        """True where pairs decide: at least .9 of the outcomes of one version are pairs."""
        return self.pairs is not None and self.paired >= PAIRED_SHARE

    @property
    def decided_by(self) -> RatesCompared:
        """Comparison that gives the verdict, the differences and the parts."""
        return self.pairs.compared if self.pairs is not None and self.by_pairs else self.strata

    @property
    def outcomes(self) -> float:
        """Outcomes of both versions together."""
        return float(sum(one.total for one in self.counts))

    @property
    def outcomes_to_settle(self) -> float:
        """More outcomes that would settle the verdict; 0 where it is, infinite if none would."""
        return (self.decided_by.found.times_the_outcomes - 1) * self.outcomes


def compare_two(
    outcomes: VersionOutcomes,
    positive: FloatArray | None = None,
    negative: FloatArray | None = None,
    scores: ScoreHistogram | None = None,
) -> VersionComparison:
    """Compare two versions over the same stretch of time.

    Args:
        outcomes: of A and of B.
        positive: actual positives that both versions scored, by day, (days, 4), see `Joint`;
            None without any.
        negative: actual negatives that both scored, likewise.
        scores: labelled scores of A, (blocks of time, bins), whose ROC curve tells another
            threshold from another model if the predictions of A are these scores cut at one; they
            may come from other days. None without.

    Source:
        Mantel and Haenszel 1959 (weights of strata); Kitagawa 1955 (standardisation); Zou
        and Donner 2008 (intervals of differences); McNemar 1947.

    >>> hour = segment = np.array([0])
    >>> cells = np.array([[80, 45, 20, 855], [55, 45, 45, 855]])[:, None] * 10
    >>> found = compare_two(VersionOutcomes(hour, segment, cells))
    >>> str(found.strata.found.verdict), round(found.strata.differences["recall"].estimate, 2)
    ('worse', -0.25)
    """
    before, after = outcomes.totals
    both = before + after
    class_ratio = float(ratio(both.actual_positive, both.actual_negative))
    parts = tuple(
        ConfusionCounts.from_cells(one.cells.reshape(-1, len(Outcome))) for one in outcomes.by_day
    )
    decides = scores is not None and lies_on_its_curve(scores, parts[0])
    compare = partial(
        _compared,
        counts=(before, after),
        class_ratio=class_ratio,
        scores=scores if decides else None,
        mixed=parts,
    )
    strata = compare(RatesOfTwo.at_equal_mix(outcomes))
    pairs = None
    paired = 0.0
    if positive is not None and negative is not None and positive.sum() + negative.sum():
        compared = compare(RatesOfTwo.of_pairs(positive, negative))
        pairs = _pairs(positive.sum(axis=0), negative.sum(axis=0), compared)
        fewest = min(float(before.total), float(after.total))
        paired = float(ratio(positive.sum() + negative.sum(), fewest))
    return VersionComparison(
        counts=(before, after),
        class_ratio=class_ratio,
        strata=strata,
        pairs=pairs,
        paired=paired,
        off_own_curve=scores is not None and not decides and has_both_classes(before),
    )


def mcnemar(only_a: float, only_b: float) -> float:
    """Return the p-value of McNemar's exact test, two-sided.

    Args:
        only_a: cases that A alone flagged.
        only_b: cases that B alone flagged.

    Returns:
        In (0, 1]; 1 where the two never disagree.

    Source:
        McNemar 1947.

    >>> round(mcnemar(10, 2), 4), mcnemar(0, 0)
    (0.0386, 1.0)
    """
    return float(min(1.0, 2 * bdtr(min(only_a, only_b), int(only_a + only_b), _EVEN)))


def _pairs(positive: FloatArray, negative: FloatArray, compared: RatesCompared) -> Pairs:
    tested = zip(RATES, (positive, negative), strict=False)
    return Pairs(
        positive=positive,
        negative=negative,
        p_values={
            name: mcnemar(float(one[Joint.ONLY_A]), float(one[Joint.ONLY_B]))
            for name, one in tested
        },
        compared=compared,
    )


def _compared(
    rates: RatesOfTwo,
    *,
    counts: tuple[ConfusionCounts, ConfusionCounts],
    class_ratio: float,
    scores: ScoreHistogram | None,
    mixed: tuple[ConfusionCounts, ...],
) -> RatesCompared:
    distance = None if scores is None else CurveDistance.of(rates, scores, mixed)
    return RatesCompared(
        rates=rates,
        metrics=(_metrics(rates, 0, class_ratio), _metrics(rates, 1, class_ratio)),
        differences=_differences(rates, class_ratio),
        parts=_parts(rates, counts),
        found=sequential_verdict(rates, distance),
    )


def _effective(rates: RatesOfTwo, version: int, inflation: float = 1.0) -> ConfusionCounts:
    """Counts of independent cases with these rates and as much information."""
    recall, false = rates.rates[[version, version + 2]]
    positive, negative = rates.cases[[version, version + 2]] / inflation
    cells = [recall * positive, false * negative, (1 - recall) * positive, (1 - false) * negative]
    return ConfusionCounts.from_cells(np.nan_to_num(np.maximum(cells, 0.0)))


def _metrics(rates: RatesOfTwo, version: int, class_ratio: float) -> Mapping[str, Range]:
    counts = _effective(rates, version)
    return {name: _range(counts, name, class_ratio) for name in (*AT_EQUAL_MIX, "precision")}


def _range(counts: ConfusionCounts, name: str, class_ratio: float) -> Range:
    """A metric with its interval; precision is that at the class ratio."""
    if name == "precision":
        point = metrics.precision_at(counts, class_ratio=class_ratio)
        limits = metrics.intervals(counts, "precision_at", class_ratio=class_ratio)
    else:
        point, limits = getattr(metrics, name)(counts), metrics.intervals(counts, name)
    return Range(float(point), float(limits[0]), float(limits[1]))


def _differences(rates: RatesOfTwo, class_ratio: float) -> Mapping[str, Range]:
    """Differences B less A, by MOVER: the limits of both versions, and their correlation."""
    if not rates.is_known:
        undefined = Range(math.nan, math.nan, math.nan)
        return dict.fromkeys(RATES, undefined)
    found = {}
    for name, of_a, of_b in zip(RATES, *_gradients(rates), strict=True):
        inflation = float(rates.inflation((of_b - of_a)[None])[0])
        a, b = (_range(_effective(rates, v, inflation), name, class_ratio) for v in (0, 1))
        both = np.array([of_a, of_b])
        covariance = both @ rates.covariance @ both.T
        correlation = covariance[0, 1] / math.sqrt(covariance[0, 0] * covariance[1, 1])
        found[name] = _difference(a, b, float(correlation))
    return found


def _gradients(rates: RatesOfTwo) -> tuple[FloatArray, FloatArray]:
    """Derivatives of `RATES` of A, and of B, by the four rates; precision's up to a factor."""
    found = np.zeros((2, len(RATES), 4))
    for version in (0, 1):
        recall, false = rates.smoothed[[version, version + 2]]
        found[version, 0, version] = found[version, 1, version + 2] = 1
        found[version, 2, [version, version + 2]] = 1 / recall, -1 / false
    return found[0], found[1]


def _difference(a: Range, b: Range, correlation: float) -> Range:
    def length(of_a: float, of_b: float) -> float:
        return math.sqrt(max(of_a**2 + of_b**2 - 2 * correlation * of_a * of_b, 0.0))

    middle = b.estimate - a.estimate
    falls = length(a.upper - a.estimate, b.estimate - b.lower)
    rises = length(a.estimate - a.lower, b.upper - b.estimate)
    return Range(middle, max(middle - falls, -1.0), min(middle + rises, 1.0))


def _parts(
    rates: RatesOfTwo, counts: tuple[ConfusionCounts, ConfusionCounts]
) -> Mapping[str, Part]:
    with np.errstate(divide="ignore", invalid="ignore"):
        r, skill = (
            [float(np.log(1.0 * measure(one))) for one in counts]
            for measure in (metrics.class_ratio, _likelihood_ratio)
        )
        of_a, of_b = (np.log(rates.rates[:2]) - np.log(rates.rates[2:])).tolist()
    model = of_b - of_a
    logit = {"model": model, "prevalence": r[1] - r[0], "mix": skill[1] - skill[0] - model}
    ends = [float(expit(a + b)) for a, b in zip(r, skill, strict=True)]
    whole = sum(logit.values())
    slope = (ends[1] - ends[0]) / whole if whole else ends[0] * (1 - ends[0])
    parts = {name: Part(part, part * slope) for name, part in logit.items()}
    known = all(math.isfinite(part.points) for part in parts.values())
    return parts if known else dict.fromkeys(parts, Part(math.nan, math.nan))


def _likelihood_ratio(counts: ConfusionCounts) -> FloatArray:
    return ratio(metrics.recall(counts), metrics.false_positive_rate(counts))
