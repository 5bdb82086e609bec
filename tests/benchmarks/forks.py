"""Starts the monitor over and over without importing it anew: a process that forks.

Reads lines: `start CONFIG` begins a monitor, `kill SIGNAL` ends it and waits; each is
answered by a line. However this process ends, by an exception or a signal too, the system ends
the monitor with it.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys

import monitor.cli.run
import monitor.feeds.kafka.source
from monitor.cli import main

PR_SET_PDEATHSIG = 1
"""Of `prctl`: the signal that a process gets when its parent ends."""


def serve() -> None:
    """Do what the lines say, until there are no more."""
    assert monitor.cli.run  # what a start needs is imported already
    assert monitor.feeds.kafka.source
    parent, process = os.getpid(), 0
    for line in sys.stdin:
        word, _, rest = line.strip().partition(" ")
        if word == "start":
            process = os.fork()
            if not process:
                os._exit(_monitor(parent, rest))
            print(process, flush=True)
        elif process:
            os.kill(process, int(rest))
            _, status = os.waitpid(process, 0)
            process = 0
            print(os.waitstatus_to_exitcode(status), flush=True)
        else:
            print(0, flush=True)  # none is left


def _monitor(parent: int, config: str) -> int:
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        return 1  # it ended before
    os.close(0)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return main(["run", "-c", config])


if __name__ == "__main__":
    serve()
