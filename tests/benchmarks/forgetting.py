"""The longest silence of the loop while a day of pending predictions is forgotten.

    python -m tests.benchmarks.forgetting [--pending 2000000]

All of them are made on one day. Then hours of few events pass until none is remembered. Measured is
the time between two steps of `Monitor.steps`: between them the loop gives its sign of life. Audits
and early labels are of the same ids; early labels wait for predictions that never come.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from monitor.clock import DAY_MS
from monitor.config import Config
from monitor.engine import Monitor
from monitor.events.columns import EventBatch, Group, Labels, Predictions

from .turns import machine, table

BATCH, LATER = 5_000, 200
"""Rows of a batch of the day, and of an hour after it."""
START_MS = 19_676 * DAY_MS
HOURS = 24 * 12
SHADOW = "1-shadow"
CONFIG = Config(
    defaults={
        "label_timeout": "3d",
        "label_errors": "audit",
        "segments": ["version"],
        "shadow_versions": [SHADOW],
    }
)
DECIDING, OF_SHADOW = Group("m", "1", ("1",)), Group("m", SHADOW, (SHADOW,))
KINDS = ("predictions", "shadow versions", "audits", "early labels")


class LongestStep(NamedTuple):
    """The longest step of all, by each measure.

    Attributes:
        cpu: CPU seconds of a step at most.
        wall: seconds of a step at most, by the wall clock.
        most: how many predictions a step forgot at most.
    """

    cpu: float
    wall: float
    most: int


def longest_step(kind: str, count: int) -> LongestStep:
    """Let a day of events be forgotten.

    Args:
        kind: what waits, of `KINDS`; with audits and shadow versions, as many predictions as well.
        count: how many there are.
    """
    chance, monitor = np.random.default_rng(1), Monitor(CONFIG)
    for batch in _day(kind, count, chance):
        monitor.apply(batch)
    steps = []
    for hour in range(HOURS):
        batch = _predictions(chance, _keys(chance, LATER), START_MS + DAY_MS + hour * DAY_MS // 24)
        before, (cpu, wall) = _remembered(monitor), _now()
        for _ in _steps(monitor, batch):
            then = _now()
            steps.append((then[0] - cpu, then[1] - wall, before - _remembered(monitor)))
            before, (cpu, wall) = _remembered(monitor), _now()
    return LongestStep(*map(max, zip(*steps, strict=True)))


def _steps(monitor: Monitor, batch: EventBatch) -> Iterator[None]:
    yield from monitor.steps(batch)
    yield


def _now() -> tuple[float, float]:
    return time.process_time(), time.perf_counter()


def _remembered(monitor: Monitor) -> int:
    join = monitor._stages.join
    return len(join._table) + len(join.shadows.store.table)


def _day(kind: str, count: int, chance: np.random.Generator) -> Iterator[EventBatch]:
    for first in range(0, count, BATCH):
        keys, at = _keys(chance, BATCH), START_MS + DAY_MS * first // count
        if kind == "early labels":
            yield EventBatch(labels=_labels(keys, at), records=BATCH)
            continue
        yield _predictions(chance, keys, at)
        if kind == "shadow versions":
            yield _predictions(chance, keys, at, OF_SHADOW)
        if kind == "audits":
            yield EventBatch(labels=_labels(keys, at, audit=True), records=BATCH)


def _keys(chance: np.random.Generator, rows: int) -> np.ndarray:
    return np.frombuffer(chance.bytes(8 * rows), np.uint64)


def _predictions(
    chance: np.random.Generator, keys: np.ndarray, at: int, group: Group = DECIDING
) -> EventBatch:
    predictions = Predictions(
        key=keys,
        time=np.full(len(keys), at),
        predicted_positive=chance.random(len(keys)) < 0.1,
        score=np.full(len(keys), np.nan),
        group=np.zeros(len(keys), np.int64),
    )
    return EventBatch(predictions=predictions, groups=(group,), records=len(keys))


def _labels(keys: np.ndarray, at: int, *, audit: bool = False) -> Labels:
    return Labels(
        key=keys,
        time=np.full(len(keys), at),
        value=np.full(len(keys), ~1 if audit else 1),
        sampling_probability=np.full(len(keys), np.nan),
    )


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pending", type=int, default=2_000_000)
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=KINDS)
    options = parser.parse_args(arguments)
    print(machine("numpy"))
    rows = []
    for kind in options.kinds:
        found = longest_step(kind, options.pending)
        rows.append((kind, options.pending, 1e3 * found.cpu, 1e3 * found.wall, found.most))
    print(table(("waiting", "how many", "CPU ms", "wall ms", "most forgotten"), rows))


if __name__ == "__main__":
    main()
