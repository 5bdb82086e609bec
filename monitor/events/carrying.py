"""Which events of a batch may carry the times of their models, however many agree with them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.events.columns import KINDS, NO_TIME, BoolArray, EventBatch, Int64Array
from monitor.events.timed_events import OWN_TIME, arrivals_of, times_of

FAR_MS = DAY_MS
"""An event further ahead of the clock at its arrival never carries time.

A clock that is hours slow, or a local time taken for UTC, is less than a day off.
"""


class Carrying(NamedTuple):
    """The events of a batch that may carry times, and those that may not.

    Attributes:
        batch: without the events that may not; what is not changed is as it was.
        kept: flags of the rows of all kinds in turn that it still has; None for all.
        far: group of each event that is too far ahead of the clock.
    """

    batch: EventBatch
    kept: BoolArray | None
    far: Int64Array


def carrying(batch: EventBatch, silent: BoolArray | None) -> Carrying:
    """Divide a batch.

    Args:
        batch: of any events. Those whose arrival is not known are never too far ahead.
        silent: flags of the groups whose events carry no time; None for none.
    """
    none = Carrying(batch, None, np.zeros(0, dtype=np.int64))
    may_be_far = _may_be_far(batch)
    if silent is None and not may_be_far:
        return none
    columns: dict[str, Any] = {}
    kept, far = [], []
    for name in KINDS:
        its = getattr(batch, name)
        stays = np.ones(len(its), dtype=np.bool_)
        if name in OWN_TIME and len(its):
            ahead = _far_ahead(batch, times_of(its), its.row) if may_be_far else ~stays
            stays = ~ahead if silent is None else ~ahead & ~silent[its.group]
            far.append(its.group[ahead])
            if not stays.all():
                columns[name] = its.take(stays)
        kept.append(stays)
    if may_be_far and len(batch.counts):
        counts = columns.get("counts", batch.counts)
        ahead = _far_ahead(batch, counts.reached, counts.row)
        if ahead.any():
            reached = np.where(ahead, NO_TIME, counts.reached)
            columns["counts"] = replace(counts, reached=reached)
            far.append(counts.group[ahead])
    if not columns:
        return none
    return Carrying(replace(batch, **columns), np.concatenate(kept), np.concatenate(far))


class FarEvents(NamedTuple):
    """Events of a model that are too far ahead of the clock.

    Attributes:
        model: its name.
        events: how many.
    """

    model: str
    events: int


def far_events(batch: EventBatch) -> Iterator[FarEvents]:
    """Yield how many events of a batch are too far ahead of the clock, by model.

    Args:
        batch: as decoded.
    """
    far = carrying(batch, None).far
    models: dict[str, int] = {}
    for group, count in enumerate(np.bincount(far).tolist()):
        if count:
            name = batch.groups[group].model
            models[name] = models.get(name, 0) + count
    for name, count in models.items():
        yield FarEvents(name, count)


def _may_be_far(batch: EventBatch) -> bool:
    if not batch.arrivals:
        return False
    latest = [times_of(its).max() for its in (getattr(batch, n) for n in OWN_TIME) if len(its)]
    if len(batch.counts):
        latest.append(batch.counts.reached.max())
    return max(latest, default=NO_TIME) > min(when for _, when in batch.arrivals) + FAR_MS


def _far_ahead(batch: EventBatch, time: Int64Array, row: Int64Array) -> BoolArray:
    arrived = arrivals_of(batch, row)
    far: BoolArray = (arrived != NO_TIME) & (time > arrived + FAR_MS)
    return far
