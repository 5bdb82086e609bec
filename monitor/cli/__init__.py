"""The commands: words in, an exit code out.

    parser/           every command with its help
    run.py … one file a command; loaded only when it is asked for, so that
                      `--version` and `--help` answer at once
    replay_text.py    what `replay` prints for people
    progress.py       how far a long reading has come

Data goes to stdout, all else to stderr. Exit codes: 0 fine, 1 a finding, 2 usage
or configuration, 3 a feed cannot be read; 130 and 141 for a command that was
interrupted or whose reader went away.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from monitor.cli.failures import USAGE, complain
from monitor.cli.parser import build_parser
from monitor.cli.shutdown import INTERRUPTED, READER_GONE
from monitor.errors import MonitorError

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command that the words name.

    Args:
        argv: the words after the program's name; those of this process by default.

    Returns:
        The exit code.
    """
    _never_fail_on_a_character()
    try:
        return _run(argv)
    except MonitorError as error:
        return complain(error)
    except KeyboardInterrupt:
        return INTERRUPTED
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return READER_GONE


def _run(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    module = import_module(f"monitor.cli.{args.command.replace('-', '_')}")
    code: int = module.run(args)
    sys.stdout.flush()
    return code


def _never_fail_on_a_character() -> None:
    """A terminal that cannot show a character shows a question mark."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
