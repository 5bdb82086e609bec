"""Parser of the command line: all commands, help and suggestions."""

from __future__ import annotations

import argparse
import re
import sys
import textwrap
from collections.abc import Sequence
from typing import Any, NoReturn

from monitor.cli.parser.cluster import SPARK
from monitor.cli.parser.command import PROGRAM
from monitor.cli.parser.recorded import AUDIT, COMPARE, DIAGNOSE, REPLAY, THRESHOLD
from monitor.cli.parser.serving import DEMO, HEALTHCHECK, RUN, TOP
from monitor.cli.parser.setup import (
    CHECK_CONFIG,
    COMPLETION,
    INIT,
    REFERENCE,
    RULES,
    SAMPLE,
    SCHEMA,
    STATE,
)
from monitor.kernel import kernel_in_use
from monitor.version import __version__

COMMANDS = {
    command.name: command
    for command in (
        RUN,
        REPLAY,
        THRESHOLD,
        DIAGNOSE,
        COMPARE,
        AUDIT,
        TOP,
        DEMO,
        SPARK,
        SAMPLE,
        INIT,
        REFERENCE,
        CHECK_CONFIG,
        SCHEMA,
        RULES,
        STATE,
        HEALTHCHECK,
        COMPLETION,
    )
}
"""The commands by name, in the order of the help."""

EXIT_CODES = {
    0: "success; also of a `replay` that rejects records: most of them, or of the predictions, "
    "rejected, or predictions of classes that a model does not have, is a warning on stderr, and "
    '"Not judged" on stdout unless a model pages all the same; all of them exit code 3',
    1: "a finding: `healthcheck` found no healthy monitor, `state` a damaged file or a loss, "
    "`threshold` no threshold that meets the objective, `diagnose` or `compare` a verdict "
    "of `--fail-on`, `demo --alerts` an alert that should not fire, or one that did not",
    2: "wrong usage, a configuration with faults or that `run` refuses, a state directory that "
    "cannot be used, or an address that is taken",
    3: "a feed that cannot be read, is empty or has no usable record; of a torn file, `replay` "
    "still prints what could be counted",
    70: "a fault of the program itself; its traceback is on stderr",
}
"""Meaning of each exit code, as the READMEs have it."""

_ABOUT = """\
Did the model get worse, or did positives become rarer?

Reads a stream of predictions and the labels that follow them. Publishes
precision beside balanced precision, which does not move with prevalence.
"""

_EXAMPLES = f"""\
examples:
  {PROGRAM} demo                           see it work on bundled flights
  {PROGRAM} replay events.ndjson           count a recorded file
  {PROGRAM} check-config monitor.yaml      check a configuration
  {PROGRAM} run -c monitor.yaml            monitor, and serve /metrics
"""


def _exit_codes() -> str:
    lines = (
        textwrap.fill(f"  {code}  {meaning}", 79, subsequent_indent=" " * 5)
        for code, meaning in EXIT_CODES.items()
    )
    return "\n".join(("exit codes:", *lines)).replace("`", "")


_WITHOUT_VALUE = re.compile(r"argument ([^ :]+): expected (one|at least one) argument")
_NEGATIVE = re.compile(r"-[0-9]")
_OPTION = re.compile(r"--[a-z-]+")


class _Help(argparse.RawDescriptionHelpFormatter):
    """Keeps line breaks, and indents enough for the longest command."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24)


class _Parser(argparse.ArgumentParser):
    """Reports an error in one line, and suggests the command that was probably meant."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """Parse arguments; a value like -3d belongs to the option before it, which refuses it."""
        return super().parse_known_args(_joined(sys.argv[1:] if args is None else args), namespace)

    def error(self, message: str) -> NoReturn:
        if option := _WITHOUT_VALUE.match(message):
            message = self._needs_value(option[1])
        sys.stderr.write(f"{self.prog}: {message}{_suggestion(message)}; see {self.prog} --help\n")
        self.exit(2)

    def _needs_value(self, named: str) -> str:
        """Return the fault of an option without its value, with an example or its metavar."""
        *_, option = named.split("/")
        found = re.search(rf"{option} [^\s-]\S*", self.epilog or "")
        metavars = (a.metavar for a in self._actions if option in a.option_strings)
        written = found[0] if found else f"{option} {next(metavars, None) or 'VALUE'}"
        return f"{option}: needs a value; write it like {written}"


def _joined(words: Sequence[str]) -> list[str]:
    """Return arguments with each negative quantity beside its option: --last=-3d."""
    joined: list[str] = []
    for word in words:
        if joined and _NEGATIVE.match(word) and _OPTION.fullmatch(joined[-1]):
            joined[-1] += f"={word}"
        else:
            joined.append(word)
    return joined


def _suggestion(message: str) -> str:
    import difflib  # noqa: PLC0415  # needed after a mistake only

    wrong = re.search(r"invalid choice: '([^']*)'", message)
    near = difflib.get_close_matches(wrong[1], COMMANDS, n=1) if wrong else []
    return f"; did you mean {near[0]!r}?" if near else ""


def build_parser() -> argparse.ArgumentParser:
    """Return the parser of the command line; `args.command` is the command's name or None."""
    parser = _Parser(
        prog=PROGRAM,
        description=_ABOUT,
        epilog=f"{_EXAMPLES}\n{_exit_codes()}\n\n{PROGRAM} COMMAND --help describes each command.",
        formatter_class=_Help,
        allow_abbrev=False,
    )
    version = f"{PROGRAM} {__version__} (kernel: {kernel_in_use()})"
    parser.add_argument("--version", action="version", version=version)
    added = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for command in COMMANDS.values():
        words = added.add_parser(
            command.name,
            help=command.summary,
            description=command.about,
            epilog=f"examples:\n{command.examples}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        command.arguments(words)
    return parser
