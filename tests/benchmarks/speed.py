"""The main job beside what users would otherwise write: NDJSON bytes to updated counters.

    python -m tests.benchmarks.speed [--events N] [--pending N]

One process, one core, CPU time, variants in turn, the median of several rounds.
Input is made from a seed: predictions of 20 models with ids of 36 characters, and
labels that come two and a half minutes later in the median, a hundred predictions a
second. Before the clock starts, every variant remembers the same number of pending
predictions. All must agree on every count, or nothing is printed.

    plain      json, a dictionary, river's confusion matrix, prometheus_client counters
    windows    the same with river's TimeRolling of 5 minutes, 1 hour and 1 day
    careful    orjson to dictionaries, a dictionary of pending ones, a list of integers:
               no windows, no duplicates, no revisions, no metrics
    lines      the same with msgspec, which decodes all lines of a block at once
    monitor    this program: join, windows, delays, score histograms, detectors
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import platform
import random
import statistics
import time
import uuid
from collections.abc import Callable, Iterable
from importlib.metadata import version

import msgspec
from prometheus_client import CollectorRegistry, Counter
from river import metrics as river_metrics
from river import utils as river_utils

from monitor.config import Config
from monitor.engine import Monitor
from monitor.feeds.decode import Decoder, DecodeSettings

MODELS = 20
RATE = 100.0
BLOCK = 10_000
START = 1_700_000_000.0
CELLS = ("tp", "fp", "fn", "tn")


def stream(events: int, pending: int, seed: int = 1) -> tuple[bytes, list[bytes]]:
    """Predictions that wait from the start, and blocks of lines in order of time."""
    chance = random.Random(seed)
    waiting = [_prediction(chance, START - 60.0 + i * 1e-5) for i in range(pending)]
    lines: list[tuple[float, dict]] = []
    moment = START
    while len(lines) < events * 1.7:
        moment += 1 / RATE
        prediction = _prediction(chance, round(moment, 3))
        lines.append((moment, prediction))
        if chance.random() < 0.75:  # the others never get a label
            delay = chance.lognormvariate(5.0, 1.5)
            truth = int(chance.random() < (0.6 if prediction["prediction"] else 0.05))
            label = {"type": "label", "id": prediction["id"], "ts": round(moment + delay, 3)}
            lines.append((moment + delay, label | {"label": truth}))
    lines.sort(key=lambda line: line[0])
    encode = msgspec.json.Encoder().encode
    bodies = [encode(event) + b"\n" for _, event in lines[:events]]
    blocks = [b"".join(bodies[i : i + BLOCK]) for i in range(0, events, BLOCK)]
    return b"".join(encode(event) + b"\n" for event in waiting), blocks


def _prediction(chance: random.Random, ts: float) -> dict:
    score = round(chance.betavariate(0.5, 3.0), 4)
    return {
        "type": "prediction",
        "id": str(uuid.UUID(int=chance.getrandbits(128), version=4)),
        "ts": ts,
        "score": score,
        "prediction": int(score >= 0.5),
        "model": f"model-{chance.randrange(MODELS)}",
    }


class Plain:
    """What a team writes first."""

    windows: tuple[dt.timedelta, ...] = ()

    def __init__(self) -> None:
        self.pending: dict[str, dict] = {}
        self.matrices: dict[str, river_metrics.ConfusionMatrix] = {}
        self.rolling: dict[str, list] = {}
        self.total = Counter("outcomes", "by cell", ["model", "cell"], registry=CollectorRegistry())
        self.counts = dict.fromkeys(CELLS, 0)

    def take(self, block: bytes) -> None:
        """Count a block of lines."""
        for line in block.splitlines():
            event = json.loads(line)
            if event["type"] == "prediction":
                self.pending[event["id"]] = event
                continue
            prediction = self.pending.pop(event["id"], None)
            if prediction is not None:
                self._count(prediction, event)

    def _count(self, prediction: dict, label: dict) -> None:
        model, says, is_ = prediction["model"], prediction["prediction"], label["label"]
        matrix = self.matrices.setdefault(model, river_metrics.ConfusionMatrix())
        matrix.update(is_, says)
        cell = CELLS[(not says) * 2 + (says != is_ if says else not is_)]
        self.total.labels(model, cell).inc()
        self.counts[cell] += 1
        if self.windows:
            moment = dt.datetime.fromtimestamp(label["ts"], dt.UTC).replace(tzinfo=None)
            for rolling in self._rolling(model):
                rolling.update(is_, says, t=moment)

    def _rolling(self, model: str) -> list:
        if model not in self.rolling:
            self.rolling[model] = [
                river_utils.TimeRolling(river_metrics.Precision, period=period)
                for period in self.windows
            ]
        return self.rolling[model]

    def cells(self) -> dict[str, int]:
        """Outcomes by cell, over all models."""
        return self.counts


class PlainWindows(Plain):
    """The same, with the windows that people ask for next."""

    windows = (dt.timedelta(minutes=5), dt.timedelta(hours=1), dt.timedelta(days=1))


class Careful:
    """What a careful team writes: a fast decoder, few objects, integers."""

    def __init__(self) -> None:
        self.pending: dict[str, tuple[str, int]] = {}
        self.tables: dict[str, list[int]] = {}

    def take(self, block: bytes) -> None:
        """Count a block of lines."""
        pending, tables = self.pending, self.tables
        for event in self.events(block):
            if event["type"] == "prediction":
                pending[event["id"]] = (event["model"], event["prediction"])
                continue
            known = pending.pop(event["id"], None)
            if known is not None:
                table = tables.setdefault(known[0], [0, 0, 0, 0])
                says, is_ = known[1], event["label"]
                table[(not says) * 2 + (says != is_ if says else not is_)] += 1

    def events(self, block: bytes) -> Iterable[dict]:
        """Events of a block, decoded."""
        from orjson import loads  # noqa: PLC0415  # needed here alone

        return map(loads, block.splitlines())

    def cells(self) -> dict[str, int]:
        """Outcomes by cell, over all models."""
        sums = [sum(column) for column in zip(*self.tables.values(), strict=True)]
        return dict(zip(CELLS, sums, strict=True))


class CarefulLines(Careful):
    """The same with a decoder that takes many lines at once."""

    decoder = msgspec.json.Decoder()

    def events(self, block: bytes) -> Iterable[dict]:
        """Events of a block, decoded."""
        return self.decoder.decode_lines(block)


class ThisMonitor:
    """This program, by the path that files take."""

    def __init__(self) -> None:
        config = Config(defaults={"label_timeout": "30d"})
        self.monitor = Monitor(config)
        self.decoder = Decoder(DecodeSettings.from_config(config))

    def take(self, block: bytes) -> None:
        """Count a block of lines."""
        self.monitor.apply(self.decoder.decode_lines(block, source="", first_line=1))

    def cells(self) -> dict[str, int]:
        """Outcomes by cell, over all models."""
        snapshot = self.monitor.snapshot()
        rows = [model.row for model in snapshot.models]
        counts = snapshot.lifetime.counts[rows].sum()
        return {name: int(getattr(counts, name)) for name in CELLS}


VARIANTS: dict[str, Callable[[], Plain | Careful | ThisMonitor]] = {
    "plain": Plain,
    "windows": PlainWindows,
    "careful": Careful,
    "lines": CarefulLines,
    "monitor": ThisMonitor,
}


def measured(name: str, waiting: bytes, blocks: list[bytes]) -> tuple[float, dict[str, int]]:
    """CPU nanoseconds an event, and what was counted."""
    variant = VARIANTS[name]()
    lines = waiting.splitlines(keepends=True)
    for start in range(0, len(lines), BLOCK):
        variant.take(b"".join(lines[start : start + BLOCK]))
    events = sum(block.count(b"\n") for block in blocks)
    started = time.process_time()
    for block in blocks:
        variant.take(block)
    spent = time.process_time() - started
    return spent / events * 1e9, variant.cells()


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--pending", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--variants", nargs="+", default=list(VARIANTS), choices=list(VARIANTS))
    options = parser.parse_args()
    waiting, blocks = stream(options.events, options.pending)
    found: dict[str, list[float]] = {name: [] for name in options.variants}
    counts = set()
    for _ in range(options.rounds):
        for name in options.variants:
            spent, cells = measured(name, waiting, blocks)
            found[name].append(spent)
            counts.add(tuple(cells[cell] for cell in CELLS))
    if len(counts) != 1:
        raise SystemExit(f"the variants disagree: {sorted(counts)}")
    _print(options, found, counts.pop())


def _print(options: argparse.Namespace, found: dict[str, list[float]], cells: tuple) -> None:
    packages = ", ".join(f"{p} {version(p)}" for p in ("numpy", "msgspec", "orjson", "river"))
    print(f"Python {platform.python_version()}, {packages}; {platform.machine()}")
    print(
        f"{options.events:,} events, {options.pending:,} pending; every variant counts "
        f"{dict(zip(CELLS, cells, strict=True))}"
    )
    median = {name: statistics.median(times) for name, times in found.items()}
    base = median.get("monitor", min(median.values()))
    print(f"{'':>10} {'ns an event':>12} {'beside the monitor':>20}")
    for name, spent in median.items():
        print(f"{name:>10} {spent:12.0f} {spent / base:19.1f}x")


if __name__ == "__main__":
    main()
