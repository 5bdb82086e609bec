"""`replay`, `threshold` and `diagnose`: recorded events."""

from __future__ import annotations

import argparse

from monitor.cli.parser.command import DEFAULT_URL, PROGRAM, Command, add_config


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="+",
        metavar="FILE",
        help="events as NDJSON or CSV, plain or gzip, Parquet or Arrow; - for standard input",
    )
    add_config(parser, required=False)
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


REPLAY = Command(
    "replay",
    "count recorded events as fast as possible",
    about="""\
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
""",
    examples=f"""\
  {PROGRAM} replay events.ndjson.gz
  {PROGRAM} replay predictions.ndjson labels.ndjson -c monitor.yaml
  tail -n 1000 events.ndjson | {PROGRAM} replay - --json | jq .models
  {PROGRAM} replay events.ndjson -c monitor.yaml --openmetrics past.om --step 1h
""",
    arguments=_replay,
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
    add_config(parser, required=False)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


THRESHOLD = Command(
    "threshold",
    "find the threshold that serves an objective at today's class ratio",
    about="""\
Scans every threshold over the scores of labelled predictions in recorded files,
carries what each would give to the class ratio asked for, by default today's,
and prints the best one with its intervals. Exit code 1 where none reaches the
objective.
""",
    examples=f"""\
  {PROGRAM} threshold --feed events.ndjson --objective 'precision>=0.9'
  {PROGRAM} threshold --feed events.csv --objective f_beta:2 --class-ratio 0.1
""",
    arguments=_threshold,
)


def _diagnose(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=False)
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


DIAGNOSE = Command(
    "diagnose",
    "say why precision moved between two stretches of time",
    about="""\
Compares the outcomes of two stretches of time, exact at any distance, and says
what moved precision: rarer positives, or the model. Prints the verdict, both
sides, what each cause contributed, the segments that matter, what is not known
and why, and what to do next.

A..B is [A, B) in UTC, of dates or times; one month (2013-07) or one day works,
too. Predictions count where they were made, whenever their label came.

With --json, one object; undefined or refused numbers are null.
""",
    examples=f"""\
  {PROGRAM} diagnose --feed events.ndjson --before 2013-07 --after 2013-09
  {PROGRAM} diagnose --feed events.ndjson --segments region,channel \\
      --before 2026-10-01..2026-10-15 --after 2026-11-01..2026-11-15
  {PROGRAM} diagnose --feed events.ndjson --html incident.html
  {PROGRAM} diagnose --url {DEFAULT_URL} --model fraud
  {PROGRAM} diagnose -c monitor.yaml --json --fail-on model_degraded \\
      --fail-on prevalence_shift_and_model_degraded
""",
    arguments=_diagnose,
)
