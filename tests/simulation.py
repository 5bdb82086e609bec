"""A service driven by chance alone, in one thread, and compared with a recount.

python tests/simulation.py --seeds 2000 --first 1

Every label fault, duplicates and any order; the process is killed or stopped, its
newest checkpoint damaged, its disk fails, its clocks step. All of it follows from
the seed: one that fails is printed, and fails again.
"""

from __future__ import annotations

import argparse
import errno
import random
import sys
import tempfile
from concurrent.futures import Executor, Future
from pathlib import Path

from recount import CELLS, Recount
from streams import batch_of

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.service import Service
from monitor.service.checkpointing import Checkpointer
from monitor.state import Checkpoints, StateFault, StateFaults

START = 1_700_000_000
HOUR = 3_600
YEARS = 10 * 366 * 24 * HOUR
TIMEOUT = 6 * HOUR
NAMES = ("tp", "fp", "fn", "tn")
assert set(NAMES) == set(CELLS.values())


class Inline(Executor):
    """Does at once what it is given, here."""

    def submit(self, fn, /, *args):
        done = Future()
        try:
            done.set_result(fn(*args))
        except Exception as error:  # noqa: BLE001  # the caller asks for it
            done.set_exception(error)
        return done


class Steps(ManualClock):
    """A clock whose wall time can be set anew."""

    def step(self, seconds: float) -> None:
        self._start += seconds


class Tape:
    """A feed that keeps its batches until they are settled, and never gives one twice but after a
    restart."""

    name = identity = "tape"
    attached = True
    ended = False

    def __init__(self, batches: list[list[dict]]) -> None:
        self._batches = batches
        self._next = self._kept = 0

    def begin(self) -> Tape:
        """Restart: a new process over the same stored state."""
        again = Tape(self._batches)
        again._next = again._kept = self._kept
        return again

    @property
    def left(self) -> int:
        return len(self._batches) - self._next

    def poll(self):
        if not self.left:
            return None
        self._next += 1
        return batch_of(self._batches[self._next - 1], segments=("k",))

    def position(self):
        return {"batch": self._next}

    def resume(self, position):
        assert position["batch"] >= self._kept, "what was settled is asked for"
        self._next = position["batch"]
        return ""

    def commit(self, position):
        self._kept = position["batch"]

    def close(self):
        """Nothing is open."""


class Rejected:
    def write(self, rejections):
        assert not rejections


class Simulation:
    """One seed.

    Args:
        seed: all that happens follows from it.
        folder: where its state is stored.
    """

    def __init__(self, seed: int, folder: Path) -> None:
        self._chance = random.Random(seed)
        self._folder = folder
        self._broken = False
        self._clock = Steps(START)
        self.events = self._stream()
        self._tape = Tape(self._cut())
        self.config = Config(
            defaults={
                "segments": ["k"],
                "label_timeout": TIMEOUT * 1000,
                "maturity": self._chance.choice(["auto", "0s", "2h"]),
            },
            windows=["1h", "6h", "1d"],
            state={"checkpoint_every": "10s"},
        )
        self.faults = StateFaults()
        self.happened: list[str] = []
        self._start()

    def run(self) -> None:
        """Let things happen until all was read; at last the counts must be right."""
        deeds = (self._turns, self._wait, self._step, self._kill, self._stop, self._damage)
        weights = (12, 4, 1, 2, 1, 1)
        while self._tape.left:
            (deed,) = self._chance.choices(deeds, weights)
            self._broken = self._chance.random() < 0.1
            self.happened.append(deed.__name__)
            deed()
            if self._chance.random() < 0.2:
                self.check_books()
        self._broken = False
        if self._chance.random() < 0.5:
            self._stop()
        self.check()

    def check_books(self) -> None:
        """The laws that hold at every moment."""
        snapshot = self._service._monitor.snapshot(self._service._event_clock.now_ms)
        assert snapshot.events["label"] == snapshot.labels.received
        for model in snapshot.models:
            predictions = model.predictions_positive + model.predictions_negative
            known = model.matched + model.pending + model.expired + model.evicted
            assert predictions == known
            assert min(model.matched, model.pending, model.expired) >= 0
        received = sum(
            m.predictions_positive + m.predictions_negative + m.duplicates for m in snapshot.models
        )
        assert snapshot.events["prediction"] == received

    def check(self) -> None:
        """Every cell, of all time and of each window, as recounted."""
        self.check_books()
        snapshot = self._service._monitor.snapshot(self._service._event_clock.now_ms)
        recount = Recount(self.events, TIMEOUT)
        by_value = recount.by_segment("k")
        for row, series in enumerate(snapshot.series):
            cells = dict(zip(NAMES, snapshot.lifetime.counts.cells[row].tolist(), strict=True))
            expected = recount.counts() if series.value is None else by_value.get(series.value, {})
            assert cells == {name: expected.get(name, 0) for name in NAMES}, series
        for window in snapshot.windows:
            since, before = window.open[0] / 1000, window.close[0] / 1000
            expected = recount.counts(since=since, before=before)
            cells = dict(zip(NAMES, window.counts.cells[0].tolist(), strict=True))
            assert cells == {name: expected[name] for name in NAMES}, window.name
        assert sum(snapshot.events.values()) == len(self.events)

    def _start(self) -> None:
        checkpoints = Checkpoints(self._folder, sync=self._sync)
        self._tape = self._tape.begin()
        self._checkpointer = Checkpointer(
            self.config,
            checkpoints,
            faults=self.faults,
            clock=self._clock,
            say=lambda _: None,
            writer=Inline(),
        )
        self._service = Service(
            self.config,
            [self._tape],
            clock=self._clock,
            rejected=Rejected(),
            say=lambda _: None,
            checkpointer=self._checkpointer,
        )

    def _sync(self, _: int) -> None:
        if self._broken:
            raise OSError(errno.ENOSPC, "No space left on device")

    def _turns(self) -> None:
        for _ in range(self._chance.randrange(1, 6)):
            self._service.turn()

    def _wait(self) -> None:
        self._clock.sleep(self._chance.choice((0.5, 11.0, 11.0, 700.0)))
        self._service.turn()

    def _step(self) -> None:
        self._clock.step(self._chance.choice((-HOUR, HOUR, -YEARS, YEARS)))

    def _kill(self) -> None:
        self._broken = False
        if self._chance.random() < 0.3:
            (self._folder / "00000099.checkpoint.new").write_bytes(b"PMonStat")
        self._start()

    def _stop(self) -> None:
        service = self._service
        self._checkpointer.close(service._monitor, [self._tape], service._event_clock)
        self._kill()

    def _damage(self) -> None:
        """Damage the newest checkpoint, where there is one before it, and begin anew."""
        paths = sorted(self._folder.glob("*.checkpoint"))
        good = [path for path in paths if path not in self._checkpointer._checkpoints.damaged]
        if len(good) > 1:
            content = bytearray(good[-1].read_bytes())
            at = self._chance.randrange(len(content))
            if self._chance.random() < 0.5:
                content[at] ^= 1 << self._chance.randrange(8)
            else:
                del content[at:]
            good[-1].write_bytes(content)
            before = self.faults.counts[StateFault.CHECKPOINT_DAMAGED]
            self._kill()
            assert self.faults.counts[StateFault.CHECKPOINT_DAMAGED] > before

    def _stream(self) -> list[dict]:
        """Predictions, and labels that come early, late, again, conflicting, and are retracted."""
        chance, events = self._chance, []
        for number in range(chance.randrange(20, 200)):
            identity, ts = f"p{number}", START + chance.randrange(30 * HOUR)
            prediction = {
                "type": "prediction",
                "id": identity,
                "ts": ts,
                "prediction": chance.randrange(2),
                "segment": {"k": chance.choice("xyz")},
            }
            if chance.random() < 0.5:
                prediction["score"] = chance.choice((0.0, 0.25, 1.0))
            events += [prediction] * chance.choice((1, 1, 1, 2, 3))
            for _ in range(chance.choice((0, 1, 1, 1, 2, 4))):
                delay = chance.choice((-60, 0, 60, HOUR, TIMEOUT, TIMEOUT + 1, 2 * TIMEOUT))
                label = {
                    "type": "label",
                    "id": identity,
                    "ts": ts + delay,
                    "label": chance.choice((0, 0, 1, 1, None)),
                }
                events += [label] * chance.choice((1, 1, 2))
        if chance.random() < 0.5:
            chance.shuffle(events)
        else:
            events.sort(key=lambda event: event["ts"] + chance.randrange(-HOUR, HOUR))
        return events

    def _cut(self) -> list[list[dict]]:
        batches, rest = [], list(self.events)
        while rest:
            size = self._chance.randrange(1, 20)
            batches.append(rest[:size])
            del rest[:size]
        return batches


def simulate(seed: int) -> Simulation:
    """Run one seed.

    Raises:
        AssertionError: the counts are not those of the recount; its notes name the seed.
    """
    with tempfile.TemporaryDirectory() as folder:
        simulation = Simulation(seed, Path(folder))
        try:
            simulation.run()
        except BaseException as error:
            error.add_note(f"python tests/simulation.py --first {seed} --seeds 1")
            raise
    return simulation


def main() -> None:
    """Simulate so many seeds; the first that fails ends it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seeds", type=int, default=1000)
    parser.add_argument("--first", type=int, default=1)
    args = parser.parse_args()
    for number, seed in enumerate(range(args.first, args.first + args.seeds), start=1):
        simulate(seed)
        if number % 100 == 0:
            print(f"{number} seeds", flush=True)
    print(f"{args.seeds} seeds, all as recounted")


if __name__ == "__main__":
    sys.exit(main())
