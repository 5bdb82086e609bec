"""Rows a CPU second of the job's Python by stage, without Spark.

    PYTHONPATH=tests python -m tests.benchmarks.spark_stages [--predictions N] [--waiting N]

The stream is that of `tests.benchmarks.spark`: late, repeated, revised, early and missing
labels. Pages are encoded as for Spark's state. `--waiting` predictions are there before, of the
same pages, which no label comes for: with many of them and many batches, a batch touches few ids
of each page. What Spark itself costs, `tests.benchmarks.spark` measures.
"""

from __future__ import annotations

import argparse
from collections import Counter, defaultdict
from typing import NamedTuple

import msgspec
import yaml
from benchmarks.turns import cpu_seconds
from shards import Stored
from spark_cluster import CONFIG, stream, waiting

from monitor.config import Config
from monitor.distributed.layout import Layout
from monitor.distributed.model_clocks import ReaderClocks
from monitor.distributed.packets import packets_of
from monitor.distributed.page_rules import PageRules
from monitor.distributed.pages import PageBytes, Pages
from monitor.distributed.seven_bits import decoded, encoded
from monitor.distributed.tallies import events_of, merged, packed, unpacked
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import BEFORE_ALL

BLOCK = 50_000
"""Rows that Spark hands over at once."""
TASKS = 2


class Encoded(Stored):
    """The pages of a task as Spark's state has them, and how many bytes were read and written."""

    def __init__(self):
        super().__init__()
        self.bytes = Counter()

    def read(self, page):
        found = super().read(page)
        self.bytes["read"] += sum(map(len, found))
        return PageBytes(*map(decoded, found))

    def write(self, page, data):
        super().write(page, PageBytes(*map(encoded, data)))
        self.bytes["written"] += sum(map(len, self.get(page, ())))


class Measured(NamedTuple):
    """What a run took.

    Attributes:
        spent: CPU seconds by stage.
        rows: how many were counted.
        counts: how many events of counts were sent.
        moved: bytes of pages that were read and written.
    """

    spent: dict[str, float]
    rows: int
    counts: int
    moved: Counter


def measured(predictions, batches, pages, before=0):
    """Count a stream in so many batches, after predictions that wait."""
    config = Config.model_validate(yaml.safe_load(CONFIG))
    layout = Layout.of(pages=pages, tasks=TASKS)
    rules, decoder = PageRules(config, layout), Decoder(DecodeSettings.from_config(config))
    stores, states = [Encoded() for _ in range(TASKS)], [None] * TASKS
    first = [msgspec.json.encode(event) for event in waiting(before)]
    lines = [msgspec.json.encode(event) for event in stream(predictions)]
    size, spent = -(-len(lines) // batches), defaultdict(float)
    parts = [lines[start : start + size] for start in range(0, len(lines), size)]
    clocks, watermark, counts = ReaderClocks(), BEFORE_ALL, 0
    encode = msgspec.json.Encoder().encode

    def timed(stage, work):
        found = []
        spent[stage] += cpu_seconds(lambda: found.append(work()))
        return found[0]

    def packets_in(events):
        return [*packets_of(events, config, layout, clocks.reached)]

    def taken(task, packets):
        opened = Pages(rules, stores[task], task, states[task])
        tally = packed(opened.take(packets, watermark))
        opened.next_due(watermark)
        states[task] = opened.state()
        return tally

    for number, part in enumerate([first, *parts]):
        if number == 1:
            spent.clear()
            counts = 0
            for store in stores:
                store.bytes.clear()
        sent = defaultdict(list)
        for first in range(0, len(part), BLOCK):
            block = b"\n".join(part[first : first + BLOCK])
            events = timed("decode", lambda block=block: decoder.decode_lines(block, source="in"))
            timed("clocks", lambda events=events: clocks.advance(events))
            packets = timed("packets", lambda events=events: packets_in(events))
            for task, data in packets:
                sent[task].append(data)
        tallies = [
            timed("pages", lambda task=task, packets=packets: taken(task, packets))
            for task, packets in sent.items()
        ]
        whole = timed("merge", lambda tallies=tallies: merged(map(unpacked, tallies)))
        counts += timed(
            "events",
            lambda whole=whole: len([encode(e) for e in events_of(whole, config, "job", "1")]),
        )
        reached = clocks.reached.time
        watermark = watermark if reached is None else reached
    moved = sum((store.bytes for store in stores), Counter())
    return Measured(dict(spent), len(lines), counts, moved)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predictions", type=int, default=400_000)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--pages", type=int, default=64)
    parser.add_argument("--waiting", type=int, default=0)
    args = parser.parse_args()
    spent, rows, counts, moved = measured(args.predictions, args.batches, args.pages, args.waiting)
    print(f"{rows} rows in {args.batches} batches, {counts} counts; rows a CPU second:")
    for stage, seconds in spent.items():
        print(f"    {stage:8} {rows / seconds:12,.0f}  {seconds / rows * 1e9:6.0f} ns a row")
    print(f"    {'all':8} {rows / sum(spent.values()):12,.0f}")
    for what, size in moved.items():
        print(f"    bytes of pages {what}: {size / args.batches:,.0f} a batch")


if __name__ == "__main__":
    main()
