"""Labels that say who labelled: a reviewer, a system, a rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from monitor.events.columns import BoolArray, Labels


def _no_names() -> NDArray[np.str_]:
    return np.empty(0, dtype=np.str_)


@dataclass(frozen=True, slots=True, kw_only=True)
class SourcedLabels(Labels):
    """Labels of which at least one has a source.

    Attributes:
        source: who labelled; "" if not given; default: "".
    """

    source: NDArray[np.str_] = field(default_factory=_no_names)

    def __post_init__(self) -> None:
        Labels.__post_init__(self)
        if len(self.source) != len(self.time):
            object.__setattr__(self, "source", np.full(len(self.time), ""))

    @classmethod
    def names(cls) -> tuple[str, ...]:
        """Return the names of the columns, those of `Labels` first."""
        return (*Labels.names(), *cls.__slots__)


def have_sources(labels: Labels) -> BoolArray:
    """Return which labels have a source."""
    if isinstance(labels, SourcedLabels):
        return np.asarray(labels.source != "")
    return np.zeros(len(labels), dtype=np.bool_)


def with_sources(labels: Labels, sources: Sequence[str | None] | NDArray[np.str_]) -> Labels:
    """Return labels with who labelled; the same labels where no name is given.

    Args:
        labels: in any order.
        sources: the source of each; None or "" if not given.

    >>> labels = Labels(key=np.array([7, 9], np.uint64), time=np.array([0, 0]),
    ...     value=np.array([0, 1]), sampling_probability=np.full(2, np.nan))
    >>> with_sources(labels, [None, "rules"]).source.tolist()
    ['', 'rules']
    >>> with_sources(labels, [None, ""]) is labels
    True
    """
    if not any(sources):
        return labels
    names = np.array([source or "" for source in sources], np.str_)
    return SourcedLabels(**{name: getattr(labels, name) for name in labels.names()}, source=names)
