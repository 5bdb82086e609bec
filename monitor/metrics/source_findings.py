"""How sources label the same cases: their agreement, and how often each is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.counts import ConfusionCounts
from monitor.events.columns import Int64Array
from monitor.metrics.agreement import cohen_kappa, cohen_kappa_interval
from monitor.metrics.rates import accuracy
from monitor.metrics.source_agreement import krippendorff_alpha
from monitor.metrics.source_errors import NO_LABEL, SourceErrors, dawid_skene

_LEVEL = 0.95


class PairAgreement(NamedTuple):
    """How two sources label the cases that both label.

    Attributes:
        first: name of the one.
        second: name of the other.
        cases: that both label.
        agreement: share of them that both label the same.
        kappa: Cohen's; NaN where both always give the same one label.
        lower: lower 95 % limit of kappa.
        upper: upper limit.
    """

    first: str
    second: str
    cases: int
    agreement: float
    kappa: float
    lower: float
    upper: float


@dataclass(frozen=True, eq=False)
class SourceFindings:
    """The labels that sources give cases of a model, predicted within a year.

    Attributes:
        names: of the sources that label any.
        ratings: int8 (rows, sources): 0, 1, or `NO_LABEL`.
        cases: (rows,), cases with these labels.
        outranked: labels that came when one of a source of a higher rank was in force.
        left_out: cases of all models that are no longer counted to bound memory.
    """

    names: tuple[str, ...]
    ratings: NDArray[np.int8]
    cases: Int64Array
    outranked: int
    left_out: int

    @property
    def labelled(self) -> tuple[int, ...]:
        """Cases that each source labels."""
        return tuple((self.cases @ (self.ratings != NO_LABEL)).tolist())

    @property
    def shared(self) -> int:
        """Cases that at least two sources label."""
        return int(self.cases[(self.ratings != NO_LABEL).sum(axis=1) > 1].sum())

    @cached_property
    def pairs(self) -> tuple[PairAgreement, ...]:
        """Agreement of each two sources that share a case."""
        found = (self._pair(*pair) for pair in combinations(range(len(self.names)), 2))
        return tuple(pair for pair in found if pair.cases)

    @cached_property
    def alpha(self) -> float:
        """Krippendorff's alpha of all sources; NaN where undefined."""
        labels = np.stack([(self.ratings == label).sum(axis=1) for label in (0, 1)], axis=1)
        return krippendorff_alpha(labels.astype(np.float64), self.cases.astype(np.float64))

    @cached_property
    def errors(self) -> tuple[SourceErrors, ...]:
        """How often each source labels wrong."""
        return tuple(dawid_skene(self.ratings, self.cases))

    def is_same(self, other: SourceFindings) -> bool:
        """Tell whether another one has the same labels, and so shows the same."""
        return (
            (self.names, self.outranked, self.left_out)
            == (other.names, other.outranked, other.left_out)
            and np.array_equal(self.ratings, other.ratings)
            and np.array_equal(self.cases, other.cases)
        )

    def _pair(self, first: int, second: int) -> PairAgreement:
        one, other = self.ratings[:, first], self.ratings[:, second]
        cells = [(1, 1), (1, 0), (0, 1), (0, 0)]
        counts = ConfusionCounts.from_cells(
            np.array([self.cases[(one == a) & (other == b)].sum() for a, b in cells])
        )
        lower, upper = cohen_kappa_interval(counts, _LEVEL)
        return PairAgreement(
            self.names[first],
            self.names[second],
            int(counts.total),
            float(accuracy(counts)),
            float(cohen_kappa(counts)),
            float(lower),
            float(upper),
        )
