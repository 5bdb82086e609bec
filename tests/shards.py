"""The distributed join in one process: decode, packets, pages and counts, without an engine."""

from __future__ import annotations

import json
import random

import msgspec
import numpy as np

from monitor.config import Config
from monitor.distributed.packets import packets_of
from monitor.distributed.pages import Page, PageRules
from monitor.distributed.tallies import events_of, merged, packed, unpacked
from monitor.events.watermark import Watermark
from monitor.feeds.decode import Decoder, DecodeSettings


class Shards:
    """A job's counting of batches of lines, and the counts that it sends.

    Args:
        config: of the job.
        buckets: how many pages.
        source: name of the job.
    """

    def __init__(self, config, buckets=4, source="job"):
        self.config, self.buckets, self.source = config, buckets, source
        self.rules = PageRules(config, buckets)
        self.decoder = Decoder(DecodeSettings.from_config(config))
        self.pages = {}
        self.watermark = None
        self.batches = 0
        self.books = {}

    def take(self, events, parts=2):
        """One micro-batch, read by several tasks; the `counts` events that it sends."""
        sent, reached = {}, []
        for start in range(parts):
            lines = b"\n".join(json.dumps(event).encode() for event in events[start::parts])
            batch = self.decoder.decode_lines(lines, source="test")
            clock = Watermark()
            clock.advance(batch)
            for bucket, data in packets_of(batch, self.config, self.buckets, clock.time):
                sent.setdefault(bucket, []).append(data)
            reached.append(clock.time)
        before = 0 if self.watermark is None else self.watermark
        tallies = []
        for bucket, packets in sent.items():
            page = Page(self.rules, self.pages.get(bucket))
            tallies.append(unpacked(packed(page.take(packets, before))))
            page.next_due(before)
            self.pages[bucket] = page.pack()
        known = [time for time in (*reached, self.watermark) if time is not None]
        self.watermark = max(known, default=None)
        whole = merged(tallies)
        self.books = {k: self.books.get(k, 0) + n for k, n in whole.books.items()} | {
            k: n for k, n in self.books.items() if k not in whole.books
        }
        self.batches += 1
        return events_of(whole, self.config, self.source, str(self.batches))

    def due(self):
        """Pages that asked to be looked at by now, looked at."""
        for bucket, data in self.pages.items():
            page = Page(self.rules, data)
            if page.due is not None and page.due <= self.watermark:
                for name, count in page.expire(self.watermark).books.items():
                    self.books[name] = self.books.get(name, 0) + count
                page.next_due(self.watermark)
                self.pages[bucket] = page.pack()

    @property
    def stored(self):
        """Predictions and held labels that are remembered."""
        return sum(len(Page(self.rules, data)) for data in self.pages.values())


def stream(n, seed, *, share=None):
    """Predictions with late, early, duplicate, revised, retracted and missing labels, shuffled."""
    rng, events = random.Random(seed), []
    for i in range(n):
        ts = i * 7.5
        prediction = {"type": "prediction", "id": f"p{i}", "ts": ts, "model": "ab"[i % 2]}
        prediction["prediction"] = rng.randint(0, 1)
        prediction["segment"] = {"region": rng.choice(["eu", "us", "asia"])}
        events.append(prediction)
        if rng.random() < 0.05:
            events.append(prediction | {"ts": ts + rng.choice([-3, 5])})
        for _ in range(rng.choice([0, 1, 1, 1, 2, 3])):
            turned_out = rng.choice([0, 1, 1, 0, None])
            label = {"type": "label", "id": f"p{i}", "label": turned_out}
            label["ts"] = ts + rng.choice([0, 10, 100, 1000, 5000])
            if share:
                label["sampling_probability"] = rng.choice(share)
            events += [label] * rng.choice([1, 1, 2])
    events.append({"type": "outcome", "ts": 30, "model": "a", "prediction": 1, "label": 0})
    rng.shuffle(events)
    last = {"type": "prediction", "ts": n * 7.5 + 6000, "prediction": 0}
    return events + [last | {"id": f"{m}{i}", "model": m} for m in "ab" for i in range(9)]


def config_of(**settings):
    given = {"label_timeout": "2h", "horizon": "1d", "segments": ["region"], **settings}
    return Config(models={"a": given, "b": given}, windows=["1h"])


def lines_of(events):
    """Events as NDJSON."""
    return b"\n".join(msgspec.json.encode(event) for event in events)


def assert_same(one, other, *, delays=True):
    """The same numbers, whatever the order in which series appeared.

    Counts show two things to a pane, or an hour: delays of models whose windows
    go by the label, and where silence becomes a negative in what was ever counted.
    """
    lifetimes = [one.lifetime, other.lifetime]
    if one.models[0].labelling == "negatives_by_timeout":
        lifetimes = []
    assert one.now_ms == other.now_ms
    assert set(one.series) == set(other.series)
    order = [other.series.index(series) for series in one.series]
    for mine, theirs in zip(
        (*one.windows, *lifetimes[:1]), (*other.windows, *lifetimes[1:]), strict=True
    ):
        for name in ("open", "close", "predicted_positive", "predicted_negative"):
            assert getattr(mine, name).tolist() == getattr(theirs, name)[order].tolist()
        np.testing.assert_array_equal(mine.counts.cells, theirs.counts.cells[order])
        np.testing.assert_array_equal(mine.status, theirs.status[order])
        for name, estimate in mine.metrics.items():
            np.testing.assert_array_equal(estimate, np.stack(theirs.metrics[name])[:, order])
    for mine, theirs in zip(one.models, other.models, strict=True):
        assert mine.maturity_ms == theirs.maturity_ms
        assert mine.predictions_positive == theirs.predictions_positive
        if delays:
            np.testing.assert_array_equal(mine.delay_counts, theirs.delay_counts)
