"""Start of the process: what must be done before anything slow is imported."""

from __future__ import annotations

import gc
import sys
from collections.abc import Sequence
from importlib import import_module

from monitor.cli.shutdown import hold_hangups, hold_interrupts


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command, see `monitor.cli.entry`.

    Before anything slow is imported, a process of its own holds signals back: Ctrl-C until the
    command is imported, SIGHUP until `run` can reload.

    In such a process no garbage is searched until the command is imported: modules leave
    none, and the searches took a fifth of the time of a start.

    Args:
        argv: arguments after the program's name; by default those of this process.

    Returns:
        The exit code.
    """
    if argv is None:
        gc.disable()
        hold_interrupts()
        if sys.argv[1:2] == ["run"]:
            hold_hangups()
    code: int = import_module("monitor.cli.entry").main(argv)
    return code
