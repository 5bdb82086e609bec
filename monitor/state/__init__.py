"""What outlives the process: the journal of what was pushed.

    lock.py       one process a state directory
    segment.py    one file of the journal: its layout, and reading it with suspicion
    journal.py    the segments together: appended durably, read back in order
    commits.py    many requests in one fsync

The state of the engine is a function of the journal. For now all of it is kept
and read again at the start; a checkpoint, which lets its beginning go, comes later.
"""

from monitor.state.commits import Commits
from monitor.state.errors import StateError, StateFullError
from monitor.state.journal import START, Journal, Place
from monitor.state.lock import StateLock
from monitor.state.segment import Body

__all__ = [
    "START",
    "Body",
    "Commits",
    "Journal",
    "Place",
    "StateError",
    "StateFullError",
    "StateLock",
]
