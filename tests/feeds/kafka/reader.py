"""A source over a cluster in memory, the events that go through it, and what they come to."""

import json
import random

from recount import Recount

from monitor.clock import ManualClock
from monitor.config import KafkaFeed
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.kafka.source import KafkaSource
from monitor.feeds.mapping.mapped_lines import lines_decoder

FEED = {"type": "kafka", "brokers": ["unused:1"], "topics": ["events"]}
CELLS = ("tp", "fp", "fn", "tn")
EXTRA = {"type": "counts", "ts": 60, "model": "default", "tp": 1, "fp": 0, "fn": 0, "tn": 0}


class Reader:
    """A source over a cluster in memory, and the monitor that counts what it gives."""

    def __init__(self, cluster, monitor=None, *, durable=True, worker=None, **feed):
        self.clock, self.reported = ManualClock(), []
        self.monitor, self.rejected = monitor or Monitor(), []
        settings = KafkaFeed(**{**FEED, **feed})
        decoder = lines_decoder(Decoder(DecodeSettings()), settings)
        self.source = KafkaSource(
            settings,
            decoder,
            self.clock,
            self.reported.append,
            make=cluster.consumer,
            worker=worker,
        )
        if durable is not None:
            self.source.checkpoint_before_handover(lambda: durable)

    def turn(self, seconds=1.0):
        self.clock.sleep(seconds)
        batch = self.source.poll()
        if batch is not None:
            self.monitor.apply(batch)
            self.rejected += batch.rejected
        return batch

    def turns(self, number=5):
        for _ in range(number):
            self.turn()
        return self

    def restarted(self, cluster, monitor=None):
        """Another one, which goes on at the position of this one."""
        other = Reader(cluster, monitor)
        other.source.resume(json.loads(json.dumps(self.source.position())))
        return other

    @property
    def records(self):
        return self.monitor.snapshot().records


def prediction(number, ts=None):
    when = 60 * number if ts is None else ts
    return {"type": "prediction", "id": f"p{number}", "ts": when, "prediction": number % 2}


def stream(number, seed=1):
    """Predictions and labels, some twice, labels up to a day later."""
    chance = random.Random(seed)
    found = []
    for n in range(number):
        found.append(prediction(n))
        for _ in range(chance.choice((0, 1, 1, 2))):
            ts, label = 60 * n + chance.randrange(86_400), chance.choice((0, 1, None))
            found.append({"type": "label", "id": f"p{n}", "ts": ts, "label": label})
        if not chance.randrange(10):
            found.append(chance.choice(found))
    return found


def cells(monitor):
    return dict(zip(CELLS, monitor.snapshot().lifetime.counts.cells.sum(0).tolist(), strict=True))


def counted(events):
    found = Recount(events).counts()
    return {cell: found[cell] for cell in CELLS}
