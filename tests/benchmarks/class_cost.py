"""What an event of a model of many classes costs, beside one of two, and what the matrix takes.

    python -m tests.benchmarks.class_cost [--cases N] [--rounds N] [--memory]

Predictions, each with a label minutes or an hour later, as NDJSON: decoded and counted in windows
of a day, a week and four weeks with panes of an hour. Seconds of CPU, the least of the rounds, in
each of which all kinds take their turn:

- an event, of N cases within an hour: nothing is mature, so they are decoded, joined and counted;
- a day of event time, of 20,000 cases within 30 days: detectors step over the panes of each class.

Last, the memory of the matrices of all panes and days of these 30 days.

With `--memory` that alone, for 5, 20 and 50 classes and 20,000 to N cases within 36 days: of all
panes and days, of the panes of each window, and by how much the whole process is larger than with
as many cases of a binary model, references and detectors of all classes included.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import resource
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.windows.running import COARSE, PaneRange

DAY = 86_400
DAYS = 30
HOUR = 3_600
_IN_ALL_DAYS = 20_000
_BLOCKS = 60
_REMEMBERED_DAYS = 36
_CELL = 16
"""Bytes of a cell that occurs in a pane."""
_RIGHT = 0.9


class Kind(NamedTuple):
    """A kind of model.

    Attributes:
        title: for people.
        names: of its classes; none for 0 and 1.
        scored: predictions have the scores of all classes, and no class.
    """

    title: str
    names: tuple[str, ...]
    scored: bool = False

    @property
    def config(self) -> Config:
        """Its configuration."""
        model = {"classes": self.names, "label_timeout": "2d", "maturity": "2h"}
        return Config(models={"m": model}, windows=["1d", "7d", "28d"], pane="1h")

    def blocks(self, cases: int, span: int) -> Iterator[bytes]:
        """Yield the events of so many cases within a span of seconds, in blocks."""
        rng, size = np.random.default_rng(cases), max(len(self.names), 2)
        names = self.names or (0, 1)
        actual = rng.integers(size, size=cases)
        wrong = (actual + rng.integers(1, size, size=cases)) % size
        predicted = np.where(rng.random(cases) < _RIGHT, actual, wrong).tolist()
        times = np.sort(rng.uniform(0, 0.9 * span, cases)).round(3)
        lines, delay = [], min(span / 10, HOUR)
        for row, (ts, a, p) in enumerate(
            zip(times.tolist(), actual.tolist(), predicted, strict=True)
        ):
            given = (
                {"scores": [round(0.9 if i == p else 0.1 / size, 4) for i in range(size)]}
                if self.scored
                else {"prediction": names[p]}
            )
            event = {"type": "prediction", "id": f"c{row}", "ts": ts, "model": "m", **given}
            label = {"type": "label", "id": f"c{row}", "ts": ts + delay, "label": names[a]}
            lines += [(ts, json.dumps(event)), (ts + delay, json.dumps(label))]
        lines.sort(key=lambda line: line[0])
        for block in range(_BLOCKS):
            own = lines[block * len(lines) // _BLOCKS : (block + 1) * len(lines) // _BLOCKS]
            yield ("\n".join(text for _, text in own) + "\n").encode()


def kinds() -> list[Kind]:
    """Return the kinds that are compared, the binary one first."""
    many = [tuple(f"class-{i}" for i in range(size)) for size in (2, 5, 50)]
    named = [Kind(f"{len(names)} named classes", names) for names in many]
    return [Kind("binary", ()), *named, Kind("5 named classes by scores", many[1], scored=True)]


def cost(kind: Kind, blocks: Iterable[bytes]) -> tuple[float, Monitor]:
    """Return seconds of CPU, and the monitor that counted the events."""
    config = kind.config
    monitor, decoder = Monitor(config), Decoder(DecodeSettings.from_config(config))
    began = time.process_time()
    for block in blocks:
        monitor.apply(decoder.decode_lines(block, source="events"))
    return time.process_time() - began, monitor


def named(size: int) -> Kind:
    """Return a kind of model with so many classes; two are 0 and 1."""
    names = tuple(f"class-{i}" for i in range(size)) if size > len("01") else ()
    return Kind(f"{size} classes", names)


class Memory(NamedTuple):
    """What a monitor takes.

    Attributes:
        everything: bytes of the matrices of all panes and days.
        windows: of the panes of each window, by its name; none of a binary model.
        process: bytes of the process after a snapshot.
    """

    everything: int
    windows: Mapping[str, int]
    process: int


def write(blocks: Iterable[bytes], folder: Path) -> None:
    """Write blocks of events, a file each, which a process reads one by one."""
    for number, block in enumerate(blocks):
        (folder / f"{number:03}.ndjson").write_bytes(block)


def memory(size: int, folder: Path) -> Memory:
    """Return what a monitor takes that counted the events of some files.

    Args:
        size: number of classes.
        folder: of the files, a block each.
    """
    kind = named(size)
    _, monitor = cost(kind, (path.read_bytes() for path in sorted(folder.iterdir())))
    windows = {}
    for window in monitor.snapshot().windows if kind.names else ():
        bounds = (int(end[0]) // 1000 // HOUR for end in (window.open, window.close))
        entries = monitor.classes.entries(0, PaneRange(COARSE, *bounds))
        windows[window.name] = _CELL * len(entries.cases)
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return Memory(monitor.classes.nbytes, windows, pages * resource.getpagesize())


def print_memory(most_cases: int) -> None:
    """Print a line for each number of classes and cases, each of a process of its own."""
    start = multiprocessing.get_context("spawn")
    for cases in sorted({_IN_ALL_DAYS, most_cases}):
        found = []
        for size in (2, 5, 20, 50):
            with TemporaryDirectory() as folder, start.Pool(1) as pool:
                write(named(size).blocks(cases, _REMEMBERED_DAYS * DAY), Path(folder))
                found.append(pool.apply(memory, (size, Path(folder))))
        binary, *many = found
        for size, one in zip((5, 20, 50), many, strict=True):
            windows = ", ".join(f"{name} {n / 1e6:.3f}" for name, n in one.windows.items())
            sys.stdout.write(
                f"{size:2} classes, {cases:9,} cases: MB of all panes and days "
                f"{one.everything / 1e6:.2f}; of the panes of {windows}; of the process "
                f"{(one.process - binary.process) / 1e6:+.0f} beside a binary model\n"
            )
            sys.stdout.flush()


def main() -> None:
    """Measure, and print a line for each kind."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--memory", action="store_true", help="of matrices, by window")
    options = parser.parse_args()
    if options.memory:
        print_memory(options.cases)
        return
    within = {kind: list(kind.blocks(options.cases, HOUR)) for kind in kinds()}
    rounds = [
        {kind: cost(kind, blocks)[0] for kind, blocks in within.items()}
        for _ in range(options.rounds)
    ]
    events = {kind: min(one[kind] for one in rounds) / (2 * options.cases) for kind in within}
    for kind, an_event in events.items():
        days = list(kind.blocks(_IN_ALL_DAYS, DAYS * DAY))
        seconds, monitor = min(
            (cost(kind, days) for _ in range(options.rounds)), key=lambda found: found[0]
        )
        sys.stdout.write(
            f"{kind.title:28}{1e6 * an_event:8.2f} µs an event "
            f"{an_event / next(iter(events.values())):6.2f} x binary "
            f"{1e3 * seconds / DAYS:9.1f} ms a day "
            f"{monitor.classes.nbytes / 1e6:8.2f} MB\n"
        )
        sys.stdout.flush()


if __name__ == "__main__":
    main()
