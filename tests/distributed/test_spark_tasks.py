"""The stateful tasks of the job with a state in memory, as Spark calls them."""

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("pyspark", reason="a package of the extra dev")

from monitor.config import Config
from monitor.distributed.layout import Layout
from monitor.distributed.packets import packets_of
from monitor.distributed.page_rules import PageRules
from monitor.distributed.spark_tasks import PageProcessor
from monitor.distributed.tallies import merged, unpacked
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
        sent = packets_of(decoder.decode_lines(lines, source="x"), CONFIG, LAYOUT, None)
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
