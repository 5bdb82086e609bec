"""Every command with its arguments and a help that teaches it. Imports nothing heavy."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from typing import NoReturn

from monitor import __version__

PROGRAM = "precision-monitor"

DEFAULT_LISTEN = "127.0.0.1:9108"
"""Where the demo serves, and the exporter where nothing else is configured."""
DEFAULT_HEALTH_URL = f"http://{DEFAULT_LISTEN}/healthz"

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
    commands = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    for name, (summary, about, arguments) in COMMANDS.items():
        text, _, examples = about.partition("examples:\n")
        command = commands.add_parser(
            name,
            help=summary,
            description=text,
            epilog=f"examples:\n{examples}",
            formatter_class=_Help,
            allow_abbrev=False,
        )
        arguments(command)
    return parser


def _run(parser: argparse.ArgumentParser) -> None:
    _config(parser, required=True)
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="let other machines reach what changes something without authentication",
    )


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="events as NDJSON or CSV, plain or gzip, Parquet or Arrow; - for standard input",
    )
    _config(parser, required=False)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--summary", action="store_true", help="print every metric of each model with its interval"
    )
    parser.add_argument(
        "--openmetrics",
        metavar="OUT",
        help="also write what the exporter would have exposed then, with timestamps, for "
        "promtool tsdb create-blocks-from openmetrics",
    )
    parser.add_argument(
        "--step",
        metavar="DURATION",
        help="event time between samples of --openmetrics, at least the pane (default: 1h, or "
        "the pane where that is longer)",
    )
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="label of each sample of --openmetrics, so that it continues a scraped series; may "
        "be given several times (default: job=precision-monitor, instance=exporter.listen)",
    )


def _threshold(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--feed", nargs="+", required=True, metavar="FILE", help="recorded events")
    parser.add_argument(
        "--objective",
        required=True,
        help="what to reach: 'precision>=0.9', 'recall>=0.8', f_beta:2, g:beta=1,rho=-1, "
        "cost:fp=1,fn=5",
    )
    parser.add_argument(
        "--class-ratio",
        default="live",
        metavar="live|R",
        help="positives per negative to work at (default: those of the longest window)",
    )
    parser.add_argument("--model", help="which one, where the feed has several")
    parser.add_argument(
        "--days",
        type=int,
        choices=range(1, 63),
        default=62,
        metavar="N",
        help="look at the scores of the last N days (default and most: %(default)s)",
    )
    _config(parser, required=False)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


def _diagnose(parser: argparse.ArgumentParser) -> None:
    _config(parser, required=False)
    parser.add_argument(
        "--feed",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="recorded events, as of replay; those of the configured file feeds if left out",
    )
    parser.add_argument(
        "--url", help="a running monitor to ask, in place of recorded events: http://HOST:PORT"
    )
    parser.add_argument("--model", metavar="NAME", help="needed where there are several")
    parser.add_argument(
        "--before",
        metavar="A..B",
        help="what to compare with, [A, B) in UTC; the configured reference if left out",
    )
    parser.add_argument(
        "--after",
        metavar="C..D",
        help="what to judge; the last 7 days that are mature if left out (with --url: the longest "
        "window)",
    )
    parser.add_argument(
        "--segments",
        metavar="KEY,KEY",
        help="break down by these segment keys, in place of the configured ones",
    )
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print one JSON object")
    printed.add_argument(
        "--html", metavar="OUT", help="write a page with figures, one file to attach to an incident"
    )
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        metavar="VERDICT",
        help="exit with 1 if this is the verdict; may be given several times",
    )


def _rules(parser: argparse.ArgumentParser) -> None:
    _config(parser, required=False)
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
        help="where README.md and deploy/ can be read; the links of alerts begin so",
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


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listen",
        default=DEFAULT_LISTEN,
        metavar="HOST:PORT",
        help="where to serve /metrics (default %(default)s; a free port if it is taken)",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        default=60.0,
        metavar="N",
        help="wall time for the ten months (default 60; 0: as fast as it can)",
    )
    parser.add_argument("--no-serve", action="store_true", help="only print, serve nothing")
    parser.add_argument(
        "--alerts",
        action="store_true",
        help="instead, put two faults on a simulated model and see who is told, by a real "
        "Prometheus and Alertmanager (half a minute; takes no other option)",
    )


def _top(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url",
        default=f"http://{DEFAULT_LISTEN}",
        help="the running monitor (default %(default)s)",
    )
    parser.add_argument("--filter", default="", metavar="TEXT", help="only models named so")
    parser.add_argument(
        "--every",
        type=_seconds,
        default=2.0,
        metavar="SECONDS",
        help="how often to look (default %(default)s)",
    )
    parser.add_argument("--once", action="store_true", help="look once, as where no terminal is")


def _check_config(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="the configuration, YAML")


def _schema(_: argparse.ArgumentParser) -> None:
    """Takes no arguments."""


def _healthcheck(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url",
        default=DEFAULT_HEALTH_URL,
        help="what to ask (default %(default)s)",
    )


def _state(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "action",
        choices=("check", "show"),
        help="check: read every file, and say which are damaged; show: what is in the newest",
    )
    parser.add_argument("directory", metavar="DIR", help="the configured state.directory")


def _spark(parser: argparse.ArgumentParser) -> None:
    _config(parser, required=True)
    read = parser.add_argument_group("input, one of two")
    read.add_argument("--input", metavar="DIR", help="directory of files; new ones are read")
    read.add_argument(
        "--format",
        choices=("ndjson", "parquet"),
        default="ndjson",
        help="of the files (default %(default)s)",
    )
    read.add_argument(
        "--files-per-batch", type=int, default=0, metavar="N", help="at most (default: no limit)"
    )
    read.add_argument("--kafka", metavar="BROKERS", help="HOST:PORT, HOST:PORT, …")
    read.add_argument("--topics", metavar="NAMES", help="of Kafka, with commas between")
    read.add_argument(
        "--records-per-batch", type=int, default=0, metavar="N", help="at most (default: no limit)"
    )
    parser.add_argument(
        "--to",
        required=True,
        action="append",
        metavar="TARGET",
        help="where counts go: http://HOST:PORT of a monitor, kafka://BROKERS/TOPIC, a directory; "
        "may be given several times",
    )
    parser.add_argument("--token-file", metavar="FILE", help="bearer token of the monitor's feed")
    parser.add_argument(
        "--patience",
        type=float,
        default=600.0,
        metavar="SECONDS",
        help="how long a monitor that is away is asked again (default %(default)g)",
    )
    parser.add_argument(
        "--checkpoint",
        required=True,
        metavar="DIR",
        help="where Spark keeps state, one a job; every machine must reach it",
    )
    parser.add_argument(
        "--source",
        default="spark",
        metavar="NAME",
        help="of the job, in its counts (default %(default)s); one a job",
    )
    when = parser.add_mutually_exclusive_group()
    when.add_argument(
        "--every", default="10 seconds", metavar="T", help="between batches (default %(default)s)"
    )
    when.add_argument("--once", action="store_true", help="stop at the end of the input")
    parser.add_argument(
        "--buckets",
        type=_count,
        default=256,
        metavar="N",
        help="pages that ids are divided among, for the checkpoint's life (default %(default)s)",
    )
    parser.add_argument(
        "--partitions",
        type=_count,
        default=8,
        metavar="N",
        help="tasks that keep state, likewise (default %(default)s)",
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="of Spark (default: of spark-submit, or all cores of this machine)",
    )


def _config(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument(
        "-c",
        "--config",
        metavar="FILE",
        required=required,
        help="the configuration, YAML"
        + ("" if required else "; without one any model is taken and labels never come too late"),
    )


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be an integer from 1 on, got {text!r}")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds <= 86_400:  # noqa: PLR2004  # a day
        raise argparse.ArgumentTypeError(f"must be seconds from 0 to 86400, got {text!r}")
    return seconds


_Arguments = Callable[[argparse.ArgumentParser], None]

COMMANDS: dict[str, tuple[str, str, _Arguments]] = {
    "run": (
        "watch the configured feeds and serve the results",
        f"""\
Reads the configured feeds, counts, and serves /metrics, /healthz and /readyz
on the configured address (exporter.listen) until it is stopped by SIGTERM or
Ctrl-C; then it exits with 0. Windows move on while nothing comes. After the
end of a file that is not followed, it goes on serving.

Feeds are files (type: file), and listeners that events are posted to (type:
http): an answer of 2xx means that they are on disk, in the journal of the state
directory. A start takes up the newest checkpoint there, and reads on behind it:
after any end the counters are those of a run that never stopped. Until that is
done /readyz and /metrics answer 503: a scrape fails, and no counter goes back.

examples:
  {PROGRAM} run -c monitor.yaml
  curl -s http://{DEFAULT_LISTEN}/metrics | grep classifier_balanced_precision
  curl --data-binary @events.ndjson http://127.0.0.1:9109/v1/events
""",
        _run,
    ),
    "replay": (
        "count recorded events as fast as possible",
        f"""\
Runs the engine of `run` over recorded files and prints what it has counted:
over the whole input, and each window as it stood at the end. Several files are
merged by time. A record that cannot be used is counted under a reason, and the
first few are shown.

With --json, one object; undefined numbers are null, and each metric is an
object with estimate, lower and upper (95 % interval). `verdict` says what
happened since the reference, by default the model's first week.

With --openmetrics, the past is written for Prometheus to import:
  promtool tsdb create-blocks-from --max-block-duration=720h openmetrics OUT DATA
A graph whose step is shorter than --step has gaps, since Prometheus looks back
five minutes; and its retention must reach back as far as the events.

examples:
  {PROGRAM} replay events.ndjson.gz
  {PROGRAM} replay predictions.ndjson labels.ndjson -c monitor.yaml
  tail -n 1000 events.ndjson | {PROGRAM} replay - --json | jq .models
  {PROGRAM} replay events.ndjson -c monitor.yaml --openmetrics past.om --step 1h
""",
        _replay,
    ),
    "threshold": (
        "find the threshold that serves an objective at today's class ratio",
        f"""\
Scans every threshold over the scores of labelled predictions in recorded files,
carries what each would give to the class ratio asked for, by default today's,
and prints the best one with its intervals. Exit code 1 where none reaches the
objective.

examples:
  {PROGRAM} threshold --feed events.ndjson --objective 'precision>=0.9'
  {PROGRAM} threshold --feed events.csv --objective f_beta:2 --class-ratio 0.1
""",
        _threshold,
    ),
    "diagnose": (
        "say why precision moved between two stretches of time",
        f"""\
Compares the outcomes of two stretches of time, exact at any distance, and says
what moved precision: rarer positives, or the model. Prints the verdict, both
sides, what each cause contributed, the segments that matter, what is not known
and why, and what to do next.

A..B is [A, B) in UTC, of dates or times; one month (2013-07) or one day works,
too. Predictions count where they were made, whenever their label came.

With --json, one object; undefined or refused numbers are null.

examples:
  {PROGRAM} diagnose --feed events.ndjson --before 2013-07 --after 2013-09
  {PROGRAM} diagnose --feed events.ndjson --segments region,channel \\
      --before 2026-10-01..2026-10-15 --after 2026-11-01..2026-11-15
  {PROGRAM} diagnose --feed events.ndjson --html incident.html
  {PROGRAM} diagnose --url http://{DEFAULT_LISTEN} --model fraud
  {PROGRAM} diagnose -c monitor.yaml --json --fail-on model_degraded \\
      --fail-on prevalence_shift_and_model_degraded
""",
        _diagnose,
    ),
    "top": (
        "watch a running monitor in the terminal",
        f"""\
Shows the models of a running monitor, those first that need a look, until Ctrl-C.
Where standard output is no terminal it prints them once, as plain text.

examples:
  {PROGRAM} top
  {PROGRAM} top --url http://{DEFAULT_LISTEN} --filter fraud
  {PROGRAM} top --once | head
""",
        _top,
    ),
    "demo": (
        "see it work: ten months of flights in a minute",
        f"""\
Replays the bundled flights (would a flight be 15 minutes late? New York, March
to December 2013) as they happened, only faster, and serves /metrics meanwhile.
Prints a row for each month once its labels are in, and at the end what to see.
In a terminal it then goes on serving until Ctrl-C.

examples:
  {PROGRAM} demo
  {PROGRAM} demo --seconds 0 --no-serve
  {PROGRAM} demo --listen 0.0.0.0:9108 --seconds 600
  {PROGRAM} demo --alerts
""",
        _demo,
    ),
    "spark": (
        "the same join and counts on Spark, for what one machine cannot hold",
        f"""\
Runs the join of predictions and labels as a job of Spark Structured Streaming
(pip install 'precision-monitor[spark]'; Java 17) and sends what it has counted,
by model, segment values and pane, to a monitor, which judges, alerts and shows.
Started again with its checkpoint, after a crash too, it goes on where it was, and
no batch counts twice.

For a cluster, give this command's file to spark-submit, with the same words:
  JOB=$(python -c 'import monitor.cli.spark as job; print(job.__file__)')
  spark-submit --master spark://HOST:7077 "$JOB" -c monitor.yaml …

examples:
  {PROGRAM} spark -c monitor.yaml --input events/ --checkpoint state/ \\
      --to http://127.0.0.1:9109
  {PROGRAM} spark -c monitor.yaml --input events/ --checkpoint state/ \\
      --to counts/ --once
  {PROGRAM} replay -c monitor.yaml counts/*.ndjson
""",
        _spark,
    ),
    "check-config": (
        "check a configuration, and say what it means",
        f"""\
Reads a configuration as `run` would. Prints in plain lines what it means, and
what can be known from labels that come that way, then "ok"; or all its faults
at once, each with its line (exit code 2).

examples:
  {PROGRAM} check-config monitor.yaml
""",
        _check_config,
    ),
    "schema": (
        "print the JSON Schema of the configuration",
        f"""\
Prints the JSON Schema of the configuration file, for editors: a first line
`# yaml-language-server: $schema=monitor.schema.json` gives completion.

examples:
  {PROGRAM} schema > monitor.schema.json
""",
        _schema,
    ),
    "rules": (
        "print recording and alerting rules for Prometheus",
        f"""\
Prints the rules for the configured models and windows as a rule file of
Prometheus (2.42 or later): numbers made anew from counts, so that several
monitors add up, and alerts. Pages are for the model, tickets for the world, the
labels, the feeds. Without -c the rules speak of any model, and the windows are
the default ones; a model's objective must then be recorded by hand.

examples:
  {PROGRAM} rules -c monitor.yaml > precision-monitor.rules.yml
  {PROGRAM} rules -c monitor.yaml --objective-severity page --label-silence 3d
  {PROGRAM} rules -c monitor.yaml --kubernetes | kubectl apply -f -
""",
        _rules,
    ),
    "state": (
        "look at what is kept over a restart",
        f"""\
Reads a state directory and changes nothing; the monitor may be running. `check`
reads every checkpoint and every segment of the journal to its end, prints a line
for each, and exits with 1 if one is damaged. `show` says what the newest good
checkpoint holds, and from where each feed will be read on.

examples:
  {PROGRAM} state check ./state
  {PROGRAM} state show ./state
""",
        _state,
    ),
    "healthcheck": (
        "ask a running monitor whether it is well",
        f"""\
Asks a running monitor; exit code 0 and "ok" if it answers with 200 within five
seconds, else 1 and what came instead. /healthz: the process is alive; /readyz:
its feeds are attached too.

examples:
  {PROGRAM} healthcheck
  {PROGRAM} healthcheck --url http://{DEFAULT_LISTEN}/readyz
""",
        _healthcheck,
    ),
}
"""Summary, description with examples, and arguments of each command."""
