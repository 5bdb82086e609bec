"""Errors of the state directory.

MonitorError
└── StateError            damaged, of another version, or in use by another process
    └── StateFullError    cannot be written at present
        └── StateGoneError    was removed or replaced while the program runs
"""

from monitor.errors import MonitorError


class StateError(MonitorError):
    """The state directory cannot be used; continuing could produce wrong counts."""


class StateFullError(StateError):
    """An append failed without a trace: the disk is full, or fails."""


class StateGoneError(StateFullError):
    """The directory is no longer where it was, so that nothing written to it would be found."""
