"""Label faults of the classes of a model of many, by the test of live windows."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from monitor.events.columns import Int64Array
from monitor.labels.checks import OF_A_WINDOW, label_fault
from monitor.labels.faults import LabelFault, classes_at_fault
from monitor.windows.class_counts import ClassTable


def class_label_faults(
    names: Sequence[str], before: ClassTable, after: ClassTable
) -> dict[str, LabelFault]:
    """Return the classes whose labels are missing under labelling `complete`.

    Args:
        names: of the classes.
        before: counts by day of the stretch compared with.
        after: of the stretch judged, all of it mature.

    Returns:
        The fault of each class whose own labels are at fault; see `classes_at_fault`.
    """
    found = [
        label_fault(_against_others(before, number), _against_others(after, number), OF_A_WINDOW)
        for number in range(len(names))
    ]
    at_fault = classes_at_fault([fault or "" for fault in found])
    return {names[n]: fault for n in at_fault if (fault := found[n]) is not None}


def _against_others(table: ClassTable, number: int) -> Int64Array:
    """Return the counts of a class against all others by day, (days, 6)."""
    matrix, predicted = table.matrix, table.predictions
    tp, all_predicted = matrix[:, number, number], predicted.sum(axis=1)
    fp, fn = matrix[:, number].sum(axis=1) - tp, matrix[:, :, number].sum(axis=1) - tp
    tn = matrix.sum(axis=(1, 2)) - tp - fp - fn
    own = predicted[:, number]
    return np.stack([tp, fp, fn, tn, own, all_predicted - own], axis=1)
