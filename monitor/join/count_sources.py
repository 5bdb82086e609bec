"""The sources of `counts` events, and how far each of them has come.

Where several sources count for one model, the slowest of them decides how far event time has
come, so that no window ends, and no detector steps, before the counts of all of them are there.
A source that has stopped must not hold the others up forever: it no longer decides once the
others have moved on `STILL` times each, on average, since it last did; a batch moves on once,
however many panes it passes. That depends on the sequence of records alone, and not on a
clock. An absence of the receiver, in which nobody moves on, makes no source look stopped.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace

import numpy as np

from monitor.events.columns import NO_TIME, OTHER_VALUE, CountDeltas, Int64Array
from monitor.events.renumbering import State

MAX_SOURCES = 64
"""Most sources; later ones count as `OTHER_VALUE`."""
STILL = 60
"""Times that every other source of a model moves on before one that stands still is left out."""


@dataclass(slots=True)
class ModelProgress:
    """How far a source has come with one model.

    Attributes:
        watermark_ms: epoch milliseconds.
        moved: how often all sources had moved on when it last did.
        stands_still: True if it no longer decides, until it rises again.
        batch_key: of the batch with which it last moved on; 0 without.
    """

    watermark_ms: int
    moved: int
    stands_still: bool = False
    batch_key: int = 0


@dataclass(slots=True)
class CountSource:
    """One source of counts.

    Attributes:
        records: its accepted `counts` records, including repeated deliveries.
        watermark_ms: its watermark, epoch milliseconds; None if it sends none.
        late: labels that it has counted as late.
        progress: how far it has come with each model, by name; with those alone whose counts
            carried a watermark.
    """

    records: int = 0
    watermark_ms: int | None = None
    late: int = 0
    progress: dict[str, ModelProgress] = field(default_factory=dict)


class CountSources:
    """The sources by name; records without a source are left out."""

    def __init__(self) -> None:
        self._known: dict[str, CountSource] = {}

    def __iter__(self) -> Iterator[tuple[str, CountSource]]:
        """Names and sources, in the order of their appearance."""
        return iter(self._known.items())

    def note(self, counts: CountDeltas, late: Int64Array) -> None:
        """Count rows by their source.

        Args:
            counts: the rows.
            late: late labels of each row that were not counted before.
        """
        rows = zip(counts.source.tolist(), counts.watermark.tolist(), late.tolist(), strict=True)
        for name, watermark, more in rows:
            if not name:
                continue
            source = self._source(name)
            source.records += 1
            source.late += more
            if watermark != NO_TIME:
                reached = source.watermark_ms
                source.watermark_ms = watermark if reached is None else max(reached, watermark)

    def reports(self, name: str) -> bool:
        """Return whether a source sends its watermark."""
        known = self._known.get(name)
        return known is not None and known.watermark_ms is not None

    def with_reached(self, counts: CountDeltas, models: Sequence[str]) -> CountDeltas:
        """Note what the sources report; return the rows with what all of them have reached.

        Args:
            counts: rows in the order of their records.
            models: name of the model of each row.
        """
        reporting = np.flatnonzero((counts.watermark != NO_TIME) & (counts.source != ""))
        if not len(reporting):
            return counts
        reached = counts.watermark.copy()
        source, watermark = counts.source.tolist(), counts.watermark.tolist()
        key = counts.batch_key.tolist()
        before, found = ("", "", NO_TIME, 0), NO_TIME
        for row in reporting.tolist():
            report = source[row], models[row], watermark[row], key[row]
            if report != before:
                before, found = report, self._reached(*report)
            reached[row] = found
        return replace(counts, reached=reached)

    def _reached(self, name: str, model: str, watermark: int, batch_key: int) -> int:
        """Note how far a source has come with a model; return how far all have come with it.

        Args:
            name: of the source.
            model: its name.
            watermark: of the source, epoch milliseconds.
            batch_key: of its batch; 0 without.
        """
        mine = self._source(name).progress
        known = [one.progress[model] for one in self._known.values() if model in one.progress]
        moves = max((one.moved for one in known), default=0)
        if model not in mine:
            mine[model] = ModelProgress(watermark, moves + 1, batch_key=batch_key)
            known.append(mine[model])
        elif watermark > mine[model].watermark_ms:
            mine[model].watermark_ms, mine[model].stands_still = watermark, False
            if not batch_key or batch_key != mine[model].batch_key:
                mine[model].moved, mine[model].batch_key = moves + 1, batch_key
        moves = max(one.moved for one in known)
        patience = STILL * (sum(not one.stands_still for one in known) - 1)
        for one in known:
            one.stands_still |= moves - one.moved > patience
        return min(one.watermark_ms for one in known if not one.stands_still)

    def state(self) -> State:
        """Return the state of each source."""
        return {name: asdict(source) for name, source in self._known.items()}

    def restore(self, state: State, models: Collection[str]) -> None:
        """Restore from `state`.

        Args:
            state: of an earlier run.
            models: names of the models that are left.
        """
        self._known = {
            name: CountSource(
                **{
                    **source,
                    "progress": {
                        model: ModelProgress(**known)
                        for model, known in source.get("progress", {}).items()
                        if model in models
                    },
                }
            )
            for name, source in state.items()
        }

    def _source(self, name: str) -> CountSource:
        if name not in self._known and len(self._known) >= MAX_SOURCES:
            name = OTHER_VALUE
        return self._known.setdefault(name, CountSource())
