"""Runs a query of Spark to its end, or until a signal asks to stop it."""

from __future__ import annotations

import logging
import signal
import threading
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from queue import SimpleQueue
from types import FrameType
from typing import Any, Self

from pyspark.errors import PySparkException, StreamingQueryException
from pyspark.sql import SparkSession
from pyspark.sql.streaming.query import StreamingQuery
from pyspark.sql.types import StructType

from monitor.distributed.delivery import Say
from monitor.errors import MonitorError

py4j: Any = import_module("py4j.protocol")

FAULTS = (PySparkException, py4j.Py4JError)
"""What Spark raises."""
STOP_TIMEOUT = "10s"
"""How long a query that is stopped may wait for its batch, such as one that is being sent."""
_CANNOT_MERGE = "CANNOT_MERGE_SCHEMAS"
_LATE_WORKER = "Python worker failed to connect back"
_MOST_STARTS = 5
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_LOG = "org.apache.logging.log4j"
_BATCHES = "org.apache.spark.sql.execution.streaming.runtime.MicroBatchExecution"
"""Logs the fault that ends a query, which the query raises as well."""


class _FirstSignal:
    """Passes the first SIGINT or SIGTERM to a function within its context, instead of raising it.

    The second one, and each behind the context, is left to who had it before; SIGINT to Python, in
    place of Spark's handler, which only stops what runs now.

    Args:
        note: takes the number of the signal.
    """

    def __init__(self, note: Callable[[int], None]) -> None:
        self._note = note
        self._before: dict[int, Any] = {}

    def __enter__(self) -> None:
        """Take over."""
        self._before = {number: signal.signal(number, self._came) for number in _SIGNALS}
        self._before[signal.SIGINT] = signal.default_int_handler

    def __exit__(self, *_: object) -> None:
        self._let_go()

    def _came(self, number: int, _: FrameType | None) -> None:
        self._let_go()
        self._note(number)

    def _let_go(self) -> None:
        while self._before:
            signal.signal(*self._before.popitem())


def started(make: Callable[[], SparkSession]) -> tuple[SparkSession | None, int]:
    """Return a session of Spark, or None and the number of a signal that came while it started.

    A signal that is raised would end Python before its JVM knows of it, and the JVM would stay. So
    the first one is noted, and the session is stopped once it has started.

    Args:
        make: starts the session.

    Raises:
        MonitorError: Spark did not start.
    """
    noted: list[int] = []
    try:
        with _FirstSignal(noted.append):
            session = make()
    except (*FAULTS, OSError) as error:  # a signal to the whole group ends the JVM as well
        if noted:
            return None, noted[0]
        why = (str(error) or type(error).__name__).splitlines()[0]
        raise MonitorError(f"spark: did not start: {why}") from error
    if not noted:
        return session, 0
    session.stop()
    return None, noted[0]


class QueryRun:
    """Waits for a query; within its context SIGINT and SIGTERM stop it, the second one the process.

    A signal is noted instead of raised, which would break a call of the JVM off.

    Args:
        session: of the query.
        say: prints a one-line message for the operator.
    """

    def __init__(self, session: SparkSession, say: Say) -> None:
        self._session = session
        self._say = say
        self._news: SimpleQueue[int | BaseException] = SimpleQueue()
        self._signals = _FirstSignal(self._news.put)

    def __enter__(self) -> Self:
        """Take over from the handler of Spark."""
        self._signals.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self._signals.__exit__()

    def ended(self, start: Callable[[], StreamingQuery]) -> int:
        """Run a query, from its checkpoint again where a worker came too late for Spark.

        Spark waits ten seconds, which no setting changes, for each Python process that it starts;
        a busy machine may take longer.

        Args:
            start: starts the query.

        Returns:
            0 at the end of the input, or the number of the signal that stopped the query.

        Raises:
            PySparkException: the query failed.
        """
        for left in reversed(range(_MOST_STARTS)):
            query = start()
            threading.Thread(target=self._await, args=(query,), daemon=True).start()
            news = self._news.get()
            if isinstance(news, int):
                if news:
                    self._stop(query)
                return news
            if not left or _LATE_WORKER not in str(news):
                raise news
            self._say("Spark got no Python worker within its ten seconds; the query starts again")
        raise AssertionError("unreachable")

    def _await(self, query: StreamingQuery) -> None:
        try:
            query.awaitTermination()
        except FAULTS as error:
            self._news.put(error)
        else:
            self._news.put(0)

    def _stop(self, query: StreamingQuery) -> None:
        """Stop a query without a word of the tasks that are broken off."""
        logging.getLogger("py4j").setLevel(logging.CRITICAL)
        self._session.sparkContext.setLogLevel("OFF")
        with suppress(*FAULTS):  # its batch is still being sent
            query.stop()


def hush(session: SparkSession) -> None:
    """Log errors only, and not the one that ends a query with its stacks.

    Args:
        session: its JVM logs.
    """
    session.sparkContext.setLogLevel("ERROR")  # silences a warning for each new page
    log: Any = session.sparkContext._jvm  # noqa: SLF001  # Spark has no other way
    for name in _LOG.split("."):
        log = getattr(log, name)
    log.core.config.Configurator.setLevel(_BATCHES, log.Level.OFF)


def parquet_schema(session: SparkSession, path: str, say: Say) -> StructType:
    """Return the columns of all Parquet files; those of one file where Spark cannot merge them.

    Args:
        session: reads the files.
        path: directory or pattern.
        say: prints a one-line message for the operator.
    """
    try:
        return session.read.option("mergeSchema", "true").parquet(path).schema
    except FAULTS as error:
        if _CANNOT_MERGE not in str(error):
            raise
    say(
        f"{path}: files have a column in different types, so that only the columns of one file are "
        "read: write all files with the same types"
    )
    return session.read.parquet(path).schema


def stack_of(error: Exception) -> str:
    """Return the stacks of a query's fault, which `hush` keeps out of the log; "" of others.

    Args:
        error: that Spark raised.
    """
    return str(error) if isinstance(error, StreamingQueryException) else ""
