"""Positions in the journal of posted requests."""

from __future__ import annotations

from typing import NamedTuple

JOURNAL = "journal"
"""Its directory in the state directory, and its key among the positions of a checkpoint."""


class JournalPosition(NamedTuple):
    """A position between two bodies of the journal.

    Attributes:
        segment: number of the segment; 0 before the first.
        offset: offset of a frame in it.
        bodies: number of bodies of that frame before the position.
        salt: salt of the segment, which differs in another journal; 0 before the first
            segment, and in positions of versions that did not know it.
        record_bytes: length up to which records behind the position were acknowledged; 0 for the
            most that any configuration allows.
    """

    segment: int
    offset: int
    bodies: int
    salt: int = 0
    record_bytes: int = 0

    @property
    def is_start(self) -> bool:
        """True for the position before the first body."""
        return self.segment == 0

    def is_before(self, other: JournalPosition) -> bool:
        """Return True if the other position, of the same journal, is further on."""
        return self[:3] < other[:3]


START = JournalPosition(0, 0, 0)
"""The position before the first body."""
