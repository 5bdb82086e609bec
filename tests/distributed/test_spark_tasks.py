"""The stateful tasks of the job with a state in memory, as Spark calls them."""

import gc
import json
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="a package of the extra dev")
from shards import Shards, config_of, stream

from monitor.config import Config
from monitor.distributed import spark_tasks
from monitor.distributed.layout import Layout
from monitor.distributed.model_clocks import Reached
from monitor.distributed.packets import packets_of
from monitor.distributed.page_rules import PageRules
from monitor.distributed.spark_tasks import PageProcessor, TallyJoiner, groups_of
from monitor.distributed.tallies import Tally, merged, packed, unpacked
from monitor.feeds.decode import Decoder, DecodeSettings

pytestmark = pytest.mark.dev("pyspark")

CONFIG = Config(models={"a": {"label_timeout": "1h", "horizon": "2h"}})
LAYOUT = Layout(1, 4)
HOUR = 3600
KEY = 7


class State:
    """A value, a map of pages and timers, and which pages were read."""

    def __init__(self):
        self.value, self.pages, self.timers, self.reads = None, {}, set(), []

    def getValueState(self, *_):  # noqa: N802  # as Spark's handle, and below
        return SimpleNamespace(
            get=lambda: self.value, update=lambda new: vars(self).update(value=new)
        )

    def set_value(self, value):
        self.value = value

    def getMapState(self, *_):  # noqa: N802
        return SimpleNamespace(
            getValue=lambda key: (self.reads.append(key[0]), self.pages.get(key))[1],
            updateValue=self.pages.__setitem__,
            removeKey=lambda key: self.pages.pop(key, None),
        )

    def registerTimer(self, time):  # noqa: N802
        self.timers.add(time)


class Job:
    """A job of one task, of which each batch has a process of its own."""

    def __init__(self):
        self.state, self.watermark = State(), 0

    def batch(self, *events):
        """The books of a batch, and those of each timer that has expired then."""
        processor = PageProcessor(PageRules(CONFIG, LAYOUT), [KEY])
        processor.init(self.state)
        self.state.reads.clear()
        decoder = Decoder(DecodeSettings.from_config(CONFIG))
        lines = b"\n".join(json.dumps(event).encode() for event in events)
        batch = decoder.decode_lines(lines, source="x")
        sent = packets_of(batch, CONFIG, LAYOUT, Reached(None, {}))
        packets = [SimpleNamespace(packet=data) for _, data in sent if events]
        timers = SimpleNamespace(getCurrentWatermarkInMs=lambda: self.watermark)
        rows = [*processor.handleInputRows((KEY,), packets, timers)] if packets else []
        for time in [time for time in self.state.timers if time <= self.watermark]:
            self.state.timers.remove(time)
            rows += processor.handleExpiredTimer((KEY,), timers, None)
        times = [event["ts"] * 1000 for event in events]
        self.watermark = max(times, default=self.watermark)
        return merged(unpacked(bytes(row.tally)) for row in rows).books


def prediction(number, ts):
    return {"type": "prediction", "id": f"p{number}", "ts": ts, "model": "a", "prediction": 1}


def test_tallies_that_executors_join_in_groups_have_the_sum_of_all():
    pa = pytest.importorskip("pyarrow")
    shards = Shards(config_of(), buckets=6, tasks=6)
    events = stream(200, seed=3)
    sent = [shards.counted(events[start::9]) for start in range(9)]
    groups = [[packed(tally) for tally in sent[start::4]] for start in range(4)]
    joined = []
    for group in groups:
        parts = (group[:1], group[1:])
        batches = [pa.record_batch([pa.array(some, pa.binary())], ["tally"]) for some in parts]
        (batch,) = TallyJoiner()(iter(batches))
        assert (batch.num_rows, batch.schema.names) == (1, ["tally"])
        joined.append(unpacked(batch.column(0)[0].as_py()))
    (nothing,) = TallyJoiner()(iter(()))
    assert packed(merged(joined)) == packed(merged(sent))
    assert unpacked(nothing.column(0)[0].as_py()) == Tally()
    assert [groups_of(tasks) for tasks in (1, 16, 17, 64)] == [0, 0, 5, 8]


@pytest.mark.parametrize("with_events", [True, False])
def test_a_search_for_expired_states_reads_each_page_once_and_drops_what_is_over(with_events):
    job = Job()
    job.batch(*(prediction(number, HOUR + number) for number in range(50)))
    job.batch(prediction("later", 9 * HOUR))
    assert job.state.timers
    books = job.batch(*([prediction("p", 9 * HOUR + 1)] if with_events else []))
    assert sorted(page for page in job.state.reads if page >= 0) == [*range(4)]
    assert len(set(job.state.reads)) == len(job.state.reads)
    assert books["dropped"] == 50
    assert not [time for time in job.state.timers if time <= job.watermark]
    books = job.batch(prediction("last", 20 * HOUR))
    assert "dropped" not in books
    assert job.batch()["dropped"] == (2 if with_events else 1)


def test_what_the_first_batch_has_imported_is_searched_for_garbage_no_more(monkeypatch):
    calls = []
    monkeypatch.setattr(gc, "freeze", lambda: calls.append("freeze"))
    spark_tasks._spare_imported.cache_clear()
    processor = PageProcessor(PageRules(CONFIG, LAYOUT), [KEY])
    for _ in range(2):
        processor.close()
    assert calls == ["freeze"]
