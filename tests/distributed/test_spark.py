"""The job on a real Spark: a master and two workers on loopback, killed while they work."""

import os
import re
import subprocess
import sys
import urllib.request
from collections import Counter

import pytest
from ports import free_port
from prometheus_client.parser import text_string_to_metric_families
from shards import assert_same
from spark_cluster import (
    CELLS,
    CONFIG,
    SHORT_LIVED,
    Cluster,
    Started,
    is_in_batch,
    kill,
    recounted,
    stream,
    summed,
    until,
    write,
)

from monitor.config import load_config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings

PREDICTIONS = 12_000
FILES = 6

pytestmark = [
    pytest.mark.system,
    pytest.mark.dev("pyspark"),
    pytest.mark.usefixtures("spark"),
]


def shown(port):
    """Return the samples that a monitor serves, by name, as (labels, number)."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics") as answer:
        families = text_string_to_metric_families(answer.read().decode())
    found = {}
    for sample in (sample for family in families for sample in family.samples):
        found.setdefault(sample.name, []).append((sample.labels, sample.value))
    return found


def outcomes_ever(series):
    """Outcomes by model and cell."""
    return {
        (labels["model"], labels["outcome"]): number
        for labels, number in series.get("classifier_window_outcomes", ())
        if labels["window"] == "all"
    }


@pytest.mark.slow  # test_pages delivers again, test_spark_kafka recounts a job
def test_killed_driver_worker_and_executor_change_no_count(tmp_path):
    events = stream(PREDICTIONS)
    write(events, tmp_path / "in", FILES)
    config, port, exporter = tmp_path / "monitor.yaml", free_port(), free_port()
    feeds = f"feeds: [{{type: http, listen: '127.0.0.1:{port}'}}]\n"
    feeds += f"exporter: {{listen: '127.0.0.1:{exporter}'}}\n"
    config.write_text(CONFIG + feeds + f"state: {{directory: {tmp_path}/state}}\n")
    words = [
        "-c", str(config), "--input", str(tmp_path / "in"), "--files-per-batch", "1", "--once",
        "--checkpoint", str(tmp_path / "ck"), "--to", str(tmp_path / "out"), "--to",
        f"http://127.0.0.1:{port}", "--buckets", "8", "--partitions", "2", "--source", "job",
    ]  # fmt: skip
    served = [sys.executable, "-m", "monitor", "run", "-c", str(config)]
    monitor = Started(tmp_path / "monitor.log", served)
    cluster = Cluster(tmp_path)
    try:
        driver = cluster.submit("driver1", *words)
        until("the second batch", lambda: is_in_batch(tmp_path / "ck", 1), driver, monitor)
        driver.kill_group()
        driver = cluster.submit("driver2", *words)
        until("a later batch", lambda: is_in_batch(tmp_path / "ck", 3), driver, monitor)
        lost, survivor = cluster.workers
        lost.kill()
        (executor, *_) = until("an executor", lambda: cluster.executors(survivor), driver, survivor)
        kill(executor)
        driver.finish()
        assert ", late " in driver.output()
        totals = Counter()
        expected = recounted(events)
        for (model, _, _, *cell), count in expected.items():
            totals[model, cell[0]] += count
        totals = {place: count for place, count in totals.items() if place[1] in CELLS}
        until("all is counted", lambda: outcomes_ever(shown(exporter)) == totals, monitor)
        series = shown(exporter)
    finally:
        cluster.stop()
        monitor.kill()
    assert summed(tmp_path / "out") == expected
    reached = series["precision_monitor_source_watermark_timestamp_seconds"]
    assert reached == [({"source": "job"}, 1_790_008_000)]

    assert_same(*(replayed(config, paths) for paths in (tmp_path / "out", tmp_path / "in")))


def replayed(config, directory):
    """Return the snapshot of one monitor after the files of a directory."""
    settings = load_config(config)
    monitor, decoder = Monitor(settings), Decoder(DecodeSettings.from_config(settings))
    for path in sorted(directory.iterdir()):
        monitor.apply(decoder.decode_lines(path.read_bytes(), source=path.name))
    return monitor.snapshot()


def run_locally(*words):
    """A job on one core of this machine, to its end."""
    local = {
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PYSPARK_PYTHON": sys.executable,
        "PYSPARK_SUBMIT_ARGS": f"--driver-java-options '{SHORT_LIVED}' pyspark-shell",
    }
    return subprocess.run(
        [sys.executable, "-m", "monitor", "spark", *words, "--master", "local[1]"],
        env=os.environ | local, capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.mark.slow  # test_delivery rejects, test_pages delivers again
def test_a_job_whose_counts_are_rejected_fails_and_its_next_start_loses_none(tmp_path):
    events = stream(300)
    write(events, tmp_path / "in", 1)
    config, port, exporter = tmp_path / "monitor.yaml", free_port(), free_port()
    feeds = f"feeds: [{{type: http, listen: '127.0.0.1:{port}'}}]\n"
    feeds += f"exporter: {{listen: '127.0.0.1:{exporter}'}}\n"
    feeds += f"state: {{directory: {tmp_path}/state}}\n"
    (tmp_path / "job.yaml").write_text(CONFIG)
    words = [
        "-c", tmp_path / "job.yaml", "--input", tmp_path / "in", "--once", "--checkpoint",
        tmp_path / "ck", "--to", f"http://127.0.0.1:{port}", "--buckets", "17",
        "--partitions", "17",  # so many that executors join the tallies
    ]  # fmt: skip
    served = [sys.executable, "-m", "monitor", "run", "-c", str(config)]
    without_spam = [line for line in CONFIG.splitlines(keepends=True) if "spam" not in line]
    config.write_text("".join(without_spam) + feeds)
    monitor = Started(tmp_path / "monitor1.log", served)
    try:
        failed = run_locally(*words)
        monitor.process.terminate()
        monitor.finish()
        config.write_text(CONFIG + feeds)
        monitor = Started(tmp_path / "monitor2.log", served)
        done = run_locally(*words)
        totals = Counter()
        for (model, _, _, *cell), count in recounted(events).items():
            if cell[0] in CELLS:
                totals[model, cell[0]] += count
        until("all is counted", lambda: outcomes_ever(shown(exporter)) == totals, monitor)
    finally:
        monitor.kill()
    last = failed.stderr.splitlines()[-1]
    assert failed.returncode == 2, failed.stderr[-3000:]
    assert re.search(r"precision-monitor: .*rejected \d+ counts: unknown_model \d+; such as", last)
    assert " sent" not in failed.stderr
    assert done.returncode == 0, done.stderr[-3000:]


@pytest.mark.slow  # test_pages forgets, test_spark_kafka recounts a job
def test_parquet_on_one_machine_and_timers_that_forget(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    events = stream(1_500)
    later = 1_790_000_000 + 3 * 86_400
    last = {"type": "prediction", "prediction": 1, "model": "spam", "segment": {"region": "b"}}
    batches = [events, [last | {"id": f"l{i}", "ts": later} for i in range(9)]]
    batches.append([last | {"id": "m", "ts": later}])
    (tmp_path / "in").mkdir()
    for number, rows in enumerate(batches):
        path = tmp_path / "in" / f"{number}.parquet"
        parquet.write_table(pa.Table.from_pylist(rows, schema=_schema(pa)), path)
        os.utime(path, (1_700_000_000 + number, 1_700_000_000 + number))
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    words = [
        "-c", tmp_path / "monitor.yaml", "--input", tmp_path / "in", "--format", "parquet",
        "--files-per-batch", "1", "--once", "--checkpoint", tmp_path / "ck", "--to",
        tmp_path / "out", "--buckets", "4", "--partitions", "1",
    ]  # fmt: skip
    done = run_locally(*words)
    assert done.returncode == 0, done.stderr[-3000:]
    assert summed(tmp_path / "out") == recounted([e for batch in batches for e in batch])
    assert re.search(r"batch \d+: .*dropped \d", done.stderr), done.stderr[-3000:]
    assert not [line for line in done.stderr.splitlines() if "WARN" in line and "page" in line]


@pytest.mark.slow  # test_tables reads such columns, test_spark_kafka recounts a job
def test_parquet_files_with_other_columns_each_and_dots_in_their_names(tmp_path):
    pa = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    events = stream(300)
    (tmp_path / "in").mkdir()
    for kind in ("prediction", "label"):
        rows = [event for event in events if event["type"] == kind]
        columns = {name: [row[name] for row in rows] for name in rows[0]}
        if segments := columns.pop("segment", None):
            columns["segment.region"] = [segment["region"] for segment in segments]
        parquet.write_table(pa.table(columns), tmp_path / "in" / f"{kind}.parquet")
    (tmp_path / "monitor.yaml").write_text(CONFIG)
    done = run_locally(
        "-c", tmp_path / "monitor.yaml", "--input", tmp_path / "in", "--format", "parquet",
        "--once", "--checkpoint", tmp_path / "ck", "--to", tmp_path / "out", "--buckets", "4",
        "--partitions", "1",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    assert summed(tmp_path / "out") == recounted(events)


def _schema(pa):
    text, number = pa.string(), pa.int64()
    region = pa.struct([("region", text)])
    columns = {"type": text, "id": text, "ts": pa.float64(), "prediction": number}
    return pa.schema(list((columns | {"model": text, "segment": region, "label": number}).items()))
