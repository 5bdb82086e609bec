"""What the estimates of some rows rest on: counts, how they are estimated, what is refused."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from monitor.config import Labelling
from monitor.counts import Outcome
from monitor.events.columns import Int64Array
from monitor.labels.cohorts import Coverage
from monitor.labels.faults import LabelFault, faults_of_sides, strata
from monitor.windows.weights import SUMS

_CELLS = len(Outcome)
_FAULT_TEXT = f"<U{max(map(len, LabelFault))}"


class Kind(IntEnum):
    """By which method a row is estimated."""

    PLAIN = 0
    SAMPLED = 1
    WEIGHTED = 2
    FLAGGED = 3
    CORRECTED = 4
    IMMATURE = 5
    CORRECTED_SAMPLED = 6
    CORRECTED_FLAGGED = 7
    ONE_SIDED = 8
    CORRECTED_ONE_SIDED = 9
    ASTRAY = 10


STATUS = (
    *("mature",) * 4,
    "corrected",
    "immature",
    *("corrected",) * 2,
    *("untrusted",) * 3,
)
"""What is said of a window's age, by `Kind`."""

KIND_OF = {
    Labelling.COMPLETE: Kind.PLAIN,
    Labelling.NEGATIVES_BY_TIMEOUT: Kind.PLAIN,
    Labelling.SAMPLED: Kind.SAMPLED,
    Labelling.WEIGHTED: Kind.WEIGHTED,
    Labelling.FLAGGED_ONLY: Kind.FLAGGED,
}
"""How rows are estimated where the labels that were to come have come."""

CORRECTED_KIND_OF = {
    Labelling.COMPLETE: Kind.CORRECTED,
    Labelling.SAMPLED: Kind.CORRECTED_SAMPLED,
    Labelling.FLAGGED_ONLY: Kind.CORRECTED_FLAGGED,
}
"""How rows are estimated where half or more have come. Not where labels are weighted:
delays then differ by how a label was sampled, which the distribution by outcome does
not hold; nor where silence is a negative, which it is only once the timeout has passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """All that the estimates of some rows rest on.

    Attributes:
        kind: (rows,), see `Kind`.
        cells: int64 (rows, 6), see `monitor.join.deltas`; silence already counted in.
        weights: int64 (rows, 8), see `monitor.windows.weights`; zeros where not weighted.
        coverage: share of the labels to come that have come, (rows, 4) by `Outcome`,
            and the variance of its log; 1 and 0 where the labels have come.
        fault: (rows,), the `LabelFault` for which metrics are refused; "" for none.
    """

    kind: Int64Array
    cells: Int64Array
    weights: Int64Array
    coverage: Coverage
    fault: NDArray[np.str_]

    @classmethod
    def complete(cls, cells: Int64Array) -> Evidence:
        """Of rows whose labels are complete."""
        return cls.of(np.zeros(len(cells), dtype=np.int64), cells)

    @classmethod
    def of(cls, kind: Int64Array, cells: Int64Array) -> Evidence:
        """Of rows whose labels have come."""
        rows = len(cells)
        return cls(
            kind=kind,
            cells=cells,
            weights=np.zeros((rows, SUMS), dtype=np.int64),
            coverage=Coverage(np.ones((rows, _CELLS)), np.zeros((rows, _CELLS))),
            fault=np.full(rows, "", dtype=_FAULT_TEXT),
        )

    def __len__(self) -> int:
        return len(self.kind)

    def take(self, rows: Int64Array) -> Evidence:
        """Some of the rows."""
        return Evidence(
            kind=self.kind[rows],
            cells=self.cells[rows],
            weights=self.weights[rows],
            coverage=Coverage(self.coverage.share[rows], self.coverage.variance[rows]),
            fault=self.fault[rows],
        )

    def distrust(self, rows: Int64Array, fault: str) -> None:
        """Some rows' labels went astray, whatever the rows' own counts show."""
        young = self.kind[rows] == Kind.IMMATURE
        self.fault[rows[~young]] = fault
        self.kind[rows[~young]] = Kind.ASTRAY

    def distrust_sides(self, rows: Int64Array) -> None:
        """Where labels are to be complete, and miss one predicted class: withheld."""
        due = rows[np.isin(self.kind[rows], (Kind.PLAIN, Kind.CORRECTED))]
        share = self.coverage.share[due]
        come = np.nan_to_num(self.cells[due, :_CELLS] / np.where(share > 0, share, np.nan))
        labelled = np.stack([come[:, 0] + come[:, 1], come[:, 2] + come[:, 3]], axis=-1)
        _, made = strata(self.cells[due])
        flagged_alone, others_alone = faults_of_sides(np.minimum(labelled, made), made)
        young = self.kind[due] == Kind.CORRECTED
        self.distrust(due[others_alone], LabelFault.FLAGGED_UNLABELLED)
        one_sided = due[flagged_alone]
        self.fault[one_sided] = LabelFault.ONE_SIDE_LABELLED
        self.kind[one_sided] = np.where(
            young[flagged_alone], Kind.CORRECTED_ONE_SIDED, Kind.ONE_SIDED
        )

    def differs(self, other: Evidence) -> Int64Array:
        """Rows that are not as in other evidence, which may be of fewer rows."""
        known = len(other)
        same = np.zeros(len(self), dtype=np.bool_)
        columns = [
            (self.kind[:, None], other.kind[:, None]),
            (self.cells, other.cells),
            (self.weights, other.weights),
            (self.coverage.share, other.coverage.share),
            (self.coverage.variance, other.coverage.variance),
        ]
        same[:known] = np.all(
            [(mine[:known] == theirs).all(axis=1) for mine, theirs in columns], axis=0
        )
        return np.flatnonzero(~same)
