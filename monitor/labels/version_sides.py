"""Labels of two versions of a model that are of one predicted class."""

from __future__ import annotations

import numpy as np

from monitor.drift.versions_compared import Pair
from monitor.errors import NotComparedError
from monitor.events.columns import Int64Array
from monitor.labels.faults import SIDES, LabelFault, faults_of_sides, strata

_SIDES = {
    LabelFault.ONE_SIDE_LABELLED: "predicted positives get labels and predicted negatives do not",
    LabelFault.FLAGGED_UNLABELLED: "predicted negatives get labels and predicted positives do not",
}


def check_sides(versions: Pair, cells: Int64Array) -> None:
    """Refuse versions whose labels are of one predicted class.

    Args:
        versions: A and B.
        cells: of both in the stretch that is compared, (2, 6), see `monitor.join.deltas`.

    Raises:
        NotComparedError: the predicted positives of one have labels and its predicted negatives
            do not, or the other way round.
    """
    for version, faults in zip(
        versions, np.transpose(faults_of_sides(*strata(cells))), strict=True
    ):
        for fault, found in zip(SIDES, faults, strict=True):
            if found:
                raise NotComparedError(
                    f"of version {version.name!r}, {_SIDES[fault]}, and recall and the "
                    "false-positive rate cannot be known"
                )
