"""Tasks of a Spark job: decode events into packets, and keep the pages of each task."""

from __future__ import annotations

import gc
from collections.abc import Iterator, Sequence
from functools import cache
from importlib import import_module
from math import ceil, sqrt
from typing import Any

from pyspark import TaskContext
from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from monitor.config import Config
from monitor.distributed.layout import Layout
from monitor.distributed.model_clocks import Reached, ReaderClocks
from monitor.distributed.packets import packets_of
from monitor.distributed.page_rules import PageRules
from monitor.distributed.pages import Pages
from monitor.distributed.seven_bits import decoded, encoded
from monitor.distributed.stored_pages import PageBytes
from monitor.distributed.tallies import merged, packed, unpacked
from monitor.events.columns import EventBatch
from monitor.feeds.arrow.decoding import ArrowDecoder
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import BEFORE_ALL

pa: Any = import_module("pyarrow")
pc: Any = import_module("pyarrow.compute")

TALLY = "tally"
"""Column of the tallies, binary."""
_ON_DRIVER = 16
"""Tallies that the driver joins: this takes it as long as writing the sum as events."""
PACKETS = "task int, clock timestamp, packet binary"
"""Spark schema of the packets."""
_PACKET_SCHEMA = pa.schema(
    [("task", pa.int32()), ("clock", pa.timestamp("us", "UTC")), ("packet", pa.binary())]
)


class PacketReader:
    """Decodes what a task reads, and divides it into packets for the stateful tasks.

    Args:
        config: the configuration.
        name: name of the input, for messages.
        layout: how ids are divided among stateful tasks.
        keys: by which Spark groups the packets of each stateful task.
        table: rows are those of a table `in_one_column`, not lines.
    """

    def __init__(
        self, config: Config, name: str, *, layout: Layout, keys: Sequence[int], table: bool
    ) -> None:
        self._config = config
        self._name = name
        self._layout = layout
        self._keys = keys
        self._table = table
        self._place = name

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield a batch of packets for each batch of rows."""
        decoder = Decoder(DecodeSettings.from_config(self._config))
        task = TaskContext.get()
        self._place = f"{self._name} task {task.partitionId() if task else 0}"
        clocks, row = ReaderClocks(), 1
        for batch in batches:
            events = self._decoded(decoder, batch, row)
            row += batch.num_rows
            clocks.advance(events)
            yield self._packets(events, clocks.reached)

    def _decoded(self, decoder: Decoder, batch: Any, row: int) -> EventBatch:
        if self._table:
            table = pa.RecordBatch.from_struct_array(batch.column(0))
            return ArrowDecoder(self._place, table.schema, decoder).decode(table, row)
        return decoder.decode_lines(block_of(batch.column(0)), source=self._place, first_line=row)

    def _packets(self, events: EventBatch, reached: Reached) -> Any:
        sent = [*packets_of(events, self._config, self._layout, reached)]
        clock = None if reached.time is None else reached.time * 1000
        return pa.RecordBatch.from_arrays(
            [
                pa.array([self._keys[one.task] for one in sent], pa.int32()),
                pa.array([clock] * len(sent), pa.timestamp("us", "UTC")),
                pa.array([one.data for one in sent], pa.binary()),
            ],
            schema=_PACKET_SCHEMA,
        )


def in_one_column(table: DataFrame) -> DataFrame:
    """Return a table of one column, whose fields are the columns.

    Spark hands no column to Python that has a dot in its name, such as `segment.region`.

    Args:
        table: with columns of any names.
    """
    quoted = [f"`{name.replace('`', '``')}`" for name in table.columns]
    return table.selectExpr(f"struct({', '.join(quoted)}) AS row")


def block_of(lines: Any) -> bytes:
    r"""Return lines as one block, without a Python object for each.

    Args:
        lines: Arrow array of binary; null for an empty line.

    >>> block_of(pa.array([b"a", None, b"b"], pa.binary()))
    b'a\n\nb'
    """
    whole = pa.ListArray.from_arrays([0, len(lines)], pc.fill_null(lines, b""))
    block: bytes = pc.binary_join(whole, b"\n")[0].as_buffer().to_pybytes()
    return block


class PageProcessor(StatefulProcessor):
    """Keeps the pages of each stateful task in Spark's state.

    Args:
        rules: settings of the pages.
        keys: by which Spark groups the packets of each stateful task.
    """

    def __init__(self, rules: PageRules, keys: Sequence[int]) -> None:
        self._rules = rules
        self._tasks = {key: task for task, key in enumerate(keys)}

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._handle = handle
        self._task = handle.getValueState("task", "state binary")
        self._pages = _SparkPages(
            handle.getMapState("pages", "page int", "rows binary, held binary")
        )

    def handleInputRows(  # noqa: N802  # Spark's name
        self,
        key: Any,
        rows: Any,
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Apply the packets of one task in a batch.

        Args:
            key: the task; its pages are in the state.
            rows: the packets.
            timerValues: has the watermark.
        """
        watermark = _time_of(timerValues)
        pages, before = self._opened(key)
        tally = pages.take((bytes(row.packet) for row in rows), watermark)
        self._store(pages, before, watermark)
        yield Row(tally=packed(tally))

    def handleExpiredTimer(  # noqa: N802  # Spark's name
        self,
        key: Any,
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Drop states that can no longer change, unless that was done with the batch's packets.

        Args:
            key: the task; its pages are in the state.
            timerValues: has the watermark.
            expiredTimerInfo: unused.
        """
        watermark = _time_of(timerValues)
        pages, before = self._opened(key)
        if pages.is_due(watermark):
            tally = pages.expire(watermark)
            self._store(pages, before, watermark)
            yield Row(tally=packed(tally))

    def close(self) -> None:
        """Release nothing, as Spark closes what it has opened; spare what is imported by then."""
        _spare_imported()

    def _opened(self, key: Any) -> tuple[Pages, bytes | None]:
        stored = self._task.get()
        state = None if stored is None else bytes(stored[0])
        return Pages(self._rules, self._pages, self._tasks[key[0]], state), state

    def _store(self, pages: Pages, before: bytes | None, watermark: int) -> None:
        due = pages.next_due(watermark)
        if due is not None:
            self._handle.registerTimer(due)
        if (state := pages.state()) != before:
            self._task.update((state,))


class _SparkPages:
    """The pages of a task in Spark's state.

    Args:
        state: Spark's map of them.
    """

    def __init__(self, state: Any) -> None:
        self._state = state

    def read(self, page: int) -> PageBytes:
        """Return a page; one without bytes if it is not stored."""
        found = self._state.getValue((page,))
        return PageBytes(*(decoded(bytes(part)) for part in found or ()))

    def write(self, page: int, data: PageBytes) -> None:
        """Store a page; one without bytes is removed."""
        if any(data):
            self._state.updateValue((page,), tuple(map(encoded, data)))
        else:
            self._state.removeKey((page,))


class TallyJoiner:
    """Joins the tallies of several stateful tasks to one, on an executor."""

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield the sum of all tallies."""
        whole = merged(
            unpacked(tally) for batch in batches for tally in batch.column(0).to_pylist()
        )
        yield pa.RecordBatch.from_arrays([pa.array([packed(whole)], pa.binary())], [TALLY])


def groups_of(tasks: int) -> int:
    """Return in how many groups executors join the tallies of tasks; 0 where the driver joins all.

    Args:
        tasks: number of stateful tasks.

    >>> [groups_of(tasks) for tasks in (8, 16, 17, 64)]
    [0, 0, 5, 8]
    """
    return ceil(sqrt(tasks)) if tasks > _ON_DRIVER else 0


@cache
def _spare_imported() -> None:
    """Exempt the objects of this process from the search for garbage, once.

    Spark searches all objects of a worker after each of its tasks, and nearly all of them belong to
    imported modules, pandas among them, which Arrow imports.
    """
    gc.freeze()


def _time_of(timers: TimerValues) -> int:
    """Return Spark's watermark, which is 0 before there is one."""
    return timers.getCurrentWatermarkInMs() or BEFORE_ALL
