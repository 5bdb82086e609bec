"""Who labelled, as small numbers: the first sources by name, and one number for all others."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from monitor.config.label_sources import MOST_SOURCES
from monitor.errors import ConfigError
from monitor.events.columns import OTHER_VALUE, Labels
from monitor.events.sourced_labels import SourcedLabels

SourceArray = NDArray[np.int8]
NO_SOURCE = -1
"""Number of the source of a label that names none."""


def _none() -> SourceArray:
    return np.empty(0, dtype=np.int8)


@dataclass(frozen=True, slots=True, kw_only=True)
class NumberedLabels(Labels):
    """Labels of which at least one may have a source.

    Attributes:
        source: number of the source of each, `NO_SOURCE` if not given; default: `NO_SOURCE`.
    """

    source: SourceArray = field(default_factory=_none)

    def __post_init__(self) -> None:
        Labels.__post_init__(self)
        if len(self.source) != len(self.time):
            object.__setattr__(self, "source", np.full(len(self.time), NO_SOURCE, np.int8))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the columns, those of `Labels` first."""
        return (*Labels.names(), *cls.__slots__)


class SourceNames:
    """The sources that have a number: those configured, then in the order in which they came.

    Args:
        configured: names of sources that the configuration ranks.

    >>> names = SourceNames(["expert"])
    >>> labels = SourcedLabels(key=np.array([7, 9], np.uint64), time=np.array([0, 0]),
    ...     value=np.array([0, 1]), sampling_probability=np.full(2, np.nan),
    ...     source=np.array(["", "rules"]))
    >>> names.numbered(labels).source.tolist(), names.all
    ([-1, 1], ['expert', 'rules'])
    """

    def __init__(self, configured: Iterable[str] = ()) -> None:
        self._configured = sorted({*configured})
        self.all = [*self._configured]

    def numbered(self, labels: SourcedLabels) -> NumberedLabels:
        """Return labels with the numbers of their sources.

        Args:
            labels: in the order of their records, by which new sources are numbered.
        """
        distinct, first, inverse = np.unique(labels.source, return_index=True, return_inverse=True)
        names = distinct.tolist()
        numbers = np.full(len(names), NO_SOURCE, dtype=np.int8)
        for place in np.argsort(first).tolist():
            if names[place]:
                numbers[place] = self._number(names[place])
        columns = {name: getattr(labels, name) for name in Labels.names()}
        return NumberedLabels(**columns, source=numbers[inverse.reshape(-1)])

    def restore(self, names: Sequence[str]) -> None:
        """Restore the sources of a state.

        Raises:
            ConfigError: it has no number left for a source that is configured.
        """
        more = [name for name in self._configured if name not in names]
        self.all = [*names, *more]
        if len(self.all) > MOST_SOURCES:
            fault = f"label_sources: the state has {len(names)} sources already, and at most "
            more_of = f"{MOST_SOURCES} have a rank, got {more[0]!r}; move the state away to add it"
            raise ConfigError((fault + more_of,))

    def _number(self, name: str) -> int:
        if name in self.all:
            return self.all.index(name)
        if name == OTHER_VALUE or len(self.all) >= MOST_SOURCES:
            return MOST_SOURCES
        self.all.append(name)
        return len(self.all) - 1

    @property
    def count(self) -> int:
        """How many numbers sources may have."""
        return MOST_SOURCES + 1

    def name(self, number: int) -> str:
        """Return the name of a source; `__other__` for the number that many share."""
        return OTHER_VALUE if number == MOST_SOURCES else self.all[number]

    def ranks(self, order: Sequence[str]) -> NDArray[np.int64]:
        """Return the rank of each source, by its number plus 1: the greater counts first.

        Args:
            order: names of sources, the one that counts first at the beginning.

        Returns:
            One more than there are sources: the first element is of labels without a source.
            0 for these, and for sources that are not in the order.
        """
        ranks = np.zeros(MOST_SOURCES + 2, dtype=np.int64)
        for number, name in enumerate(self.all):
            if name in order:
                ranks[number + 1] = len(order) - order.index(name)
        return ranks
