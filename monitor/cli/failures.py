"""What a command that failed says, and its exit code."""

from __future__ import annotations

from monitor.cli.output import tell
from monitor.cli.parser.command import PROGRAM
from monitor.errors import ConfigError, FeedError, MonitorError

USAGE, UNREADABLE = 2, 3


def complain(error: MonitorError) -> int:
    """Say what is wrong; a fault of a configuration names its file and line already.

    Returns:
        The exit code.
    """
    lines = error.faults if isinstance(error, ConfigError) else (f"{PROGRAM}: {error}",)
    for line in lines:
        tell(line)
    return UNREADABLE if isinstance(error, FeedError) else USAGE
