"""The command line: parses the arguments, runs the command, returns an exit code.

    start.py          start of the process
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

from monitor.cli.start import main

__all__ = ["main"]
