"""Predictions that repeat an id: of versions that predict at once, and of ids used again."""

from __future__ import annotations

from itertools import pairwise

from monitor.config.quantities import count_of
from monitor.snapshot import ModelState

_FEW_REPEATS = 100
"""Predictions for each repeat from which on they are worth a sentence."""
_MANY_REPEATS, _FEWEST_REPEATS = 20, 100
"""From one repeat in 20 predictions on, and 100 of them, ids may be in use again: a feed that
delivers what it had sent since its last commit, as after a restart, repeats far fewer."""


def repeats_beside_versions(model: ModelState) -> str:
    """Return that versions of a model seem to score the same ids, without a full stop.

    Args:
        model: with its versions.

    Returns:
        A sentence; "" where no two versions overlap in time, and where less than 1 % of the
        predictions repeat an id of the model.
    """
    again, every = _repeats(model)
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


def reused_ids(model: ModelState) -> str:
    """Return that so many predictions repeat an id that ids may be in use again, no full stop.

    Args:
        model: of any kind; ids that another model predicted do not count.

    Returns:
        A sentence; "" where under 5 % of the predictions repeat an id, or under 100.
    """
    again, every = _repeats(model)
    if again < _FEWEST_REPEATS or again * _MANY_REPEATS < every:
        return ""
    return (
        f"{again:,} of {count_of(every, 'prediction')} of {model.name} repeat an id: they are not "
        "counted, and their labels revise the outcome of the earlier one. Where a feed delivers "
        "the same records again, nothing is wrong; where other predictions use an id again, "
        "outcomes are wrong: each needs an id of its own"
    )


def _repeats(model: ModelState) -> tuple[int, int]:
    """Return how many predictions repeat an id of their model, and how many came in all."""
    again = model.duplicates - (0 if model.shared_ids is None else model.shared_ids.predictions)
    return again, again + model.predictions_positive + model.predictions_negative
