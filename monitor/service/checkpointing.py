"""Checkpoints while the service runs: taken up at the start, written now and then, and at the end.

The state is copied between two batches, which takes milliseconds a million pending
predictions, and written by a thread of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from typing import Any, NamedTuple

import xxhash

from monitor.clock import SECOND_MS, Clock
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.renumbering import State
from monitor.prometheus.process_series import (
    CHECKPOINT_BYTES,
    CHECKPOINT_DURATION,
    CHECKPOINT_LAST_SUCCESS,
    CHECKPOINT_STALL,
    STATE_BEGAN,
    STATE_FAULTS,
    NumberByLabels,
    SeriesDescription,
)
from monitor.service.event_clock import EventClock
from monitor.service.sources import Position, Source
from monitor.state import Checkpoints, StateError, StateFault, StateFaults
from monitor.version import __version__

_RETRY_SECONDS = 5.0
_MOST_OF_THE_TIME = 0.05
"""Checkpoints that take long are written less often: never for more than this share of the time."""


class _Written(NamedTuple):
    """The last checkpoint that is on disk.

    Attributes:
        at: wall time when its state was copied, epoch seconds.
        stall: seconds for which nothing was counted, since the state was copied.
        duration: seconds from there to the last byte on disk.
        nbytes: of the file.
    """

    at: float
    stall: float = float("nan")
    duration: float = float("nan")
    nbytes: float = float("nan")


class Keeper:
    """Keeps the state of a service.

    Args:
        config: of the monitor.
        checkpoints: where they are written.
        faults: counts what is found wrong.
        clock: wall time, and the time that passes.
        say: tells a person what happens, a line at a time.
        writer: writes them; a thread of its own where None.

    Raises:
        StateError: there are checkpoints, and none is as it was written.
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
    ) -> None:
        self._config = config
        self._checkpoints = checkpoints
        self._faults = faults
        self._clock = clock
        self._say = say
        self._began = clock.now()
        self._written: _Written | None = None
        self._positions: list[Mapping[str, Position]] = []
        self._due = clock.monotonic() + config.state.checkpoint_every / SECOND_MS
        self._at_once = True  # without one, a new feed would begin anew after a crash
        self._failing = False
        self._closed = False
        self._going_on = ""
        self._writer = writer or ThreadPoolExecutor(1, thread_name_prefix="checkpoint")
        self._writing: tuple[Future[_Written], Mapping[str, Position]] | None = None
        self._found = self._take_up()

    @property
    def engine_state(self) -> State | None:
        """State of the engine to go on from; None where there is none."""
        return None if self._found is None else self._found["engine"]

    def position(self, identity: str) -> Position | None:
        """Where the checkpoint that is taken up has a source; None where it has it nowhere."""
        return None if self._found is None else self._found["positions"].get(identity)

    def resume(self, sources: Sequence[Source], event_clock: EventClock) -> None:
        """Let the sources and the clock go on where the checkpoint was written."""
        if self._found is None:
            return
        found, self._found = self._found, None
        self._say(self._going_on)
        for source in sources:
            position = found["positions"].get(source.identity)
            fault = "" if position is None else source.resume(position)
            if fault:
                self._faults.note(StateFault.FEED_CHANGED)
                self._say(fault)
        event_clock.restore(found["clock"])

    def reconfigure(self, config: Config) -> None:
        """Keep what was counted by another configuration at once, and go by this one.

        What comes after that is read by this one, here as after a crash.
        """
        self._config = config
        self._at_once = True

    def turn(self, monitor: Monitor, sources: Sequence[Source], event_clock: EventClock) -> None:
        """Begin a checkpoint when it is time; between two polls."""
        if self._writing is not None and self._writing[0].done():
            self._finish(sources)
        if self._writing is None and (self._at_once or self._clock.monotonic() >= self._due):
            self._at_once = False
            self._begin(monitor, sources, event_clock)

    @property
    def failing(self) -> bool:
        """Whether the last checkpoint could not be written."""
        return self._failing

    def keep_now(
        self, monitor: Monitor, sources: Sequence[Source], event_clock: EventClock
    ) -> bool:
        """Write one, and wait for it; after `close` nothing is counted, and none is needed.

        Returns:
            Whether everything that was counted is on disk.
        """
        if self._writing is not None:
            self._finish(sources)
        if not self._closed:
            self._begin(monitor, sources, event_clock)
            self._finish(sources)
        return not self._failing

    def close(self, monitor: Monitor, sources: Sequence[Source], event_clock: EventClock) -> None:
        """Write the last one, and wait for it."""
        for begin in (False, True):
            if begin:
                self._begin(monitor, sources, event_clock)
            if self._writing is not None:
                self._finish(sources)
        self._closed = True
        self._writer.shutdown()

    @property
    def readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """What /metrics says of it."""
        return {
            CHECKPOINT_LAST_SUCCESS: lambda: self._reading("at"),
            CHECKPOINT_DURATION: lambda: self._reading("duration"),
            CHECKPOINT_STALL: lambda: self._reading("stall"),
            CHECKPOINT_BYTES: lambda: self._reading("nbytes"),
            STATE_BEGAN: lambda: {(): self._began},
            STATE_FAULTS: lambda: {
                (kind.value,): float(count) for kind, count in self._faults.counts.items()
            },
        }

    def _reading(self, name: str) -> NumberByLabels:
        number = float("nan") if self._written is None else getattr(self._written, name)
        return {} if number != number else {(): number}  # noqa: PLR0124  # NaN is undefined

    def _take_up(self) -> dict[str, Any] | None:
        found = self._checkpoints.newest()
        for path in self._checkpoints.damaged:
            self._faults.note(StateFault.CHECKPOINT_DAMAGED)
            self._say(f"{path}: is damaged; the checkpoint before it is used")
        if found is None:
            return None
        state = dict(found.state)
        self._began = state["began"]
        self._written = _Written(state["at"])
        self._positions = [state["positions"]]
        self._at_once = state["fingerprint"] != fingerprint(self._config)
        if self._at_once:
            self._say("the configuration is another than when the state was kept")
        self._going_on = f"going on from {found.path}, {state['engine']['records']} records"
        return state

    def _begin(self, monitor: Monitor, sources: Sequence[Source], event_clock: EventClock) -> None:
        began = self._clock.monotonic()
        last = self._positions[-1] if self._positions else {}
        positions = {**last, **{source.identity: source.position() for source in sources}}
        state = {
            "version": __version__,
            "fingerprint": fingerprint(self._config),
            "at": self._clock.now(),
            "began": self._began,
            "clock": event_clock.state(),
            "positions": positions,
            "engine": monitor.state(),
        }
        stall = self._clock.monotonic() - began
        self._writing = (self._writer.submit(self._write, state, began, stall), positions)

    def _write(self, state: State, began: float, stall: float) -> _Written:
        nbytes = self._checkpoints.write(state)
        return _Written(state["at"], stall, self._clock.monotonic() - began, nbytes)

    def _finish(self, sources: Sequence[Source]) -> None:
        """Take notice of a checkpoint that is on disk, or is not."""
        assert self._writing is not None  # noqa: S101  # its callers saw to it
        (done, positions), self._writing = self._writing, None
        now = self._clock.monotonic()
        try:
            self._written = done.result()
            self._positions = [*self._positions[-1:], positions]
            self._settle(sources)
        except StateError as error:
            self._faults.note(StateFault.CHECKPOINT_FAILED)
            self._due = now + min(_RETRY_SECONDS, self._config.state.checkpoint_every / SECOND_MS)
            if not self._failing:
                self._say(f"{error}; the state is kept as it was before")
            self._failing = True
            return
        if self._failing:
            self._say("checkpoints can be written again")
        self._failing = False
        rest = self._written.duration / _MOST_OF_THE_TIME - self._written.duration
        self._due = now + max(self._config.state.checkpoint_every / SECOND_MS, rest)

    def _settle(self, sources: Sequence[Source]) -> None:
        """Tell the sources what will never be asked for again: two checkpoints are past it."""
        if len(self._positions) < 2:  # noqa: PLR2004  # two checkpoints
            return
        for source in sources:
            position = self._positions[0].get(source.identity)
            if position is not None:
                source.settled(position)


def fingerprint(config: Config) -> str:
    """A short text that is another for another configuration."""
    return xxhash.xxh3_64_hexdigest(config.model_dump_json().encode())
