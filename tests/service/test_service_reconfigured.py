"""Counts continue over a reload, as over a restart with the changed file."""

import json
import random

import pytest
from same import differences
from service.test_service_intake import NOW, StoredRejections

from monitor.clock import ManualClock
from monitor.config import Config, parse_config
from monitor.engine import Monitor
from monitor.errors import ConfigError
from monitor.events.reject_reasons import RejectReason
from monitor.feeds.decode import DecodeSettings, LiveDecoder
from monitor.feeds.http import PostedEvents
from monitor.feeds.http.memory_budget import MemoryBudget
from monitor.service.changes import ReloadableDecoder
from monitor.service.checkpointing import Checkpointer
from monitor.service.journal_replay import NewRejections
from monitor.service.loop import Service
from monitor.service.posted import PostedFeeds
from monitor.service.reloads import Reloads
from monitor.service.resumed_feeds import resuming_lines
from monitor.state import Checkpoints, StateFaults

BASE = {"models": {"m": {"threshold": 0.5, "segments": ["k"]}}, "windows": ["1h", "1d"]}


def counted_differently(first, second):
    """Differences of two states, but for how far windows were looked at."""
    found = differences(first, second)
    return [text for text in found if not text.startswith(".windows.running")]


def events(first, count, model="m"):
    records = []
    for n in range(first, first + count):
        name = f"{model}{n}"
        scored = {"type": "prediction", "id": name, "ts": NOW + n, "score": n % 10 / 10}
        records.append({**scored, "model": model, "segment": {"k": str(n % 3), "l": "x"}})
        records.append({"type": "label", "id": name, "ts": NOW + n, "label": n % 2})
    return "".join(json.dumps(record) + "\n" for record in records).encode()


class Running:
    """A service whose configuration can be changed, and a clock that is moved by hand."""

    def __init__(self, folder, **changes):
        self.folder = folder
        self.config = self.made(**changes)
        self.clock, self.reported, self.faults = ManualClock(NOW), [], StateFaults()
        self.decoder = LiveDecoder(DecodeSettings.from_config(self.config))
        self.checkpointer = Checkpointer(
            self.config,
            Checkpoints(folder / "checkpoints"),
            faults=self.faults,
            clock=self.clock,
            say=self.reported.append,
        )
        self.pushed = PostedFeeds(
            self.config, self.decoder, self.clock, self.reported.append, self.faults
        )
        self.reloads = Reloads(lambda: self.config, clock=self.clock, say=self.reported.append)
        self.service = Service(
            self.config,
            [self.pushed],
            clock=self.clock,
            rejected=NewRejections(StoredRejections()),
            say=self.reported.append,
            reloads=self.reloads,
            reloadables=[ReloadableDecoder(self.decoder), self.pushed],
            checkpointer=self.checkpointer,
        )
        while not self.service.ready:
            self.service.turn()

    def made(self, **changes):
        feeds = [{"type": "http", "listen": "127.0.0.1:0"}]
        return Config(**{**BASE, "feeds": feeds, "state": {"directory": self.folder}, **changes})

    def reload(self, **changes):
        self.config = self.made(**changes)
        done = self.reloads.ask()
        self.service.turn()
        return done.exception(0)

    def keep(self, lines):
        """Post without a socket."""
        reservation = MemoryBudget(10**9).reservation()
        decoder = self.decoder.current
        latest = int(self.clock.now() * 1000) + 3_600_000
        batch = decoder.decode_lines(lines, source="test", latest_ms=latest)
        posted = PostedEvents(int(self.clock.now() * 1000), lines, batch, decoder, reservation)
        stored = self.pushed.store(posted)
        self.pushed._commits.write_waiting()
        assert stored.result(0) is None

    def counted(self):
        for _ in range(3):
            self.clock.sleep(1)
            self.service.turn()
        return self.service._monitor.state()

    def stop(self):
        self.service.run(lambda: True)

    def crash(self):
        """Nothing more is written; what is open is closed."""
        self.pushed.close()


@pytest.fixture
def start(tmp_path):
    made = []

    def begin(name, **changes):
        made.append(Running(tmp_path / name, **changes))
        return made[-1]

    yield begin
    for one in made:
        one.crash()


def reconfigured(start, name, lines, **changes):
    """A service that has counted lines, after a reload or a restart with changes."""
    service = start(name)
    service.keep(lines)
    service.counted()
    if name == "reloaded":
        assert service.reload(**changes) is None
        return service
    service.stop()
    return start(name, **changes)


TWO = {"m": BASE["models"]["m"], "n": {"threshold": 0.5}}
CHANGES = [
    {"models": {"m": {"threshold": 0.8, "segments": ["k"]}}},
    {"models": {"m": {"threshold": 0.5, "segments": ["k", "l"]}}},
    {"models": {"m": {"threshold": 0.5}}},
    {"models": TWO},
    {"models": {"n": {"threshold": 0.5}}},
    {"windows": ["1h"]},
    {"windows": ["1h", "2h", "1d"]},
    {"max_pending": 10},
    {"models": {"m": {"threshold": 0.5, "segments": ["k"], "label_timeout": "1h"}}},
]


@pytest.mark.parametrize("changes", CHANGES)
def test_a_reload_is_a_restart_without_the_gap(start, changes):
    found = []
    for name in ("reloaded", "restarted"):
        service = reconfigured(start, name, events(0, 500), **changes)
        service.keep(events(500, 500))
        service.keep(events(0, 300, model="n"))
        found.append(service.counted())
    assert list(differences(*found)) == []
    assert found[0]["records"] == 2600


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({"models": {"m": {"threshold": 0.8, "segments": ["k"]}}}, []),
        (
            {"models": {"m": {"threshold": 0.5, "segments": ["k"], "reference": {"first": "3d"}}}},
            ["reference changed: references and detectors start anew, counts go on: m"],
        ),
        (
            {"models": {"m": {"threshold": 0.5, "segments": ["k"], "labelling": "sampled"}}},
            ["labelling changed: references and detectors start anew, counts go on: m"],
        ),
        (
            {"models": {"m": {"threshold": 0.5, "labelling": "weighted"}}},
            ["segments and labelling changed: models start anew, without their counts: m"],
        ),
        (
            {"models": {"m": {"classes": ["no", "yes", "open"]}}},
            ["classes and segments changed: models start anew, without their counts: m"],
        ),
        (
            {"models": {"n": {"threshold": 0.5}}},
            ["models are no longer configured, and their counts are left out: m"],
        ),
    ],
)
def test_models_that_start_anew_are_named(start, changes, lines):
    reported = {}
    for name in ("reloaded", "restarted"):
        service = reconfigured(start, name, events(0, 10), **changes)
        reported[name] = [line for line in service.reported if "counts" in line]
    assert reported == {"reloaded": lines, "restarted": lines}


def test_events_queued_before_a_reload_are_read_by_the_new_settings(start):
    """So that a crash after it reads the journal to the same counts."""
    service = start("live")
    service.keep(events(0, 100))
    assert service.reload(models={"m": {"threshold": 0.9}}) is None
    state = service.counted()
    fresh = Monitor(service.config)
    batch = service.decoder.decode_lines(events(0, 100), source="x")
    fresh.apply(batch.arrived([(0, NOW * 1000)]))
    assert counted_differently(state, fresh.state()) == []
    service.crash()
    again = start("live", models={"m": {"threshold": 0.9}})
    assert counted_differently(again.counted(), state) == []


@pytest.mark.parametrize("changes", [{}, {"models": {"m": {"threshold": 0.3, "segments": ["k"]}}}])
def test_acknowledged_events_that_a_changed_configuration_decodes_are_named(start, changes):
    service = start("killed")
    service.keep(events(0, 20) + b"\n")
    service.counted()
    service.crash()
    said = [line for line in start("killed", **changes).reported if line.startswith("CAUTION")]
    assert [line.partition(" are ")[0] for line in said] == [
        "CAUTION: 40 acknowledged events behind the last checkpoint"
    ] * bool(changes)


def totals(service):
    """Predictions and rejected records."""
    service.counted()
    found = service.service._monitor.snapshot()
    predictions = sum(m.predictions_positive + m.predictions_negative for m in found.models)
    return predictions, found.rejected[RejectReason.TOO_LARGE]


def test_a_lower_max_record_bytes_does_not_reject_what_was_acknowledged(start):
    long = events(0, 20).replace(b'"type": "pred', b'"pad":"' + b"x" * 3000 + b'","type":"pred')
    service = start("killed")
    service.keep(long)
    service.counted()
    service.crash()
    for _ in range(2):
        service = start("killed", max_record_bytes="1KiB")
        assert totals(service) == (20, 0)
        service.crash()
    service = start("killed", max_record_bytes="1KiB")
    service.counted()
    service.stop()
    service = start("killed", max_record_bytes="1KiB")
    service.keep(events(40, 5) + long)
    assert totals(service) == (25, 20)
    service.crash()
    for limit in ("1KiB", "1KiB", "256B"):
        service = start("killed", max_record_bytes=limit)
        assert totals(service) == (25, 20), "rejected as the client was told"
        service.crash()


def test_acknowledged_events_that_no_feed_counts_are_named(start, tmp_path):
    service = start("killed")
    service.keep(events(0, 20))
    service.counted()
    service.crash()
    [position] = service.checkpointer._positions[-1:]
    config = service.made(feeds=[{"type": "file", "path": "events.ndjson"}])
    [line] = resuming_lines(config, position, [], changed=False)
    assert line.startswith("CAUTION: 40 acknowledged events behind the last checkpoint are not")
    assert f"they wait in {tmp_path / 'killed' / 'journal'}" in line
    service = start("killed")
    service.counted()
    service.stop()
    [position] = service.checkpointer._positions[-1:]
    assert not list(resuming_lines(config, position, [], changed=False))


def test_a_reload_is_stored_at_once(start):
    service = start("stored")
    service.keep(events(0, 100))
    service.counted()
    assert service.reload(windows=["1d"]) is None
    service.service.turn()
    service.checkpointer._writing[0].result(10)
    service.service.turn()
    (path, *_) = sorted((service.folder / "checkpoints").iterdir())
    assert path.exists()
    service.crash()
    again = start("stored", windows=["1d"])
    assert not any("another than" in line for line in again.reported)


def test_what_cannot_take_over_the_state_changes_nothing(start):
    service = start("refused")
    service.keep(events(0, 100))
    before = service.counted()
    error = service.reload(pane="7m", windows=["7m"], models={"m": {"threshold": 0.9}})
    assert isinstance(error, ConfigError)
    assert counted_differently(service.counted(), before) == []
    assert service.decoder.settings.models["m"].threshold == 0.5
    service.keep(events(100, 100))
    assert service.counted()["records"] == 400


@pytest.mark.parametrize("ways", [30, pytest.param(100, marks=pytest.mark.slow)])
def test_files_that_are_damaged_in_many_ways_lose_nothing(start, ways):
    """Under load: with any configuration, every stored event is counted once."""
    rng = random.Random(8)
    service = start("mutated")
    good = json.dumps(service.made().model_dump(mode="json"), default=str)
    taken, last = 0, 0

    def load():
        text = list(good)
        for _ in range(rng.choice([0, 1, 1, 3])):
            text[rng.randrange(len(text))] = rng.choice('{}[]",: x0-9m\x00é')
        return parse_config("".join(text), "monitor.yaml")

    service.reloads._load = load
    for number in range(ways):
        service.keep(events(20 * number, 20))
        done = service.reloads.ask()
        service.clock.sleep(1)
        service.service.turn()
        taken += done.exception(0) is None
        records = service.service.snapshot.records
        assert records >= last
        last = records
    assert 0 < taken < ways
    assert service.counted()["records"] == 40 * ways
