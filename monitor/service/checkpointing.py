"""Checkpoints of a running service: restored at the start, written periodically and at the end.

The state is copied between two batches, which takes milliseconds per million
pending predictions. A thread of its own writes the copy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import xxhash

from monitor.clock import SECOND_MS, Clock
from monitor.config import Config
from monitor.config.quantities import count_of
from monitor.engine import Monitor
from monitor.events.keys import PUBLIC_SEED
from monitor.events.renumbering import State
from monitor.feeds.source import Position, Source
from monitor.prometheus.process_series import NumberByLabels, SeriesDescription
from monitor.service import forward_faults
from monitor.service.changed_models import changed_models
from monitor.service.checkpoint_readings import WrittenCheckpoint, checkpoint_readings
from monitor.service.event_clock import EventClock
from monitor.service.forwarder import Forwarder
from monitor.service.resumed_feeds import resuming_lines
from monitor.state import Checkpoints, StateError, StateFault, StateFaults
from monitor.state.id_seed import SEED_FILE, restore_seed_file, seed_of_state
from monitor.version import __version__

_RETRY_SECONDS = 5.0
_UNFIT = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""Errors raised by the state of another version."""
_MOST_OF_THE_TIME = 0.05
"""Maximum share of the time spent on writing; slow checkpoints are written less often."""


class Checkpointer:
    """Restores and saves the state of a service.

    Args:
        config: the configuration.
        checkpoints: checkpoint files.
        faults: counts faults of the state.
        clock: wall and monotonic time.
        say: prints a one-line message for the operator.
        writer: executor that writes; a thread of its own if None.
        check: raises a `StateGoneError` if the state directory is no longer in its place.
        forwarder: seals what it forwards with each checkpoint; None where none is configured.

    Raises:
        StateError: there are checkpoints, and all are damaged.

    Attributes:
        id_seed: seed of the keys of ids in the state; None while there is no checkpoint.
    """

    def __init__(
        self,
        config: Config,
        checkpoints: Checkpoints,
        *,
        faults: StateFaults,
        clock: Clock,
        say: Callable[[str], None],
        writer: Executor | None = None,
        check: Callable[[], None] = lambda: None,
        forwarder: Forwarder | None = None,
    ) -> None:
        self._config = config
        self.forwarder = forwarder
        self._forwarded: State | None = None
        self._checkpoints = checkpoints
        self._check = check
        self._faults = faults
        self._clock = clock
        self._say = say
        self._began = clock.now()
        self._written: WrittenCheckpoint | None = None
        self._positions: list[Mapping[str, Position]] = []
        self._due = clock.monotonic() + self._every
        self._at_once = True  # without a checkpoint a new feed would start over after a crash
        self._failing = False
        self._closed = False
        self._resuming = ""
        self._writer = writer or ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._writing: tuple[Future[WrittenCheckpoint], Mapping[str, Position]] | None = None
        self._from = Path()
        self._found = found = self._take_up()
        self.id_seed: int | None = None if found is None else found.get("id_seed", PUBLIC_SEED)

    def settle_id_seed(self) -> int:
        """Return the seed of the keys of ids, and set `id_seed`; see `seed_of_state`.

        A damaged file of it is reported and written anew.

        Raises:
            StateError: the seed of the checkpoint is not the configured one, or the file cannot
                be used.
        """
        directory, stored = self._config.state.directory, self.id_seed
        self.id_seed = seed_of_state(directory, self._config.id_seed, stored)
        if stored is not None and restore_seed_file(directory, stored):
            self._faults.note(StateFault.ID_SEED_DAMAGED)
            self._say(f"{directory / SEED_FILE}: is damaged; written anew from the checkpoint")
        return self.id_seed

    def engine(self) -> Monitor:
        """Return the engine, with the state of the checkpoint if there is one.

        Raises:
            ConfigError: the state does not fit the configuration.
            StateError: the state does not fit this version, or `forward` was taken out too early.
        """
        found = self._found
        monitor = Monitor(self._config) if found is None else self._restored(found)
        if self.forwarder is None:
            forward_faults.check_taken_out(monitor.forwarding, self._forwarded)
            monitor.forwarding.switch(on=False)
        else:
            anew = found is not None and any(changed_models(self._config, found["engine"]))
            self.forwarder.begin(monitor, self._forwarded, anew=anew)
        return monitor

    def _restored(self, found: Mapping[str, Any]) -> Monitor:
        self._forwarded = found.get("forwarded")
        try:
            return Monitor(self._config, found["engine"])
        except _UNFIT as error:
            raise self._unfit(error, found) from error

    @property
    def found(self) -> bool:
        """True until `resume`, if there is a checkpoint."""
        return self._found is not None

    def position(self, identity: str) -> Position | None:
        """Return the position of a source in the checkpoint; None if it has none."""
        return None if self._found is None else self._found["positions"].get(identity)

    def older_position(self, identity: str) -> Position | None:
        """Return the position of a source in the other good checkpoint; None if it has none."""
        return self._checkpoints.older_positions.get(identity)

    def resume(self, sources: Sequence[Source], event_clock: EventClock) -> None:
        """Restore the sources and the event clock from the checkpoint.

        Args:
            sources: the sources; those without a saved position start afresh.
            event_clock: the event clock.

        Raises:
            StateError: events behind a saved position are lost.
        """
        if self._found is None:
            return
        found, self._found = self._found, None
        self._say(self._resuming)
        for line in changed_models(self._config, found["engine"]):
            self._say(line)
        positions, changed = found["positions"], self._at_once
        for line in resuming_lines(self._config, positions, sources, changed=changed):
            self._say(line)
        for source in sources:
            position = found["positions"].get(source.identity)
            fault = "" if position is None else source.resume(position)
            if fault:
                self._faults.note(StateFault.FEED_CHANGED)
                self._say(fault)
        try:
            event_clock.restore(found["clock"])
        except _UNFIT as error:
            raise self._unfit(error, found) from error

    def reconfigure(self, config: Config) -> None:
        """Use a new configuration, and make the next checkpoint due at once.

        Events counted so far were read by the old configuration; later ones are read by
        the new one, also when they are replayed.
        """
        self._config = config
        self._at_once = True

    def turn(self, monitor: Monitor, sources: Sequence[Source], event_clock: EventClock) -> None:
        """Begin a checkpoint if one is due; called between two polls.

        Args:
            monitor: the engine.
            sources: all sources.
            event_clock: the event clock.
        """
        if self._writing is not None and self._writing[0].done():
            self._finish(sources)
        if self._writing is None and (self._at_once or self._clock.monotonic() >= self._due):
            self._at_once = False
            self._begin(monitor, sources, event_clock)

    @property
    def failing(self) -> bool:
        """True if the last checkpoint could not be written."""
        return self._failing

    def checkpoint_now(
        self, monitor: Monitor, sources: Sequence[Source], event_clock: EventClock
    ) -> bool:
        """Write a checkpoint and wait for it; after `close` none is needed.

        Args:
            monitor: the engine.
            sources: all sources.
            event_clock: the event clock.

        Returns:
            True if all counted events are on disk.
        """
        if self._writing is not None:
            self._finish(sources)
        if not self._closed:
            self._begin(monitor, sources, event_clock)
            self._finish(sources)
        return not self._failing

    def close(self, monitor: Monitor, sources: Sequence[Source], event_clock: EventClock) -> None:
        """Write the last checkpoint and wait for it.

        Args:
            monitor: the engine.
            sources: all sources.
            event_clock: the event clock.
        """
        for begin in (False, True):
            if begin:
                self._begin(monitor, sources, event_clock)
            if self._writing is not None:
                self._finish(sources)
        self._closed = True
        self._writer.shutdown()

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """Series of checkpoints and state, and how each is read."""
        return checkpoint_readings(lambda: self._written, self._began, self._faults)

    @property
    def _every(self) -> float:
        """Seconds between two checkpoints."""
        every = self._config.state.checkpoint_every / SECOND_MS
        return every if self.forwarder is None else min(every, self.forwarder.checkpoint_every)

    def _take_up(self) -> dict[str, Any] | None:
        found = self._checkpoints.newest()
        for path in self._checkpoints.damaged:
            self._faults.note(StateFault.CHECKPOINT_DAMAGED)
            self._say(f"{path}: is damaged; the other checkpoint is used")
        if found is None:
            return None
        self._from = found.path
        state = dict(found.state)
        try:
            self._began = state["began"]
            self._written = WrittenCheckpoint(state["at"])
            self._positions = [state["positions"]]
            self._at_once = state["fingerprint"] != fingerprint(self._config)
            self._resuming = (
                f"resuming from {found.path}, {count_of(state['engine']['records'], 'record')}"
            )
        except _UNFIT as error:
            raise self._unfit(error, state) from error
        if self._at_once:
            self._say("the configuration changed since the last checkpoint")
        return state

    def _unfit(self, error: Exception, found: Mapping[str, Any]) -> StateError:
        version = found.get("version", "unknown")
        return StateError(
            f"{self._from}: is of version {version}, this is {__version__}, and its content is "
            f"another ({type(error).__name__}: {error}); use the program that wrote it, or move "
            "the whole state directory away to start over"
        )

    def _begin(self, monitor: Monitor, sources: Sequence[Source], event_clock: EventClock) -> None:
        began = self._clock.monotonic()
        last = self._positions[-1] if self._positions else {}
        positions = {**last, **{source.identity: source.position() for source in sources}}
        if self.forwarder is not None:
            self._forwarded = self.forwarder.checkpoint(monitor)
        state = {
            "version": __version__,
            "fingerprint": fingerprint(self._config),
            "at": self._clock.now(),
            "began": self._began,
            "clock": event_clock.state(),
            "positions": positions,
            "id_seed": self.id_seed,
            "engine": monitor.state(),
            "forwarded": self._forwarded,
        }
        stall = self._clock.monotonic() - began
        self._writing = (self._writer.submit(self._write, state, began, stall), positions)

    def _write(self, state: State, began: float, stall: float) -> WrittenCheckpoint:
        self._check()
        nbytes = self._checkpoints.write(state)
        return WrittenCheckpoint(state["at"], stall, self._clock.monotonic() - began, nbytes)

    def _finish(self, sources: Sequence[Source]) -> None:
        """Evaluate a finished write: release what it covers, or schedule a retry."""
        assert self._writing is not None  # noqa: S101  # checked by the callers

        (done, positions), self._writing = self._writing, None
        now = self._clock.monotonic()
        try:
            self._written = done.result()
            self._positions = [*self._positions[-1:], positions]
            if self.forwarder is not None and self._forwarded is not None:
                self.forwarder.written(self._forwarded)
            self._commit_sources(sources)
        except StateError as error:
            self._faults.note(StateFault.CHECKPOINT_FAILED)
            self._due = now + min(_RETRY_SECONDS, self._every)
            if not self._failing:
                self._say(f"{error}; the previous checkpoint stays")
            self._failing = True
            return
        if self._failing:
            self._say("checkpoints can be written again")
        self._failing = False
        rest = self._written.duration / _MOST_OF_THE_TIME - self._written.duration
        self._due = now + max(self._every, rest)

    def _commit_sources(self, sources: Sequence[Source]) -> None:
        """Let the sources release what both checkpoints cover."""
        if len(self._positions) < 2:  # noqa: PLR2004  # two checkpoints
            return
        for source in sources:
            position = self._positions[0].get(source.identity)
            if position is not None:
                source.commit(position)


def fingerprint(config: Config) -> str:
    """Return a short hash of a configuration."""
    return xxhash.xxh3_64_hexdigest(config.model_dump_json().encode())
