import json

import httpx
import pytest
from simulator.process import Inline

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.feeds.decode import DecodeSettings, LiveDecoder
from monitor.prometheus.process_series import (
    CHECKPOINT_BYTES,
    CHECKPOINT_LAST_SUCCESS,
    STATE_BEGAN,
    STATE_FAULTS,
)
from monitor.service.checkpointing import Checkpointer
from monitor.service.event_clock import EventClock
from monitor.service.loop import Service
from monitor.service.posted import PostedFeeds
from monitor.service.sources import open_sources
from monitor.state import START, Body, Checkpoints, Journal, JournalPosition, StateFaults

NOW = 1_700_000_000


def lines(*numbers):
    events = [{"type": "outcome", "ts": NOW + n, "prediction": 1, "label": 1} for n in numbers]
    return "".join(json.dumps(event) + "\n" for event in events).encode()


class Running:
    """A service over a followed file, or posted to, that keeps its state."""

    def __init__(self, folder, clock, feed):
        self.reported, self.faults = [], StateFaults()
        config = Config(feeds=[feed], state={"directory": folder, "checkpoint_every": "30s"})
        decoder = LiveDecoder(DecodeSettings.from_config(config))
        self.checkpointer = Checkpointer(
            config,
            Checkpoints(folder / "checkpoints"),
            faults=self.faults,
            clock=clock,
            say=self.reported.append,
            writer=Inline(),
        )
        self.sources = open_sources(config, decoder, clock, self.reported.append)
        if feed["type"] == "http":
            self.sources.append(
                PostedFeeds(config, decoder, clock, self.reported.append, self.faults)
            )
        self.service = Service(
            config,
            self.sources,
            clock=clock,
            rejected=[],
            say=self.reported.append,
            checkpointer=self.checkpointer,
        )

    def turns(self, number=3):
        for _ in range(number):
            self.service.turn()

    def readings(self):
        return {series: read() for series, read in self.checkpointer.readings.items()}

    def kill(self):
        for source in self.sources:
            source.close()


@pytest.fixture
def clock():
    return ManualClock(NOW)


@pytest.fixture
def start(tmp_path, clock):
    """Starts services one after the other on one state."""
    made = []

    def begin(**feed):
        if made:
            made[-1].kill()
        feed = feed or {"type": "file", "path": f"{tmp_path}/events.ndjson", "follow": True}
        made.append(Running(tmp_path / "state", clock, feed))
        return made[-1]

    yield begin
    made[-1].kill()


def test_a_file_is_read_on_behind_the_checkpoint_and_outcomes_without_id_count_once(
    start, clock, tmp_path
):
    path = tmp_path / "events.ndjson"
    path.write_bytes(lines(1, 2, 3))
    first = start()
    first.turns()
    clock.sleep(31)
    first.turns()
    path.write_bytes(path.read_bytes() + lines(4, 5))
    first.turns()
    assert first.service._monitor.snapshot().records == 5
    second = start()
    assert second.service.snapshot.records == 3
    second.turns()
    assert second.service._monitor.snapshot().records == 5
    second.service.run(lambda: True)
    third = start()
    assert third.service.snapshot.records == 5
    assert any("resuming from" in line for line in third.reported)


def test_a_state_of_other_feeds_is_named_before_their_counts_are_added(start, tmp_path):
    one, other = tmp_path / "one.ndjson", tmp_path / "other.ndjson"
    for path in (one, other):
        path.write_bytes(lines(1, 2))
    start(type="file", path=str(one)).turns()
    again = start(type="file", path=str(one))
    assert not any("are added" in line for line in again.reported)
    second = start(type="file", path=str(other))
    (said,) = [line for line in second.reported if "are added" in line]
    assert said.startswith(
        f"{tmp_path}/state: its counts are of files:{one}, and those of files:{other} are added"
    )
    assert said.endswith("give each configuration a state.directory of its own")


def test_a_first_checkpoint_at_once_identifies_a_file_rotated_before_a_crash(start, tmp_path):
    path = tmp_path / "events.ndjson"
    path.write_bytes(lines(1, 2, 3))
    start().turns()
    path.rename(tmp_path / "events.ndjson.1")
    path.write_bytes(lines(4))
    second = start()  # before `checkpoint_every` has passed
    second.turns()
    assert second.service._monitor.snapshot().records == 4


def test_a_feed_that_is_new_in_the_configuration_is_in_a_checkpoint_at_once(start, tmp_path):
    (tmp_path / "events.ndjson").write_bytes(lines(1))
    start().turns()
    other = tmp_path / "other.ndjson"
    other.write_bytes(lines(2, 3))
    added = {"type": "file", "path": f"{other}", "follow": True}
    start(**added).turns()
    other.rename(tmp_path / "other.ndjson.1")
    other.write_bytes(lines(4))
    third = start(**added)
    third.turns()
    assert third.service._monitor.snapshot().records == 4


def test_what_metrics_say_of_it(start, clock, tmp_path):
    (tmp_path / "events.ndjson").write_bytes(lines(1))
    running = start()
    assert running.readings()[CHECKPOINT_LAST_SUCCESS] == {}
    clock.sleep(31)
    running.turns()
    values = running.readings()
    assert values[CHECKPOINT_LAST_SUCCESS] == {(): NOW + 31}
    assert values[STATE_BEGAN] == {(): NOW}
    assert values[CHECKPOINT_BYTES][()] > 1_000
    assert set(values[STATE_FAULTS].values()) == {0.0}
    clock.sleep(100)
    again = start()
    assert again.readings()[CHECKPOINT_LAST_SUCCESS] == {(): NOW + 31}
    assert again.readings()[STATE_BEGAN] == {(): NOW}


def test_a_damaged_checkpoint_is_reported_and_counted_and_the_one_before_is_used(
    start, clock, tmp_path
):
    path = tmp_path / "events.ndjson"
    running = start()
    for n in range(3):
        path.write_bytes((path.read_bytes() if n else b"") + lines(n))
        clock.sleep(31)
        running.turns()
    newest = max((tmp_path / "state" / "checkpoints").iterdir())
    newest.write_bytes(newest.read_bytes()[:-9])
    again = start()
    assert again.service.snapshot.records < 3
    again.turns()
    assert again.service._monitor.snapshot().records == 3
    assert again.readings()[STATE_FAULTS][("checkpoint_damaged",)] == 1
    assert any(f"{newest}: is damaged" in line for line in again.reported)


def test_of_the_journal_only_what_came_after_the_checkpoint_is_read_again(start, clock, tmp_path):
    with Journal(tmp_path / "state" / "journal") as journal:
        journal.append([Body(NOW * 1000, lines(1, 2))])
    running = start(type="http", listen="127.0.0.1:0")
    running.turns()
    assert running.sources[0].position()["segment"] > START.segment
    clock.sleep(31)
    running.turns()
    running.kill()
    with Journal(tmp_path / "state" / "journal") as journal:
        journal.append([Body(NOW * 1000, lines(3))])
    again = start(type="http", listen="127.0.0.1:0")
    again.turns()
    assert any("journal replayed, 1 record" in line for line in again.reported)
    assert again.service._monitor.snapshot().records == 3


def test_what_is_acknowledged_last_is_in_the_last_checkpoint(start, tmp_path):
    running = start(type="http", listen="127.0.0.1:0")
    (pushed,) = running.sources
    pushed.listen()
    running.turns()
    for n in range(5):
        httpx.post(f"{pushed.urls[0]}/v1/events", content=lines(n)).raise_for_status()
    running.service.run(lambda: True)
    assert running.service.snapshot.records == 5
    stored = Checkpoints(tmp_path / "state" / "checkpoints").newest().state
    assert stored["engine"]["records"] == 5
    with Journal(tmp_path / "state" / "journal") as journal:
        assert not list(journal.read(JournalPosition(**stored["positions"]["journal"])))


@pytest.mark.parametrize(("stepped", "passed"), [(50, 60_000), (-9_999, 10_000)])
def test_the_time_between_counts_as_passed_and_none_where_the_clock_was_set_back(stepped, passed):
    clock = ManualClock(NOW)
    event_clock = EventClock(clock)
    event_clock.observe({"m": 5_000})
    clock.sleep(10)
    state = event_clock.state()
    later = EventClock(ManualClock(NOW + 10 + stepped))
    later.restore(state)
    assert later.now_ms == {"m": 5_000 + passed}
    later.observe({"m": 5_000})
    assert later.now_ms == {"m": 5_000 + passed}
