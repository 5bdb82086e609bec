"""The service loop: polls the sources, counts their events, publishes a snapshot once a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from monitor.clock import Clock
from monitor.config import Config
from monitor.config.counting_settings import counting_settings
from monitor.engine import Monitor
from monitor.errors import ConfigError, FeedError
from monitor.events.columns import EventBatch
from monitor.events.reject_reasons import Rejection
from monitor.feeds.source import JournaledSource, SharedSource, Source
from monitor.service.announce import announcements
from monitor.service.changed_models import changed_models
from monitor.service.changes import Reloadable, concerns_engine, restart_faults
from monitor.service.checkpointing import Checkpointer
from monitor.service.event_clock import EventClock
from monitor.service.false_times import FalseTimes
from monitor.service.garbage import GarbageSearch
from monitor.service.liveness import Liveness
from monitor.service.query_queue import QueryQueue
from monitor.service.recent_rejections import RecentRejections
from monitor.service.reloads import Reloads
from monitor.service.state_watch import StateWatch
from monitor.snapshot import Snapshot

PUBLISH_EVERY_SECONDS = 1.0
"""Interval between two snapshots, and so the maximum age of what a scrape sees."""
IDLE_SECONDS = 0.1
"""Sleep when no events arrived; bounds how late the loop notices a stop request."""
TURN_SECONDS = 0.1
"""Time spent on one batch before the loop answers queries, publishes, and returns to the batch."""
_QUERY_IDLE_SECONDS, _RECENT_QUERY_SECONDS = 0.005, 0.3


class RejectedSink(Protocol):
    """Takes the records that the decoder rejects."""

    def write(self, rejections: Sequence[Rejection]) -> None:
        """Store the rejections."""
        ...


class Service:
    """Runs one monitor on its sources, in one thread.

    Args:
        config: the configuration.
        sources: event sources.
        clock: wall and monotonic time.
        rejected: stores the records that cannot be used.
        say: prints a one-line message for the operator.
        reloads: pending requests to reload the configuration, checked at each turn.
        reloadables: parts of the process that a reload also changes.
        alive: called at most once a second while the loop turns.
        checkpointer: restores and saves the state; None keeps the state in memory only.
        state_watch: looks after the state directory with each snapshot; None for none.
        garbage: searches for unreachable objects at turns; None leaves that to CPython.

    Raises:
        ConfigError: the saved state does not fit this configuration.
        StateError: events behind the saved state are lost.

    Attributes:
        snapshot: the snapshot published last; any thread may read it.
        restored: True once the snapshot covers all events from before the start.
        queries: queries of other threads, answered once a turn.
        rejections: records of the last day that are rejected; any thread may read it.
        liveness: how long the loop has not turned.
    """

    def __init__(
        self,
        config: Config,
        sources: Sequence[Source],
        *,
        clock: Clock,
        rejected: RejectedSink,
        say: Callable[[str], None],
        reloads: Reloads | None = None,
        reloadables: Sequence[Reloadable] = (),
        alive: Callable[[], None] | None = None,
        checkpointer: Checkpointer | None = None,
        state_watch: StateWatch | None = None,
        garbage: GarbageSearch | None = None,
    ) -> None:
        self._config = config
        self._checkpointer = checkpointer
        self._monitor = Monitor(config) if checkpointer is None else checkpointer.engine()
        self._sources = sources
        self._open = list(sources)
        self._shared = [source for source in sources if isinstance(source, SharedSource)]
        self._restoring = [source for source in sources if isinstance(source, JournaledSource)]
        self._clock = clock
        self._event_clock = EventClock(clock)
        self._rejected = rejected
        self.rejections = RecentRejections(clock)
        self._false_times = FalseTimes(say)
        self._say = say
        self._reloads = reloads
        self._reloadables = reloadables
        self._state_watch = state_watch
        self._garbage = garbage
        self.liveness = Liveness(clock, alive)
        self._published = clock.monotonic()
        self.queries = QueryQueue()
        self._asked: float | None = None
        if checkpointer is not None:
            checkpointer.resume(sources, self._event_clock)
            for source in self._shared:
                source.checkpoint_before_handover(
                    lambda: checkpointer.checkpoint_now(self._monitor, sources, self._event_clock)
                )
        self.snapshot: Snapshot = self._monitor.snapshot(self._event_clock.now_ms)
        self.restored = not self._restoring

    @property
    def max_series(self) -> int:
        """Maximum number of exported series, of the configuration in force."""
        return self._config.max_series

    @property
    def ready(self) -> bool:
        """True when the state is restored and published, and every source can be read."""
        return self.restored and all(source.attached for source in self._sources)

    def run(self, stopping: Callable[[], bool]) -> None:
        """Turn until `stopping` returns True; then count, save and publish the queued events.

        What is to be forwarded is sent before, where all events from before the start are counted.
        """
        try:
            while not stopping():
                if not self.turn():
                    self._clock.sleep(self._rest())
            self._drain()
            if self._checkpointer is not None:
                self._send_rest(self._checkpointer)
                self._checkpointer.close(self._monitor, self._sources, self._event_clock)
        finally:
            self._publish()
            self.queries.close()
            for source in self._sources:
                source.close()

    def turn(self) -> bool:
        """Poll each source once, count what arrived, and publish if a snapshot is due.

        Returns:
            True if events arrived or a query was answered.
        """
        asked = self._turned()
        if self._reloads is not None:
            self._reloads.run(self._reconfigure)
        received = [self._read(source) for source in tuple(self._open)]
        if self._checkpointer is not None:
            self._checkpointer.turn(self._monitor, self._sources, self._event_clock)
            for source in self._shared:
                source.held_back = self._checkpointer.failing
        restored = self.restored or all(source.restored for source in self._restoring)
        if restored != self.restored or self._publishes:
            self._publish()
        self.restored = restored
        if self._garbage is not None:
            self._garbage.turn()
        return asked or any(received)

    @property
    def _publishes(self) -> bool:
        """True when the next snapshot is due."""
        return self._clock.monotonic() - self._published >= PUBLISH_EVERY_SECONDS

    def _turned(self) -> bool:
        """Record a turn and answer pending queries; return True if there were any."""
        self.liveness.turned()
        return self._answer()

    def _answer(self) -> bool:
        asked = self.queries.answer(self._monitor)
        if asked:
            self._asked = self._clock.monotonic()
        return asked

    def _rest(self) -> float:
        """Return the seconds to sleep when idle: short after a query, as a page sends several."""
        asked = self._asked
        recent = asked is not None and self._clock.monotonic() - asked < _RECENT_QUERY_SECONDS
        return _QUERY_IDLE_SECONDS if recent else IDLE_SECONDS

    def _read(self, source: Source) -> bool:
        try:
            batch = source.poll()
        except FeedError as error:
            self._say(f"{error}; continuing with the events read so far")
            self._open.remove(source)
            return False
        if batch is not None:
            self._count(batch)
            self.rejections.note(batch)
            self._false_times.note(source.name, batch)
            if batch.rejected:
                self._rejected.write(batch.rejected)
        elif source.ended:
            self._say(f"{source.name}: end of input; still serving")
            self._open.remove(source)
        return batch is not None

    def _count(self, batch: EventBatch) -> None:
        """Count a batch; queries are answered and snapshots published in between."""
        for _ in self._monitor.steps(batch):
            self._event_clock.observe(self._monitor.times)
            if self.liveness.since >= TURN_SECONDS:
                self._turned()
                if self._publishes:
                    self._publish()

    def _drain(self) -> None:
        """Count all acknowledged events, so that the last checkpoint covers them."""
        for source in self._restoring:
            source.stop_accepting()
            while source.restored and self._read(source):
                pass

    def _send_rest(self, checkpointer: Checkpointer) -> None:
        if checkpointer.forwarder is not None:
            checkpointer.forwarder.send_rest(
                lambda: checkpointer.checkpoint_now(
                    self._monitor, self._sources, self._event_clock
                ),
                restored=self.restored,
            )

    def _reconfigure(self, config: Config) -> None:
        """Apply a new configuration as a whole, or change nothing.

        Raises:
            MonitorError: the configuration cannot be applied.
        """
        faults = restart_faults(self._config, config)
        if faults:
            raise ConfigError(faults)
        if self._state_watch is not None:
            self._state_watch.remind()
        apply_each = [each.prepare(config) for each in self._reloadables]
        monitor, changed = self._monitor, list[str]()
        forwarder = None if self._checkpointer is None else self._checkpointer.forwarder
        if concerns_engine(self._config, config):
            state = monitor.state()
            monitor = Monitor(config, state)
            changed = list(changed_models(config, state))
            if forwarder is not None:
                forwarder.check(monitor.forwarding, anew=bool(changed))
                forwarder.compare(counting_settings(config))
        for apply in apply_each:
            apply()
        for line in changed:
            self._say(line)
        self._config, self._monitor = config, monitor
        if self._checkpointer is not None:
            self._checkpointer.reconfigure(config)
        self._publish()

    def _publish(self) -> None:
        self._published = self._clock.monotonic()
        if self._state_watch is not None:
            self._state_watch.look()
        snapshot = self._monitor.snapshot(self._event_clock.now_ms, self._turned)
        for line in announcements(self.snapshot, snapshot):
            self._say(line)
        self.snapshot = snapshot
