"""The process of `precision-monitor run` in one thread, without its listeners.

It is put together as `monitor/cli/run.py` does it, from the same parts. Requests come by `post`
instead of granian, and reach the journal when `write` is called instead of by a thread;
checkpoints are written where they begin. Messages of Kafka come from `simulator.kafka`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import ExitStack, contextmanager
from random import Random
from typing import Any
from unittest.mock import patch

from simulator.counts import Counts, counted

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.config.counting_settings import counting_settings
from monitor.feeds.decode import DecodeSettings, LiveDecoder
from monitor.feeds.http import PostedEvents
from monitor.feeds.http.app import AHEAD_MS
from monitor.feeds.kafka.client import make_consumer
from monitor.feeds.kafka.source import KafkaSource
from monitor.feeds.source import Position, Source
from monitor.prometheus.process_series import NumberByLabels, SeriesDescription
from monitor.service import loop
from monitor.service.changes import ReloadableDecoder
from monitor.service.checkpointing import Checkpointer
from monitor.service.forward_requests import Post, ReceiverAnswer
from monitor.service.forwarder import Forwarder
from monitor.service.journal_replay import NewRejections
from monitor.service.loop import Service
from monitor.service.posted import PostedFeeds
from monitor.service.reloads import Reloads
from monitor.service.sources import open_sources
from monitor.service.state_watch import StateWatch
from monitor.snapshot import Snapshot
from monitor.state import JOURNAL, Checkpoints, Journal, StateFault, StateFaults, StateLock
from monitor.state.dead_letter import DeadLetter
from monitor.state.state_identity import identity_of_state

IDLE_TURNS, MOST_TURNS = 4, 100_000
_DAMAGE = (
    StateFault.CHECKPOINT_DAMAGED,
    StateFault.ID_SEED_DAMAGED,
    StateFault.JOURNAL_DAMAGED,
)


class Inline(Executor):
    """Does at once what it is given, here; a crash goes to the caller."""

    def submit(self, fn, /, *args):
        done = Future()
        try:
            done.set_result(fn(*args))
        except Exception as error:  # noqa: BLE001  # the caller asks for it
            done.set_exception(error)
        return done


@contextmanager
def reproducible(
    chance: Random, segment_bytes: int, kafka: Callable[..., Any] = make_consumer
) -> Iterator[None]:
    """Salts and secrets by chance, short segments of the journal, and a snapshot at times.

    Args:
        chance: decides.
        segment_bytes: of the journal.
        kafka: creates the clients of Kafka.
    """
    with (
        patch.object(loop, "PUBLISH_EVERY_SECONDS", 10_000.0),
        patch.object(os, "urandom", chance.randbytes),
        patch.object(secrets, "randbits", chance.getrandbits),
        patch.dict(Journal.__init__.__kwdefaults__, segment_bytes=segment_bytes),
        patch.dict(KafkaSource.__init__.__kwdefaults__, make=kafka),
    ):
        yield


class Process:
    """A start on a state directory.

    Args:
        config: its configuration.
        clock: its clock.
        post: what it forwards by, where that is configured.

    Raises:
        MonitorError: the start is refused.

    Attributes:
        said: the lines that it printed.
        config: what a reload loads.
    """

    def __init__(
        self, config: Config, clock: ManualClock, post: Post = lambda *_: ReceiverAnswer(503)
    ) -> None:
        self.said: list[str] = []
        self._last: PostedEvents | None = None
        self.config, self._clock = config, clock
        self.faults, say = StateFaults(), self.said.append
        self._decoder = LiveDecoder(DecodeSettings.from_config(config))
        self._reloads = Reloads(lambda: self.config, clock=clock, say=say)
        with ExitStack() as opened:
            locked = opened.enter_context(StateLock(config.state.directory))
            identity = identity_of_state(config.state.directory)
            self.forwarder = None
            if config.forward is not None:
                settings = counting_settings(config)
                self.forwarder = Forwarder(
                    config.forward, identity, settings, clock=clock, say=say, post=post
                )
            checkpointer = self._checkpointer = Checkpointer(
                config,
                Checkpoints(config.state.directory / "checkpoints"),
                faults=self.faults,
                clock=clock,
                say=say,
                writer=Inline(),
                check=locked.check,
                forwarder=self.forwarder,
            )
            seed = checkpointer.settle_id_seed()
            self._decoder.replace(DecodeSettings.from_config(config, id_seed=seed))
            self.sources = open_sources(config, self._decoder, clock, say)
            for source in self.sources:
                opened.callback(source.close)
            since = checkpointer.position(JOURNAL)
            self.posted = PostedFeeds(
                config, self._decoder, clock, say, self.faults, since=since, state_id=identity
            )
            opened.callback(self.posted.close)
            self.sources.append(self.posted)
            dead = DeadLetter(config.dead_letter_path, config.dead_letter.max_bytes)
            opened.enter_context(dead)
            self.service = Service(
                config,
                self.sources,
                clock=clock,
                rejected=NewRejections(dead),
                say=say,
                reloads=self._reloads,
                reloadables=[ReloadableDecoder(self._decoder), self.posted],
                checkpointer=checkpointer,
                state_watch=StateWatch([locked.check, self.posted.check_place], say, self.faults),
            )
            self.posted.check(checkpointer.older_position(JOURNAL))
            self._opened = opened.pop_all()

    def assert_undamaged(self) -> None:
        """A crash tears the end of the journal at most."""
        assert not any(self.faults.counts[kind] for kind in _DAMAGE), self.said

    def post(self, lines: bytes) -> Future[None]:
        """A client posts a request; it is acknowledged once the result is there."""
        arrival_ms, decoder = int(self._clock.now() * 1000), self._decoder.current
        last = self._last
        if last is None or (last.lines, last.arrival_ms, last.decoder) != (
            lines,
            arrival_ms,
            decoder,
        ):
            batch = decoder.decode_lines(lines, source="posted", latest_ms=arrival_ms + AHEAD_MS)
            batch = batch.arrived([(0, arrival_ms)])
        else:  # it is sent again
            batch = last.batch
        reservation = self.posted._settings[0].budget.reservation()
        assert reservation.grow(len(lines))
        reservation.hand_over()
        self._last = PostedEvents(arrival_ms, lines, batch, decoder, reservation)
        return self.posted.store(self._last)

    def write(self) -> None:
        """Write what was posted to the journal, all with one sync."""
        self.posted._commits.write_waiting()

    @property
    def forward_readings(self) -> Mapping[SeriesDescription, Callable[[], NumberByLabels]]:
        """The series of what it forwards, as it serves them."""
        assert self.forwarder is not None
        return self.forwarder.readings(lambda: self.service.restored)

    def turn(self) -> bool:
        return self.service.turn()

    def settle(self, is_read: Callable[[], bool] = lambda: True) -> None:
        """Turn until nothing comes any more.

        Args:
            is_read: whether all that is outside has come.

        Raises:
            AssertionError: something still comes after `MOST_TURNS`.
        """
        idle = 0
        for _ in range(MOST_TURNS):
            self._clock.sleep(1)
            idle = 0 if self.turn() or not is_read() else idle + 1
            if idle == IDLE_TURNS:
                break
        assert idle == IDLE_TURNS, "it hangs"
        assert self.posted.restored

    def reload(self, config: Config) -> None:
        self.config = config
        done = self._reloads.ask()
        self.turn()
        assert done.result(0) is None

    def close(self) -> None:
        """End without a last checkpoint."""
        self._opened.close()

    def stop(self) -> None:
        """End as at SIGTERM."""
        self.service.run(lambda: True)
        self._opened.close()

    def abandon(self) -> None:
        """Close what the process had open outside the state directory: it is dead."""
        for source in self.sources[:-1]:
            source.close()

    def source(self, prefix: str) -> Source:
        """Return the source whose identity begins so."""
        (found,) = (one for one in self.sources if one.identity.startswith(prefix))
        return found

    def stored(self, identity: str) -> Position:
        """Return the position of a source in the newest checkpoint."""
        return self._checkpointer._positions[-1][identity]

    @property
    def has_checkpoint(self) -> bool:
        return bool(self._checkpointer._positions)

    def snapshot(self) -> Snapshot:
        """Return a snapshot of now."""
        return self.service._monitor.snapshot(self.service._event_clock.now_ms)

    def check_books(self) -> Snapshot:
        """Check the laws that hold at every moment; return the snapshot."""
        snapshot = self.snapshot()
        labels = snapshot.labels
        assert snapshot.events["label"] + snapshot.events["outcome"] == labels.received
        received, shadows = snapshot.forgotten.predictions, snapshot.forgotten.shadows
        for model in snapshot.models:
            predictions = model.predictions_positive + model.predictions_negative
            known = model.matched + model.pending + model.expired + model.evicted
            assert predictions == known
            assert min(model.matched, model.pending, model.expired) >= 0
            received += predictions + model.duplicates
            if model.versions_now is not None and model.versions_now.shadows is not None:
                shadows += sum(model.versions_now.shadows.predictions.values())
        assert snapshot.events["prediction"] + snapshot.events["outcome"] == received
        assert snapshot.events["shadow"] == shadows
        return snapshot

    def counts(self) -> Counts:
        return counted(self.service._monitor, self.check_books())
