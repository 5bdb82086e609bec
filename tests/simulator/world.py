"""A monitor, its disk, its clock and those who send to it, driven by chance alone in one thread.

    stream of events ─┬─▶ requests ─▶ journal ─┐
                      ├─▶ followed file ───────┼─▶ engine ─▶ checkpoints
                      └─▶ topic of Kafka ──────┘
                                   counts ◀── compared ──▶ ledger

A seed decides all that happens: which events come when, again, late and in which order; rotations
of the file; partitions that another member reads meanwhile; calls that fail, are slow or are done
in part; kills, and stops of the machine, at any call; clocks that step; reloads; damaged bytes;
several of these at once. After each start the counts are compared with a recount.
"""

from __future__ import annotations

import errno
import json
from collections import Counter
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from random import Random

from simulator.counts import check_windows
from simulator.crash_content import read_tree
from simulator.disk import DONE, Crash, Outcome, SimulatedDisk
from simulator.events import HOUR, START, TIMEOUT, Kinds, Stream
from simulator.kafka import FEED, Topic
from simulator.ledger import Delivery, Ledger
from simulator.process import Process, reproducible

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.errors import MonitorError

YEARS = 10 * 366 * 24 * HOUR
SEGMENT_BYTES = 1500
_ERRORS = (errno.ENOSPC, errno.EIO, errno.EDQUOT, errno.EROFS)


class Steps(ManualClock):
    """A clock whose wall time can be set anew."""

    def step(self, seconds: float) -> None:
        self._start += seconds


class World:
    """One seed.

    Args:
        seed: all that happens follows from it.
        folder: an empty directory.
        troubled: whether anything goes wrong by itself; a topic of Kafka is read only then.
        storm: requests that are sent while hardly a call succeeds, at most.

    Attributes:
        chance: decides.
        disk: under the state directory.
        ledger: what must be counted.
        process: the monitor that runs.
        happened: number of deeds, crashes and faults by name.
    """

    def __init__(self, seed: int, folder: Path, *, troubled: bool = True, storm: int = 100) -> None:
        self.chance = Random(seed)
        self._folder, self._troubled, self._longest = folder, troubled, storm
        for name in ("disk", "logs"):
            (folder / name).mkdir()
        self._log = folder / "logs" / "events.ndjson"
        self._log.touch()
        self._rotated = 0
        self.disk = SimulatedDisk(folder / "disk", self.chance)
        self.clock = Steps(START + 31 * HOUR)
        self.ledger = Ledger(TIMEOUT)
        self.happened: Counter[str] = Counter()
        self._kinds = Kinds.drawn(self.chance)
        self._stream = Stream(self.chance, self._kinds)
        self._error_rate = self._slowest = 0.0
        self._crash_in: int | None = None
        self._topic = Topic(self.chance, self.ledger.certain.remove)
        self._reads_topic = troubled and self.chance.randrange(2) == 1
        self._maturity = self.chance.choice(["auto", "0s", "2h"])
        self.process: Process | None = None

    def run(self) -> None:
        """Let things happen until all events were sent, and compare.

        Raises:
            AssertionError: something was lost or counted twice, or a call failed unexpectedly.
        """
        with ExitStack() as active:
            active.enter_context(reproducible(self.chance, SEGMENT_BYTES, self._topic.make))
            active.enter_context(self.disk.active())
            active.callback(self._end)
            self.disk.before = self._before
            self._start()
            while self._stream:
                self._do(self._deed())
            self._error_rate, self._crash_in = 0.0, None
            if self.chance.randrange(2):
                self._restart("stop")
            self._do("check")
            assert self.process is not None
            check_windows(self.process.snapshot(), self.ledger.truth)

    def config(self, state: Path | None = None) -> Config:
        """The configuration, of another state directory if one is given."""
        return Config(
            feeds=[
                {"type": "file", "path": str(self._log), "follow": True},
                {"type": "http", "listen": "127.0.0.1:0"},
                *([FEED] if self._reads_topic else []),
            ],
            state={"directory": state or self.disk.root / "state", "checkpoint_every": "10s"},
            **self._kinds.settings(label_timeout="6h", maturity=self._maturity),
            windows=["1h", "6h", "1d"],
            max_pending=10_000 + self.happened["reload"],
        )

    @property
    def seconds(self) -> float:
        """Simulated seconds so far."""
        return self.clock.monotonic()

    def check(self) -> None:
        """Everything that must be counted is, once."""
        assert self.process is not None
        self.process.check_books()
        if self._reads_topic:
            self._topic.calm = True
            self.process.settle(lambda: self._topic.is_read)
            self._topic.calm = False
        else:
            self.process.settle()
        self.ledger.settle(self.ledger.check(self.process.counts()))
        self.happened["check"] += 1

    def _deed(self) -> str:
        deeds = {"post": 12, "append": 6, "turn": 8, "wait": 4, "step": 1, "reload": 1, "check": 1}
        if self._reads_topic:
            deeds |= {"post": 5, "append": 3, "produce": 20, "wait": 8}
        if self._troubled:
            deeds |= {"kill": 2, "stop_machine": 2, "stop": 1, "crash_soon": 5, "damage": 1}
            deeds |= {"trouble": 2, "storm": 1, "several": 1, "calm": 2}
        (deed,) = self.chance.choices([*deeds], [*deeds.values()])
        return deed

    def _do(self, deed: str) -> None:
        self.happened[deed] += 1
        try:
            if deed in ("kill", "stop_machine", "stop"):
                self._restart(deed)
            elif deed == "check":
                self._error_rate, self._crash_in = 0.0, None
                self.check()
            else:
                getattr(self, f"_{deed}")()
        except Crash:
            self.happened["crash"] += 1
            self._restart(self.chance.choice(["kill", "stop_machine"]))

    def _before(self, call: str, _: str) -> Outcome:
        """What becomes of a call."""
        if self._slowest:
            self.clock.sleep(self._slowest * self.chance.random())
        if self._crash_in is not None:
            self._crash_in -= 1
            if self._crash_in < 0:
                self._crash_in = None
                return Outcome(self.chance.random(), Crash())
        if self.chance.random() < self._error_rate:
            self.happened["fault"] += 1
            self.happened[f"fault of {call}"] += 1
            error = OSError(self.chance.choice(_ERRORS), "it was drawn by chance")
            return Outcome(self.chance.choice([0.0, 0.0, self.chance.random(), 1.0]), error)
        if call == "pwrite" and self._troubled and self.chance.randrange(8) == 0:
            self.happened["short"] += 1
            return Outcome(self.chance.random())
        return DONE

    def _start(self) -> None:
        """Start until it succeeds: a start may crash, or be refused while the disk has errors."""
        while True:
            try:
                self.process = Process(self.config(), self.clock)
            except Crash:
                self.happened["crash"] += 1
                self._down(self.chance.choice(["kill", "stop_machine"]))
            except MonitorError:
                assert self._error_rate, "a start was refused on a disk without errors"
                self._error_rate = 0.0
                self._down("kill")
            else:
                if not self.happened["damage"]:
                    self.process.assert_undamaged()
                self._join()
                return

    def _join(self) -> None:
        if self._reads_topic:
            assert self.process is not None
            source = self.process.source("kafka:")
            self._topic.position = source.position
            self._topic.stored = partial(self.process.stored, source.identity)
            self._topic.assert_nothing_committed_early()

    def _down(self, how: str) -> None:
        """End the process, and the machine."""
        self.ledger.end_process()
        if self.process is not None:
            self._topic.end_process()
            self.process.abandon()
            self.process = None
        if how == "kill":
            self.disk.kill()
        else:
            self.disk.stop(self.chance.choice([None, self.chance, self.chance, self.chance]))

    def _restart(self, how: str) -> None:
        assert self.process is not None
        if how == "stop":
            try:
                self.process.stop()
            except Crash:
                self.happened["crash"] += 1
        self._down("kill" if how == "stop" else how)
        self.happened["restart"] += 1
        self._crash_in = self.chance.choice([None, None, self.chance.randrange(30)])
        self._start()
        try:
            if self.chance.randrange(4):
                self._crash_in, self._error_rate = None, 0.0
                self.check()
        except Crash:
            self._restart("kill")

    def _end(self) -> None:
        self.disk.before = self.disk.no_fault
        self._down("kill")

    def _post(self) -> None:
        assert self.process is not None
        if not self.process.posted.ready:
            return self._turn()
        self._stored([self._stream.next() for _ in range(self.chance.choice((1, 1, 2, 3)))])
        return None

    def _stored(self, requests: list[list[dict]]) -> bool:
        """Post requests that share a write to the journal; return whether they were stored."""
        assert self.process is not None
        waiting = [self.process.post(lines_of(records)) for records in requests]
        self.ledger.begin([Delivery.of(records, self.clock.now()) for records in requests])
        self.process.write()
        failed = {future.exception(0) is not None for future in waiting}
        assert len(failed) == 1, "a group is stored as a whole"
        if failed == {False}:
            self.ledger.acknowledge()
        return failed == {False}

    def _append(self) -> None:
        if self.chance.randrange(4) == 0 and self.process and self.process.has_checkpoint:
            self._rotated += 1
            self._log.rename(f"{self._log}.{self._rotated}")
            self._log.touch()
        records = self._stream.next()
        with self._log.open("ab") as file:
            file.write(lines_of(records))
        self.ledger.certain.append(Delivery.of(records, None))

    def _produce(self) -> None:
        records = self._stream.next()
        delivery = Delivery.of(records, None)
        self._topic.produce(lines_of(records), int(self.clock.now() * 1000), delivery)
        self.ledger.certain.append(delivery)

    def _turn(self) -> None:
        assert self.process is not None
        for _ in range(self.chance.randrange(1, 5)):
            self.process.turn()

    def _wait(self) -> None:
        assert self.process is not None
        self.clock.sleep(self.chance.choice((0.5, 11.0, 11.0, 700.0, 12 * HOUR)))
        self.process.turn()

    def _step(self) -> None:
        self.clock.step(self.chance.choice((-HOUR, HOUR, -YEARS, YEARS)))

    def _reload(self) -> None:
        assert self.process is not None
        self.process.reload(self.config())

    def _crash_soon(self) -> None:
        self._crash_in = self.chance.randrange(25)

    def _trouble(self) -> None:
        """Calls fail for a while, and those who send go on."""
        self._error_rate = self.chance.choice((0.05, 0.3, 1.0))
        for _ in range(self.chance.randrange(4, 16)):
            self._do(self.chance.choice(("post", "post", "append", "turn", "wait", "reload")))

    def _storm(self) -> None:
        """Hardly a call succeeds, and a client sends each request until it is stored."""
        self._error_rate = self.chance.choice((0.2, 0.5, 0.8))
        request = self._stream.next()
        for _ in range(self.chance.randrange(self._longest)):
            assert self.process is not None
            if self.process.posted.ready and self.chance.randrange(20):
                if self._stored([request]):
                    request = self._stream.next()
            else:
                self._do(self.chance.choice(("turn", "wait")))

    def _several(self) -> None:
        """The disk is slow and has errors while clocks step, files rotate and processes end."""
        self._slowest = self.chance.choice((1.0, 60.0, HOUR))
        self._error_rate = self.chance.choice((0.0, 0.05, 0.3))
        deeds = ("post", "post", "append", "turn", "step", "reload", "crash_soon", "kill")
        for _ in range(self.chance.randrange(8, 32)):
            self._do(self.chance.choice(deeds))

    def _calm(self) -> None:
        self._error_rate = self._slowest = 0.0

    def _damage(self) -> None:
        """Damage a byte while the machine is down: the start is right, or refused."""
        self._error_rate, self._crash_in, self._topic.damaged = 0.0, None, True
        self._down("stop_machine")
        tree = read_tree(self.disk.root)
        paths = [p for p in sorted((self.disk.root / "state").rglob("*")) if p.is_file()]
        path = self.chance.choice([p for p in paths if p.stat().st_size])
        content = bytearray(path.read_bytes())
        content[self.chance.randrange(len(content))] ^= 1 << self.chance.randrange(8)
        path.write_bytes(content)
        self.disk.take_up()
        try:
            self.process = Process(self.config(), self.clock)
        except MonitorError:
            self.happened["refused"] += 1
            self._down("kill")
            self.disk.restore(tree)
            self._start()
        else:
            self._join()
        self.check()


def lines_of(records: list[dict]) -> bytes:
    return "".join(json.dumps(record) + "\n" for record in records).encode()


def simulate(seed: int, folder: Path, storm: int = 100) -> World:
    """Run one seed in an empty directory.

    Args:
        seed: all that happens follows from it.
        folder: an empty directory.
        storm: see `World`.

    Raises:
        AssertionError: something was lost or doubled; its notes name the seed.
    """
    world = World(seed, folder, storm=storm)
    try:
        world.run()
    except BaseException as error:
        error.add_note(f"python -m tests.benchmarks.simulate --seed {seed} --seeds 1")
        raise
    return world
