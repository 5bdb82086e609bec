"""The families about confusions of classes that certainly changed since the reference."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from monitor.events.columns import FloatArray
from monitor.prometheus.family import MOST_CONFUSIONS, Family, changed_confusions, line
from monitor.snapshot import Snapshot

_LABELS = ("model", "window", "actual", "predicted")


def confusion_families() -> Iterator[Family]:
    """Yield the families about confusions, in the order of the exposition."""
    yield _family(
        "classifier_confusion_ratio",
        "Share of the cases of an actual class that are predicted as another one: the "
        f"{MOST_CONFUSIONS} that certainly changed most since the reference, absent elsewhere.",
        "after",
    )
    yield _family(
        "classifier_reference_confusion_ratio", "The same share in the reference.", "before"
    )


def _family(name: str, meaning: str, side: str) -> Family:
    def values(snapshot: Snapshot) -> FloatArray:
        return np.array(
            [
                getattr(one, side)
                for model in snapshot.models
                for _, one in changed_confusions(model)
            ],
            dtype=np.float64,
        )

    return Family(
        name=name,
        kind="gauge",
        meaning=meaning,
        labels=_LABELS,
        lines=lambda shape: [
            line(model=model.name, window=window, actual=actual, predicted=predicted)
            for model in shape.models
            for window, actual, predicted in model.confusions
        ],
        values=values,
    )
