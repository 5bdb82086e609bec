"""The main job beside what users would otherwise write: NDJSON bytes to updated counters.

    python -m tests.benchmarks.speed [--events N] [--pending N ...] [--variants …]

One core, CPU time, variants in turn, each time in a process of its own, the median of
several rounds.
Input is made from a seed (`made.py`): 20 models, a hundred predictions a second.
Before the clock starts, every variant remembers the same number of pending
predictions. All must agree on every count, or nothing is printed.

    plain      json, a dictionary, river's confusion matrix, prometheus_client counters
    windows    the same with river's TimeRolling of 5 minutes, 1 hour and 1 day
    careful    orjson to dictionaries, a dictionary of pending ones, a list of integers:
               no windows, no duplicates, no revisions, no metrics
    lines      the same with msgspec, which decodes all lines of a block at once
    streamz    the plain one as a pipeline
    bytewax    as a dataflow in memory; nothing waits before it starts
    pandas     the events of one day held in memory, joined and counted anew every
    duckdb     minute; taking them in is not counted
    python     this program without its compiled kernel
    monitor    this program: join, windows, delays, score histograms, detectors
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import pickle
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar
from unittest.mock import patch

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.kernel.choice import VARIABLE

from .made import BLOCK, CELLS, Made, blocks_of, remember
from .peers import Bytewax, Careful, CarefulLines, Plain, PlainWindows, Streamz
from .recomputing import PEERS, nanoseconds_an_event
from .turns import cpu_seconds, machine, medians, table

Counts = tuple[int, ...]
MANY = 10_000_000


class ThisMonitor:
    """This program, by the path that files take."""

    def __init__(self, config: Config | None = None) -> None:
        config = config or Config(defaults={"label_timeout": "30d"})
        self.monitor = Monitor(config)
        self.decoder = Decoder(DecodeSettings.from_config(config))

    def remember(self, block: bytes) -> None:
        """Predictions that wait."""
        self.take(block)

    def take(self, block: bytes) -> None:
        """Count a block of lines."""
        self.monitor.apply(self.decoder.decode_lines(block, source="", first_line=1))

    def cells(self) -> dict[str, int]:
        """Outcomes by cell, over all models."""
        snapshot = self.monitor.snapshot()
        counts = snapshot.lifetime.counts[[model.row for model in snapshot.models]].sum()
        return {name: int(getattr(counts, name)) for name in CELLS}


def python_alone() -> ThisMonitor:
    """This program without its compiled kernel."""
    with patch.dict(os.environ, {VARIABLE: "python"}):
        return ThisMonitor()


Variant = Plain | Careful | Bytewax | ThisMonitor
VARIANTS: dict[str, Callable[[], Variant]] = {
    "plain": Plain,
    "windows": PlainWindows,
    "careful": Careful,
    "lines": CarefulLines,
    "streamz": Streamz,
    "bytewax": Bytewax,
    "python": python_alone,
    "monitor": ThisMonitor,
}
NAMES = [*VARIANTS, *PEERS]
Measured = tuple[float, dict[str, int]]
Run = Callable[[str, Path], Measured]
Result = TypeVar("Result")
OPTIONAL = ("streamz", "bytewax")


def streamed(name: str, input_: Path) -> Measured:
    """CPU seconds of one variant for a stream, and what it counts; to be run in a fresh process.

    Args:
        name: of the variant.
        input_: blocks of predictions that wait, and those of the stream, pickled.
    """
    waiting, blocks = pickle.loads(input_.read_bytes())  # noqa: S301  # our own
    variant = VARIANTS[name]()
    for block in waiting:
        variant.remember(block)
    del waiting
    spent = cpu_seconds(lambda: _stream(variant, blocks))
    return spent, variant.cells()


def _stream(variant: Variant, blocks: list[bytes]) -> None:
    for block in blocks:
        variant.take(block)
    if isinstance(variant, Bytewax):
        variant.finish()


def in_own_process(work: Callable[..., Result], *given: object) -> Result:
    """Return the result of a function in a new process that has only imported all variants."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([f"{__package__}.peers", "monitor.engine"])
    with ProcessPoolExecutor(1, mp_context=context) as process:
        return process.submit(work, *given).result()


class Table:
    """One stream, counted by variants in turn.

    Args:
        events: of the stream.
        waiting: predictions that wait from the start.
        folder: for the input of other processes.
        run: runs one variant.
    """

    def __init__(
        self, events: list[dict], waiting: list[dict], folder: Path, run: Run | None = None
    ) -> None:
        self._events = events
        self._run = run or partial(in_own_process, streamed)
        self._input = folder / "blocks.pickle"
        self._input.write_bytes(pickle.dumps((blocks_of(waiting), blocks_of(events))))
        self.counts: set[Counts] = set()

    def measured(self, names: list[str], rounds: int) -> dict[str, float]:
        """CPU nanoseconds an event by variant.

        Raises:
            SystemExit: they do not count the same.
        """
        work = {name: partial(self._streamed, name) for name in names if name in VARIANTS}
        work |= {name: self._recomputed(name) for name in names if name in PEERS}
        found = medians(work, rounds)
        if len(self.counts) != 1:
            raise SystemExit(f"the variants disagree: {sorted(self.counts)}")
        return found

    def _streamed(self, name: str) -> float:
        spent, cells = self._run(name, self._input)
        self._note(cells)
        return spent / len(self._events) * 1e9

    def _recomputed(self, name: str) -> Callable[[], float]:
        counted = PEERS[name](self._events)
        self._note(counted())
        return lambda: nanoseconds_an_event(counted, len(self._events))

    def _note(self, cells: dict[str, int]) -> None:
        self.counts.add(tuple(cells[name] for name in CELLS))


def grown(events: int, pending: int) -> Measured:
    """CPU seconds of this program for a stream, and what it counts, while so many wait."""
    blocks, one = blocks_of(Made().events(events)), ThisMonitor()
    remember(one.monitor, pending)
    return cpu_seconds(lambda: [one.take(block) for block in blocks]), one.cells()


def growth(events: int, sizes: list[int], rounds: int) -> dict[int, float]:
    """CPU nanoseconds an event of this program, by how many predictions are pending.

    Raises:
        SystemExit: they do not count the same.
    """
    counts = set()

    def run(size: int) -> float:
        spent, cells = in_own_process(grown, events, size)
        counts.add(tuple(cells.values()))
        return spent / events * 1e9

    found = medians({str(size): partial(run, size) for size in sizes}, rounds)
    if len(counts) != 1:
        raise SystemExit(f"counts differ by what is pending: {sorted(counts)}")
    return {int(size): spent for size, spent in found.items()}


def present(names: list[str]) -> list[str]:
    """Without those whose library is not there, which is said."""
    missing = [name for name in names if name in OPTIONAL and find_spec(name) is None]
    for name in missing:
        print(f"{name} is not installed: left out")
    return [name for name in names if name not in missing]


def report(events: int, pending: list[int], rounds: int, names: list[str], many: int) -> None:
    """Print the tables."""
    print(machine("numpy", "msgspec", "orjson", "river", "pandas", "duckdb", *OPTIONAL))
    names = present(names)
    made = Made()
    stream, waiting = made.events(events), made.waiting(max(pending))
    for size in pending:
        with TemporaryDirectory() as folder:
            counted = Table(stream, waiting[:size], Path(folder))
            found = counted.measured(names, rounds)
        cells = dict(zip(CELLS, counted.counts.pop(), strict=True))
        base = found.get("monitor", min(found.values()))
        print(f"\n{events:,} events, {size:,} pending; every variant counts {cells}")
        rows = [(name, spent, f"{spent / base:.1f}x") for name, spent in found.items()]
        print(table(("", "ns an event", "beside the monitor"), rows))
    if many:
        sizes = [many // 10, many]
        spent = growth(events, sizes, rounds)
        rows = [(size, ns, f"{ns / spent[sizes[0]]:.2f}x") for size, ns in spent.items()]
        print("\nThe monitor by what is pending")
        print(table(("pending", "ns an event", "beside the first"), rows))


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--pending", type=int, nargs="+", default=[100_000, 1_000_000])
    parser.add_argument("--many", type=int, default=MANY, help="pending, for the monitor alone")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--variants", nargs="+", default=NAMES, choices=NAMES)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    options = parser.parse_args(arguments)
    if options.quick:
        report(2 * BLOCK, [BLOCK], 1, options.variants, 10 * BLOCK)
        return
    report(options.events, options.pending, options.rounds, options.variants, options.many)


if __name__ == "__main__":
    main()
