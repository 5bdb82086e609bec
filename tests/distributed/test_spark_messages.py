"""What the job says of its checkpoint before it reads, without a Spark."""

from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="a package of the extra dev")

from pyspark.errors import PySparkException

from monitor.config import Config
from monitor.distributed import spark_job
from monitor.distributed.layout import Layout
from monitor.distributed.page_rules import mark_of
from monitor.distributed.sizing import Load
from monitor.distributed.spark_job import JobInput, SparkJob
from monitor.distributed.spark_layout import JobLayout
from monitor.distributed.spark_query import parquet_schema
from monitor.errors import MonitorError

pytestmark = pytest.mark.dev("pyspark")

NEW = None
SECRET = Config.model_validate({"id_secret": "of 16 characters"})


def said(monkeypatch, stored, *, source="s", seed=None, config=SECRET, **options):
    """What a job says of its pages, and how many it has."""
    known = stored and JobLayout(stored, [*range(stored.tasks)], source, seed)
    monkeypatch.setattr(spark_job, "stored_layout", lambda *_: known)
    monkeypatch.setattr(
        spark_job, "store_layout", lambda *a: JobLayout(a[2], [*range(a[2].tasks)], *a[3:])
    )
    given = {"buckets": 0, "partitions": 8, "every": "1 minutes", "checkpoint": "ck", "source": "s"}
    load = Load(rate=1000, remembered=86_400, batch=60)
    job = SparkJob(config=config, input=JobInput(directory="in"), load=load, **given | options)
    lines = []
    return spark_job._layout(None, job, lines.append).layout.pages, lines


def test_why_it_has_so_many_pages_is_said_where_the_job_has_chosen(monkeypatch):
    pages, (line,) = said(monkeypatch, NEW, rate_given=True)
    assert pages == 256
    assert line.startswith("256 pages, for 1,000 predictions a second")
    assert line.endswith(" s more")


def test_what_was_assumed_of_the_load_is_said(monkeypatch):
    _, (line,) = said(monkeypatch, NEW, every="")
    assert line.endswith(
        "; the rate is the default, not measured: give --rate; "
        "batches of 1m are assumed with --once"
    )


def test_a_given_number_is_not_explained_but_one_that_was_raised_is_named(monkeypatch):
    assert said(monkeypatch, NEW, buckets=64) == (64, [])
    pages, lines = said(monkeypatch, NEW, buckets=100)
    assert pages == 104
    assert lines == [
        "--buckets 100: the checkpoint gets 104 pages, as many in each of --partitions 8"
    ]


def test_a_rate_that_nothing_follows_from_is_named(monkeypatch):
    stored = Layout(8, 64)
    assert said(monkeypatch, stored) == (64, [])
    assert said(monkeypatch, stored, rate_given=True)[1] == [
        "--rate is not used: the checkpoint has 64 pages already, fixed for its life"
    ]
    assert said(monkeypatch, NEW, buckets=64, rate_given=True)[1] == [
        "--rate is not used: the number of pages is given by --buckets"
    ]


def test_more_pages_than_a_task_can_search_are_refused_only_of_a_new_checkpoint(monkeypatch):
    with pytest.raises(MonitorError, match="--buckets 65537: a task has at most 65,536 pages"):
        said(monkeypatch, NEW, buckets=65_537, partitions=1)
    stored = Layout(1, 1 << 20)
    assert said(monkeypatch, stored, buckets=1 << 20, partitions=1) == (1 << 20, [])


def test_a_new_checkpoint_without_a_secret_is_warned_of(monkeypatch):
    pages, (line,) = said(monkeypatch, NEW, buckets=64, config=Config())
    assert pages == 64
    assert line.startswith("id_secret is missing in the configuration: ")
    assert said(monkeypatch, Layout(8, 64), config=Config()) == (64, [])


def test_a_checkpoint_goes_on_under_its_own_source_only(monkeypatch):
    with pytest.raises(MonitorError, match=r"^--source s: the checkpoint is of 'fraud-job', .*"):
        said(monkeypatch, Layout(8, 64), source="fraud-job")
    assert said(monkeypatch, Layout(8, 64), source=None) == (64, [])  # of an earlier version


def test_a_checkpoint_of_another_secret_is_refused_before_anything_is_read(monkeypatch):
    stored, other = Layout(8, 64), Config.model_validate({"id_secret": "other characters"})
    assert said(monkeypatch, stored, seed=mark_of(SECRET))[0] == 64
    for config in (other, Config()):
        with pytest.raises(MonitorError, match="was begun with another id_secret"):
            said(monkeypatch, stored, seed=mark_of(SECRET), config=config)


class Tables:
    """A reader of Parquet files, which Spark may fail to merge."""

    def __init__(self, fault):
        self.fault = fault
        self.read = self

    def option(self, name, value):
        assert (name, value) == ("mergeSchema", "true")
        return SimpleNamespace(parquet=self.merged)

    def merged(self, path):
        if self.fault:
            raise PySparkException(self.fault)
        return SimpleNamespace(schema=f"all of {path}")

    def parquet(self, path):
        return SimpleNamespace(schema=f"one of {path}")


def test_columns_are_those_of_all_files_or_a_line_says_that_they_are_of_one():
    lines = []
    assert parquet_schema(Tables(""), "in", lines.append) == "all of in"
    assert lines == []
    clash = Tables("[CANNOT_MERGE_SCHEMAS] Failed merging schemas")
    assert parquet_schema(clash, "in", lines.append) == "one of in"
    (line,) = lines
    assert line.startswith("in: files have a column in different types")
    with pytest.raises(PySparkException, match="PATH_NOT_FOUND"):
        parquet_schema(Tables("[PATH_NOT_FOUND] in"), "in", lines.append)
