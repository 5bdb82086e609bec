"""Feeds that are posted to: kept in the journal, answered, and then counted.

    request ─▶ decode ─▶ journal, fsync ─▶ queue ─▶ engine
                                       └─▶ 200

At the start the journal is read again from the checkpoint on, before anything is
taken. What was acknowledged is in it, in the order in which it is counted, with the
time when it came: the counters become those of a run that never ended.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress

from monitor.clock import SECOND_MS, Clock, Stopwatch
from monitor.config import Config, HttpFeed
from monitor.events.columns import EventBatch, concatenate
from monitor.feeds.decode import LiveDecoder
from monitor.feeds.http import FeedSettings, PostedEvents, create_feed_app
from monitor.feeds.http.app import AHEAD_MS
from monitor.feeds.http.bodies import BodyLimits
from monitor.feeds.http.memory_budget import MemoryBudget
from monitor.prometheus.process_series import (
    INGEST_PAUSED,
    JOURNAL_BYTES,
    QUEUE_BYTES,
    QUEUE_OLDEST,
    QUEUE_REQUESTS,
    REPLAYED_RECORDS,
    NumberByLabels,
    SeriesDescription,
)
from monitor.service.journal_replay import Replayed
from monitor.service.request_batches import Gathered, KeptRequest
from monitor.service.sources import Position
from monitor.state import JOURNAL, START, Body, Commits, Journal, Place, StateFault, StateFaults
from monitor.web.access import read_access
from monitor.web.listener_telemetry import Listener
from monitor.web.server import BackgroundServer

GRACE_SECONDS = 2
"""How long requests may go on after the program is told to stop."""


class Pushed:
    """All feeds of a configuration that are posted to, as one source.

    Args:
        config: of the monitor; has at least one such feed.
        decoder: of what is posted.
        clock: what time events arrive.
        say: tells a person what happens, a line at a time.
        faults: counts what is found wrong with the journal.
        since: the place behind what the checkpoint holds.

    Raises:
        ConfigError: a token file or web configuration cannot be used.
        StateError: the journal is damaged; nothing is changed.
    """

    ended = False
    identity = JOURNAL

    def __init__(
        self,
        config: Config,
        decoder: LiveDecoder,
        clock: Clock,
        say: Callable[[str], None],
        faults: StateFaults | None = None,
        *,
        since: Position | None = None,
    ) -> None:
        faults = StateFaults() if faults is None else faults
        self._say = say
        self._clock = clock
        self._decoder = decoder
        feeds = _http_feeds(config)
        self._queue_full, self._disk_full = Stopwatch(clock), Stopwatch(clock)
        self._settings = [_settings(feed, self._queue_full) for feed in feeds]
        self._waiting: deque[KeptRequest] = deque()
        self._place = START
        self._gathered = Gathered()
        self._counting: list[KeptRequest] = []
        self._restored = False
        self._listens = True
        self.ready = False
        self._opened, self._listening = ExitStack(), ExitStack()
        with ExitStack() as opened:
            reaches = START if since is None else Place(**since)
            self._journal = opened.enter_context(
                Journal(config.state.directory / JOURNAL, reaches=reaches)
            )
            self._replayed = Replayed(self._journal, self._decoder)
            self._commits = Commits(self._journal, say=say, failing=self._disk_full, faults=faults)
            opened.callback(self._commits.close)
            self._servers = [
                BackgroundServer(
                    create_feed_app(self, self._decoder, setting, clock),
                    host=feed.address.host,
                    port=feed.address.port,
                    header_timeout=feed.header_timeout / SECOND_MS,
                    grace=GRACE_SECONDS,
                    max_connections=feed.max_connections,
                    tls=setting.access.web.tls,
                )
                for feed, setting in zip(feeds, self._settings, strict=True)
            ]
            self._opened = opened.pop_all()
        if torn := self._journal.torn_bytes:
            say(f"journal: {torn} bytes at its end were never acknowledged: cut off")
            faults.note(StateFault.JOURNAL_TORN)

    def check(self) -> None:
        """Look for damage in what of the journal is to be counted, before anybody is served.

        Raises:
            StateError: the journal is damaged.
        """
        self._journal.check(self._place)

    def listen(self) -> None:
        """Listen; events are taken once the journal has been read.

        Raises:
            MonitorError: an address is taken.
        """
        self._listening.callback(_stop, self._servers)
        for server in self._servers:
            server.start()

    @property
    def name(self) -> str:
        """Where it is posted to."""
        return ", ".join(f"{server.url}/v1/events" for server in self._servers)

    @property
    def urls(self) -> list[str]:
        """Where each feed listens, as the start of a URL."""
        return [server.url for server in self._servers]

    @property
    def attached(self) -> bool:
        """Whether the journal has been read, and events are taken."""
        return self.ready

    @property
    def restored(self) -> bool:
        """Whether all of the journal was given; see `sources.Journaled`."""
        return self._restored

    def store(self, posted: PostedEvents) -> Future[None]:
        """Put events on disk, and then count them; called by the servers."""
        body = Body(posted.arrival_ms, posted.lines)
        done = self._commits.submit(
            body, lambda place: self._waiting.append(KeptRequest(posted, place))
        )
        done.add_done_callback(
            lambda done: posted.reservation.release() if done.exception() else None
        )
        return done

    def poll(self) -> EventBatch | None:
        """A part of the journal, at first; then what has come, once it is enough or old enough.

        Raises:
            StateError: the journal is damaged.
        """
        self._release()
        if not self._restored:
            return self._from_journal()
        self._gathered.take(self._waiting, self._clock.monotonic())
        if not self._gathered.is_due(self._clock.monotonic(), at_once=not self._listens):
            return None
        gathered, self._gathered = self._gathered.kept, Gathered()
        self._counting = gathered
        self._place = gathered[-1].place
        return concatenate([self._by_current(kept.posted) for kept in gathered])

    def _by_current(self, posted: PostedEvents) -> EventBatch:
        """The events as they are to be counted: as after a crash, by the settings in force."""
        if posted.decoder is self._decoder.current:
            return posted.batch
        latest = posted.arrival_ms + AHEAD_MS
        return self._decoder.decode_lines(posted.lines, source="reloaded", latest_ms=latest)

    def position(self) -> Position:
        """The place in the journal behind what was counted."""
        return self._place._asdict()

    def resume(self, position: Position) -> str:
        """Read the journal from that place on."""
        self._place = Place(**position)
        self._replayed = Replayed(self._journal, self._decoder, self._place)
        return ""

    def settled(self, position: Position) -> None:
        """Delete the segments of the journal that lie before it."""
        self._journal.forget(Place(**position))

    @property
    def listeners(self) -> list[Listener]:
        """The feeds' listeners, for telemetry."""
        return [server.listener for server in self._servers]

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """What /metrics says of what is on its way."""
        return {
            QUEUE_REQUESTS: lambda: {(): sum(map(len, self._queues()))},
            QUEUE_BYTES: self._queue_bytes,
            QUEUE_OLDEST: self._oldest,
            INGEST_PAUSED: lambda: {
                ("queue_full",): self._queue_full.seconds,
                ("disk_full",): self._disk_full.seconds,
            },
            JOURNAL_BYTES: lambda: {(): self._journal.nbytes},
            REPLAYED_RECORDS: lambda: {(): self._replayed.records},
        }

    def _queues(self) -> tuple[Sequence[KeptRequest], ...]:
        return self._counting, self._gathered.kept, self._waiting

    def _queue_bytes(self) -> NumberByLabels:
        budgets = [settings.budget for settings in self._settings]
        return {
            (listener.address,): budget.size - budget.left
            for listener, budget in zip(self.listeners, budgets, strict=True)
        }

    def _oldest(self) -> NumberByLabels:
        """Asked by another thread: what was there may be counted by now."""
        for queue in self._queues():
            with suppress(IndexError):
                return {(): queue[0].posted.arrival_ms / SECOND_MS}
        return {}

    def prepare(self, config: Config) -> Callable[[], None]:
        """See whether the feeds can be changed as configured, and how; see `changes.Part`.

        Raises:
            ConfigError: a token file or web configuration cannot be used.
        """
        changed = [_settings(feed, self._queue_full) for feed in _http_feeds(config)]
        for old, new in zip(self._settings, changed, strict=True):
            old.access.replaced_by(new.access, f"feed on {new.name}")

        def take() -> None:
            for settings, new in zip(self._settings, changed, strict=True):
                settings.become(new)

        return take

    def shut(self) -> None:
        """Stop listening; what was being sent is kept and answered, or dropped unanswered.

        The next polls give what was kept and not yet counted, at once.
        """
        self.ready = self._listens = False
        self._listening.close()
        self._commits.close()

    def close(self) -> None:
        """Stop listening, and let go of the journal."""
        self.shut()
        self._opened.close()
        self._release()

    def _from_journal(self) -> EventBatch | None:
        batch = next(self._replayed, None)
        self._place = self._replayed.place
        if batch is None:
            self._restored = self.ready = True
            self._say(f"journal read, {self._replayed.records} records; taking events")
        return batch

    def _release(self) -> None:
        for kept in self._counting:
            kept.posted.reservation.release()
        self._counting = []


def _http_feeds(config: Config) -> list[HttpFeed]:
    return [feed for feed in config.feeds if isinstance(feed, HttpFeed)]


def _settings(feed: HttpFeed, queue_full: Stopwatch) -> FeedSettings:
    return FeedSettings(
        name=feed.listen,
        access=read_access(feed.token_files, feed.web_config),
        limits=BodyLimits(feed.max_body_bytes, feed.body_timeout / SECOND_MS),
        budget=MemoryBudget(feed.max_queue_bytes, queue_full),
        max_per_second=feed.max_events_per_second,
        inference=feed.inference,
    )


def _stop(servers: Sequence[BackgroundServer]) -> None:
    """Stop all at the same time: each may wait for its clients."""
    with ThreadPoolExecutor(len(servers)) as threads:
        list(threads.map(BackgroundServer.stop, servers))
