"""Models that have been silent for too long: where they are forgotten, and which."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import replace

import numpy as np

from monitor.engine.stages import Stages
from monitor.events.batches import in_sequence
from monitor.events.columns import KINDS, NO_TIME, EventBatch, Int64Array
from monitor.events.crossings import second_highest
from monitor.events.model_times import EPOCH_ROWS


def may_forget(stages: Stages, batch: EventBatch) -> bool:
    """Return whether a model may have been silent for too long within a batch, or before.

    Args:
        stages: as they are before the batch.
        batch: as decoded.
    """
    limit = _limit_ms(stages)
    if limit is None:
        return False
    times = [*(getattr(batch, name).time for name in KINDS), batch.counts.reached]
    latest = max((int(time.max()) for time in times if len(time)), default=NO_TIME)
    may, models = stages.silences.may_exceed, stages.times
    if not may(limit, max(latest, second_highest(models.at_most))):
        return False  # nearly always, and then `now` need not be known
    return may(limit, max(latest, second_highest(models.now)))


def cuts(stages: Stages, batch: EventBatch) -> list[int]:
    """Return the records of a batch with which the common time enters another step.

    Models that have been silent for too long are forgotten behind these.

    Args:
        stages: as they are before the batch.
        batch: as decoded, its rows in the order of their records.

    Returns:
        Values of the `row` columns in rising order.
    """
    batch, model_of_group = stages.received.foreseen(batch)
    if len(batch.counts):
        names = [batch.groups[group].model for group in batch.counts.group.tolist()]
        reached = deepcopy(stages.join.sources).with_reached(batch.counts, names)
        batch = replace(batch, counts=reached)
    models = np.maximum(model_of_group, ~model_of_group)  # those of shadow versions, too
    times = stages.times.with_room(int(models.max(initial=-1)) + 1)
    seen = times.seeing(batch, model_of_group)
    order = np.concatenate([getattr(batch, name).row for name in KINDS])[in_sequence(batch)]
    came = stages.received.events.total() + np.arange(1, len(order) + 1)
    ends = np.flatnonzero(came % EPOCH_ROWS == 0)
    enters = times.may_enter_another(seen)
    steps = times.steps(times.paths(batch, model_of_group)) if enters else []
    return [int(row) for row in np.unique([*order[steps], *order[ends]])]


def silent_models(stages: Stages) -> Int64Array:
    """Return the models that are to be forgotten, by number.

    Args:
        stages: as they are behind one of the `cuts`.
    """
    limit = _limit_ms(stages)
    if limit is None:
        return np.zeros(0, dtype=np.int64)
    over = stages.silences.over(limit)
    return over[~stages.forwarding.holds(over)] if len(over) else over


def _limit_ms(stages: Stages) -> int | None:
    """Return the silence after which a model is forgotten; none while ranges are counted."""
    return None if stages.ranges or stages.range_scores else stages.forget_after_ms
