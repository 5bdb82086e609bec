"""Cost of an event as models, segments, windows, pending and rate grow.

    python -m tests.benchmarks.slopes [--events N]

The slope is the exponent of the cost in what grows: 0 is flat, 1 is linear. What a pane
costs when it closes is paid for by the events of the pane: a sparse stream pays more
for each.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from typing import NamedTuple

from monitor.config import Config

from .made import BLOCK, Made, blocks_of, remember
from .speed import ThisMonitor
from .turns import cpu_seconds, machine, medians, table

WINDOWS = ("5m", "15m", "1h", "3h", "6h", "12h", "1d", "7d")
_FLAT = 0.15
_LINEAR = 1.15


class Case(NamedTuple):
    """One point of a slope.

    Attributes:
        size: of what grows.
        made: the stream.
        windows: how many.
        pending: predictions that wait from the start.
    """

    size: float
    made: Made
    windows: int = 3
    pending: int = 100_000


SLOPES: dict[str, list[Case]] = {
    "models": [Case(n, Made(models=n)) for n in (1, 20, 500)],
    "segment values (none, 2 keys of 50, of 707)": [
        Case(1 + n * values, Made(models=1, keys=n, values=values))
        for n, values in ((0, 50), (2, 50), (2, 707))
    ],
    "windows": [Case(n, Made(), windows=n) for n in (1, 3, 8)],
    "pending": [Case(n, Made(), pending=n) for n in (10_000, 100_000, 1_000_000)],
    "seconds between predictions": [Case(1 / r, Made(rate=r)) for r in (5000, 100, 4)],
}


def nanoseconds(case: Case, events: int) -> Callable[[], float]:
    """CPU time of an event."""
    blocks = blocks_of(case.made.events(events))
    keys = [f"key-{number}" for number in range(case.made.keys)]
    config = Config(
        defaults={"label_timeout": "30d", "segments": keys},
        windows=list(WINDOWS[: case.windows]),
    )

    def run() -> float:
        one = ThisMonitor(config)
        remember(one.monitor, case.pending, case.made.keys)
        return cpu_seconds(lambda: [one.take(block) for block in blocks]) / events * 1e9

    return run


def slope(cases: list[Case], costs: list[float]) -> float:
    """Exponent of the cost from the first point to the last."""
    return math.log(costs[-1] / costs[0]) / math.log(cases[-1].size / cases[0].size)


def growth(exponent: float) -> str:
    """Describe an exponent of growth.

    >>> [growth(exponent) for exponent in (0.02, 0.5, 1.0, 2.0)]
    ['flat', 'less than linear', 'linear', 'worse than linear']
    """
    if exponent <= _FLAT:
        return "flat"
    if exponent > _LINEAR:
        return "worse than linear"
    return "linear" if exponent > 1 - _FLAT else "less than linear"


def report(events: int, rounds: int, most_pending: int) -> None:
    """Print the table."""
    rows = []
    for name, all_cases in SLOPES.items():
        cases = [case for case in all_cases if case.pending <= most_pending]
        work = {str(case.size): nanoseconds(case, events) for case in cases}
        costs = list(medians(work, rounds).values())
        exponent = slope(cases, costs)
        points = ", ".join(f"{c.size:g}: {cost:.0f}" for c, cost in zip(cases, costs, strict=True))
        rows.append((name, points, f"{exponent:.2f}", growth(exponent)))
    print(f"\nCPU nanoseconds an event as one thing grows, {events:,} events")
    print(table(("", "size: ns an event", "slope", ""), rows))


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=100_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--quick", action="store_true", help="small sizes, one round")
    options = parser.parse_args(arguments)
    print(machine("numpy", "msgspec"))
    if options.quick:
        report(BLOCK, 1, 100_000)
    else:
        report(options.events, options.rounds, 1_000_000)


if __name__ == "__main__":
    main()
