"""Messages of the job when Spark fails, without Spark's stack."""

from contextlib import nullcontext

import pytest

pytest.importorskip("pyspark", reason="a package of the extra dev")

from pyspark.errors import StreamingQueryException

from monitor.config import Config
from monitor.distributed.sizing import Load
from monitor.distributed.spark_job import JobInput, SparkJob, _await, _explained

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
        _await(lambda: queries.pop(0), said.append)
    assert len(queries) == (1 if "other" in faults[0] else 0)
    assert len(said) == faults.count(LATE) - (raised and faults[0] == LATE)
