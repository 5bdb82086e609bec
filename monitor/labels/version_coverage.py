"""Whether labels of one version of a model are missing by the prediction, beside the other's.

Labels missing by the predicted class move recall and the false-positive rate. If they are missing
alike in both versions, both versions move alike, and the comparison stands; if they are missing in
one version alone, its rates move alone, and it looks better or worse than it is.

Labels missing by the actual class move neither rate, though the coverage of the predicted classes
then follows precision, which differs where a version is worse. So coverage that the labels of
actual classes explain, the same for both versions, is no fault.
"""

from __future__ import annotations

from math import log

import numpy as np

from monitor.counts import Outcome
from monitor.events.columns import FloatArray, Int64Array
from monitor.labels.faults import strata

_MATERIAL = log(1.1)
"""A rate that moves by less than a tenth of itself is as it was."""
_DEVIATES = 3.0


def is_coverage_unlike(cells: Int64Array) -> bool:
    """Test whether labels are missing by the predicted class in one version more than in the other.

    Within strata, each version has a ratio of the coverages of its two predicted classes. The two
    ratios differ if they certainly differ by more than a tenth (three standard errors), and if the
    coverage of actual classes that version A shows leaves as large a difference unexplained.

    Args:
        cells: of A and B by stratum (segment and day, or finer), (2, strata, 6), see
            `monitor.join.deltas`.

    Returns:
        Whether they differ; false where a predicted class of either version has no label, or
        where no stratum has predictions of both versions.

    Source:
        Mantel and Haenszel 1959 (the common ratio of two risks); Greenland and Robins 1985,
        eq. 13 (its variance).

    >>> a, b = [80, 20, 20, 880, 100, 900], [80, 20, 20, 600, 100, 900]
    >>> is_coverage_unlike(np.array([[a], [b]])), is_coverage_unlike(np.array([[a], [a]]))
    (True, False)
    """
    labelled, predicted = (np.asarray(one, np.float64) for one in strata(cells))
    (a, b), (of_a, of_b) = labelled, predicted
    total = np.where(of_a + of_b > 0, of_a + of_b, 1.0)
    above, below = (b * of_a / total).sum(axis=0), (a * of_b / total).sum(axis=0)
    if not (above * below).all():
        return False
    changes = np.log(above / below)
    spread = (of_a * of_b * (a + b) - a * b * total) / total**2
    error = np.sqrt((spread.sum(axis=0) / (above * below)).sum())
    found = float(changes[0] - changes[1])
    unexplained = found - _explained_by_classes(cells.sum(axis=1))
    least = _MATERIAL + _DEVIATES * error
    return bool(min(abs(found), abs(unexplained)) > least)


def _explained_by_classes(cells: Int64Array) -> float:
    """Return what coverage by the actual class, as in A, makes of the ratio of B's coverages.

    Args:
        cells: of A and B, (2, 6).

    Returns:
        Difference between the logs of the two ratios, B's less A's; 0 where no coverage of the
        actual classes gives the counts of A.
    """
    tables = np.array(
        [[[one[Outcome.TP], one[Outcome.FP]], [one[Outcome.FN], one[Outcome.TN]]] for one in cells],
        dtype=np.float64,
    )
    labelled, predicted = (np.asarray(one, np.float64) for one in strata(cells))
    if np.linalg.matrix_rank(tables[0]) < len(tables[0]):
        return 0.0
    weights: FloatArray = np.linalg.solve(tables[0], predicted[0])  # 1 / coverage of each class
    if (weights < 1).any():
        return 0.0
    logs = np.log(labelled / np.stack([predicted[0], tables[1] @ weights]))
    return float((logs[1, 0] - logs[1, 1]) - (logs[0, 0] - logs[0, 1]))
