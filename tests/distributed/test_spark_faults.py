"""Messages of the job when Spark fails, without Spark's stack."""

import signal
import threading
from contextlib import nullcontext
from dataclasses import replace
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="a package of the extra dev")

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException, StreamingQueryException

from monitor.config import Config
from monitor.distributed import spark_job
from monitor.distributed.sizing import Load
from monitor.distributed.spark_job import JobInput, SparkJob, _explained
from monitor.distributed.spark_query import QueryRun
from monitor.errors import MonitorError

pytestmark = pytest.mark.dev("pyspark")

STACK = """\
[STREAM_FAILED] Query [id = 1] terminated with exception: SparkJob aborted
    raise MonitorError(
          ^^^^^^^^^^^^^
monitor.errors.MonitorError: checkpoint: has --buckets 64 (layout 1); give the same number
\tat org.apache.spark.Something
"""


def job(**source):
    given = {"checkpoint": "ck", "source": "s", "buckets": 4, "every": "", "partitions": 1}
    load = Load(rate=1, remembered=60, batch=10)
    return SparkJob(config=Config(), input=JobInput(**source), load=load, **given)


def test_an_error_of_the_job_is_reported_in_its_own_words():
    reported = "checkpoint: has --buckets 64 (layout 1); give the same number"
    assert _explained(STACK, job(directory="in")) == reported


def test_an_error_of_spark_is_reported_in_one_line():
    assert _explained("[X] y\n\tat z\n", job(directory="in")) == "[X] y"


UNREADABLE = """\
[STREAM_FAILED] Query [id = 4c5c, runId = 590a] terminated with exception: \
[FOREACH_BATCH_USER_FUNCTION_ERROR] An error occurred in the user provided function in foreach \
batch sink. Reason: An exception was raised by the Python Proxy. Return Message: \
Traceback (most recent call last):
  File "py4j/clientserver.py", line 644, in _call_proxy
    return_value = getattr(self.pool[obj_id], method)(*params)
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
py4j.protocol.Py4JJavaError: An error occurred while calling o142.collectToPython.
: org.apache.spark.SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading \
file file:///in/a.parquet.  SQLSTATE: KD001
\tat org.apache.spark.sql.errors.QueryExecutionErrors$.cannotReadFilesError
\t... 34 more
Caused by: java.io.IOException: could not decode the dictionary for [id]
\tat org.apache.parquet.column.impl.ColumnReaderBase.<init>(ColumnReaderBase.java:415)
Caused by: java.io.IOException: FAILED_TO_UNCOMPRESS(5)
\tat org.xerial.snappy.SnappyNative.throw_error(SnappyNative.java:1)

 SQLSTATE: 39000 SQLSTATE: XXKST
=== Streaming Query ===
Current State: ACTIVE
   +- LocalRelation <empty>
"""
"""As Spark 4.1 says it, with shorter stacks."""


def test_an_error_of_java_is_reported_with_its_first_cause():
    assert _explained(UNREADABLE, job(directory="in")) == (
        "SparkException: [FAILED_READ_FILE.NO_HINT] Encountered error while reading file "
        "file:///in/a.parquet; caused by IOException: could not decode the dictionary for [id]"
    )


def test_an_error_of_python_is_reported_by_the_last_line_of_its_traceback():
    stack = (
        "[STREAM_FAILED] Query [id = 1] terminated with exception: Traceback (most recent call "
        'last):\n  File "a.py", line 1, in x\n    1 / 0\nZeroDivisionError: division by zero\n'
    )
    assert _explained(stack, job(directory="in")) == "ZeroDivisionError: division by zero"
    caused = (
        ": org.apache.spark.SparkException: Job aborted\n\tat a.b\nCaused by: "
        f"org.apache.spark.api.python.PythonException: {stack.partition(': ')[2]}"
    )
    expected = "SparkException: Job aborted; caused by ZeroDivisionError: division by zero"
    assert _explained(caused, job(directory="in")) == expected


class JavaError(Py4JJavaError):
    """An error of Java, without a JVM."""

    def __init__(self, text):
        self.text = text

    def __str__(self):
        return self.text


@pytest.mark.parametrize("kind", [PySparkException, JavaError])
def test_whatever_spark_raises_ends_the_job_in_one_line(kind, monkeypatch):
    monkeypatch.setattr(spark_job, "_session", lambda _: SimpleNamespace(stop=lambda: None))
    error = kind("[X] y\n\tat z")

    def fails(*_):
        raise error

    monkeypatch.setattr(spark_job, "_started", fails)
    with pytest.raises(MonitorError, match=r"^spark: \[X\] y$"):
        spark_job.run(job(directory="in"), [], [].append)


def test_a_missing_connector_is_named():
    reported = _explained("Failed to find data source: kafka.", job(brokers="b:1", topics="t"))
    assert "spark-submit --packages org.apache.spark:spark-sql-kafka-0-10_2.13:4." in reported


class Query:
    """A query that ends with a fault, if one is given."""

    def __init__(self, fault=""):
        self.fault = fault

    def awaitTermination(self):  # noqa: N802  # as Spark calls it
        if self.fault:
            raise StreamingQueryException(self.fault)


LATE = (
    "[STREAM_FAILED] Query [id = 1] terminated with exception: Python worker failed to connect back"
)


@pytest.mark.parametrize(
    ("faults", "raised"),
    [([LATE, LATE, ""], False), ([LATE] * 5, True), (["[STREAM_FAILED] other", ""], True)],
)
def test_a_query_starts_again_where_a_worker_came_too_late_for_spark_and_only_then(faults, raised):
    queries, said = [Query(fault) for fault in faults], []
    with pytest.raises(StreamingQueryException) if raised else nullcontext():
        QueryRun(None, said.append).ended(lambda: queries.pop(0))
    assert len(queries) == (1 if "other" in faults[0] else 0)
    assert len(said) == faults.count(LATE) - (raised and faults[0] == LATE)


STARTING = "starting Spark, which takes half a minute or so"


class Endless:
    """A query that runs until it is stopped, and gets a signal meanwhile."""

    def __init__(self, stops):
        self.stopped, self.stops = threading.Event(), stops

    def awaitTermination(self):  # noqa: N802  # as Spark calls it
        self.stopped.wait()

    def stop(self):
        self.stopped.set()
        if not self.stops:
            raise PySparkException("its batch is still being sent")


@pytest.mark.parametrize("stops", [True, False])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_the_query_in_one_line(number, stops, monkeypatch):
    levels, said = [], []
    context = SimpleNamespace(setLogLevel=levels.append)
    session = SimpleNamespace(stop=lambda: said.append("session"), sparkContext=context)
    monkeypatch.setattr(spark_job, "_session", lambda _: session)
    query = Endless(stops)

    def started(_session, _job, sink, _say):
        sink.reached = "after batch 4"
        signal.raise_signal(number)
        return query

    monkeypatch.setattr(spark_job, "_started", started)
    assert spark_job.run(job(directory="in"), [], said.append) == number
    assert query.stopped.is_set()
    assert levels == ["OFF"]
    assert said == [
        STARTING,
        "session",
        "stopped after batch 4; the next start continues there",
    ]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_spark_starts_stops_it_once_it_has_started(number, monkeypatch):
    said = []

    def session(_):
        signal.raise_signal(number)
        said.append("started")
        return SimpleNamespace(stop=lambda: said.append("session"))

    monkeypatch.setattr(spark_job, "_session", session)
    before = signal.getsignal(number)
    assert spark_job.run(job(directory="in"), [], said.append) == number
    assert signal.getsignal(number) is before
    assert said == [
        STARTING,
        "started",
        "session",
        "stopped before it read anything; the next start begins where this one would have",
    ]


def test_a_spark_that_does_not_start_is_an_error_unless_a_signal_ended_it(monkeypatch):
    def session(job):
        if job.source == "asked":
            signal.raise_signal(signal.SIGTERM)
        raise PySparkException("Java gateway process exited\nand more")

    monkeypatch.setattr(spark_job, "_session", session)
    with pytest.raises(MonitorError, match=r"^spark: did not start: .*gateway process exited$"):
        spark_job.run(job(directory="in"), [], [].append)
    asked = replace(job(directory="in"), source="asked")
    assert spark_job.run(asked, [], [].append) == signal.SIGTERM


def test_a_second_signal_is_left_to_who_had_it_before():
    before = signal.getsignal(signal.SIGTERM)
    with QueryRun(None, [].append):
        assert signal.getsignal(signal.SIGTERM) is not before
        signal.raise_signal(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is before
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@pytest.mark.parametrize(("fault", "shown"), [(UNREADABLE, [UNREADABLE]), (STACK, [])])
def test_stacks_are_shown_of_what_is_no_error_of_the_job(fault, shown, monkeypatch):
    monkeypatch.setattr(spark_job, "_session", lambda _: SimpleNamespace(stop=lambda: None))
    monkeypatch.setattr(spark_job, "_started", lambda *_: Query(fault))
    said = []
    with pytest.raises(MonitorError):
        spark_job.run(job(directory="in"), [], said.append)
    assert said == [STARTING, *shown]
