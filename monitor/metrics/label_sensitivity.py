"""Metrics as they would be if labels had errors that nobody has measured.

Nothing in the counts shows how many labels are wrong. What a few wrong ones would do to each
metric can be computed, and at rare positives it is more than the whole interval.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

from monitor.metrics.label_errors import ErrorRates, too_few_labels
from monitor.metrics.sampled import SampledCounts, estimate

if TYPE_CHECKING:
    from collections.abc import Mapping

    from monitor.counts import ConfusionCounts

SHARES = (0.01, 0.005, 0.002, 0.001, 5e-4, 2e-4, 1e-4)
"""Shares of wrong labels that are tried, the largest first."""

SENSITIVE_METRICS = ("recall", "precision", "false_positive_rate", "prevalence")
"""Metrics that are computed for them."""


class _Interval(Protocol):
    @property
    def estimate(self) -> float | None: ...
    @property
    def lower(self) -> float | None: ...
    @property
    def upper(self) -> float | None: ...


class WouldBe(NamedTuple):
    """A metric that wrong labels would move by more than the width of its interval.

    Attributes:
        metric: its name.
        stated: its value with all labels taken to be right.
        would_be: its value if some were wrong.
    """

    metric: str
    stated: float
    would_be: float


class LabelSensitivity(NamedTuple):
    """What a share of wrong labels would do.

    Attributes:
        share: of the labels of either class that would be wrong.
        moved: the metrics that it would move, at least one.
    """

    share: float
    moved: tuple[WouldBe, ...]


def label_sensitivity(
    counts: SampledCounts, stated: Mapping[str, _Interval]
) -> LabelSensitivity | None:
    """Return what a share of wrong labels would do to metrics whose labels are taken as right.

    Args:
        counts: outcomes as labelled, and all predictions; scalars.
        stated: metrics with their 95 % intervals, by name; None or NaN where undefined.

    Returns:
        For the largest of `SHARES` that the labels allow: neither predicted class may have
        fewer positive labels than wrong ones alone would give. None where no metric of the
        model would move by more than the width of its interval (prevalence alone is none),
        and where the labels allow no share.

    >>> from monitor.counts import ConfusionCounts
    >>> from monitor.metrics import intervals, recall
    >>> class Stated(NamedTuple):
    ...     estimate: float
    ...     lower: float
    ...     upper: float
    >>> counts = ConfusionCounts(tp=7_950, fp=4_950, fn=11_850, tn=975_250)
    >>> of_all = SampledCounts(
    ...     labelled=counts, predicted_positive=12_900, predicted_negative=987_100)
    >>> stated = {"recall": Stated(recall(counts), *intervals(counts, "recall"))}
    >>> found = label_sensitivity(of_all, stated)
    >>> found.share, [(one.metric, round(one.would_be, 2)) for one in found.moved]
    (0.01, [('recall', 0.8)])
    """
    share = next((one for one in SHARES if _allow(counts.labelled, one)), None)
    if share is None:
        return None
    wrong = SampledCounts(
        labelled=counts.labelled,
        predicted_positive=counts.predicted_positive,
        predicted_negative=counts.predicted_negative,
        false_positive=share,
        false_negative=share,
    )
    moved = tuple(
        WouldBe(metric, float(at.estimate), would_be)
        for metric in SENSITIVE_METRICS
        if (at := stated.get(metric)) is not None
        and at.estimate is not None
        and at.lower is not None
        and at.upper is not None
        and abs((would_be := float(estimate(wrong, metric))) - at.estimate) > at.upper - at.lower
    )
    of_model = any(one.metric != "prevalence" for one in moved)
    return LabelSensitivity(share, moved) if of_model else None


def _allow(labelled: ConfusionCounts, share: float) -> bool:
    """Return whether so many labels can be wrong, by the positive ones among them."""
    return not too_few_labels(labelled, ErrorRates(share, share)).positive
