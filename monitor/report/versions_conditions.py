"""What a comparison of two versions holds under, and why parts of it are left out."""

from __future__ import annotations

from monitor.drift.curve_parts import FEWEST_POSITIVES
from monitor.drift.rates_of_two import Change
from monitor.drift.version_comparison import RatesCompared
from monitor.drift.version_verdict import DIFFERENT
from monitor.drift.versions_compared import VersionsCompared

ON_UNLIKE_DAYS = (
    "The areas under the ROC curves are not compared: the outcomes of the two versions are not "
    "divided among the days alike, and what differs between days would count as the versions'."
)
"""Why scores of both versions are not compared, although both have some."""


OFF_OWN_CURVE = (
    "The scores of version {a} do not decide: its predictions are not these scores cut at one "
    "threshold, or not all of them have a score."
)
"""Why scores of A leave the verdict to the rates."""


def conditions(found: VersionsCompared) -> str:
    """Return all that the verdict holds under, in sentences; "" for nothing."""
    return " ".join(filter(None, (condition(found), without_scores(found))))


def condition(found: VersionsCompared) -> str:
    """Return what the verdict holds under, where no segment is compared by; else "".

    Cases alone do not tell a worse model from harder cases: scores of either version rest on both.
    """
    if found.segments or found.comparison.by_pairs:
        return ""
    by = "at the mix as it was" if found.is_moment else "by day and hour alone"
    return (
        f"The comparison holds if both versions get alike cases, as by random assignment: it is "
        f"{by}, and a version that gets harder cases looks worse."
    )


def without_scores(found: VersionsCompared) -> str:
    """Return that another threshold may explain the verdict, as scores would show; else ""."""
    compared = found.comparison.decided_by
    shown = compared.found.verdict in DIFFERENT
    if compared.found.from_curve is not None or not (shown and in_one_direction(compared)):
        return ""
    return (
        "Recall and the false positive rate moved in one direction: where positives scatter more "
        "or less than negatives, another threshold alone can look like this. Scores would tell."
    )


def parts_take(positives: float) -> str:
    """Return how many positives telling threshold and curve apart takes; "" with so many.

    Args:
        positives: of the version with fewer of them.
    """
    if positives >= FEWEST_POSITIVES:
        return ""
    return (
        f"What of it the threshold did, and what the curve, takes {FEWEST_POSITIVES} positives of "
        "each version."
    )


def in_one_direction(compared: RatesCompared) -> bool:
    """Return whether recall and the false-positive rate moved in one direction, as estimated."""
    recall, false = compared.rates.changes()[0][[Change.RECALL, Change.FALSE_POSITIVE_RATE]]
    return bool(recall * false > 0)
