"""Streams of two versions of a model, and monitors that have counted them."""

import random

import msgspec

from monitor.config import parse_config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings

DAY, HOUR = 86_400, 3_600
BEGAN = 3 * DAY + 5 * HOUR
"""Event time at which version 7 begins, epoch seconds, a whole hour."""
CONFIG = """
models:
  m: {segments: [region, version], label_timeout: 3d, maturity: 1d}
pane: 10m
windows: [1d, 7d]
"""


def config_of(text=CONFIG):
    return parse_config(text, "monitor.yaml")


def stream(
    seed=22,
    *,
    days=10,
    a_day=240,
    share=0.3,
    recall=(0.8, 0.8),
    until=None,
    prevalence=0.3,
):
    """Predictions and labels in order of time; version 7 begins on the fourth day.

    Args:
        seed: of all chance.
        days: how long it lasts.
        a_day: predictions a day, at equal distances from midnight on.
        share: of version 7, once it began; or a function of the event time.
        recall: of version 6 and of version 7.
        until: event time at which version 6 ends, epoch seconds; None for never.
        prevalence: share of the actual positives.
    """
    rng, found = random.Random(seed), []  # made-up events
    for number in range(days * a_day):
        ts = number * DAY / a_day
        new = ts >= BEGAN and rng.random() < (share(ts) if callable(share) else share)
        if ts == BEGAN or (until is not None and ts >= until):
            new = True
        positive = rng.random() < prevalence
        flagged = rng.random() < (recall[new] if positive else 0.1)
        found.append(
            {
                "type": "prediction",
                "id": f"i{number}",
                "ts": ts,
                "prediction": int(flagged),
                "version": "67"[new],
                "segment": {"region": rng.choice("ab")},
                "model": "m",
            }
        )
        if rng.random() < 0.95:
            late = ts + rng.uniform(0.01, 0.9) * DAY
            found.append({"type": "label", "id": f"i{number}", "ts": late, "label": int(positive)})
    end = days * DAY
    return sorted((e for e in found if e["ts"] < end), key=lambda event: event["ts"])


def batches(events, config, size=500):
    decoder = Decoder(DecodeSettings.from_config(config))
    for start in range(0, len(events), size):
        lines = msgspec.json.Encoder().encode_lines(events[start : start + size])
        yield decoder.decode_lines(lines, source="events", first_line=start + 1)


def fed(events, config=None, size=500, *, kind=Monitor):
    """Return a monitor that has counted these events."""
    monitor = kind(config or config_of())
    for batch in batches(events, monitor.config, size):
        monitor.apply(batch)
    return monitor


def model_of(monitor, name="m"):
    return next(one for one in monitor.snapshot().models if one.name == name)
