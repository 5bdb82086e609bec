"""How many series have come, up to the record at which a part of a batch ends.

All groups of a batch get their numbers before its first part is counted. What is judged behind a
part must not know of series that only later records name.
"""

from __future__ import annotations

from monitor.events.batches import first_rows
from monitor.events.columns import EventBatch, Group

_ALL = 1 << 62


class SeriesCome:
    """Counts the series of the records so far; series are numbered in the order of these.

    Attributes:
        before: series with a number below this one have come.
    """

    def __init__(self) -> None:
        self.before = _ALL
        self._entered: dict[Group, int] = {}
        self._ahead: list[tuple[int, int]] = []

    def enter(self, group: Group, series: int) -> None:
        """Note a group that has brought series.

        Args:
            group: as decoded.
            series: how many there were before it.
        """
        self._entered[group] = series

    def hold(self, series: int) -> None:
        """Wait for the records of series that get numbers from now on.

        Args:
            series: how many there are.
        """
        self.before = series

    def await_rows(self, batch: EventBatch) -> None:
        """Note with which records the series come that have got numbers since the last batch.

        Args:
            batch: as decoded, but with its rows in the order of their records.
        """
        if self._entered:
            first = dict(zip(batch.groups, first_rows(batch).tolist(), strict=True))
            self._ahead = [(first[group], series) for group, series in self._entered.items()]
            self._entered = {}

    def reach(self, until: int | None) -> None:
        """Go on to the end of a part of the batch.

        Args:
            until: its last record, as in the `row` columns; None for the end of the batch.
        """
        self._ahead = [] if until is None else [one for one in self._ahead if one[0] > until]
        self.before = min((series for _, series in self._ahead), default=_ALL)
