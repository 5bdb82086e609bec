"""Kafka without Spark's connector, on the mock cluster of the client: planned, read, refused."""

import json
import os
import pickle
import subprocess
import sys

import pytest

pytest.importorskip("pyspark", reason="a package of the extra dev")
from feeds.kafka.test_kafka_cluster import TOPICS, Cluster
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from spark_cluster import CONFIG, SHORT_LIVED, recounted, stream, summed

from monitor.distributed.kafka_records import KafkaRecords, TopicReader
from monitor.errors import MonitorError

pytestmark = pytest.mark.dev("pyspark")


@pytest.fixture(scope="module")
def cluster():
    return Cluster()


def reader_of(cluster, topics, **options):
    given = {"subscribe": topics, "kafka.bootstrap.servers": ",".join(cluster.brokers)} | options
    return KafkaRecords(given).streamReader(None)


def rows(reader, start, end):
    """Return the events that the tasks of a batch read, each on a machine of its own."""
    return [
        json.loads(value)
        for share in reader.partitions(start, end)
        for batch in pickle.loads(pickle.dumps(reader)).read(share)  # noqa: S301  # as Spark does
        for value in batch.column(0).to_pylist()
    ]


def test_batches_within_their_limit_give_every_record_once(cluster):
    events = [{"id": f"{i}"} for i in range(500)]
    cluster.produce("limited", events)
    reader = reader_of(cluster, "limited", maxoffsetspertrigger="150")
    assert reader.getDefaultReadLimit() == ReadMaxRows(150)
    at, found = reader.initialOffset(), []
    while (end := reader.latestOffset(at, ReadMaxRows(150))) != at:
        some = rows(reader, at, end)
        assert some == rows(reader, at, end), "a batch computed again is the same"
        assert 0 < len(some) <= 150
        found, at = found + some, end
    assert sorted(found, key=json.dumps) == sorted(events, key=json.dumps)


def test_what_comes_after_the_start_waits_where_the_job_is_to_end(cluster):
    cluster.produce("ending", [{"id": "a"}, {"id": "b"}])
    reader = reader_of(cluster, "ending")
    reader.prepareForTriggerAvailableNow()
    cluster.produce("ending", [{"id": "c"}])
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    found = rows(reader, reader.initialOffset(), end)
    assert sorted(event["id"] for event in found) == ["a", "b"]


def test_records_that_are_gone_and_topics_made_anew_are_refused(cluster):
    cluster.produce("gone", [{"id": "a"}])
    reader = reader_of(cluster, "gone")
    end = reader.latestOffset(reader.initialOffset(), ReadAllAvailable())
    further = {"gone": {number: at + 100 for number, at in end["gone"].items()}}
    past = {"gone": {number: at + 200 for number, at in end["gone"].items()}}
    with pytest.raises(
        MonitorError, match=r"kafka gone\[0\]: offset \d+ was deleted before it was read"
    ):
        rows(reader, further, past)
    with pytest.raises(MonitorError, match=r"ends before offset \d+, already read"):
        reader.latestOffset(past, ReadMaxRows(10))


def test_a_partition_that_is_new_is_read_from_its_first_record(cluster):
    cluster.produce("grown", [{"id": f"{i}"} for i in range(50)])
    reader = reader_of(cluster, "grown")
    end = reader.latestOffset({}, ReadAllAvailable())
    assert len(rows(reader, {}, end)) == 50


def test_settings_come_from_the_options_and_offsets_stay_sparks():
    options = {"subscribe": "a, b", "kafka.security.protocol": "ssl", "kafka.group.id": "x"}
    reader = KafkaRecords(options).streamReader(None)
    assert isinstance(reader, TopicReader)
    assert reader._topics == ["a", "b"]
    assert reader._client["security.protocol"] == "ssl"
    assert reader._client["group.id"] == "precision-monitor-spark"
    assert reader._client["enable.auto.commit"] == "false"
    assert reader.getDefaultReadLimit() == ReadAllAvailable()


@pytest.mark.system
@pytest.mark.usefixtures("spark")
def test_a_job_that_reads_topics_counts_as_the_recount(cluster, tmp_path):
    events = stream(600)
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    secrets = tmp_path / "kafka.properties"
    secrets.write_text("client.id=job\n")
    words = [
        "-c", tmp_path / "monitor.yaml", "--kafka", ",".join(cluster.brokers), "--topics",
        ",".join(TOPICS), "--kafka-client", "confluent", "--kafka-properties", secrets,
        "--records-per-batch", "1000", "--once", "--checkpoint", tmp_path / "ck", "--to",
        tmp_path / "out", "--buckets", "2", "--partitions", "1", "--master", "local[2]",
    ]  # fmt: skip
    local = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f"--driver-java-options '{SHORT_LIVED}' pyspark-shell",
    }
    for topic in TOPICS:
        cluster.produce(topic, [e for e in events if f"{e['type']}s" == topic])
    done = subprocess.run(
        [sys.executable, "-m", "monitor", "spark", *words],
        env=os.environ | local, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert summed(tmp_path / "out") == recounted(events)
