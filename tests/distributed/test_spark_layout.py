"""The layout of a checkpoint, on a real Spark: written once, read again, compared."""

import os

import pytest

pytest.importorskip("pyspark", reason="a package of the extra dev")
from pyspark.sql import SparkSession

from monitor.distributed.layout import Layout
from monitor.distributed.spark_layout import store_layout, stored_layout
from monitor.errors import MonitorError

pytestmark = [
    pytest.mark.system,
    pytest.mark.dev("pyspark"),
    pytest.mark.usefixtures("spark"),
]


@pytest.fixture
def session(monkeypatch):
    monkeypatch.setitem(os.environ, "SPARK_LOCAL_IP", "127.0.0.1")
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
    with session.getOrCreate() as started:
        yield started


def made(checkpoint):
    """The directory of the layout in a checkpoint that has planned a batch."""
    (checkpoint / "offsets").mkdir(parents=True)
    (checkpoint / "offsets" / "0").write_text("v1\n")
    (checkpoint / "layout").mkdir()
    return checkpoint / "layout"


def test_a_checkpoint_holds_its_layout(session, tmp_path):
    checkpoint = str(tmp_path / "ck")
    assert stored_layout(session, checkpoint, None) is None
    store_layout(session, checkpoint, Layout(5, 20), "it", 3)
    (tmp_path / "ck" / "offsets").mkdir()
    assert stored_layout(session, checkpoint, Layout(5, 10)) is None  # its first start failed
    begun = store_layout(session, checkpoint, Layout(5, 10), "it's one", 7)
    (tmp_path / "ck" / "offsets" / "0").write_text("v1\n")
    assert stored_layout(session, checkpoint, None) == begun
    assert stored_layout(session, f"{checkpoint}/", Layout(5, 10)) == begun
    assert (begun.source, begun.seed) == ("it's one", 7)
    keys = session.createDataFrame([(key,) for key in begun.keys], "key int")
    tasks = keys.repartition(5, "key").selectExpr("key", "spark_partition_id() AS task").collect()
    assert sorted(tasks, key=lambda row: row.task) == [*zip(begun.keys, range(5), strict=True)]
    with pytest.raises(MonitorError, match="has --buckets 10 --partitions 5, not 20 and 5"):
        stored_layout(session, checkpoint, Layout(5, 20))
    made(tmp_path / "killed")
    assert stored_layout(session, str(tmp_path / "killed"), None) is None
    without_source = made(tmp_path / "unnamed")
    (without_source / "part-0.json").write_text('{"tasks":1,"pages":2,"keys":[0]}\n')
    assert stored_layout(session, str(tmp_path / "unnamed"), None) == (
        Layout(1, 2),
        [0],
        None,
        None,
    )
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier" / "metadata").write_text("{}\n")
    with pytest.raises(MonitorError, match="of an earlier version of the program"):
        stored_layout(session, str(tmp_path / "earlier"), None)
    damaged = made(tmp_path / "damaged")
    (damaged / "part-0.json").write_text('{"tas')
    with pytest.raises(MonitorError, match="layout is damaged, so that its pages cannot be found"):
        stored_layout(session, str(tmp_path / "damaged"), None)
