"""What must have been counted: a recount of all that was acknowledged or written to a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from recount import CELLS, Recount
from simulator.process import Counts

AHEAD_SECONDS = 3600
"""A posted event further ahead of its arrival is rejected."""


class Delivery(NamedTuple):
    """Records that arrived together.

    Attributes:
        events: those that fit.
        rejected: number of the others.
    """

    events: list[dict]
    rejected: int

    @classmethod
    def of(cls, records: Iterable[dict], arrived: float | None) -> Delivery:
        """Records, and the wall time at which they arrived if they were posted."""
        given = list(records)
        fitting = [
            record
            for record in given
            if record["type"] != "broken"
            and (arrived is None or record["ts"] <= int(arrived * 1000) / 1000 + AHEAD_SECONDS)
        ]
        return cls(fitting, len(given) - len(fitting))


class Ledger:
    """All deliveries: those that must count, and those that may.

    Args:
        timeout: of labels, seconds.
    """

    def __init__(self, timeout: float) -> None:
        self._timeout = timeout
        self.certain: list[Delivery] = []
        self._doubtful: list[list[list[Delivery]]] = [[]]

    def begin(self, group: list[Delivery]) -> None:
        """Deliveries are about to be stored as one; until they are acknowledged, they may count."""
        self._doubtful[-1].append(group)

    def acknowledge(self) -> None:
        """The latest group was stored; what the process failed to store before it is gone."""
        self.certain += self._doubtful[-1].pop()
        self._doubtful[-1] = []

    def end_process(self) -> None:
        """One of the groups that a process could not acknowledge may be there for the next."""
        if self._doubtful[-1]:
            self._doubtful.append([])

    def check(self, found: Counts) -> list[Delivery]:
        """Compare with what a process has counted.

        Returns:
            The deliveries without an answer that it has counted, too.

        Raises:
            AssertionError: neither with nor without some of these it is what was delivered.
        """
        for chosen in product(*([[], *groups] for groups in self._doubtful)):
            more = [delivery for group in chosen for delivery in group]
            if found == self._counts([*self.certain, *more]):
                return more
        raise AssertionError(f"counted {found}, delivered {self._counts(self.certain)}")

    def settle(self, counted: list[Delivery]) -> None:
        """What a start has counted of the doubtful is certain now, and the rest is gone.

        What the process that runs failed to store may still be there for the next.
        """
        self.certain += counted
        self._doubtful = self._doubtful[-1:]

    @property
    def events(self) -> list[dict]:
        """Events of all deliveries that must count."""
        return [event for delivery in self.certain for event in delivery.events]

    def window(self, since: float, before: float) -> Counter[str]:
        """Outcomes by cell of the predictions made in [since, before)."""
        events = self.events
        found = self._recount(events).counts(since=since, before=before)
        found.update(
            CELLS[one["prediction"], one["label"]]
            for one in events
            if one["type"] == "outcome" and since <= one["ts"] < before
        )
        return found

    def _recount(self, events: list[dict]) -> Recount:
        return Recount([e for e in events if e["type"] != "outcome"], self._timeout)

    def _counts(self, deliveries: list[Delivery]) -> Counts:
        events = [event for delivery in deliveries for event in delivery.events]
        cells: Counter[tuple[str, str]] = Counter()
        for event, cell in self._recount(events).outcomes():
            cells.update([("", cell), (event["segment"]["k"], cell)])
        for event in events:
            if event["type"] == "outcome":
                cell = CELLS[event["prediction"], event["label"]]
                cells.update([("", cell), (event["segment"]["k"], cell)])
        kinds = Counter(event["type"] for event in events)
        kinds["rejected"] = sum(delivery.rejected for delivery in deliveries)
        return Counts(dict(cells), {kind: n for kind, n in kinds.items() if n})
