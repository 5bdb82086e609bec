"""Faults of the state that the monitor survives: a closed set, each with a counter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum


class StateFault(StrEnum):
    """Kind of fault."""

    CHECKPOINT_DAMAGED = "checkpoint_damaged"
    """A checkpoint was damaged; the other one was used."""
    CHECKPOINT_FAILED = "checkpoint_failed"
    """A checkpoint could not be written; the earlier ones stay."""
    JOURNAL_DAMAGED = "journal_damaged"
    """A part of the journal that only the older checkpoint needs is damaged."""
    JOURNAL_REPAIRED = "journal_repaired"
    """A damaged byte of the last requests in the journal was repaired."""
    JOURNAL_TORN = "journal_torn"
    """The end of the journal never became durable, or is damaged, and was cut off."""
    JOURNAL_FAILED = "journal_failed"
    """Events could not be written to the journal, and were not acknowledged."""
    DIRECTORY_GONE = "directory_gone"
    """The state directory, or a part of it, was removed or replaced."""
    ID_SEED_DAMAGED = "id_seed_damaged"
    """The file of the seed of ids differed from the checkpoint, and was written anew."""
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
