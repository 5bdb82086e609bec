"""What can go wrong with the state directory.

MonitorError
└── StateError            damaged, of another version, or another process has it
    └── StateFullError    nothing can be written now; it may go by
"""

from monitor.errors import MonitorError


class StateError(MonitorError):
    """The state directory cannot be used; going on could make a wrong number."""


class StateFullError(StateError):
    """An append failed and left nothing behind: disk full, or the disk fails."""
