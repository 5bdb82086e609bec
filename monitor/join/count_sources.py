"""The sources of `counts` events, and the watermark of each."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass

from monitor.events.columns import NO_TIME, OTHER_VALUE, CountDeltas, Int64Array
from monitor.events.renumbering import State

MAX_SOURCES = 64
"""Most sources; later ones count as `OTHER_VALUE`."""


@dataclass(slots=True)
class CountSource:
    """One source of counts.

    Attributes:
        records: its accepted `counts` records, including repeated deliveries.
        watermark_ms: its watermark, epoch milliseconds; None if it sends none.
        late: labels that it has counted as late.
    """

    records: int = 0
    watermark_ms: int | None = None
    late: int = 0


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

    def state(self) -> State:
        """Return the state of each source."""
        return {name: asdict(source) for name, source in self._known.items()}

    def restore(self, state: State) -> None:
        """Restore from `state`."""
        self._known = {name: CountSource(**source) for name, source in state.items()}

    def _source(self, name: str) -> CountSource:
        if name not in self._known and len(self._known) >= MAX_SOURCES:
            name = OTHER_VALUE
        return self._known.setdefault(name, CountSource())
