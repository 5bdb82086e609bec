"""Labels of two versions of a model that are missing by the predicted class."""

from __future__ import annotations

import numpy as np

from monitor.drift.versions_compared import Pair
from monitor.errors import NotComparedError
from monitor.events.columns import Int64Array
from monitor.labels.faults import SIDES, LabelFault, faults_of_sides, strata
from monitor.labels.version_coverage import is_coverage_unlike

_SIDES = {
    LabelFault.ONE_SIDE_LABELLED: "predicted positives get labels and predicted negatives do not",
    LabelFault.FLAGGED_UNLABELLED: "predicted negatives get labels and predicted positives do not",
}


def check_sides(versions: Pair, cells: Int64Array) -> None:
    """Refuse versions whose labels are of one predicted class, or miss one in one version alone.

    Args:
        versions: A and B.
        cells: of both by hour and segment in the stretch that is compared, (2, rows, 6), see
            `monitor.join.deltas`.

    Raises:
        NotComparedError: the predicted positives of one have labels and its predicted negatives
            do not, or the other way round; or `is_coverage_unlike`.
    """
    labelled, predicted = strata(cells.sum(axis=1))
    for version, faults in zip(
        versions, np.transpose(faults_of_sides(labelled, predicted)), strict=True
    ):
        for fault, found in zip(SIDES, faults, strict=True):
            if found:
                raise NotComparedError(
                    f"of version {version.name!r}, {_SIDES[fault]}, and recall and the "
                    "false-positive rate cannot be known"
                )
    if is_coverage_unlike(cells):
        a, b = (
            f"{100 * share:.0f} % of predicted positives and {100 * other:.0f} % of predicted "
            f"negatives of version {version.name!r}"
            for version, (share, other) in zip(versions, labelled / predicted, strict=True)
        )
        raise NotComparedError(
            f"labels are missing by the prediction, and differently: {a} have labels, and {b}; "
            "that moves recall and the false-positive rate of one version alone"
        )
