"""Contribution of each segment value to the change of precision."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

import numpy as np

from monitor.clock import DAY_MS
from monitor.counts import ConfusionCounts
from monitor.diagnosis.periods import Errors, Period
from monitor.diagnosis.segment_curves import SegmentCurve, segment_curves
from monitor.drift import (
    CAUSES,
    Attribution,
    Dispersion,
    Judgement,
    attribute_segments,
    judge_within_segments,
)
from monitor.drift.compared_outcomes import ComparedOutcomes, are_all
from monitor.drift.odds_ratio_within import in_days
from monitor.drift.within_segments import explains
from monitor.drift.worse_values import FEWEST_OF_A_CLASS
from monitor.events.columns import MISSING_VALUE, VERSION_KEY, FloatArray, Series
from monitor.metrics.ratio import ratio

SIGNIFICANCE = 0.01
"""A value carries a change where its p-value, corrected, lies below this."""

_PARTS = CAUSES[:3]
_EQUAL = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class SegmentPart:
    """The contribution of one segment value to the change of precision.

    The mappings are keyed `prevalence`, `recall` and `false_positives`. Over all
    values of a key, `within` and `mix` add up to the change of
    logit(precision), but for chance where labels are a sample. NaN where a part
    is undefined.

    Attributes:
        series: the segment key and its value.
        before: outcomes, a scalar; those expected of all predictions where labels
            are a sample.
        after: the same.
        within: log-odds of precision that the value's own rates contributed.
        mix: log-odds of precision that its share contributed: a value that
            became more frequent and is better than the average lifts precision.
        points: both together as a fraction of precision, each cause's
            log-odds at the rate at which the cause as a whole turned into points.
        p_values: of the change of the value's own rates, corrected for looking
            at every value of every key and at three rates.
        small_sample: too few outcomes of a class for more than a hint.
        carries: the causes in which the value's own rate certainly changed;
            none in a small sample.
        curve: change of its ROC curve; None where no scores are stored by segment value.
    """

    series: Series
    before: ConfusionCounts
    after: ConfusionCounts
    within: Mapping[str, float]
    mix: Mapping[str, float]
    points: float
    p_values: Mapping[str, float]
    small_sample: bool
    carries: tuple[str, ...]
    curve: SegmentCurve | None = None

    @property
    def within_logit(self) -> float:
        """Log-odds of precision that the value's own rates contributed together."""
        return sum(self.within.values())

    @property
    def mix_logit(self) -> float:
        """Log-odds of precision that its share contributed."""
        return sum(self.mix.values())


def segment_keys(before: Period, after: Period) -> tuple[str, ...]:
    """Return the segment keys of either period, in their order; none that all predictions lack.

    Args:
        before: the period to compare with.
        after: the period to judge.
    """
    there = (*before.segments, *after.segments)
    keys = [series.segment for series in there if series.value != MISSING_VALUE]
    return tuple(dict.fromkeys(key for key in keys if key is not None))


def segment_parts(
    before: Period, after: Period, attribution: Attribution, errors: Errors
) -> tuple[SegmentPart, ...]:
    """Return the contribution of every value of every segment key, the largest first.

    Args:
        before: the period to compare with; without segments the result is empty.
        after: the period to judge.
        attribution: of the whole change.
        errors: what the errors of the change rest on.
    """
    keys = segment_keys(before, after) if before.segments else ()
    parts = [
        part
        for key in keys
        for part in _parts_of(key, before, after, attribution, errors, keys=len(keys))
    ]
    curves = segment_curves([part.series for part in parts], before, after)
    parts = [replace(part, curve=curves.get(part.series)) for part in parts]
    return tuple(sorted(parts, key=_rank))


def both_by_key(before: Period, after: Period) -> Iterator[ComparedOutcomes]:
    """Yield the outcomes before and after of the values of each key, (values, blocks).

    The version is none: another mix of versions is another model.

    Args:
        before: the period to compare with.
        after: the period to judge.
    """
    for key in segment_keys(before, after) if before.segments else ():
        if key != VERSION_KEY:
            _, old, new = tables_of(key, before, after)
            yield ComparedOutcomes(old, new)


def by_day_and_version(before: Period, after: Period) -> ComparedOutcomes | None:
    """Return the outcomes of both by versions and days, (versions, days).

    Args:
        before: the period to compare with.
        after: the period to judge.

    Returns:
        A period by days alone, (days,), where not all of its outcomes are those of a version;
        None where that holds of both.
    """
    sides = []
    for period in (before, after):
        versions = [
            in_days(blocks, max(1, DAY_MS // (period.block_ms or DAY_MS)))
            for series, blocks in period.segments.items()
            if series.segment == VERSION_KEY
        ]
        cells = np.stack([one.cells for one in versions]) if versions else np.zeros(0)
        known = are_all(cells, period.blocks)
        sides.append(ConfusionCounts.from_cells(cells) if known else None)
    old, new = sides
    if old is None and new is None:
        return None
    return ComparedOutcomes(
        before.days_or_blocks if old is None else old, after.days_or_blocks if new is None else new
    )


def within_key(
    before: Period,
    after: Period,
    whole: Judgement,
    errors: Errors,
    *,
    below_reference_curve: bool | None = None,
) -> tuple[str, Judgement] | None:
    """Return a segment key whose mix alone has changed: within its values the model has not.

    The version is none: another mix of versions is another model.

    Args:
        before: the period to compare with.
        after: the period to judge.
        whole: the judgement on the totals, by which skill changed.
        errors: what the errors of the change rest on.
        below_reference_curve: recall lies below the ROC curve of before; None without scores.

    Returns:
        The key and the judgement within its values; None where there is none.
    """
    if not before.segments:
        return None
    for key in segment_keys(before, after):
        if key == VERSION_KEY:
            continue
        _, old, new = tables_of(key, before, after)
        found = judge_within_segments(
            old,
            new,
            errors.rows,
            between=errors.between,
            below_reference_curve=below_reference_curve,
        )
        if explains(found, whole):
            return key, found
    return None


def _rank(part: SegmentPart) -> tuple[bool, bool, float, Series]:
    size = abs(part.within_logit)
    return (part.small_sample, not part.carries, 0.0 if math.isnan(size) else -size, part.series)


def tables_of(
    key: str, before: Period, after: Period
) -> tuple[list[Series], ConfusionCounts, ConfusionCounts]:
    """Return a key's values, and their outcomes (values, blocks) of before and of after.

    Args:
        key: of the segment.
        before: the period to compare with.
        after: the period to judge.
    """
    both = (*before.segments, *after.segments)
    values = list(dict.fromkeys(series for series in both if series.segment == key))
    old, new = (_stacked(values, period) for period in (before, after))
    seen = (old.total.sum(axis=-1) + new.total.sum(axis=-1)) > 0
    left = [series for series, any_ in zip(values, seen.tolist(), strict=True) if any_]
    return left, old[seen], new[seen]


def _stacked(values: list[Series], period: Period) -> ConfusionCounts:
    nothing = ConfusionCounts.from_cells(np.zeros((*period.blocks.shape, 4), dtype=np.int64))
    rows = [period.segments.get(series, nothing).cells for series in values]
    return ConfusionCounts.from_cells(np.stack(rows))


def _parts_of(
    key: str,
    before: Period,
    after: Period,
    attribution: Attribution,
    errors: Errors,
    *,
    keys: int,
) -> list[SegmentPart]:
    values, old_blocks, new_blocks = tables_of(key, before, after)
    if not values:
        return []
    rows = dispersion_of(values, before, after)
    found = attribute_segments(old_blocks, new_blocks, rows, between=errors.between)
    old, new = old_blocks.sum(axis=-1), new_blocks.sum(axis=-1)
    mix = found.mix - _average_part(old, new)
    p_values = np.minimum(found.p_values * keys, 1.0)
    fewest = np.minimum(_fewest(old, values, before), _fewest(new, values, after))
    few = fewest < FEWEST_OF_A_CLASS
    return [
        SegmentPart(
            series=series,
            before=old[i],
            after=new[i],
            within=_named(found.within[:, i]),
            mix=_named(mix[:, i]),
            points=_points(found.within[:, i] + mix[:, i], attribution),
            p_values=_named(p_values[:, i]),
            small_sample=bool(few[i]),
            carries=_carries(p_values[:, i], small=bool(few[i])),
        )
        for i, series in enumerate(values)
    ]


def _fewest(counts: ConfusionCounts, values: list[Series], period: Period) -> FloatArray:
    """Count the rarer class of each value; where labels are a sample, its labels."""
    if period.sample is None:
        return np.minimum(counts.actual_positive, counts.actual_negative)
    samples = (period.samples.get(series) for series in values)
    return np.array([0.0 if one is None else one.fewest_of_a_class for one in samples])


def dispersion_of(values: list[Series], before: Period, after: Period) -> Dispersion:
    """Return the larger dispersion of both periods for each value, (values,).

    Args:
        values: of a key.
        before: the period to compare with.
        after: the period to judge.
    """
    sampled = [period for period in (before, after) if period.sample is not None]
    found = Dispersion.of(np.ones(len(values)))
    for period in sampled:
        one = [s.dispersion if (s := period.samples.get(v)) else Dispersion.of(1) for v in values]
        found = found.larger(
            Dispersion(
                class_ratio=np.array([d.class_ratio for d in one]),
                recall=np.array([d.recall for d in one]),
                false_positive_rate=np.array([d.false_positive_rate for d in one]),
            )
        )
    return found


def _carries(p_values: FloatArray, *, small: bool) -> tuple[str, ...]:
    changed = zip(_PARTS, (p_values < SIGNIFICANCE).tolist(), strict=True)
    return tuple(cause for cause, sure in changed if sure and not small)


def _average_part(old: ConfusionCounts, new: ConfusionCounts) -> FloatArray:
    """Return the contribution of each value's change of share at the average rates.

    It sums to 0 over the values, since shares sum to 1. Without subtracting it, any value
    that became more frequent would seem to raise the rate. Shape (3, values).
    """
    streams = [
        [(c.total, c.actual_positive), (c.actual_positive, c.tp), (c.actual_negative, c.fp)]
        for c in (old, new)
    ]
    rows = []
    for (cases_old, hits_old), (cases_new, hits_new) in zip(*streams, strict=True):
        share_old, share_new = (ratio(c, c.sum()) for c in (cases_old, cases_new))
        rate_old = float(ratio(hits_old.sum(), cases_old.sum()))
        rate_new = float(ratio(hits_new.sum(), cases_new.sum()))
        average = (rate_old + rate_new) / 2
        rows.append((share_new - share_old) * average * _slope(rate_old, rate_new))
    rows[0] = rows[0] * _complement_factor(old, new)
    rows[2] = -rows[2]
    return np.stack(rows)


def _slope(old: float, new: float) -> float:
    """Return the change of the logarithm per change of the rate, between two rates."""
    if not (old > 0 and new > 0):
        return float("nan")
    if abs(new - old) <= _EQUAL * old:
        return 2 / (old + new)
    return float(np.log(new / old) / (new - old))


def _complement_factor(old: ConfusionCounts, new: ConfusionCounts) -> float:
    """Return the factor from log prevalence to log r, which includes log(1 - prevalence)."""
    rates = [float(ratio(c.actual_positive.sum(), c.total.sum())) for c in (old, new)]
    return 1 + _slope(1 - rates[0], 1 - rates[1]) / _slope(*rates)


def _points(parts: FloatArray, attribution: Attribution) -> float:
    rates = [
        attribution.points[cause] / attribution.logit[cause] if attribution.logit[cause] else 0.0
        for cause in _PARTS
    ]
    return float(parts @ np.array(rates))


def _named(values: FloatArray) -> dict[str, float]:
    return {cause: float(value) for cause, value in zip(_PARTS, values, strict=True)}
