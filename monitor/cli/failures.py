"""Messages and exit codes of failed commands."""

from __future__ import annotations

from monitor.cli.output import tell
from monitor.cli.parser.command import PROGRAM
from monitor.errors import ConfigError, FeedError, MonitorError

USAGE, UNREADABLE = 2, 3


def complain(error: MonitorError) -> int:
    """Print an error; the faults of a configuration already name their file and line.

    Returns:
        The exit code.
    """
    lines = error.faults if isinstance(error, ConfigError) else (f"{PROGRAM}: {error}",)
    for line in lines:
        tell(line)
    return UNREADABLE if isinstance(error, FeedError) else USAGE
