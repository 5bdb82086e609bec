"""Counts of each month, once its labels are complete."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime

from monitor.counts import ConfusionCounts, Outcome
from monitor.engine import Monitor


@dataclass(frozen=True, slots=True)
class Month:
    """One calendar month, UTC.

    Attributes:
        start: its start.
        counts: outcomes of the predictions made in it.
    """

    start: datetime
    counts: ConfusionCounts


class Months:
    """Yields each month once, when its counts are final.

    Args:
        monitor: the engine.
        model: name of the model.
        label_timeout_ms: age at which a missing label no longer counts, milliseconds.
    """

    def __init__(self, monitor: Monitor, model: str, label_timeout_ms: int) -> None:
        self._monitor, self._model, self._timeout = monitor, model, label_timeout_ms
        self._next: datetime | None = None

    def final(self) -> Iterator[Month]:
        """Yield the months that became final since the last call."""
        return self._until((self._monitor.watermark_ms or 0) - self._timeout)

    def remaining(self) -> Iterator[Month]:
        """Yield the remaining months that a recording covers to their end."""
        return self._until(self._monitor.watermark_ms or 0)

    def _until(self, moment_ms: int) -> Iterator[Month]:
        if self._next is None:
            self._next = self._first()
        while self._next is not None and _ms(_following(self._next)) <= moment_ms:
            yield self._month(self._next)
            self._next = _following(self._next)

    def _first(self) -> datetime | None:
        history = self._monitor.history(self._model)
        hours = history.open[history.cells.any(axis=1)]
        if not len(hours):
            return None
        hour = datetime.fromtimestamp(int(hours[0]) / 1000, UTC)
        return datetime(hour.year, hour.month, 1, tzinfo=UTC)

    def _month(self, start: datetime) -> Month:
        history = self._monitor.history(self._model)
        inside = (history.open >= _ms(start)) & (history.open < _ms(_following(start)))
        cells = history.cells[inside, : len(Outcome)].sum(axis=0)
        return Month(start, ConfusionCounts.from_cells(cells))


def _following(month: datetime) -> datetime:
    return datetime(month.year + month.month // 12, month.month % 12 + 1, 1, tzinfo=UTC)


def _ms(moment: datetime) -> int:
    return int(moment.timestamp()) * 1000
