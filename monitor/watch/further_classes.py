"""References of the classes of a model to whose list names were added at the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from monitor.counts import ConfusionCounts, CountArray, Outcome
from monitor.events.columns import Int64Array
from monitor.join.deltas import PREDICTED_NEGATIVE, PREDICTED_POSITIVE
from monitor.watch.reference import MatureReference


def with_further_classes(known: Sequence[MatureReference], size: int) -> list[MatureReference]:
    """Return the references of all classes, those that were added without a case.

    They are as given where none was added.

    Args:
        known: of each class so far; their series are the whole, then the actual classes.
        size: number of classes that there are now.
    """
    if len(known) == size:
        return list(known)
    grown = [replace(one, series=_padded(one.series, size), rows=_rows(size)) for one in known]
    return [*grown, *(_without_cases(grown[0]) for _ in range(len(known), size))]


def _without_cases(other: MatureReference) -> MatureReference:
    """Return the reference of a class without a case, by that of any other class."""
    labelling = np.zeros_like(other.labelling)
    labelling[:, Outcome.TN] = other.labelling[:, : len(Outcome)].sum(axis=1)
    made = [PREDICTED_POSITIVE, PREDICTED_NEGATIVE]
    labelling[:, PREDICTED_NEGATIVE] = other.labelling[:, made].sum(axis=1)
    return replace(
        other,
        counts=_negative(other.counts),
        blocks=_negative(other.blocks),
        panes=None if other.panes is None else _negative(other.panes),
        series=_negatives(other.series),
        labelling=labelling,
    )


def _negative(counts: ConfusionCounts) -> ConfusionCounts:
    return ConfusionCounts(tp=0 * counts.tp, fp=0 * counts.fp, fn=0 * counts.fn, tn=counts.total)


def _negatives(cells: CountArray) -> CountArray:
    found = np.zeros_like(cells)
    found[..., Outcome.TN] = cells.sum(axis=-1)
    return found


def _padded(series: CountArray, size: int) -> CountArray:
    return np.concatenate(
        [series, np.zeros((size + 1 - len(series), *series.shape[1:]), series.dtype)]
    )


def _rows(size: int) -> Int64Array:
    return np.arange(size + 1)
