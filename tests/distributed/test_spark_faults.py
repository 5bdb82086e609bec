"""Messages of the job when Spark fails, without Spark's stack."""

import pytest

pytest.importorskip("pyspark", reason="a package of the extra dev")

from monitor.config import Config
from monitor.distributed.sizing import Load
from monitor.distributed.spark_job import JobInput, SparkJob, _explained

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
