"""Messages and exit codes of failed commands."""

from __future__ import annotations

import traceback

from monitor.cli.output import tell
from monitor.cli.parser.command import PROGRAM
from monitor.errors import ConfigError, FeedError, MonitorError

USAGE, UNREADABLE, FAULT = 2, 3, 70


def complain(error: MonitorError) -> int:
    """Print an error; the faults of a configuration already name their file and line.

    Returns:
        The exit code.
    """
    lines = error.faults if isinstance(error, ConfigError) else (f"{PROGRAM}: {error}",)
    for line in lines:
        tell(line)
    return UNREADABLE if isinstance(error, FeedError) else USAGE


def report_fault() -> int:
    """Print the exception that is handled, which is a fault of the program, and ask to report it.

    Returns:
        The exit code, which no finding has: a gate must not take a crash for a verdict.
    """
    tell(traceback.format_exc().rstrip())
    tell(f"{PROGRAM}: this is a fault of the program; please report it with the lines above")
    return FAULT
