"""A shard sends each place once: hours and delays that have one label time are one row."""

import json
from collections import Counter

import pytest
from shards import lines_of

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.service.forwarded_batch import ForwardedBatch

WINDOWS = {"1m": "1h", "7m": "7h", "40m": "2h", "1h": "1d", "6h": "1d", "1d": "7d"}
"""A window by the pane that it has."""
DELAYS = {"early": lambda i: -(i % 60), "late": lambda _: 600, "any": lambda i: 977 * i % 40_000}


def events(delay):
    start, found = 1_782_864_000, []
    for i in range(1200):
        named, ts = {"id": f"p{i}"}, start + 60 * i
        found.append({"type": "prediction", "ts": ts, "prediction": i % 3 > 0, **named})
        found.append({"type": "label", "ts": ts + delay(i), "label": i % 5 > 1, **named})
    return found


@pytest.mark.parametrize("clock", ["prediction", "label"])
@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("pane", WINDOWS)
def test_the_rows_of_a_batch_are_distinct_and_add_up_to_one_monitor(pane, delay, clock):
    config = Config(
        pane=pane, windows=[WINDOWS[pane]], models={"m": {"label_timeout": "1d", "clock": clock}}
    )
    decoder = Decoder(DecodeSettings.from_config(config))
    shard, receiver = Monitor(config), Monitor(config)
    shard.forwarding.switch(on=True)
    shard.apply(decoder.decode_lines(lines_of(events(DELAYS[delay])), source="test"))
    batch = ForwardedBatch("shard", 1, shard.forwarding.take(shard.times))
    lines = batch.lines(0, len(batch))
    rows = [*map(json.loads, lines.splitlines())]
    places = Counter((row["ts"], row.get("label_ts", row["ts"])) for row in rows)
    assert set(places.values()) == {1}
    for _ in range(2):
        receiver.apply(decoder.decode_lines(lines, source="test"))
        one, other = shard.snapshot().lifetime, receiver.snapshot().lifetime
        assert one.counts[0].cells.sum() == 1200
        assert one.counts[0].cells.tolist() == other.counts[0].cells.tolist()
