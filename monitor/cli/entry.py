"""Entry point of the command line."""

from __future__ import annotations

import gc
import io
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from monitor.cli.failures import USAGE, complain, report_fault
from monitor.cli.parser import build_parser
from monitor.cli.shutdown import INTERRUPTED, READER_GONE, hold_hangups, release_interrupts
from monitor.errors import MonitorError


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command.

    Args:
        argv: arguments after the program's name; by default those of this process.

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
    except Exception:  # noqa: BLE001  # whatever it is, its exit code is no finding's
        return report_fault()


def _run(argv: Sequence[str] | None) -> int:
    parser = build_parser()
    args = parser.parse_args(argv)
    if args.command is None:
        parser.print_help(sys.stderr)
        return USAGE
    if args.command == "run":  # its imports and its configuration take a while
        hold_hangups()
    module = import_module(f"monitor.cli.{args.command.replace('-', '_')}")
    if not gc.isenabled():  # see `monitor.cli.start`
        gc.freeze()  # modules are never searched
        gc.enable()
    release_interrupts()  # see `monitor.cli.start`
    code: int = module.run(args)
    sys.stdout.flush()
    return code


def _never_fail_on_a_character() -> None:
    """Print a question mark for characters that the terminal cannot show."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
