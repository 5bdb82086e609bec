"""The limits of a diagnosis, as sentences for a person."""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.diagnosis.period_labels import Refusal, Sample
from monitor.diagnosis.periods import Errors, Period
from monitor.diagnosis.result import UNLIKE_SHARES
from monitor.diagnosis.scored_days import not_flagged_by, unscored
from monitor.drift import Judgement, Status
from monitor.drift.components import Component
from monitor.drift.day_scatter import PRIOR_FREEDOM, DayScatter
from monitor.drift.live_class_ratio import FAR_LOG_RATIO
from monitor.drift.skill import EQUIVALENCE
from monitor.labels.error_words import wrong_labels
from monitor.labels.refusals import clipped_texts, if_labels_wrong
from monitor.labels.regime import SAMPLES, LabelRegime
from monitor.metrics.label_sensitivity import LabelSensitivity

_UNLABELLED = 0.01

_NAMES = {
    "class_ratio": "the class ratio",
    "recall": "recall",
    "false_positive_rate": "the false positive rate",
    "log_likelihood_ratio": "skill (log LR+)",
}


def notes(
    before: Period,
    after: Period,
    judgement: Judgement,
    refused: Refusal | None,
    mix_of: str | None,
    *,
    errors: Errors,
    mature_until: int | None,
    sensitivity: tuple[LabelSensitivity | None, LabelSensitivity | None] = (None, None),
) -> tuple[str, ...]:
    """Return the limits of a diagnosis, each a sentence without its full stop.

    Args:
        before: the period to compare with.
        after: the period to judge.
        judgement: on the totals.
        refused: why the labelling regime allows no diagnosis; None if it does.
        mix_of: the segment key of which only the mix of values changed; None without one.
        errors: what the errors of the change rest on.
        mature_until: up to this moment, epoch milliseconds, outcomes are mature; None if
            unknown.
        sensitivity: what wrong labels would do to the metrics of before, and of after.
    """
    if refused is not None:
        return (
            refused.reason,
            *_labels(before, after, mature_until),
            *_if_wrong(sensitivity),
            *_without_segments(before, after, refused),
        )
    return (
        *_mix(mix_of),
        *_far(before, after, judgement),
        *_unknown(before, after, judgement),
        *_labels(before, after, mature_until),
        *_unscored(before, after),
        *_not_flagged_by(before, after),
        *_if_wrong(sensitivity),
        *_times(before, after),
        *_scatter(errors.scatter),
    )


def _without_segments(before: Period, after: Period, refused: Refusal) -> Iterator[str]:
    if before.segments or after.segments:
        yield f"segments are left out: {refused.reason}"


def _mix(key: str | None) -> Iterator[str]:
    if key is not None:
        yield (
            f"the verdict compares within the values of {key}: the totals alone would blame the "
            "model, but only the mix of values changed (the table of causes is of the totals)"
        )


def _far(before: Period, after: Period, judgement: Judgement) -> Iterator[str]:
    change = judgement.change["class_ratio"]
    both = min(float(p.total.actual_positive) for p in (before, after)) > 0
    if both and abs(change) >= FAR_LOG_RATIO:
        way = "below" if change < 0 else "above"
        yield (
            f"CAUTION: the class ratio is {math.exp(abs(change)):.1f} times {way} that of before; "
            "precision at the ratio of before is an extrapolation, and a small error of the "
            "false positive rate changes it much"
        )


def _unknown(before: Period, after: Period, judgement: Judgement) -> Iterator[str]:
    for period, name in _named(before, after):
        if not int(period.labelled.total):
            yield f"no prediction {name} has a label: nothing is known"
            return
    known = [key for key in _NAMES if not _lacks(before, after, key)]
    if lacking := [_NAMES[key] for key in _NAMES if key not in known]:
        yield (
            f"whether these changed: {', '.join(lacking)}; a period has no positives, or no "
            "negatives"
        )
    unknown = [
        f"{name} ({judgement.change[key]:+.2f} ± {judgement.standard_error[key]:.2f})"
        for key, name in _NAMES.items()
        if key in known and judgement.status[key] is Status.UNKNOWN
    ]
    if unknown:
        yield (
            f"whether these changed: {', '.join(unknown)}; in log-odds ± standard error, the "
            f"change is neither certainly under {EQUIVALENCE:g} nor certainly other than 0"
        )


def _lacks(before: Period, after: Period, component: str) -> bool:
    """Return whether a period has no case of a class that a component rests on."""
    totals = [period.total for period in (before, after)]
    if component != "false_positive_rate" and any(not one.actual_positive for one in totals):
        return True
    return component != "recall" and any(not one.actual_negative for one in totals)


def _labels(before: Period, after: Period, mature_until: int | None) -> Iterator[str]:
    shares = [period.unlabelled for period in (before, after)]
    estimated = [period.sample for period in (before, after) if period.sample is not None]
    samples = [one for one in estimated if one.regime.labelling in SAMPLES]
    yield from _errors(before, after)
    young = mature_until is not None and after.closes is not None and after.closes > mature_until
    awaited = (after.predictions or 0) - int(after.labelled.total)
    if young and awaited > 0:
        yield (
            f"the end of `after` is not mature: {awaited:,} of its predictions have no label yet, "
            "and may change the result"
        )
    if samples:
        labelled = ", ".join(
            f"{_labels_of(p.sample)} {n}" for p, n in _named(before, after) if p.sample
        )
        yield (
            f"labels are a sample ({samples[0].regime.labelling}): predicted positives and "
            f"negatives labelled {labelled}; rates are estimated for all predictions, and their "
            "errors come from the number of labels"
        )
    elif all(math.isfinite(share) for share in shares) and max(shares) > _UNLABELLED:
        unlike = abs(shares[0] - shares[1]) > UNLIKE_SHARES
        more = "; shares as unlike as these can look like a change by themselves" if unlike else ""
        yield (
            f"predictions without a label: {_percent(shares[0])} before, "
            f"{_percent(shares[1])} after; their outcomes are not known{more}"
        )


def _unscored(before: Period, after: Period) -> Iterator[str]:
    found = [(unscored(period), name) for period, name in _named(before, after)]
    known = [(one, name) for one, name in found if one is not None]
    if not any(one.is_worth_a_word for one, _ in known):
        return
    shares = ", ".join(f"{_percent(one.share)} {name}" for one, name in known)
    yield f"cases without a score: {shares}; metrics, thresholds and corrections leave them out"
    for one, name in known:
        if one.is_unlike:
            withheld = ", so that no threshold and no correction is advised" * (name == "after")
            yield (
                f"scores of {name} are missing for {_percent(one.of_positives)} of the positives "
                f"and {_percent(one.of_negatives)} of the negatives: metrics that depend on the "
                f"class ratio, such as average precision, are off{withheld}"
            )


def _not_flagged_by(before: Period, after: Period) -> Iterator[str]:
    for period, name in _named(before, after):
        if (found := not_flagged_by(period)) is None:
            continue
        left_out = "; verdict and causes leave them out" * (name == "before")
        yield (
            f"the scores of {name} do not decide its predictions: at a false positive rate of "
            f"{found.false_positive_rate:.3f} they find {_percent(found.by_scores)} of the "
            f"positives, and the predictions {_percent(found.recall)}{left_out}; see whether they "
            "are those of the positive class, and of this model"
        )


def _errors(before: Period, after: Period) -> Iterator[str]:
    estimated = [p.sample for p in (before, after) if p.sample and p.sample.regime.has_errors]
    if len({(one.regime.errors, one.regime.is_mean) for one in estimated}) == 1:
        yield _corrected_for(estimated[0].regime)
    elif estimated:
        yield from (
            f"{name}: {_corrected_for(period.sample.regime)}"
            for period, name in _named(before, after)
            if period.sample
        )
    for period, name in _named(before, after):
        if period.sample is None:
            continue
        yield from (f"{name}: {one}" for one in clipped_texts(*period.sample.clipped))


def _corrected_for(regime: LabelRegime) -> str:
    return wrong_labels(regime.errors, is_mean=regime.is_mean, configured=regime.configured)


def _if_wrong(
    sensitivity: tuple[LabelSensitivity | None, LabelSensitivity | None],
) -> Iterator[str]:
    found = zip(("before", "after"), sensitivity, strict=True)
    if known := [f"{name}, {if_labels_wrong(one)}" for name, one in found if one]:
        yield f"whether labels are right: {'; '.join(known)}"


def _named(before: Period, after: Period) -> tuple[tuple[Period, str], ...]:
    return (before, "before"), (after, "after")


def _labels_of(sample: Sample) -> str:
    labelled = sample.labelled
    return f"{int(labelled.predicted_positive):,} and {int(labelled.predicted_negative):,}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _times(before: Period, after: Period) -> Iterator[str]:
    for period, name in _named(before, after):
        if period.block_ms is None:
            yield (
                f"the counts of {name} were given without a time: how days scatter is not known of "
                "them, so real errors may be larger"
            )


def _scatter(scatter: DayScatter | None) -> Iterator[str]:
    if scatter is None:
        return
    days = float(scatter.freedom[Component.RECALL]) - PRIOR_FREEDOM
    if days < PRIOR_FREEDOM:
        yield (
            "few days are known: how far recall and false positives differ from day to day is "
            "mostly assumed (by a factor of 1.2 in the odds), and the errors contain it"
        )
