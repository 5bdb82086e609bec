"""Faults of the journal at a start: reported, counted, or a reason to refuse."""

from __future__ import annotations

from collections.abc import Callable

from monitor.feeds.source import Position
from monitor.state import Journal, JournalPosition, StateError, StateFault, StateFaults


def report_end(journal: Journal, say: Callable[[str], None], faults: StateFaults) -> None:
    """Report what was repaired at the end of a journal, or cut off there, when it was opened.

    Args:
        journal: the journal.
        say: prints a one-line message for the operator.
        faults: counts the faults.
    """
    if journal.repaired:
        say("journal: one damaged byte in the last requests was repaired; check the disk")
        faults.note(StateFault.JOURNAL_REPAIRED)
    if journal.torn_bytes:
        beside = f"; they are in {journal.torn_file}" if journal.torn_file else ""
        say(
            f"journal: cut off {journal.torn_bytes} bytes at its end that are not whole: they "
            f"never became durable, or are damaged{beside}"
        )
        faults.note(StateFault.JOURNAL_TORN)


def check_journal(
    journal: Journal,
    since: JournalPosition,
    older: Position | None,
    say: Callable[[str], None],
    faults: StateFaults,
) -> None:
    """Search a journal for damage: behind the newest checkpoint, and behind the other one.

    Args:
        journal: the journal.
        since: position in the newest checkpoint.
        older: position in the other one; None without one.
        say: prints a one-line message for the operator.
        faults: counts the faults.

    Raises:
        StateError: the part behind the newest checkpoint is damaged.
    """
    journal.check(since)
    if older is None:
        return
    try:
        journal.check(JournalPosition(**older))
    except StateError as error:
        say(f"the older checkpoint cannot be used, the newest one is: {error}")
        faults.note(StateFault.JOURNAL_DAMAGED)
