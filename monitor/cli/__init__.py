"""The command line: parses the arguments, runs the command, returns an exit code.

    entry.py          entry point
    parser/           every command with its options and help
    run.py …          one module per command, imported on use, so that `--version`
                      and `--help` are fast
    output.py         stdout and stderr
    failures.py       messages and exit codes of errors
    replay_text.py    text output of `replay`, and replay_ending.py its last lines
    backfill.py       `replay --openmetrics`
    report_data.py    data of `diagnose --html` besides the diagnosis
    remote.py         client of a running monitor's API
    progress.py       progress of a long read
    shutdown.py       end of a serving process

Data goes to stdout, everything else to stderr. Exit codes: 0 success, 1 a finding,
2 usage or configuration, 3 unreadable feed; 130 and 141 for an interrupted command
and a closed pipe.
"""

import sys
from collections.abc import Sequence
from importlib import import_module

from monitor.cli.shutdown import hold_hangups

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, see `monitor.cli.entry`; SIGHUP is held back before anything slow is imported.

    Args:
        argv: arguments after the program's name; by default those of this process.

    Returns:
        The exit code.
    """
    if argv is None and sys.argv[1:2] == ["run"]:
        hold_hangups()
    code: int = import_module("monitor.cli.entry").main(argv)
    return code
