"""Options of `replay`, `threshold`, `diagnose`, `compare` and `audit`."""

from __future__ import annotations

import argparse

from monitor.cli.parser.command import (
    DEFAULT_URL,
    PROGRAM,
    Command,
    add_config,
    add_mapping,
    add_reference,
    add_threshold,
)


def _replay(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="events as NDJSON, JSON, CSV, TSV, Parquet or Arrow, plain, gzip, zstd or zip; - for "
        "standard input; sql:NAME for the database of a configured feed, s3://... for an object "
        "of a store (default: the files and databases of the configuration)",
    )
    parser.set_defaults(feed=())
    add_config(parser, required=False)
    add_reference(parser)
    add_mapping(parser)
    add_threshold(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--summary", action="store_true", help="print every metric of each model with its interval"
    )
    parser.add_argument(
        "--openmetrics",
        metavar="OUT",
        help="also write what the exporter would have exposed, with timestamps, for "
        "promtool tsdb create-blocks-from openmetrics",
    )
    parser.add_argument(
        "--step",
        metavar="DURATION",
        help="event time between samples of --openmetrics, at least the pane (default: 1h, or "
        "the pane if longer)",
    )
    parser.add_argument(
        "--target",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="label of each sample of --openmetrics, to continue a scraped series; repeatable "
        "(default: job=precision-monitor, instance=exporter.listen)",
    )


REPLAY = Command(
    "replay",
    "count recorded events as fast as possible",
    about="""\
Runs the engine of `run` over recorded files. Prints the counts of the whole
input, and of each window at its end. Several files are merged by time. Rejected
records are counted by reason, and the first few are shown. Exit code 3 if none of
the records can be used, or there are none.

Without a mapping, columns with common names (timestamp, proba, y_true, ...) are
recognized where they leave no doubt, and a line says which. The mapping of a feed
in the configuration holds for a file of its path.

--json prints one object. Undefined numbers are null; each metric is an object
with estimate, lower and upper (95 % interval). `verdict` compares with the
reference, by default the model's first week.

--openmetrics writes the past for Prometheus to import:
  promtool tsdb create-blocks-from --max-block-duration=720h openmetrics OUT DATA
A graph whose step is shorter than --step has gaps, as Prometheus looks back five
minutes. The retention of Prometheus must cover the events.
""",
    examples=f"""\
  {PROGRAM} replay events.ndjson.gz
  {PROGRAM} replay predictions.ndjson labels.ndjson -c monitor.yaml
  tail -n 1000 events.ndjson | {PROGRAM} replay - --json | jq .models
  {PROGRAM} replay events.ndjson -c monitor.yaml --openmetrics past.om --step 1h
  {PROGRAM} replay claims.csv --field ts=decided --positive label=fraud
  {PROGRAM} replay scores.csv --threshold 0.5 --zone Europe/Berlin
""",
    arguments=_replay,
)


def _add_files(parser: argparse.ArgumentParser) -> None:
    """Add the recorded files, as arguments and as `--feed`."""
    parser.add_argument(
        "files",
        nargs="*",
        metavar="FILE",
        help="recorded events, as for replay (default: the configured file and sql feeds)",
    )
    parser.add_argument(
        "--feed",
        nargs="+",
        action="extend",
        default=[],
        metavar="FILE",
        help="the same, where options are easier to write first",
    )


def _threshold(parser: argparse.ArgumentParser) -> None:
    _add_files(parser)
    parser.add_argument(
        "--objective",
        required=True,
        help="'precision>=0.9', 'recall>=0.8', f_beta:2, g:beta=1,rho=-1, or cost:fp=1,fn=5",
    )
    parser.add_argument(
        "--class-ratio",
        default="live",
        metavar="live|R",
        help="class ratio P/N to optimize for (default: that of the longest window)",
    )
    parser.add_argument("--model", help="model, if the feed has several")
    parser.add_argument(
        "--days",
        type=int,
        choices=range(1, 63),
        default=62,
        metavar="N",
        help="use the scores of the last N days, in UTC (default and maximum: %(default)s)",
    )
    add_config(parser, required=False)
    add_mapping(parser)
    add_threshold(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object")


THRESHOLD = Command(
    "threshold",
    "find the best threshold for an objective at the current class ratio",
    about="""\
Evaluates every threshold on the scores of labelled predictions in recorded
files, at the given class ratio or the current one. Prints the best threshold
with its intervals. Exit code 1 if none reaches the objective.
""",
    examples=f"""\
  {PROGRAM} threshold events.ndjson --objective 'precision>=0.9'
  {PROGRAM} threshold events.csv --objective f_beta:2 --class-ratio 0.1
""",
    arguments=_threshold,
)


def _diagnose(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=False)
    add_mapping(parser)
    add_threshold(parser)
    _add_files(parser)
    parser.add_argument(
        "--url", help="query a running monitor instead of recorded events: http://HOST:PORT"
    )
    parser.add_argument("--model", metavar="NAME", help="model, if there are several")
    parser.add_argument(
        "--before",
        metavar="A..B",
        help="time range to compare with, [A, B) in UTC (default: the configured reference)",
    )
    parser.add_argument(
        "--after",
        metavar="C..D",
        help="time range to judge, [C, D) in UTC (default: the last mature days, as many as the "
        "window that decides, of recorded events at least 7)",
    )
    parser.add_argument(
        "--segments",
        metavar="KEY,KEY",
        help="segment keys to break down by (default: the configured ones)",
    )
    printed = parser.add_mutually_exclusive_group()
    printed.add_argument("--json", action="store_true", help="print one JSON object")
    printed.add_argument(
        "--html", metavar="OUT", help="write a report page in one file, to attach to an incident"
    )
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        metavar="VERDICT",
        help="exit with 1 on this verdict; repeatable",
    )


DIAGNOSE = Command(
    "diagnose",
    "explain why precision moved between two time ranges",
    about="""\
Compares the exact outcomes of two time ranges and explains what moved precision:
rarer positives, or the model. Prints the verdict, both ranges, the contribution
of each cause, the segments that matter, what is unknown and why, and what to do.

A..B is [A, B) in UTC, of dates or times; a month (2013-07) or a day also works.
A prediction counts at its own time, whenever its label arrives.

--json prints one object; undefined or refused numbers are null.
""",
    examples=f"""\
  {PROGRAM} diagnose events.ndjson --before 2013-07 --after 2013-09
  {PROGRAM} diagnose events.ndjson --segments region,channel \\
      --before 2026-10-01..2026-10-15 --after 2026-11-01..2026-11-15
  {PROGRAM} diagnose events.ndjson --html incident.html
  {PROGRAM} diagnose --url {DEFAULT_URL} --model fraud
  {PROGRAM} diagnose -c monitor.yaml --json --fail-on model_degraded \\
      --fail-on prevalence_shift_and_model_degraded
""",
    arguments=_diagnose,
)


def _compare(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=False)
    add_mapping(parser)
    add_threshold(parser)
    _add_files(parser)
    parser.add_argument(
        "--url", metavar="URL", help="ask a running monitor, at its exporter's address"
    )
    parser.add_argument("--model", metavar="NAME", help="model, if there are several")
    parser.add_argument(
        "--versions",
        metavar="A,B",
        help="version to compare with, and version to judge; __missing__ for predictions without "
        "one, and \\, for a comma of a name (default: the one that began last is judged against "
        "the one that predicted most since)",
    )
    parser.add_argument(
        "--last",
        metavar="DURATION",
        help="compare only so much time before the end (default: all in which both predicted)",
    )
    parser.add_argument(
        "--segments",
        metavar="KEY,KEY",
        help="segment keys by which the mix is made equal (default: the configured ones; without "
        "-c, those of the events that have few values)",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.add_argument(
        "--fail-on",
        action="append",
        default=[],
        choices=("better", "worse", "equal", "not_shown"),
        metavar="VERDICT",
        help="exit with 1 on this verdict: worse, not_shown, equal or better; repeatable",
    )


COMPARE = Command(
    "compare",
    "compare two versions of a model: is the new one worse",
    about="""\
Compares two versions of a model over the same time, at equal class ratio and
equal mix of segments: a canary gets other traffic than the version it is to
replace. Prints the verdict (better, worse, equal, not_shown), the differences
with intervals, how much of the difference of precision is the model, its class
ratio and its mix, and how many more outcomes would settle an open verdict.

The verdict may be asked for as often as you like: over a whole rollout a version
that is not worse is called worse with a probability of at most 5 %. Where both
versions scored the same ids, the pairs decide, with a fraction of the outcomes.

With --url, a running monitor compares the hours that it holds; its model needs
segments: [version]. It has pairs of the versions that shadow_versions names. While
there is nothing to compare, the verdict is not_shown.
""",
    examples=f"""\
  {PROGRAM} compare events.ndjson --versions 6,7 --last 7d
  {PROGRAM} compare -c monitor.yaml --model fraud --fail-on worse
  {PROGRAM} compare events.ndjson --segments region,channel --json
  {PROGRAM} compare --url http://127.0.0.1:9108 --model fraud --fail-on worse
""",
    arguments=_compare,
)


def _audit(parser: argparse.ArgumentParser) -> None:
    _add_files(parser)
    parser.add_argument(
        "--sample",
        type=int,
        default=500,
        metavar="N",
        help="cases to draw of each label, half of them flagged (default: %(default)s)",
    )
    parser.add_argument(
        "--predicted",
        type=int,
        choices=(0, 1),
        help="draw N cases in all, predicted so alone, whatever their label",
    )
    parser.add_argument("--model", help="model, if the feed has several")
    parser.add_argument(
        "--range", metavar="A..B", help="draw from predictions of [A, B) in UTC (default: all)"
    )
    parser.add_argument(
        "--seed",
        type=int,
        default=0,
        metavar="N",
        help="another draw for another seed (default: 0)",
    )
    add_config(parser, required=False)
    add_mapping(parser)
    add_threshold(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object, by stratum")


AUDIT = Command(
    "audit",
    "draw labelled cases for a second, trusted look",
    about="""\
Draws cases at random from recorded files: N labelled 0 and N labelled 1, half of
each from flagged cases where there are so many; with --predicted, N of one
predicted class. Cases that are audited already are left out. Prints ids alone,
in random order, so that who looks sees neither prediction nor label; the strata
go to stderr. --json prints ids by stratum.

A running monitor keeps no ids, so it cannot draw: keep the events, or a table of
them. Send what the second look finds as labels with "audit": true; under
label_errors: audit, the monitor learns from them how many labels are wrong.
""",
    examples=f"""\
  {PROGRAM} audit events.ndjson --sample 500 > to_audit.txt
  {PROGRAM} audit events.ndjson --predicted 0 --sample 200
  {PROGRAM} audit claims.parquet --model fraud --range 2026-07 --seed 2 --json
""",
    arguments=_audit,
)
