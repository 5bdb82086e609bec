"""State on disk: the journal of posted requests, and checkpoints.

    lock.py           one process per state directory
    locked_directory.py   a directory that is locked, and has to stay in its place
    segment.py        layout of one file of the journal, checked on reading
    journal.py        the segments together: durable appends, reads in order
    commits.py        group commit: many requests in one fsync
    encoding.py       the state as bytes and back, checked on reading
    checkpoints.py    the whole state in one file; the last two stay
    id_seed.py        the secret that keys of ids depend on
    state_identity.py what distinguishes a state from all others
    dead_letter.py    rejected records, each with its reason
    disk.py           durable and atomic writes
    salvage.py        copies a state directory without its damage
    segment_repair.py     repairs one segment
    inspection.py     checks a state directory without changing it
    state_faults.py   counters of faults
    state_errors.py   errors

The state of the engine is a function of the events; a checkpoint is a cache of it.
A start loads the newest good checkpoint and reads the feeds, the journal among
them, from the positions that it holds. What both checkpoints cover is deleted.
"""

from monitor.state.checkpoints import Checkpoint, Checkpoints
from monitor.state.commits import Commits
from monitor.state.journal import Journal
from monitor.state.journal_position import JOURNAL, START, JournalPosition
from monitor.state.lock import StateLock
from monitor.state.segment import Body
from monitor.state.state_errors import StateError, StateFullError, StateGoneError
from monitor.state.state_faults import StateFault, StateFaults

# One name a line would make 13 lines of what is one list.
# fmt: off
__all__ = [
    "JOURNAL", "START", "Body", "Checkpoint", "Checkpoints", "Commits", "Journal",
    "JournalPosition", "StateError", "StateFault", "StateFaults", "StateFullError",
    "StateGoneError", "StateLock"]
