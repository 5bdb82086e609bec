import json
import resource
import tempfile
import time
from contextlib import contextmanager
from pathlib import Path

import httpx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.engine import CountingMonitor
from monitor.errors import ConfigError, MonitorError
from monitor.events.reject_reasons import Rejection
from monitor.feeds.decode import Decoder, DecodeSettings, LiveDecoder
from monitor.service.journal_replay import NewRejections, ReplayedJournal, runs_of
from monitor.service.loop import Service
from monitor.service.posted import PostedFeeds
from monitor.service.request_batches import ENOUGH_EVENTS, MOST_EVENTS, WAIT_SECONDS
from monitor.state import Body, Journal, JournalPosition, StateError

NOW = 1_700_000_000
HOUR_MS = 3_600_000
DEADLINE = 120


def events(*numbers, ts=NOW):
    records = [
        record
        for n in numbers
        for record in (
            {"type": "prediction", "id": f"p{n}", "ts": ts + n, "prediction": n % 2},
            {"type": "label", "id": f"p{n}", "ts": ts + n, "label": n % 3 % 2},
        )
    ]
    return "".join(json.dumps(record) + "\n" for record in records).encode()


class StoredRejections(list):
    def write(self, rejections):
        self.extend(rejections)


class Running:
    """A service that is posted to, with a clock that is moved by hand."""

    def __init__(self, folder, **feed):
        feeds = [{"type": "http", "listen": "127.0.0.1:0", **feed}]
        config = Config(feeds=feeds, state={"directory": folder})
        self.clock, self.reported, self.rejected = ManualClock(NOW), [], StoredRejections()
        decoder = LiveDecoder(DecodeSettings.from_config(config))
        self.pushed = PostedFeeds(config, decoder, self.clock, self.reported.append)
        self.service = Service(
            config,
            [self.pushed],
            clock=self.clock,
            rejected=NewRejections(self.rejected),
            say=self.reported.append,
        )
        try:
            self.pushed.listen()
        except MonitorError:
            self.pushed.close()
            raise

    @property
    def url(self):
        return self.pushed.urls[0]

    def post(self, body):
        return httpx.post(f"{self.url}/v1/events", content=body)

    def until_ready(self):
        while not self.service.ready:
            self.service.turn()
        return self

    def counted(self):
        """The state once all that was posted is counted."""
        for _ in range(3):
            self.clock.sleep(1)
            self.service.turn()
        return self.service.snapshot


@contextmanager
def running(folder, **feed):
    made = Running(folder, **feed)
    try:
        yield made
    finally:
        made.pushed.close()


def books(snapshot):
    cells = snapshot.lifetime.counts.cells.tolist()
    return cells, snapshot.records, snapshot.events, snapshot.rejected, snapshot.watermark_ms


def test_what_is_posted_is_counted(tmp_path):
    with running(tmp_path) as service:
        service.until_ready()
        assert service.post(events(*range(10))).json()["accepted"] == 20
        assert service.counted().records == 20


def test_nothing_is_taken_before_the_journal_is_read(tmp_path):
    with running(tmp_path) as service:
        assert not service.service.ready
        assert service.post(events(1)).status_code == 503
        service.until_ready()
        assert service.post(events(1)).status_code == 200


def test_a_restart_counts_as_if_there_had_been_none(tmp_path):
    bodies = [
        events(1, 2, 3),
        events(3, 2, 4),
        b'no json\n{"type":"label"}\n',
        events(*range(5, 900)),
        events(7, ts=NOW + 3 * 3600),  # ahead of the clock
        b'{"type":"label","id":"p1","ts":1700000100,"label":null}',
    ]
    with running(tmp_path / "whole") as service:
        service.until_ready()
        for body in bodies:
            assert service.post(body).status_code == 200
        whole = books(service.counted())
    for number, body in enumerate(bodies):
        with running(tmp_path / "parts") as service:
            service.until_ready()
            assert service.post(body).status_code == 200
            if number % 2:
                service.counted()
    with running(tmp_path / "parts") as service:
        parts = service.until_ready().counted()
        assert service.reported[0].startswith(f"journal replayed, {parts.records:,} records")
    assert books(parts) == whole
    assert whole[3]["timestamp_out_of_range"] == 2


def test_after_a_restart_it_is_ready_when_all_that_was_acknowledged_shows(tmp_path):
    with running(tmp_path) as service:
        assert service.until_ready().service.restored, "there was nothing to restore"
        for n in range(5):
            service.post(events(n))
    with running(tmp_path) as service:
        turns = 0
        while not service.service.ready:
            assert not service.service.restored
            assert service.service.snapshot.records == 0, "no part of it"
            service.service.turn()  # the clock stands: nothing is published because it is time
            turns += 1
        assert turns > 1
        assert service.service.snapshot.records == 10


def test_a_rejected_record_is_stored_once_in_spite_of_restarts(tmp_path):
    with running(tmp_path) as service:
        service.until_ready()
        service.post(b"no json\n")
        service.counted()
        assert [r.position for r in service.rejected] == ["127.0.0.1:0/v1/events:1"]
    with running(tmp_path) as service:
        assert service.until_ready().counted().rejected["malformed"] == 1
        assert service.rejected == []


def test_few_events_wait_for_company_and_many_do_not(tmp_path):
    with running(tmp_path) as service:
        service.until_ready()
        service.post(events(1))
        assert service.pushed.poll() is None
        service.clock.sleep(WAIT_SECONDS / 2)
        service.post(events(2))
        assert service.pushed.poll() is None
        service.clock.sleep(WAIT_SECONDS / 2)
        assert service.pushed.poll().records == 4
        assert service.pushed.poll() is None
        service.post(events(*range(ENOUGH_EVENTS)))
        assert service.pushed.poll().records == 2 * ENOUGH_EVENTS


def test_of_what_has_queued_up_no_more_is_counted_together_than_is_soon_done(tmp_path):
    body = events(*range(1_000))
    posts = MOST_EVENTS // 2_000 + 3
    with running(tmp_path) as service:
        service.until_ready()
        for _ in range(posts):
            service.post(body)
        assert service.pushed.poll().records == MOST_EVENTS
        assert service.pushed.poll().records == 2_000 * posts - MOST_EVENTS
        assert service.pushed.poll() is None


def test_while_the_engine_stalls_clients_get_retry_after(tmp_path):
    body = events(1)
    limits = {"max_body_bytes": len(body), "max_queue_bytes": 3 * len(body)}
    with running(tmp_path, **limits) as service:
        service.until_ready()
        answers = [service.post(body) for _ in range(5)]
        assert [answer.status_code for answer in answers] == [200, 200, 200, 429, 429]
        assert answers[-1].headers["retry-after"] == "1"
        assert service.counted().records == 6
        assert service.post(body).status_code == 200


def test_on_a_full_disk_nothing_is_acknowledged_until_there_is_room(tmp_path):
    with running(tmp_path) as service:
        service.until_ready()
        assert service.post(events(1)).status_code == 200
        soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (200, hard))
        try:
            answers = [service.post(events(n)) for n in range(2, 5)]
            assert [answer.status_code for answer in answers] == [503] * 3
            assert answers[0].headers["retry-after"] == "5"
            assert httpx.get(f"{service.url}/healthz").status_code == 200
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
        assert service.post(events(5)).status_code == 200
        assert service.counted().records == 4
        assert sum("free space on the disk" in line for line in service.reported) == 1
        assert service.reported[-1] == "the journal can be written again"
    with running(tmp_path) as service:
        assert service.until_ready().counted().records == 4


def test_a_damaged_journal_ends_the_service_with_the_place(tmp_path):
    with running(tmp_path) as service:
        service.until_ready()
        for n in range(3):
            service.post(events(n))
    (path,) = (tmp_path / "journal").iterdir()
    content = bytearray(path.read_bytes())
    content[100] ^= 1
    path.write_bytes(content)
    with pytest.raises(StateError, match=rf"{path}: offset \d+: is damaged"):
        Running(tmp_path)


def test_a_torn_end_of_the_journal_is_reported_and_the_rest_is_counted(tmp_path):
    with running(tmp_path) as service:
        service.until_ready()
        service.post(events(1))
    (path,) = (tmp_path / "journal").iterdir()
    with path.open("ab") as file:
        file.write(b"torn")
    with running(tmp_path) as service:
        assert service.reported[0].startswith("journal: cut off 4 bytes at its end")
        assert service.until_ready().counted().records == 2


def test_what_was_opened_is_closed_where_the_address_is_taken(tmp_path):
    with running(tmp_path / "a") as service:
        taken = service.url.removeprefix("http://")
        with pytest.raises(MonitorError, match="cannot listen"):
            Running(tmp_path / "b", listen=taken)
    with running(tmp_path / "b") as service:
        service.until_ready()


def test_a_token_file_that_is_missing_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="cannot be read"):
        Running(tmp_path / "state", token_files=[tmp_path / "missing"])


def test_two_feeds_are_counted_together(tmp_path):
    feeds = [{"type": "http", "listen": "127.0.0.1:0"}] * 2
    pushed = PostedFeeds(
        Config(feeds=feeds, state={"directory": tmp_path}),
        LiveDecoder(DecodeSettings()),
        ManualClock(NOW),
        lambda _: None,
    )
    pushed.listen()
    try:
        assert pushed.poll() is None
        for number, url in enumerate(pushed.urls):
            httpx.post(f"{url}/v1/events", content=events(number)).raise_for_status()
        found = 0
        deadline = time.monotonic() + DEADLINE
        while not found and time.monotonic() < deadline:
            pushed._clock.sleep(1)
            batch = pushed.poll()
            found += batch.records if batch else 0
        assert found == 4
    finally:
        pushed.close()


def test_rejections_out_of_the_journal_are_not_passed_on():
    stored = StoredRejections()
    new, old = (Rejection("malformed", position, "", b"") for position in ("a:1", "journal:7:1"))
    NewRejections(stored).write([new, old])
    assert stored == [new]


bodies = st.lists(
    st.builds(
        lambda arrival, ahead, n: Body(
            NOW * 1000 + arrival, events(n, ts=NOW + arrival // 1000 + ahead) + b"x\n"
        ),
        st.integers(-5 * HOUR_MS, 5 * HOUR_MS),
        st.sampled_from((-9, 0, 600, 3595, 3700)),
        st.integers(0, 30),
    ),
    max_size=12,
)


@given(bodies)
@settings(max_examples=20, deadline=None)
def test_the_journal_is_decoded_as_each_body_was_when_it_came(given_bodies):
    decoder = Decoder(DecodeSettings())
    live, again = CountingMonitor(), CountingMonitor()
    for body in given_bodies:
        latest = body.arrival_ms + HOUR_MS
        batch = decoder.decode_lines(body.lines, source="x", latest_ms=latest)
        live.apply(batch.arrived([(0, body.arrival_ms)]))
    with tempfile.TemporaryDirectory() as folder, Journal(Path(folder)) as journal:
        for body in given_bodies:
            journal.append([body])
        for batch in ReplayedJournal(journal, decoder):
            again.apply(batch)
    assert books(again.snapshot()) == books(live.snapshot())
    assert np.array_equal(
        again.snapshot().windows[0].counts.cells, live.snapshot().windows[0].counts.cells
    )


def placed(found):
    return ((body, JournalPosition(1, 0, n)) for n, body in enumerate(found))


def unplaced(runs):
    return ([body for body, _ in run] for run in runs)


@given(bodies)
@settings(deadline=None)
def test_runs_are_the_bodies_in_order_and_short_in_time(given_bodies):
    runs = list(unplaced(runs_of(placed(given_bodies))))
    assert [body for run in runs for body in run] == given_bodies
    for run in runs:
        arrivals = [body.arrival_ms for body in run]
        assert max(arrivals) - min(arrivals) <= HOUR_MS


def test_a_long_body_is_a_run_of_its_own():
    long = Body(0, b"x" * 2_000_000)
    assert [len(run) for run in runs_of(placed([long, long, replace_lines(long)]))] == [1, 1, 1]


def replace_lines(body):
    return body._replace(lines=b"")
