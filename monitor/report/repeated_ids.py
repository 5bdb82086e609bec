"""Predictions that repeat an id while several versions of their model predict."""

from __future__ import annotations

from itertools import pairwise

from monitor.config.quantities import count_of
from monitor.snapshot import ModelState

_FEW_REPEATS = 100
"""Predictions for each repeat from which on they are worth a sentence."""


def repeats_beside_versions(model: ModelState) -> str:
    """Return that versions of a model seem to score the same ids, without a full stop.

    Args:
        model: with its versions.

    Returns:
        A sentence; "" where no two versions overlap in time, and where less than 1 % of the
        predictions repeat an id of the model.
    """
    again = model.duplicates - (0 if model.shared_ids is None else model.shared_ids.predictions)
    every = again + model.predictions_positive + model.predictions_negative
    last = model.version_last_ms
    together = any(  # of versions in order of beginning, neighbours overlap where any two do
        first <= last[name] for (name, _), (_, first) in pairwise(model.versions) if name in last
    )
    if not together or not again or again * _FEW_REPEATS < every:
        return ""
    return (
        f"{again:,} of {count_of(every, 'prediction')} of {model.name} repeat an id while several "
        "versions predict: the earlier one counts, and at one time the one predicted negative "
        "where the version is no segment. If versions score the same ids, configure the others in "
        "shadow_versions, or compare them with compare FILE"
    )
