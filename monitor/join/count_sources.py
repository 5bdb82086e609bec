"""Who sends counts, and how far each has come."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from monitor.events.columns import NO_TIME, OTHER_VALUE, CountDeltas, Int64Array
from monitor.events.renumbering import State

MAX_SOURCES = 64
"""Sources that are told apart; later ones count as `OTHER_VALUE`."""


@dataclass(slots=True)
class CountSource:
    """One source of counts.

    Attributes:
        records: `counts` records taken from it, those delivered again included.
        watermark_ms: event time that it says it has come to; None where it does not.
        late: labels that came too late to it to count.
    """

    records: int = 0
    watermark_ms: int | None = None
    late: int = 0


class CountSources:
    """The sources by name; records without one are nobody's."""

    def __init__(self) -> None:
        self._known: dict[str, CountSource] = {}

    def __iter__(self) -> Iterator[tuple[str, CountSource]]:
        """Names and sources, in the order of their appearance."""
        return iter(self._known.items())

    def note(self, counts: CountDeltas, late: Int64Array) -> None:
        """Take notice of rows; of their late labels, only what is new."""
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

    def state(self) -> State:
        """What is known of each source."""
        return {name: asdict(source) for name, source in self._known.items()}

    def restore(self, state: State) -> None:
        """Go on from what `state` gave."""
        self._known = {name: CountSource(**source) for name, source in state.items()}

    def _source(self, name: str) -> CountSource:
        if name not in self._known and len(self._known) >= MAX_SOURCES:
            name = OTHER_VALUE
        return self._known.setdefault(name, CountSource())
