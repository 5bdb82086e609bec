"""A shard with and without forwarding, and its receiver: events a CPU second, in one run.

    python -m tests.benchmarks.forwarding [--events N] [--rate N] [--rounds N]

One core, CPU time, in turns, the median of the rounds. NDJSON bytes to updated counters; with
forwarding also what a batch costs every so many seconds of event time: summed, sealed, written as
requests, compressed. The receiver decompresses, decodes and counts what was sent; its journal and
HTTP are not in it. Its counters must be those of the shard, or nothing is printed.
"""

from __future__ import annotations

import argparse
import gzip
import time
from collections.abc import Iterator
from statistics import median
from typing import NamedTuple

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.forwarded_batch import ForwardedBatch

from .made import BLOCK, Made, blocks_of
from .turns import machine

EVENTS_A_REQUEST = 2048


class Spent(NamedTuple):
    """What one round took.

    Attributes:
        alone: CPU seconds of a shard that forwards nothing.
        forwarding: the same with forwarding.
        receiver: CPU seconds of the receiver.
        sent: `counts` events.
        nbytes: of the requests, compressed.
    """

    alone: float
    forwarding: float
    receiver: float
    sent: int
    nbytes: int


class Shard:
    """A monitor that counts blocks of lines.

    Args:
        forwards: whether it forwards.
    """

    def __init__(self, *, forwards: bool) -> None:
        self.config = Config(defaults={"label_timeout": "30d"})
        self.monitor = Monitor(self.config)
        self.monitor.forwarding.switch(on=forwards)
        self._decoder = Decoder(DecodeSettings.from_config(self.config))
        self._batches = 0

    def take(self, block: bytes) -> None:
        """Count a block."""
        self.monitor.apply(self._decoder.decode_lines(block, source="block"))

    def batch(self) -> Iterator[bytes]:
        """Yield the requests of the next batch."""
        self._batches += 1
        counts = self.monitor.forwarding.take(self.monitor.times)
        batch = ForwardedBatch("shard", self._batches, counts)
        for start in range(0, len(batch), EVENTS_A_REQUEST):
            yield gzip.compress(batch.lines(start, start + EVENTS_A_REQUEST), 1)


def measured(blocks: list[bytes], blocks_a_batch: int) -> Spent:
    """Return what a round took.

    Args:
        blocks: of events.
        blocks_a_batch: blocks between two batches.

    Raises:
        AssertionError: the receiver does not have what the shard has.
    """
    began = time.process_time()
    alone = Shard(forwards=False)
    for block in blocks:
        alone.take(block)
    alone_spent = time.process_time() - began

    began = time.process_time()
    shard = Shard(forwards=True)
    requests: list[bytes] = []
    for number, block in enumerate(blocks, 1):
        shard.take(block)
        if not number % blocks_a_batch or number == len(blocks):
            requests += shard.batch()
    shard_spent = time.process_time() - began

    began = time.process_time()
    receiver = Shard(forwards=False)
    for request in requests:
        receiver.take(gzip.decompress(request))
    receiver_spent = time.process_time() - began

    one, other = (each.monitor.snapshot() for each in (alone, receiver))
    order = [other.series.index(series) for series in one.series]
    cells = other.lifetime.counts.cells[order]
    assert np.array_equal(one.lifetime.counts.cells, cells), "the receiver counts otherwise"
    sent = sum(gzip.decompress(request).count(b"\n") for request in requests)
    return Spent(alone_spent, shard_spent, receiver_spent, sent, sum(map(len, requests)))


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=1_000_000)
    parser.add_argument("--rate", type=float, default=1000.0, help="predictions a second")
    parser.add_argument("--every", type=float, default=10.0, help="seconds between two batches")
    parser.add_argument("--models", type=int, default=20)
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    blocks = blocks_of(Made(models=args.models, rate=args.rate).events(args.events))
    a_batch = max(1, round(1.75 * args.rate * args.every / BLOCK))
    rounds = [measured(blocks, a_batch) for _ in range(args.rounds)]
    print(machine())
    print(f"{args.events:,} events, a batch every {a_batch * BLOCK:,}")
    rate = {name: median(getattr(one, name) for one in rounds) for name in Spent._fields}
    for name in ("alone", "forwarding", "receiver"):
        print(f"{name:12}{args.events / rate[name]:14,.0f} events a CPU second")
    print(f"forwarding costs {median(one.forwarding / one.alone for one in rounds) - 1:.0%}")
    print(
        f"sent {rate['sent']:,.0f} counts, {rate['sent'] / args.events:.3f} an event, "
        f"{rate['nbytes'] / args.events:.1f} bytes an event; the receiver counts "
        f"{rate['sent'] / rate['receiver']:,.0f} of them a CPU second"
    )


if __name__ == "__main__":
    main()
