"""The distributed join in one process: decode, packets, pages and counts, without an engine."""

from __future__ import annotations

import json
import random

import msgspec
import numpy as np

from monitor.config import Config
from monitor.distributed.changed_ids import ChangedIds
from monitor.distributed.layout import Layout
from monitor.distributed.model_clocks import ReaderClocks
from monitor.distributed.packets import packets_of
from monitor.distributed.page_rules import PageRules
from monitor.distributed.pages import Pages
from monitor.distributed.stored_pages import PageBytes
from monitor.distributed.tallies import events_of, merged, packed, unpacked
from monitor.distributed.touched_ids import HELD, WORDS, IdStates
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join import BEFORE_ALL

REGIMES = [
    ("complete", {}),
    ("complete", {"clock": "label"}),
    ("sampled", {}),
    ("flagged_only", {}),
    ("negatives_by_timeout", {}),
    ("weighted", {"share": (1.0, 0.5, 0.3)}),
]
"""Regimes of labels, and what else each model and stream is given."""


class Stored(dict):
    """The pages of a task in memory, by number, and how often they were read and written.

    Changes of a page since it was written whole have the number `~page`.
    """

    def __init__(self, *args):
        super().__init__(*args)
        self.reads, self.written = [], []

    @property
    def writes(self):
        return [page for page, _ in self.written]

    def read(self, page):
        self.reads.append(page)
        return self.get(page, PageBytes())

    def write(self, page, data):
        self.written.append((page, sum(map(len, data))))
        self[page] = data
        if not any(data):
            del self[page]


class Shards:
    """A job's counting of batches of lines, and the counts that it sends.

    Args:
        config: of the job.
        buckets: how many pages.
        source: name of the job.
        tasks: how many stateful tasks.
    """

    def __init__(self, config, buckets=4, source="job", tasks=2):
        self.config, self.source = config, source
        self.rules = PageRules(config, Layout.of(pages=buckets, tasks=tasks))
        self.decoder = Decoder(DecodeSettings.from_config(config))
        self.pages = {task: Stored() for task in range(tasks)}
        self.state = {}
        self.watermark = None
        self.batches, self.took = 0, []
        self.books = {}

    def take(self, events, parts=2):
        """One micro-batch, read by several tasks; the `counts` events that it sends."""
        return self.send(self.counted(events, parts))

    def counted(self, events, parts=2):
        """The tally of one micro-batch."""
        sent, reached = {}, []
        for start in range(parts):
            lines = b"\n".join(json.dumps(event).encode() for event in events[start::parts])
            batch = self.decoder.decode_lines(lines, source="test")
            clocks = ReaderClocks()
            clocks.advance(batch)
            for task, data in packets_of(batch, self.config, self.rules.layout, clocks.reached):
                sent.setdefault(task, []).append(data)
            reached.append(clocks.reached.time)
        before = BEFORE_ALL if self.watermark is None else self.watermark
        tallies = []
        self.took = [*sent]
        for task, packets in sent.items():
            pages = self.opened(task)
            tallies.append(unpacked(packed(pages.take(packets, before))))
            pages.next_due(before)
            self.state[task] = pages.state()
        known = [time for time in (*reached, self.watermark) if time is not None]
        self.watermark = max(known, default=None)
        return merged(tallies)

    def send(self, whole):
        """The `counts` events of a batch's tally."""
        self._add_books(whole)
        self.batches += 1
        return [*events_of(whole, self.config, self.source, str(self.batches))]

    def due(self):
        """Tasks that asked for a search for expired states by now, searched."""
        self._add_books(self.searched(self.tasks_due(self.watermark)))

    def tasks_due(self, watermark):
        """Tasks whose next batch, or the next timer, searches for expired states."""
        return [task for task in self.state if self.opened(task).is_due(watermark)]

    def searched(self, tasks=None):
        """The tally of a search for expired states, of all tasks or of some."""
        tallies = []
        for task in self.state if tasks is None else tasks:
            pages = self.opened(task)
            tallies.append(pages.expire(self.watermark))
            pages.next_due(self.watermark)
            self.state[task] = pages.state()
        return merged(tallies)

    def _add_books(self, tally):
        for name, count in tally.books.items():
            self.books[name] = self.books.get(name, 0) + count

    def opened(self, task):
        """The pages of a task, as the next batch finds them."""
        return Pages(self.rules, self.pages[task], task, self.state.get(task))

    @property
    def stored(self):
        """Predictions and held labels that are remembered."""
        return sum(len(ids) for _, ids in self.ids())

    def ids(self):
        """The ids of each page that is stored, with its number."""
        for pages in self.pages.values():
            for page in [page for page in pages if page >= 0]:
                parts = (_ids_of(pages.get(number, PageBytes())) for number in (page, ~page))
                yield page, ChangedIds(*parts).merged()


def _ids_of(page):
    rows = np.frombuffer(page.rows, np.uint64).reshape(-1, WORDS)
    return IdStates(rows, np.frombuffer(page.held, HELD))


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
