"""What is not known, and why; what to keep in mind. Sentences for a person, one each."""

from __future__ import annotations

import math
from collections.abc import Iterator

from monitor.diagnosis.period_labels import Refusal, Sample
from monitor.diagnosis.periods import Period
from monitor.drift import Judgement, Status
from monitor.drift.components import DAY, HOUR
from monitor.drift.live_class_ratio import FAR_LOG_RATIO
from monitor.drift.skill import EQUIVALENCE

_FEWEST_BLOCKS = 10
_UNLABELLED = 0.01
_UNLIKE_COVERAGE = 0.05

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
    mature_until: int | None,
) -> tuple[str, ...]:
    """Everything that limits what a diagnosis says.

    Args:
        before: what is compared with.
        after: what is judged.
        judgement: on the totals.
        refused: what the labelling regime does not allow.
        mix_of: the segment key whose mix alone changed, if that is so.
        mature_until: up to this moment, epoch milliseconds, outcomes are mature.
    """
    if refused is not None:
        return (refused.reason, *_labels(before, after, mature_until))
    return (
        *_mix(mix_of),
        *_far(before, after, judgement),
        *_unknown(before, after, judgement),
        *_labels(before, after, mature_until),
        *_blocks(before, after),
    )


def _mix(key: str | None) -> Iterator[str]:
    if key is not None:
        yield (
            f"the verdict is on what happened within the values of {key}: as a whole it would "
            "have been laid to the model, but it is their mix that changed (the table of causes "
            "is of the whole)"
        )


def _far(before: Period, after: Period, judgement: Judgement) -> Iterator[str]:
    change = judgement.change["class_ratio"]
    both = min(float(p.total.actual_positive) for p in (before, after)) > 0
    if both and abs(change) >= FAR_LOG_RATIO:
        way = "below" if change < 0 else "above"
        yield (
            f"CAUTION: the class ratio is {math.exp(abs(change)):.1f} times {way} that of before; "
            "precision at the ratio of before is an extrapolation, in which a small error of "
            "the false positive rate weighs heavily"
        )


def _unknown(before: Period, after: Period, judgement: Judgement) -> Iterator[str]:
    for period, name in _named(before, after):
        if not int(period.labelled.total):
            yield f"no prediction {name} has a label: nothing can be said"
            return
    unknown = [
        f"{name} ({judgement.change[key]:+.2f} ± {judgement.standard_error[key]:.2f})"
        for key, name in _NAMES.items()
        if judgement.status[key] is Status.UNKNOWN
    ]
    if unknown:
        yield (
            f"whether these changed: {', '.join(unknown)}; in log-odds ± standard error, neither "
            f"certainly below {EQUIVALENCE:g} nor certainly not nothing"
        )


def _labels(before: Period, after: Period, mature_until: int | None) -> Iterator[str]:
    shares = [period.unlabelled for period in (before, after)]
    samples = [period.sample for period in (before, after) if period.sample is not None]
    if mature_until is not None and after.closes is not None and after.closes > mature_until:
        yield "the end of `after` is not mature: labels that are still to come may change this"
    if samples:
        said = ", ".join(
            f"{_labels_of(p.sample)} {n}" for p, n in _named(before, after) if p.sample
        )
        yield (
            f"labels are a sample ({samples[0].labelling}): predicted positives and negatives "
            f"labelled {said}; rates are those expected of all predictions, and their errors "
            "those of the labels"
        )
    elif all(math.isfinite(share) for share in shares) and max(shares) > _UNLABELLED:
        unlike = abs(shares[0] - shares[1]) > _UNLIKE_COVERAGE
        more = "; so unlike shares can by themselves look like a change" if unlike else ""
        yield (
            f"predictions without a label: {_percent(shares[0])} before, "
            f"{_percent(shares[1])} after; what became of them is not known{more}"
        )


def _named(before: Period, after: Period) -> tuple[tuple[Period, str], ...]:
    return (before, "before"), (after, "after")


def _labels_of(sample: Sample) -> str:
    labelled = sample.labelled
    return f"{int(labelled.predicted_positive):,} and {int(labelled.predicted_negative):,}"


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def _blocks(before: Period, after: Period) -> Iterator[str]:
    for period, name in _named(before, after):
        if period.block_ms is None:
            yield (
                f"the counts of {name} were given: their errors are those of independent rows, "
                "real ones are larger"
            )
        elif period.block_ms == HOUR * 1000:
            known = before.days_known
            yield (
                f"{name} is under 20 days long: errors are taken between hours, "
                + (
                    f"widened by how the {before.held_days} days of before scatter"
                    if known
                    else "and do not hold what a whole day has in common"
                )
            )
        elif period.block_ms == DAY * 1000 and 0 < period.held < _FEWEST_BLOCKS:
            yield f"only {period.held} days of {name} have outcomes: the errors are rough"
