"""Sources of counts: how far all have come, and what of them is remembered."""

import numpy as np
from labelled import DAY

from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import NO_TIME, CountDeltas
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.join.count_sources import STILL, CountSources

START = 20_000 * DAY
MASK = (1 << 64) - 1


def report(sources, *reports, model="m", batch=None):
    """What all sources of a model have reached after each report, each a batch of its own."""
    names, watermarks = zip(*reports, strict=True)
    rows = len(reports)
    counts = CountDeltas(
        time=np.zeros(rows, np.int64),
        group=np.zeros(rows, np.int64),
        cells=np.zeros((rows, 4), np.int64),
        population=np.zeros((rows, 2), np.int64),
        batch_key=np.array([batch or hash(one) & MASK for one in reports], np.uint64),
        source=np.array(names, np.str_),
        watermark=np.array(watermarks, np.int64),
    )
    return sources.with_reached(counts, [model] * rows).reached.tolist()


def test_the_slowest_source_decides():
    sources = CountSources()
    assert report(sources, ("a", 100), ("b", 40), ("a", 200), ("b", 150)) == [100, 40, 40, 150]
    assert report(sources, ("a", 90)) == [150]  # it repeats an older one


def test_models_are_apart():
    sources = CountSources()
    assert report(sources, ("a", 100), model="m") == [100]
    assert report(sources, ("b", 40), model="n") == [40]
    assert report(sources, ("a", 200), model="m") == [200]


def test_rows_without_a_source_or_a_watermark_decide_nothing():
    sources = CountSources()
    assert report(sources, ("a", 100), ("", 40), ("b", NO_TIME)) == [100, 40, NO_TIME]
    assert report(sources, ("a", 200)) == [200]


def test_a_source_that_stands_still_is_left_out_until_it_moves_on():
    sources = CountSources()
    report(sources, ("gone", 10), ("a", 20), ("b", 30))
    held = []
    for n in range(STILL + 2):
        held += report(sources, ("a", 100 + n), ("gone", 10), ("b", 100 + n))
    patient = 3 * (STILL - 2)
    assert held[:patient] == [10] * patient
    assert held[-1] == 100 + STILL + 1
    assert report(sources, ("gone", 50), ("a", 1000)) == [50, 50]
    assert report(sources, ("gone", 2000), ("b", 1500)) == [161, 1000]


def test_a_batch_of_many_panes_leaves_nobody_out():
    sources = CountSources()
    report(sources, ("slow", 10), ("a", 20))
    long = [("a", 100 + n) for n in range(3 * STILL)]
    assert report(sources, *long, batch=7) == [10] * len(long)
    assert report(sources, ("slow", 500)) == [100 + 3 * STILL - 1]


def test_no_source_is_left_out_while_none_moves_on():
    sources = CountSources()
    report(sources, ("a", 10), ("b", 20))
    assert report(sources, *[("a", 10), ("b", 20)] * 5 * STILL)[-1] == 10


def test_the_state_has_who_decides():
    sources, other = CountSources(), CountSources()
    report(sources, ("a", 100), ("b", 40))
    other.restore(sources.state(), "m")
    assert report(other, ("a", 200)) == report(sources, ("a", 200)) == [40]
    other.restore({"a": {"records": 1, "watermark_ms": 7, "late": 0}}, "m")  # of an earlier version
    assert report(other, ("a", 200)) == [200]


def counts_of(source, batch, ts, **more):
    fields = f'"source":"{source}","batch":"{batch}","ts":{ts / 1000}'
    fields += "".join(f',"{name}":{value}' for name, value in more.items())
    return f'{{"type":"counts","tp":1,"fp":0,"fn":0,"tn":0,{fields}}}\n'.encode()


class Fed:
    def __init__(self):
        self.monitor = Monitor(Config(defaults={"label_timeout": "2d"}, windows=["1h"]))
        self._decoder = Decoder(DecodeSettings.from_config(self.monitor.config))

    def take(self, lines, arrived=None):
        batch = self._decoder.decode_lines(lines, source="test")
        self.monitor.apply(batch if arrived is None else batch.arrived([(0, arrived)]))
        return int(self.monitor.snapshot().lifetime.counts.tp[0])


def test_time_goes_with_the_slowest_source_and_counts_ahead_of_it_wait_for_their_pane():
    fed = Fed()
    hour = 3_600_000
    for n in range(20):
        fed.take(counts_of("fast", n, START + n * hour, watermark=(START + n * hour) / 1000))
        fed.take(counts_of("slow", n, START + n * 60_000, watermark=(START + n * 60_000) / 1000))
    assert fed.monitor.watermark_ms == START + 19 * 60_000
    reached = START + 19 * hour
    for n in range(20, 25):
        fed.take(counts_of("slow", n, reached, watermark=reached / 1000), arrived=reached + hour)
    assert fed.monitor.watermark_ms == START + 19 * hour


def test_of_a_source_that_reports_only_the_last_batches_are_remembered():
    reporting, silent = Fed(), Fed()
    for n in range(40):
        at = START + n * 1000
        total = reporting.take(counts_of("a", n, at, watermark=at / 1000))
        assert silent.take(counts_of("a", n, at)) == total == n + 1
    for n in range(24, 40):
        assert reporting.take(counts_of("a", n, START + n * 1000)) == 40
        assert silent.take(counts_of("a", n, START + n * 1000)) == 40
    assert silent.take(counts_of("a", 0, START)) == 40
    assert len(reporting.monitor.state()["join"]["delivered"]["batch_key"]) == 16
