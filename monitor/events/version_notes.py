"""Notes when the versions of a batch predicted, whose cost does not grow with their number.

A prediction may be among the first ones of its version only where the version began within an
hour of the model's first one, by the records up to this one. Of the versions that are stored, no
more than `MOST_VERSIONS`, the rows are searched for them; of all others, nothing is kept.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from monitor.clock import HOUR_MS
from monitor.events.columns import EventBatch, Int64Array
from monitor.events.version_starts import NOT_YET, ModelVersions

Codes = Mapping[tuple[ModelVersions, str], Sequence[int]]
"""Codes of the groups of each version, as in the batch."""


class _Asking(NamedTuple):
    """Versions of a model, some predictions of which may be among their first ones.

    Attributes:
        began: when the first version of the model did, before the batch.
        firsts: first prediction before the batch, by the version's name.
        codes: codes of the groups of each version whose first prediction is known.
    """

    began: int
    firsts: dict[str, int]
    codes: dict[str, Sequence[int]]


def note_versions(
    batch: EventBatch, codes_of: Codes, firsts: Sequence[int], lasts: Sequence[int]
) -> None:
    """Store when each version of each model predicted.

    Args:
        batch: as decoded.
        codes_of: of each version that predicted, in the order of their first records.
        firsts: earliest prediction of each group, epoch milliseconds.
        lasts: latest prediction of each group.
    """
    by_model: dict[ModelVersions, dict[str, Sequence[int]]] = {}
    for (known, name), codes in codes_of.items():
        by_model.setdefault(known, {})[name] = codes
    many = {known: own for known, own in by_model.items() if known.may_forget(own)}
    few = {known: own for known, own in by_model.items() if known not in many}
    asking = dict(_asking(few, firsts))
    for known, own in few.items():
        for name, codes in own.items():
            known.note(name, min(firsts[c] for c in codes), max(lasts[c] for c in codes))
    for known, name, times in _early(batch, asking):
        known.note_early(name, times)
    _note_one_by_one(batch, many)


def _note_one_by_one(
    batch: EventBatch, many: Mapping[ModelVersions, Mapping[str, Sequence[int]]]
) -> None:
    """Note predictions in the order of their records: which versions are forgotten rests on it."""
    if not many:
        return
    owner = np.full(len(batch.groups), -1, dtype=np.int64)
    names = [""] * len(batch.groups)
    for number, codes_by_name in enumerate(many.values()):
        for name, codes in codes_by_name.items():
            owner[codes] = number
            for code in codes:
                names[code] = name
    time, group, bounds = _by_owner(batch, owner, len(many))
    for number, known in enumerate(many):
        mine = slice(bounds[number], bounds[number + 1])
        for moment, code in zip(time[mine].tolist(), group[mine].tolist(), strict=True):
            _note_one(known, names[code], moment)


def _note_one(known: ModelVersions, name: str, time: int) -> None:
    """Note one prediction of a version, and whether it is one of its first ones."""
    first, began = known.first_of(name), known.began
    known.note(name, time, time)
    is_early = first is not None and min(first, time) < min(began, time) + HOUR_MS
    if is_early and known.lacks_early(name, time):
        known.note_early(name, np.array([time], dtype=np.int64))


def _asking(
    by_model: Mapping[ModelVersions, dict[str, Sequence[int]]], firsts: Sequence[int]
) -> Iterator[tuple[ModelVersions, _Asking]]:
    """Yield the models with versions of which the batch may have some of the first predictions."""
    for known, codes_by_name in by_model.items():
        first_of = known.firsts_of(codes_by_name)
        codes = {name: codes_by_name[name] for name in first_of}
        earliest = {name: min(firsts[code] for code in own) for name, own in codes.items()}
        began = known.began
        is_as_before = min(earliest.values(), default=NOT_YET) >= began
        found = {
            name: first
            for name, first in first_of.items()
            if known.lacks_early(name, earliest[name])
            and not (is_as_before and earliest[name] >= first >= began + HOUR_MS)
        }
        if found:
            yield known, _Asking(began, found, codes)


def _early(
    batch: EventBatch, asking: Mapping[ModelVersions, _Asking]
) -> Iterator[tuple[ModelVersions, str, Int64Array]]:
    """Yield times of predictions that may be among the first ones of their version.

    Each is that of a version that began, by the records up to this one, within an hour of the
    model's first version. Versions that are not stored are left out.
    """
    models = [
        (known, one)
        for known, one in asking.items()
        if not known.times.keys().isdisjoint(one.firsts)
    ]
    if not models:
        return
    owner = np.full(len(batch.groups), -1, dtype=np.int64)
    for number, (_, one) in enumerate(models):
        owner[[code for codes in one.codes.values() for code in codes]] = number
    time, group, bounds = _by_owner(batch, owner, len(models))
    for number, (known, one) in enumerate(models):
        mine = slice(bounds[number], bounds[number + 1])
        began = np.minimum.accumulate(np.append(one.began, time[mine]))[1:]
        for name in known.times:
            if (first := one.firsts.get(name)) is None:
                continue
            own = np.isin(group[mine], one.codes[name])
            made = time[mine][own]
            first_by = np.minimum.accumulate(np.append(first, made))[1:]
            if len(early := made[first_by < began[own] + HOUR_MS]):
                yield known, name, early


def _by_owner(
    batch: EventBatch, owner: Int64Array, many: int
) -> tuple[Int64Array, Int64Array, list[int]]:
    """Return time and group of predictions by the owner of their group, in the order of records.

    Args:
        batch: as decoded.
        owner: number of each group's owner; -1 of groups without one.
        many: owners.

    Returns:
        The time, the group, and where the rows of each owner begin, and the last ones end.
    """
    made = batch.predictions, batch.outcomes
    row, time, group = (
        np.concatenate([getattr(one, name) for one in made]) for name in ("row", "time", "group")
    )
    order = np.lexsort((row, owner[group]))
    time, group = time[order], group[order]
    bounds = np.searchsorted(owner[group], np.arange(many + 1)).tolist()
    return time, group, bounds
