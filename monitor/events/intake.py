"""Counts what is received: events by kind, rejected records, versions of models."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from operator import attrgetter

import numpy as np

from monitor.events.batches import GROUPED, by_appearance, with_groups_in_use
from monitor.events.catalogue import Catalogue
from monitor.events.columns import (
    MISSING_VALUE,
    VERSION_KEY,
    EventBatch,
    Group,
    Int64Array,
    rows_where,
)
from monitor.events.counted_values import is_of_shadow
from monitor.events.known_groups import UNKNOWN_GROUP
from monitor.events.predicted_classes import LearnedClasses
from monitor.events.reject_reasons import RejectReason
from monitor.events.renumbering import State
from monitor.events.version_notes import note_versions
from monitor.events.version_starts import ModelVersions, VersionTimes

EVENT_OF_COLUMNS = {
    "predictions": "prediction",
    "labels": "label",
    "outcomes": "outcome",
    "counts": "counts",
}
"""Name of the events in each kind of columns of a batch."""

SHADOW_EVENT = "shadow"
"""Name of the predictions of shadow versions."""

_VERSION = attrgetter("version")
_BEFORE_ALL, _AFTER_ALL = -(1 << 60), 1 << 62


class Received:
    """Counts received records and events, and replaces groups by their numbers.

    Args:
        catalogue: numbers of models and groups.

    Attributes:
        classes: those that models learn.
        records: records read, accepted or rejected.
        events: accepted events, by kind.
        rejected: rejected records, by reason.
        overflowed: events with a segment value beyond the cap.
    """

    def __init__(self, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self._versions: dict[str, ModelVersions] = {}
        self._counted: tuple[EventBatch, Int64Array] | None = None  # its versions are not noted yet
        self._shadows: dict[str, ModelVersions] = {}
        self._unnamed: dict[str, ModelVersions] = {}
        self._by_version = any(VERSION_KEY in one.segments for one in catalogue.possible_settings)
        self.classes = LearnedClasses(catalogue)
        self.records = 0
        self.events: Counter[str] = Counter()
        self.rejected: Counter[RejectReason] = Counter()
        self.overflowed = 0

    def versions(self, model: str) -> ModelVersions:
        """Return the versions of a model; none where its predictions carry none."""
        return self._versions.get(model, ModelVersions())

    def shadows(self, model: str) -> ModelVersions:
        """Return the shadow versions of a model."""
        return self._shadows.get(model, ModelVersions())

    def unnamed(self, model: str) -> VersionTimes | None:
        """Return when predictions without a version came, of a model that is counted by version."""
        known = self._unnamed.get(model, ModelVersions()).times.get(MISSING_VALUE)
        return None if known is None or known.last == _BEFORE_ALL else known

    @property
    def predictions(self) -> int:
        """Predictions so far, those of shadow versions included."""
        return self.events["prediction"] + self.events[SHADOW_EVENT]

    def number_groups(self, batch: EventBatch, most: int) -> Iterator[None]:
        """Number the groups of a batch with many groups in steps, before `count`.

        Args:
            batch: of any size.
            most: groups to number in one step.

        Yields:
            None after each step.
        """
        if len(batch.groups) <= most:
            return
        self._catalogue.come.hold(self._catalogue.series_count)
        groups = by_appearance(with_groups_in_use(batch)).groups
        for start in range(0, len(groups), most):
            self._catalogue.enter_groups(groups[start : start + most])
            yield

    def foreseen(self, batch: EventBatch) -> tuple[EventBatch, Int64Array]:
        """Return the events of a batch that would be accepted, and nothing is counted yet.

        Args:
            batch: as decoded.

        Returns:
            The batch without the others, and the model number that each of its groups would get;
            for those of shadow versions its complement, as in `TimedRows`.
        """
        batch = by_appearance(with_groups_in_use(batch))
        model = self._catalogue.foreseen_models(batch.groups)
        for name in GROUPED:
            columns = getattr(batch, name)
            if len(columns):
                known = rows_where(model[columns.group] != UNKNOWN_GROUP)
                batch = replace(batch, **{name: columns.take(known)})
        if self._catalogue.has_shadows:
            setting = self._catalogue.setting_of
            for i in (model != UNKNOWN_GROUP).nonzero()[0].tolist():
                if is_of_shadow(group := batch.groups[i], setting(group.model)):
                    model[i] = ~model[i]
        return batch, model

    def count(self, batch: EventBatch) -> EventBatch:
        """Count a batch; return it with the catalogue's groups.

        Events of models that the catalogue does not accept are counted as rejected, and
        left out. `note_versions` has to follow.
        """
        self.records += batch.records
        if batch.rejected:
            self.rejected.update(rejection.reason for rejection in batch.rejected)
        if not self._catalogue.knows(batch.groups):
            batch = by_appearance(with_groups_in_use(batch))  # rejected records create no model
        numbers, overflowed = self._catalogue.groups_of(batch.groups)
        self._catalogue.come.await_rows(batch)
        self._counted = batch, numbers
        all_known, numbered = numbers.min(initial=0) != UNKNOWN_GROUP, {}
        for name in GROUPED:
            columns = getattr(batch, name)
            if len(columns):
                if overflowed.any():
                    self.overflowed += int(overflowed[columns.group].sum())
                taken = replace(columns, group=numbers.take(columns.group))
                if not all_known:
                    taken = taken.take(rows_where(taken.group != UNKNOWN_GROUP))
                self.rejected[RejectReason.UNKNOWN_MODEL] += len(columns) - len(taken)
                numbered[name] = taken
        batch = replace(batch, **numbered)
        for name, event in EVENT_OF_COLUMNS.items():
            self.events[event] += len(getattr(batch, name))
        if self._catalogue.has_shadows:
            shadows = int(self._catalogue.shadows[batch.predictions.group].sum())
            self.events["prediction"] -= shadows
            self.events[SHADOW_EVENT] += shadows
        return self.classes.numbered(batch)

    def note_versions(self, until: int | None = None) -> None:
        """Store when each version of each model predicted, by the batch that was counted last.

        Args:
            until: the last record to be noted now, as in the `row` columns; None for all.
        """
        if self._counted is None:
            return
        (batch, numbers), self._counted = self._counted, None
        if not self._by_version and not any(map(_VERSION, batch.groups)):
            return
        if until is not None:
            made = {name: getattr(batch, name) for name in ("predictions", "outcomes")}
            ends = {name: int(one.row.searchsorted(until, "right")) for name, one in made.items()}
            if any(ends[name] < len(one) for name, one in made.items()):
                rest = {name: one.take(slice(ends[name], None)) for name, one in made.items()}
                self._counted = replace(batch, **rest), numbers
                now = {name: one.take(slice(None, ends[name])) for name, one in made.items()}
                batch = replace(batch, **now)
        self._note_versions(batch, numbers)

    def _note_versions(self, batch: EventBatch, numbers: Int64Array) -> None:
        first = np.full(len(batch.groups), _AFTER_ALL, dtype=np.int64)
        last = np.full(len(batch.groups), _BEFORE_ALL, dtype=np.int64)
        for made in (batch.predictions, batch.outcomes):
            np.minimum.at(first, made.group, made.time)
            np.maximum.at(last, made.group, made.time)
        firsts, lasts, shadows = first.tolist(), last.tolist(), self._catalogue.shadows
        codes_of: dict[tuple[ModelVersions, str], list[int]] = {}
        named = zip(batch.groups, numbers.tolist(), lasts, strict=True)
        for code, (group, number, ended) in enumerate(named):
            if number == UNKNOWN_GROUP or ended == _BEFORE_ALL:
                continue
            if self._by_version and self._is_unnamed(group, number):
                found, name = self._unnamed, MISSING_VALUE
            elif group.version:
                found, name = self._shadows if shadows[number] else self._versions, group.version
            else:
                continue
            known = found.get(group.model) or found.setdefault(group.model, ModelVersions())
            codes_of.setdefault((known, name), []).append(code)
        note_versions(batch, codes_of, firsts, lasts)

    def _is_unnamed(self, group: Group, number: int) -> bool:
        model = self._catalogue.model_of_group[number]
        segments = self._catalogue.settings[model].segments
        return (VERSION_KEY, MISSING_VALUE) in zip(segments, group.values, strict=False)

    def state(self) -> State:
        """All counts and versions as plain values; a copy."""
        return {
            "versions": {name: known.state() for name, known in self._versions.items()},
            **(
                {"shadows": {name: known.state() for name, known in self._shadows.items()}}
                if self._shadows
                else {}
            ),
            **(
                {
                    "unnamed": {
                        model: known.times[MISSING_VALUE].state()
                        for model, known in self._unnamed.items()
                    }
                }
                if self._by_version
                else {}
            ),
            "records": self.records,
            "events": dict(self.events),
            "rejected": {
                str(reason): self.rejected[reason]
                for reason in RejectReason
                if reason in self.rejected
            },
            "overflowed": self.overflowed,
        }

    def restore(self, state: State) -> None:
        """Restore from `state` the models that the catalogue has."""
        self._versions, self._shadows = (
            {
                model: ModelVersions.restored(known)
                for model, known in state.get(kind, {}).items()
                if model in self._catalogue.models
            }
            for kind in ("versions", "shadows")
        )
        # of a state that did not store them, nobody knows when they began
        unknown = dict.fromkeys(self._catalogue.models, (None, _BEFORE_ALL))
        self._unnamed = {
            model: ModelVersions({MISSING_VALUE: VersionTimes.restored(known)})
            for model, known in state.get("unnamed", unknown).items()
            if model in self._catalogue.models
        }
        self.records, self.overflowed = state["records"], state["overflowed"]
        self.events = Counter(state["events"])
        if not self._catalogue.has_shadows:
            self._shadows = {}
            del self.events[SHADOW_EVENT]
        self.rejected = Counter({RejectReason(r): n for r, n in state["rejected"].items()})
