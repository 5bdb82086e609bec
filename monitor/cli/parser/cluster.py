"""Options of `spark`."""

from __future__ import annotations

import argparse
import re

from monitor.cli.parser.command import PROGRAM, Command, add_config, count, seconds

RATE = 1000
"""Default of `--rate`, which the job must know from one that was given."""

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours"}
_INTERVAL = re.compile(r"(\d+) ?(s|seconds?|m|minutes?|h|hours?)")


def _interval(text: str) -> str:
    """Parse a duration; return it as Spark writes it."""
    found = _INTERVAL.fullmatch(text.strip().lower())
    if not found or int(found[1]) < 1:
        raise argparse.ArgumentTypeError(f"must be like 10s, 1m or 1 minute, got {text!r}")
    return f"{int(found[1])} {_UNITS[found[2][0]]}"


def _source(text: str) -> str:
    """Parse the name of a job."""
    if not text.strip():
        raise argparse.ArgumentTypeError("must be a name, got ''")
    return text


def _spark(parser: argparse.ArgumentParser) -> None:
    add_config(parser, required=True)
    read = parser.add_argument_group("input, one of two")
    read.add_argument("--input", metavar="DIR", help="directory; files are read as they appear")
    read.add_argument(
        "--format",
        choices=("ndjson", "parquet"),
        default="ndjson",
        help="format of the files (default %(default)s)",
    )
    read.add_argument(
        "--files-per-batch",
        type=count,
        default=0,
        metavar="N",
        help="maximum number of files in a batch (default: no limit)",
    )
    read.add_argument("--kafka", metavar="BROKERS", help="HOST:PORT, HOST:PORT, …")
    read.add_argument("--topics", metavar="NAMES", help="Kafka topics, comma-separated")
    read.add_argument(
        "--records-per-batch",
        type=count,
        default=0,
        metavar="N",
        help="maximum number of records in a batch (default: no limit)",
    )
    read.add_argument(
        "--kafka-client",
        choices=("spark", "confluent"),
        default="spark",
        help="Kafka client: Spark's own connector, by spark-submit --packages, or the "
        "confluent-kafka library; fixed for the checkpoint's life (default %(default)s)",
    )
    read.add_argument(
        "--kafka-properties",
        metavar="FILE",
        help="settings of that client, one key=value a line: security.protocol=SASL_SSL, …",
    )
    parser.add_argument(
        "--to",
        required=True,
        action="append",
        metavar="TARGET",
        help="target of the counts: http://HOST:PORT of a monitor, kafka://BROKERS/TOPIC, or a "
        "directory; repeatable",
    )
    parser.add_argument("--token-file", metavar="FILE", help="bearer token of the monitor's feed")
    parser.add_argument(
        "--patience",
        type=seconds,
        default=600.0,
        metavar="SECONDS",
        help="how long to retry a monitor that does not answer (default %(default)g)",
    )
    parser.add_argument(
        "--checkpoint",
        required=True,
        metavar="DIR",
        help="directory of the job's state; every machine must reach it",
    )
    parser.add_argument(
        "--source",
        type=_source,
        default="spark",
        metavar="NAME",
        help="unique name of the job in its counts (default %(default)s)",
    )
    when = parser.add_mutually_exclusive_group()
    when.add_argument(
        "--every",
        type=_interval,
        default="10 seconds",
        metavar="T",
        help="interval between batches: 10s, 1m, 1 minute (default %(default)s)",
    )
    when.add_argument("--once", action="store_true", help="stop at the end of the input")
    parser.add_argument(
        "--rate",
        type=count,
        metavar="N",
        help=f"expected predictions a second, which --buckets follows from (default {RATE})",
    )
    parser.add_argument(
        "--buckets",
        type=count,
        default=0,
        metavar="N",
        help="number of pages of ids; fixed for the checkpoint's life (default: by --rate, "
        "horizon and --every, 10m with --once; the job says how)",
    )
    parser.add_argument(
        "--partitions",
        type=count,
        default=8,
        metavar="N",
        help="number of stateful tasks; fixed likewise (default %(default)s)",
    )
    parser.add_argument(
        "--master",
        metavar="URL",
        help="Spark master (default: that of spark-submit, or all cores of this machine)",
    )


SPARK = Command(
    "spark",
    "run the join on Spark, for more than one machine can hold",
    about="""\
Runs the join of predictions and labels as a Spark Structured Streaming job
(needs the extra `spark`, and Java 17). Sends the counts by model,
segment values and pane to a monitor, which judges, alerts and shows them.
Restarted with its checkpoint, also after a crash, it continues where it stopped,
and no batch counts twice.

On a cluster, pass this command's file to spark-submit, with the same options:
  JOB=$(python -c 'import monitor.cli.spark as job; print(job.__file__)')
  spark-submit --master spark://HOST:7077 "$JOB" -c monitor.yaml …
""",
    examples=f"""\
  {PROGRAM} spark -c monitor.yaml --input events/ --checkpoint state/ \\
      --to http://127.0.0.1:9109
  {PROGRAM} spark -c monitor.yaml --input events/ --checkpoint state/ \\
      --to counts/ --once
  {PROGRAM} replay -c monitor.yaml counts/*.ndjson
""",
    arguments=_spark,
)
