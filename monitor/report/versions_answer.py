"""The object that `compare --json` prints."""

from __future__ import annotations

from msgspec import UNSET, Struct, UnsetType

from monitor.drift.rates_of_two import Joint
from monitor.drift.version_comparison import Pairs, Part, Range, RatesCompared
from monitor.drift.version_verdict import NotShown, VersionVerdict
from monitor.drift.versions_compared import VersionsCompared, VersionTraffic
from monitor.events.left_out_keys import LeftOutBecause
from monitor.metrics import intervals, precision
from monitor.metrics.ratio import FloatArray
from monitor.report.answer_parts import (
    Count,
    MetricInterval,
    OutcomeSums,
    Share,
    Sum,
    Time,
    defined,
    json_text,
    outcome_sums,
    time_text,
)
from monitor.report.version_scores_answer import (
    ComparedVersionScores,
    DistanceFromCurve,
    distance_from_curve,
    version_scores,
)
from monitor.report.versions_conditions import conditions
from monitor.report.versions_words import adjusted_for, versions_headline


class EqualMixMetrics(Struct, frozen=True, kw_only=True):
    """Metrics of a version at the class ratio and the mix that both are compared at.

    Attributes:
        recall: share of the positives that are predicted positive.
        false_positive_rate: share of the negatives that are predicted positive.
        precision: at the class ratio of both versions together.
        balanced_precision: precision at as many positives as negatives.
        log_likelihood_ratio: log LR+.
    """

    recall: MetricInterval
    false_positive_rate: MetricInterval
    precision: MetricInterval
    balanced_precision: MetricInterval
    log_likelihood_ratio: MetricInterval


class ComparedVersion(Struct, frozen=True, kw_only=True):
    """One of the two versions.

    Attributes:
        version: its name; `__missing__` for predictions without one.
        first: time of its first prediction in all events.
        last: time of its last one; of a running monitor, the end of the last hour that is mature
            where it goes on.
        predictions: in the stretch that is compared, labelled or not.
        outcomes: its labelled outcomes in the stretch.
        precision: as it was.
        at_equal_mix: what both versions are compared by.
    """

    version: str
    first: Time | None
    last: Time | None
    predictions: Count
    outcomes: OutcomeSums
    precision: MetricInterval
    at_equal_mix: EqualMixMetrics


class VersionDifferences(Struct, frozen=True, kw_only=True):
    """B less A at the class ratio and the mix that both are compared at.

    Attributes:
        recall: difference of recall.
        false_positive_rate: difference of the false-positive rate.
        precision: difference of precision.
    """

    recall: MetricInterval
    false_positive_rate: MetricInterval
    precision: MetricInterval


class PrecisionPart(Struct, frozen=True, kw_only=True):
    """Contribution to the difference of precision as it was, B less A.

    Attributes:
        logit: in log-odds.
        points: as a fraction of precision.
    """

    logit: float | None
    points: float | None


class PrecisionParts(Struct, frozen=True, kw_only=True):
    """Parts of the difference of precision; the three add up to it.

    Attributes:
        model: recall and false positives at the same mix.
        prevalence: the class ratio.
        mix: the mix of segments, days and hours.
    """

    model: PrecisionPart
    prevalence: PrecisionPart
    mix: PrecisionPart


class LogOddsRatio(Struct, frozen=True, kw_only=True):
    """Change of the log odds ratio from A to B, with its confidence sequence.

    Attributes:
        change: below 0 where B separates the classes worse.
        se: standard error.
        lower: lower end of the sequence, which holds however often it is looked at.
        upper: upper end.
    """

    change: float | None
    se: float | None
    lower: float | None
    upper: float | None


class JointOutcomes(Struct, frozen=True, kw_only=True):
    """Cases that both versions scored, by which of them flagged the case.

    Attributes:
        both: both did.
        only_a: A alone.
        only_b: B alone.
        neither: none did.
        p_value: of McNemar's exact test that A and B flag equally many, two-sided.
    """

    both: Sum
    only_a: Sum
    only_b: Sum
    neither: Sum
    p_value: Share


class PairedCases(Struct, frozen=True, kw_only=True):
    """Cases that both versions scored.

    Attributes:
        share: of the outcomes of the version with fewer outcomes.
        positives: the actual positives.
        negatives: the actual negatives.
        differences: B less A on these cases.
    """

    share: float
    positives: JointOutcomes
    negatives: JointOutcomes
    differences: VersionDifferences


class CasesLeftOut(Struct, frozen=True, kw_only=True):
    """Shares of the cases whose stratum lacks one of the versions.

    Attributes:
        positives: of the actual positives; null without any.
        negatives: of the actual negatives; null without any.
    """

    positives: float | None
    negatives: float | None


class LeftOutSegment(Struct, frozen=True, kw_only=True):
    """A segment key of recorded events that the mix is not equal by.

    Attributes:
        key: its name.
        because: `one_value`, `many_values` (few records for each) or `many_keys` (four others
            have fewer values).
    """

    key: str
    because: LeftOutBecause


class VersionsAnswer(Struct, frozen=True, kw_only=True):
    """Version B compared with version A over the same stretch of time.

    Attributes:
        model: its name.
        headline: the result in one sentence.
        verdict: on B: `better`, `worse`, `equal` or `not_shown`.
        because: why it is `not_shown`: `missing_class`, `other_times`, `too_few_outcomes`,
            `another_operating_point`, or `another_threshold`, where both lie on one ROC curve; null
            for any other verdict.
        open: first moment of the stretch.
        close: first moment after it.
        a: the version to compare with.
        b: the version that is judged.
        class_ratio: positives per negative of both together.
        adjusted_for: what the mix is equal by: segment keys, `day` and `hour`; empty where the same
            cases are compared, and where neither segments nor times are known.
        condition: what the verdict holds under: alike cases where no segment key is among these;
            curves of one shape where no scores tell another threshold. Null for neither.
        segments: keys whose combinations of values are compared one by one.
        segments_left_out: other keys of recorded events, where nobody named the segments.
        decided_by: `pairs` where nearly all cases were scored by both versions, else `strata`.
        differences: B less A, with 95 % intervals for one look.
        log_odds_ratio: what the verdict rests on without scores, unless a version is dead.
        from_roc_curve: what it rests on with scores of A; left out without.
        anytime: the verdict holds at every look; false where the beginning moves along (`last`).
        parts: of the difference of precision as it was.
        left_out: shares of the cases that could not be compared.
        paired: the cases that both versions scored; null where there are none.
        outcomes_to_settle: how many more outcomes of both versions would settle the verdict at
            the present difference and share of the traffic; 0 where settled, null where no number
            would or is known. At least so many with fewer than 10 positives or negatives of one.
        days_to_settle: how long these take at the present rate; null likewise.
        scores: of both versions; left out where a version has none with labels of both classes.
        on_unlike_days: true where they are not compared: outcomes of the two lie on other days.
        off_own_curve: true where predictions of A are not its scores cut at one threshold.
    """

    model: str
    headline: str
    verdict: VersionVerdict
    because: NotShown | None
    open: Time | None
    close: Time | None
    a: ComparedVersion
    b: ComparedVersion
    class_ratio: float | None
    adjusted_for: tuple[str, ...]
    condition: str | None
    segments: tuple[str, ...]
    segments_left_out: tuple[LeftOutSegment, ...]
    decided_by: str
    differences: VersionDifferences
    log_odds_ratio: LogOddsRatio
    from_roc_curve: DistanceFromCurve | UnsetType = UNSET
    anytime: bool
    parts: PrecisionParts
    left_out: CasesLeftOut
    paired: PairedCases | None
    outcomes_to_settle: float | None
    days_to_settle: float | None
    scores: ComparedVersionScores | UnsetType = UNSET
    on_unlike_days: bool | UnsetType = UNSET
    off_own_curve: bool | UnsetType = UNSET


def versions_json(found: VersionsCompared) -> str:
    """Return the JSON text, one object over several lines, ASCII only."""
    return json_text(versions_answer(found), indent=2)


def versions_answer(found: VersionsCompared) -> VersionsAnswer:
    """Return the comparison as an object."""
    comparison = found.comparison
    decided = comparison.decided_by
    sequence = decided.found
    left = decided.rates.left_out.tolist()
    more = comparison.outcomes_to_settle
    return VersionsAnswer(
        model=found.model,
        headline=versions_headline(found),
        verdict=sequence.verdict,
        because=found.because,
        open=time_text(found.within.opens),
        close=time_text(found.within.closes),
        a=_version(found, 0),
        b=_version(found, 1),
        class_ratio=defined(comparison.class_ratio),
        adjusted_for=adjusted_for(found),
        condition=conditions(found) or None,
        segments=found.segments,
        segments_left_out=tuple(
            LeftOutSegment(key=key, because=because) for key, because in found.left_out
        ),
        decided_by="pairs" if comparison.by_pairs else "strata",
        differences=_differences(decided),
        log_odds_ratio=LogOddsRatio(
            change=defined(sequence.change),
            se=defined(sequence.standard_error),
            lower=defined(sequence.lower),
            upper=defined(sequence.upper),
        ),
        from_roc_curve=distance_from_curve(sequence),
        anytime=found.anytime,
        parts=PrecisionParts(**{name: _part(part) for name, part in decided.parts.items()}),
        left_out=CasesLeftOut(positives=defined(left[0]), negatives=defined(left[1])),
        paired=None if comparison.pairs is None else _pairs(comparison.pairs, comparison.paired),
        outcomes_to_settle=None if defined(more) is None else float(round(more)),
        days_to_settle=defined(found.days_to_settle),
        scores=version_scores(found.scores),
        on_unlike_days=found.on_unlike_days or UNSET,
        off_own_curve=comparison.off_own_curve or UNSET,
    )


def _version(found: VersionsCompared, index: int) -> ComparedVersion:
    traffic: VersionTraffic = found.versions[index]
    counts = found.comparison.counts[index]
    lower, upper = intervals(counts, "precision")
    measured = found.comparison.decided_by.metrics[index]
    return ComparedVersion(
        version=traffic.name,
        first=time_text(traffic.first),
        last=time_text(traffic.ended),
        predictions=found.predictions[index],
        outcomes=outcome_sums(counts),
        precision=_interval(Range(float(precision(counts)), float(lower), float(upper))),
        at_equal_mix=EqualMixMetrics(**{name: _interval(one) for name, one in measured.items()}),
    )


def _interval(found: Range) -> MetricInterval:
    return MetricInterval(
        estimate=defined(found.estimate), lower=defined(found.lower), upper=defined(found.upper)
    )


def _differences(compared: RatesCompared) -> VersionDifferences:
    return VersionDifferences(
        **{name: _interval(one) for name, one in compared.differences.items()}
    )


def _part(part: Part) -> PrecisionPart:
    return PrecisionPart(logit=defined(part.logit), points=defined(part.points))


def _pairs(pairs: Pairs, share: float) -> PairedCases:
    return PairedCases(
        share=share,
        positives=_joint(pairs.positive, pairs.p_values["recall"]),
        negatives=_joint(pairs.negative, pairs.p_values["false_positive_rate"]),
        differences=_differences(pairs.compared),
    )


def _joint(cases: FloatArray, p_value: float) -> JointOutcomes:
    counted = {one.name.lower(): float(cases[one]) for one in Joint}
    return JointOutcomes(**counted, p_value=p_value)
