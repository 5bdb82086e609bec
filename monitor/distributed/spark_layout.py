"""The numbers of tasks and pages of a job, stored in its checkpoint."""

from __future__ import annotations

from typing import NamedTuple

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql.functions import lit

from monitor.distributed.layout import Layout
from monitor.distributed.page_rules import OTHER_KEYS, mismatch
from monitor.errors import MonitorError

_SCHEMA = "tasks int, pages int, keys array<int>, source string, seed bigint"
_TRIED = 64
"""Integers tried for each task, to find one that Spark assigns to it."""


class JobLayout(NamedTuple):
    """How the ids of a job are divided.

    Attributes:
        layout: numbers of tasks and pages.
        keys: by which Spark groups the packets of each stateful task.
        source: name of the job in its counts; None of a checkpoint that does not hold it.
        seed: mark of the seed of the keys of ids, see `mark_of`; None likewise.
    """

    layout: Layout
    keys: list[int]
    source: str | None
    seed: int | None

    def check(self, source: str, seed: int) -> None:
        """Check that the checkpoint is of a job.

        Args:
            source: name of the job in its counts.
            seed: mark of its seed.

        Raises:
            MonitorError: it is of a job of another name, or with another seed.
        """
        if self.source not in (None, source):
            raise MonitorError(
                f"--source {source}: the checkpoint is of {self.source!r}, and a batch that it "
                f"delivers again would count twice; give --source {self.source}, or start with a "
                "new --checkpoint"
            )
        if self.seed not in (None, seed):
            raise MonitorError(OTHER_KEYS)


def stored_layout(
    session: SparkSession, checkpoint: str, wanted: Layout | None
) -> JobLayout | None:
    """Return the layout of a checkpoint; None for one without a batch yet, which may still change.

    Args:
        session: of the job.
        checkpoint: directory of the checkpoint.
        wanted: the layout that the options ask for; None for any.

    Raises:
        MonitorError: the checkpoint has another layout than wanted, is of an earlier version, or
            its layout cannot be read.
    """
    row = None
    if _is_there(session, directory := _directory(checkpoint)):
        if not _has_begun(session, checkpoint):
            return None
        row = session.read.schema(_SCHEMA).json(directory).first()
    elif _is_there(session, f"{checkpoint}/metadata"):
        raise MonitorError(
            "checkpoint: is of an earlier version of the program; start with a new --checkpoint"
        )
    if row is None:  # new, or the job was killed while it wrote this
        return None
    if None in (row.tasks, row.pages, row["keys"]):
        raise MonitorError(
            f"checkpoint: {directory} is damaged, so that its pages cannot be found; start anew, "
            "see deploy/spark/README.md#checkpoints-and-upgrades"
        )
    found = JobLayout(Layout(row.tasks, row.pages), [*row["keys"]], row.source, row.seed)
    if wanted not in (None, found.layout):
        raise MonitorError(mismatch(found.layout, wanted))
    return found


def store_layout(
    session: SparkSession, checkpoint: str, layout: Layout, source: str, seed: int
) -> JobLayout:
    """Store the layout of a new checkpoint; return it with the keys of its tasks.

    Args:
        session: of the job.
        checkpoint: directory of the checkpoint.
        layout: numbers of tasks and pages.
        source: name of the job in its counts.
        seed: mark of its seed.
    """
    keys = _keys_of_tasks(session, layout.tasks)
    values = {"tasks": layout.tasks, "pages": layout.pages, "keys": f"array({str(keys)[1:-1]})"}
    row = session.range(1).selectExpr(*(f"{value} AS {name}" for name, value in values.items()))
    row = row.withColumn("source", lit(source)).withColumn("seed", lit(seed))
    row.write.mode("overwrite").json(_directory(checkpoint))
    return JobLayout(layout, keys, source, seed)


def _is_there(session: SparkSession, path: str) -> bool:
    try:
        session.read.text(path)
    except AnalysisException as error:
        if error.getCondition() == "PATH_NOT_FOUND":
            return False
        raise
    return True


def _has_begun(session: SparkSession, checkpoint: str) -> bool:
    """Return True if Spark has planned a batch: it writes the offsets of each beforehand."""
    offsets = f"{checkpoint}/offsets"
    return _is_there(session, offsets) and session.read.text(offsets).first() is not None


def _directory(checkpoint: str) -> str:
    return f"{checkpoint.rstrip('/')}/layout"


def _keys_of_tasks(session: SparkSession, tasks: int) -> list[int]:
    """Return an integer for each task that Spark's hash assigns to it, so that each has one."""
    numbers = session.range(_TRIED * tasks).selectExpr(
        "CAST(id AS INT) AS key", f"pmod(hash(CAST(id AS INT)), {tasks}) AS task"
    )
    found = numbers.groupBy("task").min("key").orderBy("task").collect()
    return [row[1] for row in found]
