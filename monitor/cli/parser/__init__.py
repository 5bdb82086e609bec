"""Every command with its arguments and a help that teaches it. Imports nothing heavy.

command.py     what a command is, and what several of them take
running.py     run, top, healthcheck, demo: a monitor that serves
recorded.py    replay, threshold, diagnose: recorded events
setting_up.py  check-config, schema, rules, state: around a monitor
spark.py       spark: the join on a cluster
"""

from __future__ import annotations

import argparse
import re
import sys
from typing import NoReturn

from monitor.cli.parser.command import PROGRAM
from monitor.cli.parser.recorded import DIAGNOSE, REPLAY, THRESHOLD
from monitor.cli.parser.running import DEMO, HEALTHCHECK, RUN, TOP
from monitor.cli.parser.setup import CHECK_CONFIG, RULES, SCHEMA, STATE
from monitor.cli.parser.spark import SPARK
from monitor.version import __version__

__all__ = ["COMMANDS", "build_parser"]

COMMANDS = {
    command.name: command
    for command in (
        RUN,
        REPLAY,
        THRESHOLD,
        DIAGNOSE,
        TOP,
        DEMO,
        SPARK,
        CHECK_CONFIG,
        SCHEMA,
        RULES,
        STATE,
        HEALTHCHECK,
    )
}
"""The commands by name, in the order in which the help lists them."""

_EXIT_CODES = """\
exit codes:
  0  fine
  1  a finding: an unhealthy monitor, a verdict that was asked to fail
  2  wrong usage, or a configuration with faults
  3  a feed that cannot be read
"""

_ABOUT = """\
Did the model get worse, or did positives become rarer?

Reads a stream of predictions and the labels that follow them, and tells
precision from balanced precision, which does not move with prevalence.
"""

_EXAMPLES = f"""\
examples:
  {PROGRAM} demo                           see it work on bundled flights
  {PROGRAM} replay events.ndjson           count a recorded file
  {PROGRAM} check-config monitor.yaml      is this configuration right?
  {PROGRAM} run -c monitor.yaml            watch, and serve /metrics

{_EXIT_CODES}
{PROGRAM} COMMAND --help tells more of each command.
"""


class _Help(argparse.RawDescriptionHelpFormatter):
    """Texts as they are written, and room for the longest command beside its summary."""

    def __init__(self, prog: str) -> None:
        super().__init__(prog, max_help_position=24)


class _Parser(argparse.ArgumentParser):
    """Says what is wrong in one line, and names the command that was probably meant."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"{self.prog}: {message}{_suggestion(message)}; see {self.prog} --help\n")
        self.exit(2)


def _suggestion(message: str) -> str:
    import difflib  # noqa: PLC0415  # only a mistake waits for it

    wrong = re.search(r"invalid choice: '([^']*)'", message)
    near = difflib.get_close_matches(wrong[1], COMMANDS, n=1) if wrong else []
    return f"; did you mean {near[0]!r}?" if near else ""


def build_parser() -> argparse.ArgumentParser:
    """The parser of the whole command line; `args.command` names the command, or is None."""
    parser = _Parser(
        prog=PROGRAM,
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=_Help,
        allow_abbrev=False,
    )
    parser.add_argument("--version", action="version", version=f"{PROGRAM} {__version__}")
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
