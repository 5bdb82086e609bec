"""Outcomes of a period by its labelling regime, or a refusal with its reason.

Where labels are a sample of the predictions, outcomes are those expected of all
predictions, with the errors of the sample. Where silence is a negative, it is counted as
one. Metrics that the labels do not allow are refused.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from monitor.config import Labelling
from monitor.counts import ConfusionCounts, CountArray, Outcome
from monitor.drift import Dispersion
from monitor.events.columns import Int64Array
from monitor.join.deltas import known, unlabelled_as_negative
from monitor.labels.estimates import measure, sampled_counts
from monitor.labels.evidence import KIND_OF, Evidence
from monitor.labels.refusals import REASONS
from monitor.labels.regime import SAMPLES, LabelRegime
from monitor.labels.sampled_labels import expected, labels_by_stratum, sampling_dispersion
from monitor.metrics.label_errors import TooFewLabels, too_few_labels
from monitor.metrics.sampled import SampledCounts


class Refusal(NamedTuple):
    """The reason why a diagnosis refuses conclusions from its labels.

    Attributes:
        reason: in words.
        keeps_precision: precision alone can be estimated.
        advice: what to do about it; "" to use the general advice.
        spares_before: the fault concerns `after` alone.
    """

    reason: str
    keeps_precision: bool
    advice: str = ""
    spares_before: bool = False


_REFUSALS = {
    Labelling.FLAGGED_ONLY: Refusal(
        f"labelling flagged_only: {REASONS['flagged_only']}", keeps_precision=True
    ),
}


def refusal(labelling: Labelling) -> Refusal | None:
    """Return the refusal of a labelling regime; None where it allows every conclusion.

    >>> refusal(Labelling.COMPLETE) is None, refusal(Labelling.FLAGGED_ONLY).keeps_precision
    (True, True)
    """
    return _REFUSALS.get(labelling)


def missing_side(before: Sample | None, after: Sample | None) -> Refusal | None:
    """Return the refusal for a sample with labels of one predicted class alone.

    Args:
        before: sample of one period; None where labels are no sample.
        after: sample of the other.

    Returns:
        None where both samples have labels of both predicted classes, or no labels at all.
    """
    for sample, name in ((before, "before"), (after, "after")):
        if sample is None or sample.regime.labelling not in SAMPLES:
            continue
        flagged, passed = sample.strata
        if not flagged and not passed and sample.labelled.total:
            return Refusal(
                f"labelling {sample.regime.labelling}: no label of {name} has a "
                "sampling_probability, or they are no longer stored, so that the labels have no "
                "ratio that holds for all",
                keeps_precision=False,
            )
        if bool(flagged) != bool(passed):
            which, probability = ("negatives" if flagged else "positives"), ""
            if sample.regime.labelling is Labelling.WEIGHTED:
                probability = " and a sampling_probability"
            return Refusal(
                f"labelling {sample.regime.labelling}: no predicted {which} of {name} have a label"
                f"{probability}, so that recall, false positives and prevalence cannot be known, "
                "nor why precision moved",
                keeps_precision=bool(flagged),
            )
    return None


class Measured(NamedTuple):
    """An estimate with its 95 % interval."""

    estimate: float
    lower: float
    upper: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """Labels that outcomes are estimated from: a sample of them, or with errors.

    Attributes:
        regime: how labels come, and how often they are wrong.
        cells: int64 (6,), see `monitor.join.deltas`.
        weights: int64 (8,), see `monitor.windows.weights`.
    """

    regime: LabelRegime
    cells: Int64Array
    weights: Int64Array

    @property
    def labelled(self) -> ConfusionCounts:
        """Labelled outcomes, a scalar."""
        return ConfusionCounts.from_cells(self.cells[: len(Outcome)])

    @property
    def strata(self) -> tuple[float, float]:
        """Effective labels of the predicted positives, and of the predicted negatives."""
        return labels_by_stratum(self.regime.labelling, self.cells, self.weights)

    @property
    def fewest_of_a_class(self) -> float:
        """Effective labels of the rarer class; 0 where one of the strata has none."""
        cases = sampled_counts(self._evidence).cases
        fewest = np.minimum(cases.actual_positive, cases.actual_negative)
        return float(fewest[0]) if all(self.strata) else 0.0

    @property
    def dispersion(self) -> Dispersion:
        """Variance of the rates over that of as many independent outcomes."""
        found = sampling_dispersion(self.regime, self.cells, self.weights)
        return found or Dispersion.of(1.0)

    def measure(self, metric: str) -> Measured:
        """Estimate a metric of all predictions; NaN where undefined."""
        return Measured(*measure(self._evidence, metric)[:, 0].tolist())

    @property
    def counts(self) -> SampledCounts:
        """Outcomes as labelled and all predictions, scalars; effective labels where weighted."""
        found = sampled_counts(self._evidence)
        return SampledCounts(
            labelled=found.labelled[0],
            predicted_positive=found.predicted_positive[0],
            predicted_negative=found.predicted_negative[0],
        )

    @property
    def clipped(self) -> TooFewLabels:
        """Predicted classes with fewer labels of a class than wrong ones alone would give."""
        return too_few_labels(self.labelled, self.regime.errors)

    @property
    def _evidence(self) -> Evidence:
        kind = np.array([KIND_OF[self.regime.labelling]], dtype=np.int64)
        found = Evidence.of(kind, self.cells[None])
        found.weights[:] = self.weights
        found.errors[:] = self.regime.errors
        found.share_dispersion[:] = self.regime.limits.dispersion
        found.exclude_impossible_rates()
        return found


class PeriodOutcomes(NamedTuple):
    """Outcomes of one series by blocks of time.

    Attributes:
        blocks: one axis; fractional where they are estimated.
        sample: what they are estimated from; None where they are counted.
    """

    blocks: ConfusionCounts
    sample: Sample | None

    @classmethod
    def of(
        cls, regime: LabelRegime, cells: Int64Array, weights: Int64Array, opens: Int64Array
    ) -> Self:
        """Return the outcomes of stored counts.

        Args:
            regime: how labels come, and how often they are wrong.
            cells: (blocks, 6), see `monitor.join.deltas`.
            weights: (blocks, 8), see `monitor.windows.weights`.
            opens: first moment of each block, epoch milliseconds.

        >>> audited = np.array([[62, 38, 1, 99, 100, 9_900]])
        >>> regime, unweighted = LabelRegime(Labelling.SAMPLED), np.zeros((1, 8), np.int64)
        >>> found = PeriodOutcomes.of(regime, audited, unweighted, np.zeros(1, np.int64))
        >>> found.blocks.fn.tolist(), found.sample.labelled.fn.item()
        ([99.0], 1)
        """
        cells = known(cells)
        if regime.labelling is Labelling.NEGATIVES_BY_TIMEOUT:
            cells = unlabelled_as_negative(cells)
        blocks: CountArray = expected(regime, cells[:, None], weights[:, None], opens)[0][:, 0]
        if not regime.is_estimated:
            return cls(ConfusionCounts.from_cells(blocks), None)
        whole = regime.of_blocks(opens, cells[:, : len(Outcome)].sum(axis=1))
        sample = Sample(regime=whole, cells=cells.sum(axis=0), weights=weights.sum(axis=0))
        return cls(ConfusionCounts.from_cells(blocks), sample)
