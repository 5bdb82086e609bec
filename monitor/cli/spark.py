"""`precision-monitor spark`; this file can be given to `spark-submit`."""

from __future__ import annotations

import importlib.util
import os
import sys
import warnings
from argparse import Namespace
from pathlib import Path

from monitor.cli.output import tell
from monitor.cli.parser.cluster import RATE
from monitor.cli.parser.command import PROGRAM
from monitor.cli.shutdown import SIGNALLED
from monitor.config import Config, load_config
from monitor.distributed.delivery import delivery_to
from monitor.distributed.sizing import Load
from monitor.errors import FeedError, MonitorError
from monitor.extras import install_command
from monitor.feeds.input_format import InputFormat, input_format
from monitor.feeds.kafka.properties import read_properties

_SECONDS = {"second": 1, "minute": 60, "hour": 3600}
_ONCE_SECONDS = 600.0
"""Seconds of events in a batch of recorded files, which are large: assumed."""
_SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""Options of a JVM that lives for minutes: a third of its CPU would go into compiling better."""
_PARQUET = (b"PAR1", b"PARE")
"""What Parquet files begin with, the second where they are encrypted."""
_NO_LINES = {
    InputFormat.TABLE: "a table of text, as CSV",
    InputFormat.ARRAY: "an array of JSON",
}
_LOOKED_AT = 1 << 16
_LOCAL = "file://"
_PATTERN = "*?[{\\"
"""Characters that make a path a pattern for Spark."""
_FILE_SYSTEMS = {"HADOOP_CONF_DIR", "SPARK_CONF_DIR"}
"""Where Spark may be given another file system for paths without one."""
_NEEDED = ("pyspark", "pyarrow", "google.protobuf")


def run(args: Namespace) -> int:
    """Run the job until its input ends, or until it is stopped.

    Returns:
        The exit code: 0 at the end of the input, 130 after Ctrl-C, 143 after SIGTERM.

    Raises:
        MonitorError: an option or target cannot be used, or Spark is not installed.
    """
    _check_installed()
    _check_input(args)
    config = load_config(args.config)
    _check_countable(config)
    _check_readable(args)
    _hush_pandas()
    if _is_local(args.master):
        _set_environment(once=args.once)
    from monitor.distributed import spark_job  # noqa: PLC0415  # an optional dependency, checked above

    job = spark_job.SparkJob(
        config=config,
        input=spark_job.JobInput(
            directory=args.input or "",
            parquet=args.format == "parquet",
            files_per_batch=args.files_per_batch,
            brokers=args.kafka or "",
            topics=args.topics or "",
            records_per_batch=args.records_per_batch,
            connector=args.kafka_client == "spark",
            client=read_properties(args.kafka_properties and Path(args.kafka_properties)),
        ),
        checkpoint=args.checkpoint,
        source=args.source,
        buckets=args.buckets,
        load=Load.of(config, rate=args.rate or RATE, batch=_batch_seconds(args)),
        rate_given=args.rate is not None,
        every="" if args.once else args.every,
        partitions=args.partitions,
        master=args.master or "",
    )
    deliveries = [
        delivery_to(target, token_file=args.token_file, patience=args.patience, say=_say)
        for target in args.to
    ]
    stopped = spark_job.run(job, deliveries, _say)
    return SIGNALLED + stopped if stopped else 0


def _check_input(args: Namespace) -> None:
    if bool(args.input) == bool(args.kafka) or bool(args.kafka) != bool(args.topics):
        raise MonitorError("spark: give either --input DIR, or --kafka BROKERS with --topics")
    if (args.kafka and args.files_per_batch) or (args.input and args.records_per_batch):
        raise MonitorError(
            "spark: --files-per-batch goes with --input, --records-per-batch with --kafka"
        )
    if args.kafka and args.format == "parquet":
        raise MonitorError("spark: --format parquet goes with --input; records of Kafka are NDJSON")
    if args.input and _local(args.input).is_file():
        raise MonitorError(
            f"--input {args.input}: is a file; give its directory, of which all files are read, or "
            f"a pattern that fits it alone, such as '{args.input}*'"
        )
    table = _table_in(args.input) if args.input and args.format != "parquet" else None
    if table is not None:
        raise MonitorError(
            f"--input {args.input}: {table} is a Parquet file; give --format parquet"
        )


def _local(path: str) -> Path:
    return Path(path.removeprefix(_LOCAL))


def _table_in(directory: str) -> str | None:
    """Return the name of a Parquet file in a directory of this machine; None without one."""
    path = _local(directory)
    shown = _files_in(path)
    if shown and _head(path / shown[0]) in _PARQUET:
        return shown[0]
    return next((name for name in shown if name.endswith(".parquet")), None)


def _files_in(path: Path) -> list[str]:
    """Return the names of the files that Spark reads in a directory of this machine."""
    names = sorted(one.name for one in path.iterdir() if one.is_file()) if path.is_dir() else []
    return [name for name in names if not name.startswith((".", "_"))]


def _check_readable(args: Namespace) -> None:
    """Check what Spark says half a minute later, where the input is on this machine."""
    if not args.input or not _is_here(args.input, args.master):
        return
    path = _local(args.input)
    if not path.exists():
        raise MonitorError(f"--input {args.input}: no such directory")
    first, head = next(((n, h) for n in _files_in(path) if (h := _head(path / n))), ("", b""))
    if args.format == "parquet" and head and head not in _PARQUET:
        raise MonitorError(
            f"--input {args.input}: {first} is not a Parquet file; leave out --format parquet if "
            "the files are NDJSON"
        )
    if args.format != "parquet" and head and (kind := _no_lines(_head(path / first, _LOOKED_AT))):
        raise MonitorError(
            f"--input {args.input}: {first} is {kind}, and the job reads NDJSON, a record a line, "
            "or Parquet (--format parquet); convert it"
        )


def _is_here(path: str, master: str | None) -> bool:
    """Return True for a path that can only be a directory of this machine, and is no pattern."""
    if any(one in path for one in _PATTERN):
        return False
    configured = _FILE_SYSTEMS & os.environ.keys()
    return path.startswith(_LOCAL) or (":" not in path and _is_local(master) and not configured)


def _head(path: Path, nbytes: int = len(_PARQUET[0])) -> bytes:
    """Return the first bytes of a file; none if it cannot be read, which the job itself reports."""
    try:
        with path.open("rb") as file:
            return file.read(nbytes)
    except OSError:
        return b""


def _no_lines(head: bytes) -> str:
    """Return what a file holds that begins like this; "" where that may be NDJSON."""
    try:
        return _NO_LINES.get(input_format([head])[0], "")
    except FeedError:
        return "an Arrow file"


def _check_countable(config: Config) -> None:
    if any(one.shadow_versions for one in (*config.models.values(), config.defaults)):
        raise MonitorError(
            "spark: the job counts no shadow versions, and would take their predictions for those "
            "that decide; leave shadow_versions out of the configuration, and their predictions "
            "out of the input"
        )
    if any(one.label_sources.order for one in (*config.models.values(), config.defaults)):
        raise MonitorError(
            "spark: the job counts the latest label, whoever labelled; leave label_sources out of "
            "the configuration, or send the labels to a monitor"
        )
    if any(model.has_class_names for model in (*config.models.values(), config.defaults)):
        raise MonitorError(
            "spark: the job counts models whose classes are 0 and 1; send those with classes to a "
            "monitor, or as a binary model for each class"
        )
    if config.forward is not None:
        raise MonitorError(
            "spark: forward is how a monitor sends its counts to another, and a job sends its own "
            "by --to; leave forward out of the configuration"
        )


def _batch_seconds(args: Namespace) -> float:
    """Return how many seconds of events a batch is expected to have."""
    if args.once:
        return _ONCE_SECONDS
    number, unit = args.every.split()
    return float(int(number) * _SECONDS[unit.rstrip("s")])


def _check_installed() -> None:
    missing = [name for name in _NEEDED if not _is_there(name)]
    if missing:
        raise MonitorError(
            f"spark: {', '.join(missing)} is not installed; {install_command('spark')}, and Java 17"
        )


def _set_environment(*, once: bool) -> None:
    """Set what Spark reads when it starts beside this process, where a person has not set it."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # not the first python on the PATH
    if once:
        os.environ.setdefault("SPARK_SUBMIT_OPTS", _SHORT_LIVED)


def _is_local(master: str | None) -> bool:
    """Return True if tasks run on this machine rather than on a cluster."""
    return master.startswith("local") if master else "PYSPARK_GATEWAY_PORT" not in os.environ


def _hush_pandas() -> None:
    """Silence Spark's warning about pandas, which it imports and the job does not use."""
    warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")


def _is_there(name: str) -> bool:
    try:
        return importlib.util.find_spec(name) is not None
    except ModuleNotFoundError:
        return False


def _say(text: str) -> None:
    tell(f"{PROGRAM}: {text}")


if __name__ == "__main__":
    from monitor.cli import main

    raise SystemExit(main(["spark", *sys.argv[1:]]))
