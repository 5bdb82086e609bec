"""Faults of the state that the monitor survives: a closed set, each with a counter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum


class StateFault(StrEnum):
    """Kind of fault."""

    CHECKPOINT_DAMAGED = "checkpoint_damaged"
    """A checkpoint was damaged; the one before was used."""
    CHECKPOINT_FAILED = "checkpoint_failed"
    """A checkpoint could not be written; the earlier ones stay."""
    JOURNAL_TORN = "journal_torn"
    """The end of the journal never became durable and was cut off."""
    JOURNAL_FAILED = "journal_failed"
    """Events could not be written to the journal, and were not acknowledged."""
    DIRECTORY_GONE = "directory_gone"
    """The state directory, or a part of it, was removed or replaced."""
    FEED_CHANGED = "feed_changed"
    """A feed changed since the checkpoint was written."""


class StateFaults:
    """Counts faults; safe from any thread.

    >>> faults = StateFaults()
    >>> faults.note(StateFault.JOURNAL_TORN)
    >>> faults.counts["journal_torn"], faults.counts["feed_changed"]
    (1, 0)
    """

    def __init__(self) -> None:
        self._counts: Counter[StateFault] = Counter()

    def note(self, fault: StateFault) -> None:
        """Count one fault."""
        self._counts[fault] += 1

    @property
    def counts(self) -> Mapping[StateFault, int]:
        """Number of faults of each kind."""
        return {fault: self._counts[fault] for fault in StateFault}
