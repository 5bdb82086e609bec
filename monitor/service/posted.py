"""HTTP feeds as one source: requests are journaled, acknowledged, and then counted.

    request ─▶ decode ─▶ journal, fsync ─▶ queue ─▶ engine
                                       └─▶ 200

At the start the journal is replayed from the last checkpoint, before any request
is accepted. It holds every acknowledged event in the order of counting, with its
arrival time, so the counts equal those of a run that never stopped.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress

from monitor.clock import SECOND_MS, Clock, Stopwatch
from monitor.config import Config, HttpFeed
from monitor.config.quantities import count_of
from monitor.events.batches import concatenate
from monitor.events.columns import EventBatch
from monitor.feeds.decode import MAX_RECORD_BYTES, LiveDecoder
from monitor.feeds.http import FeedSettings, PostedEvents, create_feed_app
from monitor.feeds.http.app import AHEAD_MS
from monitor.feeds.source import Position
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
from monitor.service.journal_faults import check_journal, report_end
from monitor.service.journal_replay import AcknowledgedDecoder, ReplayedJournal
from monitor.service.request_batches import DurableRequest, RequestBatch
from monitor.state import (
    JOURNAL,
    START,
    Body,
    Commits,
    Journal,
    JournalPosition,
    StateFaults,
    StateGoneError,
)
from monitor.web.listener_telemetry import Listener
from monitor.web.server import MAX_CONNECTIONS, BackgroundServer

GRACE_SECONDS = 2
"""Time for open requests to finish when the program stops."""


class PostedFeeds:
    """All HTTP feeds of a configuration, as one source.

    Args:
        config: the configuration; has at least one HTTP feed.
        decoder: decoder of the posted events.
        clock: wall and monotonic time.
        say: prints a one-line message for the operator.
        faults: counts faults of the journal.
        since: position in the journal that the checkpoint covers; None for the start.
        most_connections: connections of a listener that descriptors suffice for.
        state_id: identity of the state, which clients are shown.

    Raises:
        ConfigError: a token file or web configuration cannot be used.
        StateError: the journal is damaged; it is left as it is.
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
        most_connections: int = MAX_CONNECTIONS,
        state_id: str = "",
    ) -> None:
        faults = StateFaults() if faults is None else faults
        self._say, self._faults = say, faults
        self._clock = clock
        self._decoder = decoder
        feeds = _http_feeds(config)
        self._queue_full, self._disk_full = Stopwatch(clock), Stopwatch(clock)
        self._settings = [
            FeedSettings.read(feed, config, self._queue_full, state_id) for feed in feeds
        ]
        self._waiting: deque[DurableRequest] = deque()
        self._position = START
        self._batch = RequestBatch()
        self._counting: list[DurableRequest] = []
        self._restored = False
        self._listens = True
        self.ready = False
        self._opened, self._listening = ExitStack(), ExitStack()
        with ExitStack() as opened:
            reaches = START if since is None else JournalPosition(**since)
            self._journal = opened.enter_context(
                Journal(config.state.directory / JOURNAL, reaches=reaches)
            )
            self._acknowledged = AcknowledgedDecoder(self._decoder, MAX_RECORD_BYTES)
            self._replayed = ReplayedJournal(self._journal, self._acknowledged)
            self._commits = Commits(self._journal, say=say, failing=self._disk_full, faults=faults)
            opened.callback(self._commits.close)
            self._servers = [
                BackgroundServer(
                    create_feed_app(self, self._decoder, setting, clock),
                    host=feed.address.host,
                    port=feed.address.port,
                    header_timeout=feed.header_timeout / SECOND_MS,
                    grace=GRACE_SECONDS,
                    max_connections=min(feed.max_connections, most_connections),
                    tls=setting.access.web.tls,
                )
                for feed, setting in zip(feeds, self._settings, strict=True)
            ]
            self._opened = opened.pop_all()
        report_end(self._journal, say, faults)

    def check(self, older: Position | None = None) -> None:
        """Search the journal for damage, before serving starts.

        Args:
            older: position in the older checkpoint; damage that only this one would need is
                reported. None without one.

        Raises:
            StateError: the uncounted part of the journal is damaged.
        """
        check_journal(self._journal, self._position, older, self._say, self._faults)

    @property
    def fault(self) -> str:
        """Why events cannot be stored, without paths; "" unless the journal is gone."""
        try:
            self._journal.check_place()
        except StateGoneError:
            return "events cannot be stored: the state directory was removed or replaced"
        return ""

    def check_place(self) -> None:
        """Check that the journal is where it was; safe from any thread.

        Raises:
            StateGoneError: it was removed or replaced.
        """
        self._journal.check_place()

    def listen(self) -> None:
        """Start the servers; they accept events once the journal is replayed.

        Raises:
            MonitorError: an address is in use.
        """
        self._commits.start()
        self._listening.callback(_stop, self._servers)
        for server in self._servers:
            server.start()

    @property
    def name(self) -> str:
        """URLs that accept events."""
        return ", ".join(f"{server.url}/v1/events" for server in self._servers)

    @property
    def urls(self) -> list[str]:
        """Base URL of each feed."""
        return [server.url for server in self._servers]

    @property
    def attached(self) -> bool:
        """True once the journal is replayed and events are accepted."""
        return self.ready

    @property
    def restored(self) -> bool:
        """True once the journal is replayed; see `JournaledSource`."""
        return self._restored

    def store(self, posted: PostedEvents) -> Future[None]:
        """Write a request to the journal and queue it for counting; called by the servers.

        Returns:
            Done once the request is durable; fails with `StateFullError` if it is not.
        """
        body = Body(posted.arrival_ms, posted.lines)
        done = self._commits.submit(
            body, lambda position: self._waiting.append(DurableRequest(posted, position))
        )
        done.add_done_callback(
            lambda done: posted.reservation.release() if done.exception() else None
        )
        return done

    def poll(self) -> EventBatch | None:
        """Return a part of the journal while it is replayed, then requests in batches.

        Raises:
            StateError: the journal is damaged.
        """
        self._release()
        if not self._restored:
            return self._from_journal()
        self._batch.take(self._waiting, self._clock.monotonic())
        if not self._batch.is_due(self._clock.monotonic(), at_once=not self._listens):
            return None
        self._counting, self._batch = self._batch.requests, RequestBatch()
        self._position = self._counting[-1].position
        return concatenate([self._by_current(request.posted) for request in self._counting])

    def _by_current(self, posted: PostedEvents) -> EventBatch:
        """Return the events, decoded by the settings in force, as a replay would decode them."""
        if posted.decoder is self._decoder.current:
            return posted.batch
        latest = posted.arrival_ms + AHEAD_MS
        batch = self._decoder.decode_lines(posted.lines, source="reloaded", latest_ms=latest)
        return batch.arrived([(0, posted.arrival_ms)])

    def position(self) -> Position:
        """Return the position in the journal behind the last counted request."""
        length = self._decoder.settings.max_record_bytes
        if not self._restored:  # records further on were acknowledged by an earlier configuration
            length = self._acknowledged.record_bytes
        return self._position._replace(record_bytes=length)._asdict()

    def resume(self, position: Position) -> str:
        """Replay the journal from a position."""
        self._position = JournalPosition(**position)
        length = self._position.record_bytes or MAX_RECORD_BYTES
        self._acknowledged = AcknowledgedDecoder(self._decoder, length)
        self._replayed = ReplayedJournal(self._journal, self._acknowledged, self._position)
        return ""

    def commit(self, position: Position) -> None:
        """Have the segments of the journal before a position deleted."""
        self._commits.delete_before(JournalPosition(**position))

    @property
    def listeners(self) -> list[Listener]:
        """Listeners of the feeds, for telemetry."""
        return [server.listener for server in self._servers]

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """Series of queue and journal, and how each is read."""
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

    def _queues(self) -> tuple[Sequence[DurableRequest], ...]:
        return self._counting, self._batch.requests, self._waiting

    def _queue_bytes(self) -> NumberByLabels:
        budgets = [settings.budget for settings in self._settings]
        return {
            (listener.address,): budget.size - budget.left
            for listener, budget in zip(self.listeners, budgets, strict=True)
        }

    def _oldest(self) -> NumberByLabels:
        """Return the oldest arrival time; other threads may empty the queues meanwhile."""
        for queue in self._queues():
            with suppress(IndexError):
                return {(): queue[0].posted.arrival_ms / SECOND_MS}
        return {}

    def prepare(self, config: Config) -> Callable[[], None]:
        """Check that the feeds can be changed to a configuration; see `changes.Reloadable`.

        Returns:
            Applies the change.

        Raises:
            ConfigError: a token file or web configuration cannot be used.
        """
        changed = [
            FeedSettings.read(feed, config, self._queue_full) for feed in _http_feeds(config)
        ]
        for old, new in zip(self._settings, changed, strict=True):
            old.access.replaced_by(new.access, f"feed on {new.name}")

        def apply() -> None:
            for settings, new in zip(self._settings, changed, strict=True):
                settings.become(new)

        return apply

    def stop_accepting(self) -> None:
        """Stop listening. Requests in flight are journaled and acknowledged, or dropped unanswered.

        Further polls return the queued events at once.
        """
        self.ready = self._listens = False
        self._listening.close()
        self._commits.close()

    def close(self) -> None:
        """Stop listening and close the journal."""
        self.stop_accepting()
        self._opened.close()
        self._release()

    def _from_journal(self) -> EventBatch | None:
        batch = next(self._replayed, None)
        self._position = self._replayed.position
        if batch is None:
            self._restored = self.ready = True
            records = count_of(self._replayed.records, "record")
            self._say(f"journal replayed, {records}; accepting events")
        return batch

    def _release(self) -> None:
        for request in self._counting:
            request.posted.reservation.release()
        self._counting = []


def _http_feeds(config: Config) -> list[HttpFeed]:
    return [feed for feed in config.feeds if isinstance(feed, HttpFeed)]


def _stop(servers: Sequence[BackgroundServer]) -> None:
    """Stop all servers concurrently: each may wait for its clients."""
    with ThreadPoolExecutor(len(servers)) as threads:
        list(threads.map(BackgroundServer.stop, servers))
