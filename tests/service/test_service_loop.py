import gzip
import json
from collections import Counter

import pytest
from streams import flights, flights_of

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.errors import ConfigError, FeedError
from monitor.feeds.decode import DecodeSettings, LiveDecoder
from monitor.service.loop import IDLE_SECONDS, Service
from monitor.service.sources import open_sources


class StoredRejections(list):
    """A dead-letter file without a file."""

    def write(self, rejections):
        self.extend(rejections)


def events(*numbers):
    records = [
        record
        for n in numbers
        for record in (
            {"type": "prediction", "id": f"p{n}", "ts": 60 * n, "prediction": 1},
            {"type": "label", "id": f"p{n}", "ts": 60 * n, "label": 1},
        )
    ]
    return "".join(json.dumps(record) + "\n" for record in records)


class Running:
    """A service over some feeds, with a clock that is moved by hand."""

    def __init__(self, *feeds, **settings):
        self.clock, self.rejected, self.reported = ManualClock(), StoredRejections(), []
        config = Config(feeds=feeds, **settings)
        decoder = LiveDecoder(DecodeSettings.from_config(config))
        self.sources = open_sources(config, decoder, self.clock, self.reported.append)
        self.service = Service(
            config,
            self.sources,
            clock=self.clock,
            rejected=self.rejected,
            say=self.reported.append,
        )

    def turns(self, seconds):
        """Run for some time."""
        end = self.clock.monotonic() + seconds
        self.service.run(lambda: self.clock.monotonic() >= end)

    @property
    def snapshot(self):
        return self.service.snapshot


@pytest.fixture
def watch():
    """Makes services, and closes what they have open."""
    made = []

    def make(*feeds, **settings):
        made.append(Running(*feeds, **settings))
        return made[-1]

    yield make
    for running in made:
        for source in running.sources:
            source.close()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.ndjson"


def test_a_file_is_counted_to_its_end_and_then_served_on(watch, path):
    start = flights()[0]["ts"]
    flown = flights_of(start, start + 12 * 86_400)
    path.write_text("".join(f"{json.dumps(event)}\n" for event in flown))
    predicted = {e["id"]: e["prediction"] for e in flown if e["type"] == "prediction"}
    labels = {e["id"]: e["label"] for e in flown if e["type"] == "label"}
    expected = Counter((predicted[name], label) for name, label in labels.items())
    running = watch({"type": "file", "path": str(path)})
    assert running.service.ready
    running.turns(seconds=3)
    (model,) = running.snapshot.models
    cells = running.snapshot.lifetime.counts[model.row].cells.tolist()
    assert cells == [expected[pair] for pair in ((1, 1), (1, 0), (0, 1), (0, 0))]
    assert sum(cells) > 1_500
    assert running.service.ready
    assert f"{path}: end of input; still serving" in running.reported


def test_windows_move_on_by_the_time_that_passes_while_nothing_comes(watch, path):
    path.write_text(events(1, 2, 3))
    running = watch({"type": "file", "path": str(path)}, windows=["1h"])
    running.turns(seconds=2)
    watermark = running.snapshot.watermark_ms
    assert running.snapshot.windows[0].counts.total.tolist() == [1]
    assert running.snapshot.now_ms == pytest.approx(watermark + 2000, abs=150)
    running.clock.sleep(3600)
    running.service.turn()
    assert running.snapshot.watermark_ms == watermark
    assert running.snapshot.now_ms == pytest.approx(watermark + 3_602_000, abs=150)
    assert running.snapshot.windows[0].counts.total.tolist() == [2]
    assert running.snapshot.lifetime.counts.total.tolist() == [3]


def test_records_of_the_last_day_that_are_rejected_are_counted(watch, path):
    path.write_text(f'{events(1, 2, 3)}{{"type":"label","id":"a","ts":1,"label":7}}\n')
    running = watch({"type": "file", "path": str(path)})
    running.turns(seconds=2)
    found = running.service.rejections.last_day()
    assert (found.read, found.rejected) == (running.snapshot.records, 1)
    (kind,) = found.kinds
    last = len(path.read_text().splitlines())
    assert (kind.feed, kind.latest) == (str(path), f"{path}:{last}")
    assert kind.detail == "label: must be 0, 1, true, false or null, got 7"


def test_without_events_there_is_no_now(watch, path):
    path.touch()
    running = watch({"type": "file", "path": str(path)})
    running.turns(seconds=5)
    assert running.snapshot.now_ms is None


def test_a_snapshot_is_published_at_most_once_a_second(watch, path):
    path.write_text(events(1))
    running = watch({"type": "file", "path": str(path), "follow": True})
    before = running.snapshot
    running.service.turn()
    assert running.snapshot is before
    running.clock.sleep(1.0)
    running.service.turn()
    assert running.snapshot.records == 2
    published = running.snapshot
    running.clock.sleep(0.9)
    running.service.turn()
    assert running.snapshot is published


def test_what_is_appended_to_a_followed_file_is_counted(watch, path):
    path.write_text(events(1))
    running = watch({"type": "file", "path": str(path), "follow": True})
    running.turns(seconds=2)
    assert running.snapshot.records == 2


def test_it_is_ready_once_a_followed_file_is_there(watch, path):
    running = watch({"type": "file", "path": str(path), "follow": True})
    assert not running.service.ready
    path.write_text(events(1))
    running.service.turn()
    assert running.service.ready


def test_files_read_once_are_merged_and_a_followed_one_comes_beside_them(watch, tmp_path):
    for name, numbers in {"a": [1, 3], "b": [2, 4], "c": [5]}.items():
        (tmp_path / name).write_text(events(*numbers))
    feeds = [{"type": "file", "path": str(tmp_path / n), "follow": n == "c"} for n in "abc"]
    running = watch(*feeds)
    running.turns(seconds=2)
    assert running.snapshot.records == 10


def test_the_last_turn_publishes_what_was_counted(watch, path):
    path.write_text(events(1, 2))
    running = watch({"type": "file", "path": str(path)})
    asked = iter([False, True])
    running.service.run(lambda: next(asked))
    assert running.snapshot.records == 4


def test_it_rests_only_when_nothing_came(watch, path):
    path.write_text(events(1))
    running = watch({"type": "file", "path": str(path)})
    asked = iter([False, False, True])
    running.service.run(lambda: next(asked))
    assert running.clock.monotonic() == IDLE_SECONDS


def test_rejected_records_are_stored(watch, path):
    path.write_text("no json\n" + events(1))
    running = watch({"type": "file", "path": str(path)})
    running.turns(seconds=2)
    assert [r.position for r in running.rejected] == [f"{path}:1"]
    assert running.snapshot.rejected["malformed"] == 1


def test_a_damaged_file_is_reported_and_what_was_read_is_served(watch, tmp_path):
    path = tmp_path / "torn.gz"
    path.write_bytes(gzip.compress(events(*range(100)).encode())[:-20])
    running = watch({"type": "file", "path": str(path)})
    running.turns(seconds=2)
    assert not running.service.ready
    assert 0 < running.snapshot.records <= 200
    assert len(running.reported) == 1
    assert running.reported[0].startswith(f"{path}: gzip")
    assert running.reported[0].endswith("; continuing with the events read so far")


def test_a_missing_file_is_refused_at_the_start(watch, tmp_path):
    with pytest.raises(FeedError, match=r"missing\.ndjson: no such file"):
        watch({"type": "file", "path": str(tmp_path / "missing.ndjson")})


def test_feeds_whose_client_is_missing_are_refused_all_at_once(watch, monkeypatch):
    monkeypatch.setattr("monitor.feeds.kafka.installed.is_installed", lambda: False)
    kafka = {"type": "kafka", "brokers": ["a:1"], "topics": ["t"]}
    feeds = [kafka, {"type": "http"}, {**kafka, "group": "another"}]
    with pytest.raises(ConfigError) as refused:
        watch(*feeds)
    assert [fault.split(",")[0] for fault in refused.value.faults] == [
        "feeds[0].type: needs a client that is not installed",
        "feeds[2].type: needs a client that is not installed",
    ]


def test_no_feed_at_all_is_refused(watch):
    with pytest.raises(ConfigError, match="feeds: none is configured"):
        watch()


def test_who_asks_does_not_wait_for_a_snapshot_of_many_models(watch, path, monkeypatch):
    path.write_text("")
    running = watch(
        {"type": "file", "path": str(path), "follow": True}, models={name: {} for name in "abcd"}
    )
    service, answered = running.service, []
    monkeypatch.setattr(service.queries, "answer", answered.append)
    running.clock.sleep(2)
    service.turn()
    assert len(answered) == 1 + 4
    assert set(answered) == {service._monitor}
