"""Reads, counts, and publishes a snapshot once a second."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from monitor.clock import Clock
from monitor.config import Config
from monitor.engine import Monitor
from monitor.errors import ConfigError, FeedError
from monitor.events.columns import EventBatch, Rejection
from monitor.service.announce import announcements
from monitor.service.changes import Part, concerns_engine, restart_faults
from monitor.service.checkpointing import Keeper
from monitor.service.event_clock import EventClock
from monitor.service.liveness import Liveness
from monitor.service.questions import Inquiries
from monitor.service.reloads import Reloads
from monitor.service.sources import Journaled, Shared, Source
from monitor.snapshot import Snapshot

PUBLISH_EVERY_SECONDS = 1.0
"""A scrape sees a state that is at most so old."""
IDLE_SECONDS = 0.1
"""How long the loop rests when nothing came, and so how late it sees that it is to stop."""
TURN_SECONDS = 0.1
"""For so long a batch is counted before the loop turns, and goes on with it then."""
_NAP_SECONDS, _ASKED_LATELY_SECONDS = 0.005, 0.3


class RejectedSink(Protocol):
    """Takes the records that could not be used."""

    def write(self, rejections: Sequence[Rejection]) -> None:
        """Keep them."""
        ...


class Service:
    """A monitor with its sources, turned by one thread.

    Args:
        config: of the monitor.
        sources: where events come from.
        clock: the time that passes here.
        rejected: keeps the records that could not be used.
        say: tells a person what happens, a line at a time.
        reloads: asked each turn whether the configuration is to be read again.
        parts: of the process, which a new configuration concerns too.
        alive: called at most once a second, as the loop goes on.
        keeper: keeps the state over restarts; nothing is kept without one.

    Raises:
        ConfigError: the kept state cannot serve this configuration.
        StateError: what came after the kept state is gone.

    Attributes:
        snapshot: the state as it was last published; read it from any thread.
        restored: whether the snapshot holds all that was counted before the start.
        inquiries: what other threads ask of the monitor itself, answered once a turn.
        liveness: whether the loop turns.
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
        parts: Sequence[Part] = (),
        alive: Callable[[], None] | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        self._config = config
        self._keeper = keeper
        self._monitor = Monitor(config, None if keeper is None else keeper.engine_state)
        self._sources = sources
        self._open = list(sources)
        self._shared = [source for source in sources if isinstance(source, Shared)]
        self._restoring = [source for source in sources if isinstance(source, Journaled)]
        self._clock = clock
        self._event_clock = EventClock(clock)
        self._rejected = rejected
        self._say = say
        self._reloads = reloads
        self._parts = parts
        self.liveness = Liveness(clock, alive)
        self._published = clock.monotonic()
        self.inquiries = Inquiries()
        self._asked: float | None = None
        if keeper is not None:
            keeper.resume(sources, self._event_clock)
            for source in self._shared:
                source.hand_over_by(
                    lambda: keeper.keep_now(self._monitor, sources, self._event_clock)
                )
        self.snapshot: Snapshot = self._monitor.snapshot(self._event_clock.now_ms)
        self.restored = not self._restoring

    @property
    def ready(self) -> bool:
        """Whether the state is restored and published, and every source attached."""
        return self.restored and all(source.attached for source in self._sources)

    def run(self, stopping: Callable[[], bool]) -> None:
        """Turn until it is to stop; then count what was taken, keep and publish it."""
        try:
            while not stopping():
                if not self.turn():
                    self._clock.sleep(self._rest())
            self._count_the_rest()
            if self._keeper is not None:
                self._keeper.close(self._monitor, self._sources, self._event_clock)
        finally:
            self._publish()
            self.inquiries.close()
            for source in self._sources:
                source.close()

    def turn(self) -> bool:
        """Read and count what has come, and publish when it is time.

        Returns:
            Whether anything came, or was asked.
        """
        asked = self._turned()
        if self._reloads is not None:
            self._reloads.run(self._reconfigure)
        came = [self._read(source) for source in tuple(self._open)]
        if self._keeper is not None:
            self._keeper.turn(self._monitor, self._sources, self._event_clock)
            for source in self._shared:
                source.held_back = self._keeper.failing
        restored = self.restored or all(source.restored for source in self._restoring)
        if restored != self.restored or self._publishes:
            self._publish()
        self.restored = restored
        return asked or any(came)

    @property
    def _publishes(self) -> bool:
        """Whether it is time to publish."""
        return self._clock.monotonic() - self._published >= PUBLISH_EVERY_SECONDS

    def _turned(self) -> bool:
        """Give a sign of life, and answer what was asked; whether anything was."""
        self.liveness.turned()
        return self._answer()

    def _answer(self) -> bool:
        asked = self.inquiries.answer(self._monitor)
        if asked:
            self._asked = self._clock.monotonic()
        return asked

    def _rest(self) -> float:
        """Seconds to rest when nothing comes; few after a question, as a page asks several."""
        asked = self._asked
        lately = asked is not None and self._clock.monotonic() - asked < _ASKED_LATELY_SECONDS
        return _NAP_SECONDS if lately else IDLE_SECONDS

    def _read(self, source: Source) -> bool:
        try:
            batch = source.poll()
        except FeedError as error:
            self._say(f"{error}; serving what was read of it")
            self._open.remove(source)
            return False
        if batch is not None:
            self._count(batch)
            if batch.rejected:
                self._rejected.write(batch.rejected)
        elif source.ended:
            self._say(f"{source.name}: read to the end; serving on")
            self._open.remove(source)
        return batch is not None

    def _count(self, batch: EventBatch) -> None:
        """Count a batch; the loop turns and publishes meanwhile, however long that takes."""
        for _ in self._monitor.steps(batch):
            self._event_clock.observe(self._monitor.watermark_ms)
            if self.liveness.since >= TURN_SECONDS:
                self._turned()
                if self._publishes:
                    self._publish()

    def _count_the_rest(self) -> None:
        """What was acknowledged last is in the last checkpoint."""
        for source in self._restoring:
            source.shut()
            while source.restored and self._read(source):
                pass

    def _reconfigure(self, config: Config) -> None:
        """Take a new configuration, or change nothing.

        Raises:
            MonitorError: it cannot be taken.
        """
        faults = restart_faults(self._config, config)
        if faults:
            raise ConfigError(faults)
        takes = [part.prepare(config) for part in self._parts]
        monitor = self._monitor
        if concerns_engine(self._config, config):
            monitor = Monitor(config, monitor.state())
        for take in takes:
            take()
        self._config, self._monitor = config, monitor
        if self._keeper is not None:
            self._keeper.reconfigure(config)
        self._publish()

    def _publish(self) -> None:
        self._published = self._clock.monotonic()
        snapshot = self._monitor.snapshot(self._event_clock.now_ms, self._turned)
        for line in announcements(self.snapshot, snapshot):
            self._say(line)
        self.snapshot = snapshot
