"""`check-config`, `schema`, `rules` and `state`: what is around a monitor."""

from __future__ import annotations

import argparse

from monitor.cli.parser.command import PROGRAM, Command, add_config, no_arguments


def _check_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the configuration, YAML")


CHECK_CONFIG = Command(
    "check-config",
    "check a configuration, and say what it means",
    about="""\
Reads a configuration as `run` would. Prints in plain lines what it means, and
what can be known from labels that come that way, then "ok"; or all its faults
at once, each with its line (exit code 2).
""",
    examples=f"""\
  {PROGRAM} check-config monitor.yaml
""",
    arguments=_check_config,
)


SCHEMA = Command(
    "schema",
    "print the JSON Schema of the configuration",
    about="""\
Prints the JSON Schema of the configuration file, for editors: a first line
`# yaml-language-server: $schema=monitor.schema.json` gives completion.
""",
    examples=f"""\
  {PROGRAM} schema > monitor.schema.json
""",
    arguments=no_arguments,
)


def _rules(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=False)
    parser.add_argument(
        "--job",
        default="precision-monitor",
        metavar="NAME",
        help="job that Prometheus scrapes the monitor under (default %(default)s)",
    )
    parser.add_argument(
        "--runbooks",
        default="",
        metavar="URL",
        help="where your team reads this project; links of alerts begin so (without it "
        "they are paths within the project)",
    )
    parser.add_argument(
        "--objective-severity",
        choices=("page", "ticket"),
        default="ticket",
        help="of a missed objective (default %(default)s)",
    )
    parser.add_argument(
        "--label-silence",
        default="1d",
        metavar="DURATION",
        help="so long without a label is a stalled feed (default %(default)s)",
    )
    parser.add_argument(
        "--prediction-silence",
        default="1h",
        metavar="DURATION",
        help="so long without a prediction is one (default %(default)s)",
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument(
        "--kubernetes", action="store_true", help="print a PrometheusRule of the operator"
    )
    form.add_argument(
        "--grafana",
        metavar="UID",
        help="print the alerts alone, as a provisioning file of Grafana that asks the data "
        "source of this uid",
    )


RULES = Command(
    "rules",
    "print recording and alerting rules for Prometheus",
    about="""\
Prints the rules for the configured models and windows as a rule file of
Prometheus (2.42 or later): numbers made anew from counts, so that several
monitors add up, and alerts. Pages are for the model, tickets for the world, the
labels, the feeds. Without -c the rules speak of any model, and the windows are
the default ones; a model's objective must then be recorded by hand.
""",
    examples=f"""\
  {PROGRAM} rules -c monitor.yaml > precision-monitor.rules.yml
  {PROGRAM} rules -c monitor.yaml --objective-severity page --label-silence 3d
  {PROGRAM} rules -c monitor.yaml --kubernetes | kubectl apply -f -
""",
    arguments=_rules,
)


def _state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("check", "show"),
        help="check: read every file, and say which are damaged; show: what is in the newest",
    )
    parser.add_argument("directory", metavar="DIR", help="the configured state.directory")


STATE = Command(
    "state",
    "look at what is kept over a restart",
    about="""\
Reads a state directory and changes nothing; the monitor may be running. `check`
reads every checkpoint and every segment of the journal to its end, prints a line
for each, and exits with 1 if one is damaged. `show` says what the newest good
checkpoint holds, and from where each feed will be read on.
""",
    examples=f"""\
  {PROGRAM} state check ./state
  {PROGRAM} state show ./state
""",
    arguments=_state,
)
