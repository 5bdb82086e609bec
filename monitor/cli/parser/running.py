"""`run`, `top`, `healthcheck` and `demo`: a monitor that serves."""

from __future__ import annotations

import argparse

from monitor.cli.parser.command import (
    DEFAULT_LISTEN,
    DEFAULT_URL,
    PROGRAM,
    Command,
    add_config,
    seconds,
)


def _run(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=True)
    parser.add_argument(
        "--insecure",
        action="store_true",
        help="let other machines reach what changes something without authentication",
    )


RUN = Command(
    "run",
    "watch the configured feeds and serve the results",
    about="""\
Reads the configured feeds, counts, and serves /metrics, /healthz and /readyz
on the configured address (exporter.listen) until it is stopped by SIGTERM or
Ctrl-C; then it exits with 0. Windows move on while nothing comes. After the
end of a file that is not followed, it goes on serving.

Feeds are files (type: file), and listeners that events are posted to (type:
http): an answer of 2xx means that they are on disk, in the journal of the state
directory. A start takes up the newest checkpoint there, and reads on behind it:
after any end the counters are those of a run that never stopped. Until that is
done /readyz and /metrics answer 503: a scrape fails, and no counter goes back.
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
        help="the running monitor (default %(default)s)",
    )
    parser.add_argument("--filter", default="", metavar="TEXT", help="only models named so")
    parser.add_argument(
        "--every",
        type=seconds,
        default=2.0,
        metavar="SECONDS",
        help="how often to look (default %(default)s)",
    )
    parser.add_argument("--once", action="store_true", help="look once, as where no terminal is")


TOP = Command(
    "top",
    "watch a running monitor in the terminal",
    about="""\
Shows the models of a running monitor, those first that need a look, until Ctrl-C.
Where standard output is no terminal it prints them once, as plain text.
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
        help="what to ask (default %(default)s)",
    )


HEALTHCHECK = Command(
    "healthcheck",
    "ask a running monitor whether it is well",
    about="""\
Asks a running monitor; exit code 0 and "ok" if it answers with 200 within five
seconds, else 1 and what came instead. /healthz: the process is alive; /readyz:
its feeds are attached too.
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
        help="where to serve /metrics (default %(default)s; a free port if it is taken)",
    )
    parser.add_argument(
        "--seconds",
        type=seconds,
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


DEMO = Command(
    "demo",
    "see it work: ten months of flights in a minute",
    about="""\
Replays the bundled flights (would a flight be 15 minutes late? New York, March
to December 2013) as they happened, only faster, and serves /metrics meanwhile.
Prints a row for each month once its labels are in, and at the end what to see.
In a terminal it then goes on serving until Ctrl-C.
""",
    examples=f"""\
  {PROGRAM} demo
  {PROGRAM} demo --seconds 0 --no-serve
  {PROGRAM} demo --listen 0.0.0.0:9108 --seconds 600
  {PROGRAM} demo --alerts
""",
    arguments=_demo,
)
