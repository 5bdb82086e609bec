"""What outlives the process: the journal of what was pushed, and checkpoints.

    lock.py       one process a state directory
    segment.py    one file of the journal: its layout, and reading it with suspicion
    journal.py    the segments together: appended durably, read back in order
    commits.py    many requests in one fsync
    encoding.py   the state of everything as bytes and back, with suspicion
    checkpoints.py  the whole state in one file, the last two kept
    faults.py     what was found wrong, counted

The state of the engine is a function of the events; a checkpoint is a cache of it.
A start takes up the newest good checkpoint and reads the feeds, the journal among
them, from the positions on that it holds. What two checkpoints are past is deleted.
"""

from monitor.state.checkpoints import Checkpoint, Checkpoints
from monitor.state.commits import Commits
from monitor.state.errors import StateError, StateFullError
from monitor.state.faults import StateFault, StateFaults
from monitor.state.journal import JOURNAL, START, Journal, Place
from monitor.state.lock import StateLock
from monitor.state.segment import Body

__all__ = [
    "JOURNAL",
    "START",
    "Body",
    "Checkpoint",
    "Checkpoints",
    "Commits",
    "Journal",
    "Place",
    "StateError",
    "StateFault",
    "StateFaults",
    "StateFullError",
    "StateLock",
]
