"""Rows a CPU second of the job's Python by stage, without Spark.

    PYTHONPATH=tests python -m tests.benchmarks.spark_stages [--predictions N]

The stream is that of `tests.benchmarks.spark`: late, repeated, revised, early and missing
labels. What Spark itself costs, `tests.benchmarks.spark` measures.
"""

from __future__ import annotations

import argparse
from collections import defaultdict

import msgspec
import yaml
from benchmarks.turns import cpu_seconds
from shards import Stored
from spark_cluster import CONFIG, stream

from monitor.config import Config
from monitor.distributed.layout import Layout
from monitor.distributed.packets import packets_of
from monitor.distributed.page_rules import PageRules
from monitor.distributed.pages import Pages
from monitor.distributed.tallies import events_of, merged, packed, unpacked
from monitor.events.watermark import Watermark
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import BEFORE_ALL

BLOCK = 50_000
"""Rows that Spark hands over at once."""
TASKS = 2


def measured(predictions, batches, pages):
    """CPU seconds by stage, the number of rows, and the number of counts."""
    config = Config.model_validate(yaml.safe_load(CONFIG))
    layout = Layout.of(pages=pages, tasks=TASKS)
    rules, decoder = PageRules(config, layout), Decoder(DecodeSettings.from_config(config))
    stores, states = [Stored() for _ in range(TASKS)], [None] * TASKS
    lines = [msgspec.json.encode(event) for event in stream(predictions)]
    size, spent = -(-len(lines) // batches), defaultdict(float)
    clock, before, counts = Watermark(), BEFORE_ALL, 0
    encode = msgspec.json.Encoder().encode

    def timed(stage, work):
        found = []
        spent[stage] += cpu_seconds(lambda: found.append(work()))
        return found[0]

    def taken(task, packets):
        opened = Pages(rules, stores[task], states[task])
        tally = packed(opened.take(packets, before))
        opened.next_due(before)
        states[task] = opened.state()
        return tally

    for start in range(0, len(lines), size):
        sent, part = defaultdict(list), lines[start : start + size]
        for first in range(0, len(part), BLOCK):
            block = b"\n".join(part[first : first + BLOCK])
            events = timed("decode", lambda block=block: decoder.decode_lines(block, source="in"))
            clock.advance(events)
            packets = timed(
                "packets", lambda events=events: [*packets_of(events, config, layout, clock.time)]
            )
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
        before = before if clock.time is None else clock.time
    return dict(spent), len(lines), counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--predictions", type=int, default=400_000)
    parser.add_argument("--batches", type=int, default=10)
    parser.add_argument("--pages", type=int, default=64)
    args = parser.parse_args()
    spent, rows, counts = measured(args.predictions, args.batches, args.pages)
    print(f"{rows} rows in {args.batches} batches, {counts} counts; rows a CPU second:")
    for stage, seconds in spent.items():
        print(f"    {stage:8} {rows / seconds:12,.0f}  {seconds / rows * 1e9:6.0f} ns a row")
    print(f"    {'all':8} {rows / sum(spent.values()):12,.0f}")


if __name__ == "__main__":
    main()
