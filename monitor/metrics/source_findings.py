"""How sources label the same cases: their agreement, and how often each is wrong."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import Int64Array
from monitor.metrics.class_matrix import class_accuracy, class_kappa, kappa_interval
from monitor.metrics.source_agreement import krippendorff_alpha
from monitor.metrics.source_errors import NO_ERRORS, NO_LABEL, SourceErrors, dawid_skene
from monitor.metrics.source_shares import SourceShares

_LEVEL = 0.95
_BINARY = 2


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
        ratings: int8 (rows, sources): number of the class, or `NO_LABEL`.
        cases: (rows,), cases with these labels.
        outranked: labels that came when one of a source of a higher rank was in force.
        left_out: cases of all models that are no longer counted to bound memory.
        classes: of the model.
        shares: how many cases each source labels, by week; None where that is not known.
    """

    names: tuple[str, ...]
    ratings: NDArray[np.int8]
    cases: Int64Array
    outranked: int
    left_out: int
    classes: int = _BINARY
    shares: SourceShares | None = None

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
        each = [(self.ratings == label).sum(axis=1) for label in range(self.classes)]
        labels = np.stack(each, axis=1)
        return krippendorff_alpha(labels.astype(np.float64), self.cases.astype(np.float64))

    @cached_property
    def errors(self) -> tuple[SourceErrors, ...]:
        """How often each source labels wrong; undefined for a model of more than two classes.

        A source of k classes has k (k - 1) rates of wrong labels, most of them from few cases.
        """
        if self.has_many_classes:
            return (NO_ERRORS,) * len(self.names)
        return tuple(dawid_skene(self.ratings, self.cases))

    @property
    def has_many_classes(self) -> bool:
        """Whether the model has more than two classes."""
        return self.classes > _BINARY

    def is_same(self, other: SourceFindings) -> bool:
        """Tell whether another one has the same labels, and so shows the same."""
        return (
            (self.names, self.outranked, self.left_out, self.classes)
            == (other.names, other.outranked, other.left_out, other.classes)
            and np.array_equal(self.ratings, other.ratings)
            and np.array_equal(self.cases, other.cases)
            and _are_same(self.shares, other.shares)
        )

    def _pair(self, first: int, second: int) -> PairAgreement:
        both = self.ratings[:, [first, second]]
        rows = (both != NO_LABEL).all(axis=1)
        matrix = np.zeros((self.classes, self.classes), dtype=np.int64)
        np.add.at(matrix, tuple(both[rows].T), self.cases[rows])
        lower, upper = kappa_interval(matrix, _LEVEL)
        return PairAgreement(
            self.names[first],
            self.names[second],
            int(matrix.sum()),
            float(class_accuracy(matrix)),
            float(class_kappa(matrix)),
            float(lower),
            float(upper),
        )


def _are_same(one: SourceShares | None, other: SourceShares | None) -> bool:
    if one is None or other is None:
        return one is other
    return one.is_same(other)
