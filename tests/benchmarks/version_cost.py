"""What the versions of a model cost an event, with and without a version in it.

    python -m tests.benchmarks.version_cost [--events N] [--rounds N]

CPU time of NDJSON lines decoded and counted, 20 models, a hundred predictions a second. In each
round all kinds take their turn, each with a monitor of its own; a ratio is of two kinds in one
round, and the median of the rounds is printed with their quartiles:

    taken out   no version, and what `monitor` does for versions with a batch or a pane replaced by
                nothing: what an event costs without them
    none        no version
    named       predictions name one of two versions, a fifth of them the new one
    apart       the same, and `segments: [version]` counts both apart

Ratios of a busy machine scatter by more than 2 %. So the CPU time that passes inside of what `taken
out` lacks is printed, too, as a share of that of a stream without versions.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np

from monitor.config import Config
from monitor.events.intake import Received
from monitor.watch.version_news import VersionNews
from monitor.windows.pair_counts import PairCounts
from monitor.windows.version_counts import VersionCounts

from .made import Made, blocks_of
from .speed import ThisMonitor
from .turns import cpu_seconds, machine, table

NEW_SHARE = 0.2
KINDS = ("taken out", "none", "named", "apart")
RATIOS = (("none", "taken out"), ("named", "none"), ("apart", "none"), ("apart", "named"))
HOOKS: tuple[tuple[type[Any], str], ...] = (
    (Received, "_note_versions"),
    (VersionNews, "restarts"),
    *((counts, name) for counts in (VersionCounts, PairCounts) for name in ("apply", "advance")),
)
"""What is called for versions with a batch or a pane."""


@contextmanager
def without_versions() -> Iterator[None]:
    """Replace what is called for versions by nothing."""
    with ExitStack() as stack:
        for owner, name in HOOKS:
            stack.enter_context(patch.object(owner, name, lambda *_, **__: None))
        yield


def streams(events: int) -> dict[str, list[bytes]]:
    """Return the blocks of lines of each kind, from one seed."""
    made, chance = Made().events(events), random.Random(22)
    named = [
        event | {"version": "67"[chance.random() < NEW_SHARE]} if "score" in event else event
        for event in made
    ]
    plain, with_version = blocks_of(made), blocks_of(named)
    return {"taken out": plain, "none": plain, "named": with_version, "apart": with_version}


def spent(kind: str, blocks: list[bytes]) -> tuple[float, dict[str, int]]:
    """Return the CPU seconds of a kind, and what was counted.

    Args:
        kind: of `KINDS`.
        blocks: its lines.
    """
    defaults: dict[str, Any] = {"label_timeout": "30d"}
    if kind == "apart":
        defaults["segments"] = ["version"]
    with ExitStack() as stack:
        if kind == "taken out":
            stack.enter_context(without_versions())
        one = ThisMonitor(Config(defaults=defaults))
        seconds = cpu_seconds(lambda: [one.take(block) for block in blocks])
    return seconds, one.cells()


def measured(events: int, rounds: int) -> dict[str, list[float]]:
    """Return the CPU nanoseconds an event by kind, of each round.

    Args:
        events: of the stream.
        rounds: in each of which every kind runs once.

    Raises:
        SystemExit: they do not count the same.
    """
    lines, found = streams(events), {kind: [] for kind in KINDS}
    for number in range(rounds):
        counted = set()
        for kind in KINDS if number % 2 else KINDS[::-1]:
            seconds, cells = spent(kind, lines[kind])
            found[kind].append(seconds / events * 1e9)
            counted.add(tuple(cells.items()))
        if len(counted) != 1:
            raise SystemExit(f"the kinds disagree: {sorted(counted)}")
    return found


def share_inside(events: int) -> float:
    """Return the share of the CPU time of a stream without versions that `HOOKS` take.

    Args:
        events: of the stream.
    """
    inside = [0.0]

    def timed(hook: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **kwargs: Any) -> Any:
            began = time.thread_time()
            try:
                return hook(*args, **kwargs)
            finally:
                inside[0] += time.thread_time() - began

        return run

    with ExitStack() as stack:
        for owner, name in HOOKS:
            stack.enter_context(patch.object(owner, name, timed(getattr(owner, name))))
        seconds, _ = spent("none", streams(events)["none"])
    return inside[0] / seconds


def main(arguments: list[str] | None = None) -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=200_000)
    parser.add_argument("--rounds", type=int, default=21)
    options = parser.parse_args(arguments)
    print(machine("numpy", "msgspec"))
    found = measured(options.events, options.rounds)
    print(table(("", "ns an event"), [(kind, float(np.median(found[kind]))) for kind in KINDS]))
    rows = []
    for kind, beside in RATIOS:
        ratios = np.divide(found[kind], found[beside])
        low, middle, high = np.quantile(ratios, (0.25, 0.5, 0.75))
        rows.append((f"{kind} / {beside}", f"{middle:.3f}", f"{low:.3f} to {high:.3f}"))
    print(table(("ratio in a round", "median", "quartiles"), rows))
    print(f"inside of what is taken out: {share_inside(options.events):.2%} of the stream's time")


if __name__ == "__main__":
    main()
