"""What was found wrong with the state, and got over: a closed set, each with its counter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import StrEnum


class StateFault(StrEnum):
    """A kind of fault."""

    CHECKPOINT_DAMAGED = "checkpoint_damaged"
    """A checkpoint was not as it was written; the one before was used."""
    CHECKPOINT_FAILED = "checkpoint_failed"
    """A checkpoint could not be written; those before stay."""
    JOURNAL_TORN = "journal_torn"
    """The end of the journal never became durable and was cut off."""
    JOURNAL_FAILED = "journal_failed"
    """Events could not be put into the journal, and were not acknowledged."""
    FEED_CHANGED = "feed_changed"
    """A feed is not as it was when the checkpoint was written."""


class StateFaults:
    """Counts them; from any thread.

    >>> faults = StateFaults()
    >>> faults.note(StateFault.JOURNAL_TORN)
    >>> faults.counts["journal_torn"], faults.counts["feed_changed"]
    (1, 0)
    """

    def __init__(self) -> None:
        self._counts: Counter[StateFault] = Counter()

    def note(self, fault: StateFault) -> None:
        """One was found."""
        self._counts[fault] += 1

    @property
    def counts(self) -> Mapping[StateFault, int]:
        """How many of each kind."""
        return {fault: self._counts[fault] for fault in StateFault}
