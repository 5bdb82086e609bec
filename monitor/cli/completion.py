"""`precision-monitor completion`."""

from __future__ import annotations

from argparse import Action, ArgumentParser, Namespace, _SubParsersAction
from collections.abc import Iterator
from importlib import import_module

from monitor.cli.output import show
from monitor.cli.parser import build_parser
from monitor.errors import UsageError
from monitor.extras import install_command

_FILES = ("FILE", "OUT")
_FOLDERS = ("DIR", "NEW_DIR")


def run(args: Namespace) -> int:
    """Print a script that completes commands, options and files in a shell.

    Returns:
        The exit code.

    Raises:
        UsageError: the library that writes it is not installed.
    """
    try:
        shtab = import_module("shtab")
    except ImportError as error:
        hint = install_command("completion")
        raise UsageError(f"completion: needs shtab, which is not installed; {hint}") from error
    parser = build_parser()
    for action in _actions(parser):
        if action.metavar in _FILES:
            action.complete = shtab.FILE  # type: ignore[attr-defined]  # which shtab reads
        elif action.metavar in _FOLDERS:
            action.complete = shtab.DIRECTORY  # type: ignore[attr-defined]  # likewise
    show(shtab.complete(parser, args.shell))
    return 0


def _actions(parser: ArgumentParser) -> Iterator[Action]:
    """Yield the arguments of a parser and of its commands."""
    for action in parser._actions:  # noqa: SLF001  # argparse lists them nowhere else
        yield action
        if isinstance(action, _SubParsersAction):
            for command in action.choices.values():
                yield from _actions(command)
