"""The families about the change of a model: when its rates changed, and with which version."""

from collections.abc import Iterator

import numpy as np

from monitor.events.columns import FloatArray
from monitor.prometheus.family import BOUNDS, Bound, Family, line
from monitor.snapshot import Snapshot
from monitor.verdicts import Watched

_FIELDS = {"": "at", "lower": "earliest", "upper": "latest"}
"""Attributes of `ChangeBegan` by the infix of their series."""


def change_families() -> Iterator[Family]:
    """Yield the families about changes, in the order of the exposition."""
    yield from map(_when, BOUNDS)
    yield Family(
        name="classifier_change_version_info",
        kind="info",
        meaning="The version that the change of the model began with; absent where there is none.",
        labels=("model", "version"),
        lines=lambda shape: [
            line(model=m.name, version=version) for m in shape.models for version in m.versions
        ],
        values=lambda snapshot: np.array(
            [
                1.0 if name == _version(model.watched) else np.nan
                for model in snapshot.models
                for name, _ in model.latest_versions
            ],
            dtype=np.float64,
        ),
    )


def _when(bound: Bound) -> Family:
    infix = f"{bound.infix}_" if bound.infix else ""

    def values(snapshot: Snapshot) -> FloatArray:
        found = (model.watched.began for model in snapshot.models)
        field = _FIELDS[bound.infix]
        return np.array(
            [np.nan if began is None else getattr(began, field) / 1000 for began in found],
            dtype=np.float64,
        )

    return Family(
        name=f"classifier_change_{infix}timestamp_seconds",
        kind="gauge",
        meaning="When recall, the false-positive rate or skill changed, event time, to the hour; "
        f"absent where nothing says that they did.{bound.remark}",
        labels=("model",),
        lines=lambda shape: [line(model=m.name) for m in shape.models],
        values=values,
    )


def _version(watched: Watched) -> str | None:
    new = watched.new_version
    return new.name if new is not None and new.began_change else None
