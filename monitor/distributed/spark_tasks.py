"""Tasks of a Spark job: decode events into packets, and keep the page of each bucket."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module
from typing import Any

from pyspark import TaskContext
from pyspark.sql import Row
from pyspark.sql.streaming.stateful_processor import (
    ExpiredTimerInfo,
    StatefulProcessor,
    StatefulProcessorHandle,
    TimerValues,
)

from monitor.config import Config
from monitor.distributed.packets import packets_of
from monitor.distributed.pages import Page, PageRules
from monitor.distributed.tallies import packed
from monitor.events.columns import EventBatch
from monitor.events.watermark import Watermark
from monitor.feeds.arrow.decoding import ArrowDecoder
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import BEFORE_ALL

pa: Any = import_module("pyarrow")

PACKETS = "bucket int, clock timestamp, packet binary"
"""Spark schema of the packets."""
_PACKET_SCHEMA = pa.schema(
    [("bucket", pa.int32()), ("clock", pa.timestamp("us", "UTC")), ("packet", pa.binary())]
)


class PacketReader:
    """Decodes what a task reads, and groups it into packets by bucket.

    Args:
        config: the configuration.
        name: name of the input, for messages.
        buckets: number of buckets that ids are divided among.
        table: rows are columns of a table, not lines.
    """

    def __init__(self, config: Config, name: str, *, buckets: int, table: bool) -> None:
        self._config = config
        self._name = name
        self._buckets = buckets
        self._table = table
        self._place = name

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Yield a batch of packets for each batch of rows."""
        decoder = Decoder(DecodeSettings.from_config(self._config))
        task = TaskContext.get()
        self._place = f"{self._name} task {task.partitionId() if task else 0}"
        clock, row = Watermark(), 1
        for batch in batches:
            events = self._decoded(decoder, batch, row)
            row += batch.num_rows
            clock.advance(events)
            yield self._packets(events, clock.time)

    def _decoded(self, decoder: Decoder, batch: Any, row: int) -> EventBatch:
        if self._table:
            return ArrowDecoder(self._place, batch.schema, decoder).decode(batch, row)
        lines = b"\n".join(line or b"" for line in batch.column(0).to_pylist())
        return decoder.decode_lines(lines, source=self._place, first_line=row)

    def _packets(self, events: EventBatch, time: int | None) -> Any:
        sent = [*packets_of(events, self._config, self._buckets, time)]
        clock = None if time is None else time * 1000
        return pa.RecordBatch.from_arrays(
            [
                pa.array([one.bucket for one in sent], pa.int32()),
                pa.array([clock] * len(sent), pa.timestamp("us", "UTC")),
                pa.array([one.data for one in sent], pa.binary()),
            ],
            schema=_PACKET_SCHEMA,
        )


class PageProcessor(StatefulProcessor):
    """Keeps the page of each bucket in Spark's state.

    Args:
        rules: settings of the pages.
    """

    def __init__(self, rules: PageRules) -> None:
        self._rules = rules

    def init(self, handle: StatefulProcessorHandle) -> None:
        """Declare the state."""
        self._handle = handle
        self._state = handle.getValueState("page", "page binary")

    def handleInputRows(  # noqa: N802  # Spark's name
        self,
        key: Any,  # noqa: ARG002
        rows: Any,
        timerValues: TimerValues,  # noqa: N803
    ) -> Iterator[Row]:
        """Apply the packets of one bucket in a batch.

        Args:
            key: the bucket; its page is in the state.
            rows: the packets.
            timerValues: has the watermark.
        """
        watermark = _time_of(timerValues)
        page = self._page()
        tally = page.take((bytes(row.packet) for row in rows), watermark)
        self._keep(page, watermark)
        yield Row(tally=packed(tally))

    def handleExpiredTimer(  # noqa: N802  # Spark's name
        self,
        key: Any,  # noqa: ARG002
        timerValues: TimerValues,  # noqa: N803
        expiredTimerInfo: ExpiredTimerInfo,  # noqa: ARG002, N803
    ) -> Iterator[Row]:
        """Drop states that can no longer change.

        Args:
            key: the bucket; its page is in the state.
            timerValues: has the watermark.
            expiredTimerInfo: unused.
        """
        watermark = _time_of(timerValues)
        page = self._page()
        tally = page.expire(watermark)
        self._keep(page, watermark)
        yield Row(tally=packed(tally))

    def close(self) -> None:
        """Do nothing: there is nothing to release."""

    def _page(self) -> Page:
        stored = self._state.get()
        return Page(self._rules, None if stored is None else bytes(stored[0]))

    def _keep(self, page: Page, watermark: int) -> None:
        due = page.next_due(watermark)
        if due is not None:
            self._handle.registerTimer(due)
        if len(page):
            self._state.update((page.pack(),))
        else:
            self._state.clear()


def _time_of(timers: TimerValues) -> int:
    """Return Spark's watermark, which is 0 before there is one."""
    return timers.getCurrentWatermarkInMs() or BEFORE_ALL
