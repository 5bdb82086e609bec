"""What must have been counted: a recount of all that was acknowledged or written to a file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from itertools import product
from typing import NamedTuple

from simulator.counts import EVENT, Counts, Tally, Truth
from simulator.events import is_shadow

AHEAD_SECONDS = 3600
"""A posted event further ahead of its arrival is rejected."""


class Delivery(NamedTuple):
    """Records that arrived together.

    Attributes:
        events: those that fit.
        kinds: number of events by type, and of records that do not fit.
    """

    events: list[dict]
    kinds: Tally

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
        kinds = Counter((EVENT, "shadow" if is_shadow(one) else one["type"]) for one in fitting)
        rejected = len(given) - len(fitting)
        return cls(fitting, kinds + Counter({(EVENT, "rejected"): rejected}))


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
        if group in self._doubtful[-1]:
            self._doubtful[-1].remove(group)
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
        events = _events_of(self.certain)
        for chosen in product(*([[], *groups] for groups in self._doubtful)):
            more = [delivery for group in chosen for delivery in group]
            if events + _events_of(more) != {key: n for key, n in found.items() if key[0] == EVENT}:
                continue  # which is found sooner than by a recount
            if found == self._counts([*self.certain, *more]):
                return more
        expected = self._counts(self.certain)
        differ = {
            key: (found.get(key, 0), expected.get(key, 0)) for key in found.keys() | expected.keys()
        }
        raise AssertionError(
            f"counted, delivered: { {key: two for key, two in differ.items() if two[0] != two[1]} }"
        )

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

    @property
    def truth(self) -> Truth:
        """The recount of them."""
        return Truth(self.events, self._timeout)

    def _counts(self, deliveries: list[Delivery]) -> Counts:
        events = [event for delivery in deliveries for event in delivery.events]
        return Truth(events, self._timeout).counts() | _events_of(deliveries)


def _events_of(deliveries: list[Delivery]) -> Tally:
    """Return how many events of each type there are in some deliveries."""
    found: Tally = Counter()
    for delivery in deliveries:
        found += delivery.kinds
    return found
