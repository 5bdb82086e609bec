"""Evidence: the counts, estimation method and label faults that estimates are predicted from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from monitor.config import Labelling, ModelConfig
from monitor.counts import ConfusionCounts, Outcome
from monitor.events.columns import FloatArray, Int64Array
from monitor.labels.cohorts import Coverage
from monitor.labels.faults import LabelFault, faults_of_sides, strata
from monitor.metrics.label_errors import ErrorRates
from monitor.metrics.possible_rates import possible_rates
from monitor.windows.weights import SUMS

_CELLS = len(Outcome)
_FAULT_TEXT = f"<U{max(map(len, LabelFault))}"


class Kind:
    """Estimation method of a row; integers, see `timed_events.EventKind`."""

    PLAIN: Final = 0
    SAMPLED: Final = 1
    WEIGHTED: Final = 2
    FLAGGED: Final = 3
    CORRECTED: Final = 4
    IMMATURE: Final = 5
    CORRECTED_SAMPLED: Final = 6
    CORRECTED_FLAGGED: Final = 7
    ONE_SIDED: Final = 8
    CORRECTED_ONE_SIDED: Final = 9
    FAULTY: Final = 10


_COME = (Kind.PLAIN, Kind.SAMPLED, Kind.FLAGGED)
"""Methods of rows whose labels have come and count as one each."""

STATUS = (
    *("mature",) * 4,
    "corrected",
    "immature",
    *("corrected",) * 2,
    *("untrusted",) * 3,
)
"""Published maturity status of a window, by `Kind`."""

KIND_OF = {
    Labelling.COMPLETE: Kind.PLAIN,
    Labelling.NEGATIVES_BY_TIMEOUT: Kind.PLAIN,
    Labelling.SAMPLED: Kind.SAMPLED,
    Labelling.WEIGHTED: Kind.WEIGHTED,
    Labelling.FLAGGED_ONLY: Kind.FLAGGED,
}
"""Method for windows whose labels have come, by labelling regime."""


def kind_of(setting: ModelConfig) -> int:
    """Return the method for windows of a model whose labels have come."""
    return Kind.FLAGGED if setting.has_many_classes else KIND_OF[setting.labelling]


CORRECTED_KIND_OF = {
    Labelling.COMPLETE: Kind.CORRECTED,
    Labelling.SAMPLED: Kind.CORRECTED_SAMPLED,
    Labelling.FLAGGED_ONLY: Kind.CORRECTED_FLAGGED,
}
"""Method for windows with at least half of their labels, by labelling regime.

Weighted labels have none: their delays depend on how a label was sampled, which the
distribution by outcome does not model. Where silence is a negative there is none either:
silence counts only after the timeout."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """The input of the estimates of some rows.

    Attributes:
        kind: (rows,), see `Kind`.
        cells: int64 (rows, 6), see `monitor.join.deltas`; silence already counted.
        weights: int64 (rows, 8), see `monitor.windows.weights`; zeros where not weighted.
        coverage: share of the eventual labels that have come, (rows, 4) by `Outcome`,
            and the variance of its log; 1 and 0 where the labels have come.
        fault: (rows,), the `LabelFault` for which metrics are refused; "" for none.
        errors: (rows, 6), rates of wrong labels in the order of `ErrorRates`; zeros where
            labels are taken as they are, NaN where they are undefined.
        share_dispersion: (rows,), see `monitor.metrics.possible_rates.share_dispersion`; 1 where
            no rates are configured.
    """

    kind: Int64Array
    cells: Int64Array
    weights: Int64Array
    coverage: Coverage
    fault: NDArray[np.str_]
    errors: FloatArray
    share_dispersion: FloatArray

    @classmethod
    def complete(cls, cells: Int64Array) -> Evidence:
        """Return the evidence of rows whose labels are complete."""
        return cls.of(np.zeros(len(cells), dtype=np.int64), cells)

    @classmethod
    def of(cls, kind: Int64Array, cells: Int64Array) -> Evidence:
        """Return the evidence of rows whose labels have come.

        Args:
            kind: (rows,), see `Kind`.
            cells: (rows, 6).
        """
        rows = len(cells)
        return cls(
            kind=kind,
            cells=cells,
            weights=np.zeros((rows, SUMS), dtype=np.int64),
            coverage=Coverage(np.ones((rows, _CELLS)), np.zeros((rows, _CELLS))),
            fault=np.full(rows, "", dtype=_FAULT_TEXT),
            errors=np.zeros((rows, len(ErrorRates._fields))),
            share_dispersion=np.ones(rows),
        )

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: Int64Array) -> Evidence:
        """Return the evidence of some of the rows."""
        return Evidence(
            kind=self.kind[rows],
            cells=self.cells[rows],
            weights=self.weights[rows],
            coverage=Coverage(self.coverage.share[rows], self.coverage.variance[rows]),
            fault=self.fault[rows],
            errors=self.errors[rows],
            share_dispersion=self.share_dispersion[rows],
        )

    def distrust(self, rows: Int64Array, fault: str) -> None:
        """Mark a label fault of some rows; immature rows stay immature.

        Args:
            rows: to mark.
            fault: a `LabelFault`.
        """
        young = self.kind[rows] == Kind.IMMATURE
        self.fault[rows[~young]] = fault
        self.kind[rows[~young]] = Kind.FAULTY

    def exclude_impossible_rates(self) -> None:
        """Leave out rates of wrong labels that the labels of a row exclude, where these have come.

        A row whose labels exclude all of a range, or a known rate, is marked as faulty.
        """
        rows = np.flatnonzero(np.isin(self.kind, _COME) & self.errors.any(axis=1))
        if not len(rows):
            return
        labelled = ConfusionCounts.from_cells(self.cells[rows, :_CELLS])
        found = possible_rates(self.errors[rows], labelled, self.share_dispersion[rows])
        self.errors[rows] = found.errors
        self.distrust(rows[~found.fit], LabelFault.LABEL_ERRORS_TOO_HIGH)

    def distrust_sides(self, rows: Int64Array) -> None:
        """Mark rows whose labels should be complete and miss one predicted class."""
        due = rows[np.isin(self.kind[rows], (Kind.PLAIN, Kind.CORRECTED))]
        share = self.coverage.share[due]
        come = np.nan_to_num(self.cells[due, :_CELLS] / np.where(share > 0, share, np.nan))
        labelled = np.stack([come[:, 0] + come[:, 1], come[:, 2] + come[:, 3]], axis=-1)
        _, predicted = strata(self.cells[due])
        flagged_alone, others_alone = faults_of_sides(np.minimum(labelled, predicted), predicted)
        young = self.kind[due] == Kind.CORRECTED
        self.distrust(due[others_alone], LabelFault.FLAGGED_UNLABELLED)
        one_sided = due[flagged_alone]
        self.fault[one_sided] = LabelFault.ONE_SIDE_LABELLED
        self.kind[one_sided] = np.where(
            young[flagged_alone], Kind.CORRECTED_ONE_SIDED, Kind.ONE_SIDED
        )

    def differs(self, other: Evidence) -> Int64Array:
        """Return the rows that differ from other evidence, which may have fewer rows."""
        known = len(other)
        same = np.zeros(len(self), dtype=np.bool_)
        columns = [
            (self.kind[:, None], other.kind[:, None]),
            (self.cells, other.cells),
            (self.weights, other.weights),
            (self.coverage.share, other.coverage.share),
            (self.coverage.variance, other.coverage.variance),
            (self.errors, other.errors),
        ]
        same[:known] = np.all(
            [(mine[:known] == theirs).all(axis=1) for mine, theirs in columns], axis=0
        )
        return np.flatnonzero(~same)
