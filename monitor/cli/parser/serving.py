"""Options of `run`, `top`, `healthcheck` and `demo`."""

from __future__ import annotations

import argparse

from monitor.cli.parser.command import (
    DEFAULT_LISTEN,
    DEFAULT_URL,
    PROGRAM,
    Command,
    add_config,
    add_reference,
    seconds,
)


def _run(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=True)
    add_reference(parser)
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="allow other machines to post events or reload without authentication",
    )


RUN = Command(
    "run",
    "monitor the configured feeds and serve the results",
    about="""\
Reads the configured feeds, counts, and serves /metrics, /healthz and /readyz
on the configured address (exporter.listen) until SIGTERM or Ctrl-C; then exits
with 0. Windows move on while no events arrive. After the end of a file that is
not followed, it continues to serve.

Feeds are files (type: file), Kafka topics (type: kafka), databases (type: sql)
and HTTP listeners (type: http). A 2xx answer of a listener means that the
events are on disk, in the journal of the state directory. A start loads the
newest checkpoint from there and reads the feeds from its positions on, so
counters equal those of a run that never stopped. Until then /readyz and
/metrics answer 503: scrapes fail, and no counter goes back.
""",
    examples=f"""\
  {PROGRAM} run -c monitor.yaml
  curl -s {DEFAULT_URL}/metrics | grep classifier_balanced_precision
  curl --data-binary @events.ndjson http://127.0.0.1:9109/v1/events
""",
    arguments=_run,
)


def _top(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url",
        default=DEFAULT_URL,
        help="URL of the running monitor (default %(default)s)",
    )
    parser.add_argument(
        "--filter", default="", metavar="TEXT", help="show models whose name has TEXT"
    )
    parser.add_argument(
        "--every",
        type=seconds,
        default=2.0,
        metavar="SECONDS",
        help="refresh interval (default %(default)s)",
    )
    parser.add_argument("--once", action="store_true", help="print once, as without a terminal")


TOP = Command(
    "top",
    "watch a running monitor in the terminal",
    about="""\
Shows the models of a running monitor until Ctrl-C, those that need attention
first: numbers of the longest window, what happened, what moved precision, and
whether the model is worse. Needs 80 columns; a wider terminal shows longer names.
Prints them once, as plain text, if standard output is not a terminal.
""",
    examples=f"""\
  {PROGRAM} top
  {PROGRAM} top --url {DEFAULT_URL} --filter fraud
  {PROGRAM} top --once | head
""",
    arguments=_top,
)


def _healthcheck(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--url",
        default=f"{DEFAULT_URL}/healthz",
        help="URL to request (default %(default)s)",
    )


HEALTHCHECK = Command(
    "healthcheck",
    "check the health of a running monitor",
    about="""\
Requests a URL of a running monitor. Prints "ok" and exits with 0 if it answers
200 within five seconds; else prints why not and exits with 1. /healthz: the
process is alive; /readyz: its feeds are attached, too.
""",
    examples=f"""\
  {PROGRAM} healthcheck
  {PROGRAM} healthcheck --url {DEFAULT_URL}/readyz
""",
    arguments=_healthcheck,
)


def _demo(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--listen",
        default=DEFAULT_LISTEN,
        metavar="HOST:PORT",
        help="address of /metrics (default %(default)s; a free port if it is in use)",
    )
    parser.add_argument(
        "--seconds",
        type=seconds,
        default=60.0,
        metavar="N",
        help="wall time of the ten months (default 60; 0: as fast as possible)",
    )
    parser.add_argument("--no-serve", action="store_true", help="print only, do not serve")
    parser.add_argument(
        "--alerts",
        action="store_true",
        help="instead, inject two faults into a simulated model and show the alerts of a real "
        "Prometheus and Alertmanager (half a minute; takes no other option)",
    )


DEMO = Command(
    "demo",
    "see it work: ten months of flights in a minute",
    about="""\
Replays the bundled flights (will a flight be 15 minutes late? New York, March to
December 2013) in fast motion, and serves /metrics meanwhile. Prints a row for
each month once its labels are complete, and a summary at the end. In a terminal
it then continues to serve until Ctrl-C.
""",
    examples=f"""\
  {PROGRAM} demo
  {PROGRAM} demo --seconds 0 --no-serve
  {PROGRAM} demo --listen 0.0.0.0:9108 --seconds 600
  {PROGRAM} demo --alerts
""",
    arguments=_demo,
)
