"""Ids and names that a warehouse keeps as decimals, and files whose column names repeat."""

import io
from decimal import Decimal

import pyarrow as pa
import pytest
from pyarrow import parquet

from monitor import Monitor
from monitor.errors import FeedError
from monitor.feeds.arrow.arrow_files import rows_of_table

PAID = [1_790_000_000, 1_790_000_060, 1_790_000_120]
PREDICTED = {"ts": PAID, "id": [1, 2, 3], "prediction": [1, 1, 0]}


def labelled(ids: list[Decimal | None], kind: pa.DataType) -> pa.Table:
    return pa.table({"ts": PAID, "id": pa.array(ids, kind), "label": [1, 0, 0]})


@pytest.mark.parametrize(
    "kind", [pa.decimal128(38, 0), pa.decimal128(38, 10), pa.decimal256(76, 2)]
)
def test_an_id_that_is_a_whole_decimal_is_that_of_the_integer(kind):
    monitor = Monitor()
    monitor.feed(PREDICTED)
    ids = [Decimal(1), Decimal(2), Decimal(3)]
    assert monitor.feed(labelled(ids, kind)).rejected == {}
    counts = monitor["default"]["all"].counts
    assert [counts.tp, counts.fp, counts.fn, counts.tn] == [1, 1, 0, 1]


def test_one_that_is_not_whole_costs_its_row_alone():
    monitor = Monitor()
    monitor.feed(PREDICTED)
    found = monitor.feed(labelled([Decimal(1), Decimal("2.5"), Decimal(3)], pa.decimal128(9, 2)))
    assert found.rejected == {"bad_value": 1}
    assert monitor["default"]["all"].counts.total == 2


def test_segments_and_models_may_be_decimals_in_a_file(tmp_path):
    file = tmp_path / "events.parquet"
    names = pa.array([Decimal(7)] * 3, pa.decimal128(38, 10))
    parquet.write_table(pa.table({**PREDICTED, "model": names}), file)
    monitor = Monitor()
    monitor.feed(parquet.read_table(file))
    assert [model.name for model in monitor.snapshot().models] == ["7"]


def test_an_arrow_file_with_two_columns_of_one_name_is_refused():
    repeated = pa.table([[1.0], [1], [0]], names=["ts", "label", "label"])
    sink = io.BytesIO()
    with pa.ipc.new_file(sink, repeated.schema) as out:
        out.write_table(repeated)
    with pytest.raises(FeedError, match="has column 'label' twice; rename one of them"):
        rows_of_table(io.BytesIO(sink.getvalue()), "x.arrow", parquet=False, most=5)
