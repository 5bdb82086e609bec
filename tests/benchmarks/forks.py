"""Starts the monitor over and over without importing it anew: a process that forks.

Reads lines: `start CONFIG` begins a monitor, `kill SIGNAL` ends it and waits; each is
answered by a line.
"""

from __future__ import annotations

import os
import sys

import monitor.cli.run
import monitor.feeds.kafka.source
from monitor.cli import main


def serve() -> None:
    """Do what the lines say, until there are no more."""
    assert monitor.cli.run  # what a start needs is imported already
    assert monitor.feeds.kafka.source
    process = 0
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "start":
            process = os.fork()
            if not process:
                os.close(0)
                os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
                os._exit(main(["run", "-c", rest]))
            print(process, flush=True)
        elif process:
            os.kill(process, int(rest))
            _, status = os.waitpid(process, 0)
            process = 0
            print(os.waitstatus_to_exitcode(status), flush=True)
        else:
            print(0, flush=True)  # none is left


if __name__ == "__main__":
    serve()
