"""CPU time of each stage of a run, measured in the real run.

    python -m tests.benchmarks.stages [--events N] [--pending N]

Methods of the stages are wrapped from the outside, so that each says how much CPU time
it took; what a stage within it took is its own. The rest is the engine's.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from functools import wraps
from inspect import isgeneratorfunction
from typing import Any

from monitor.engine import Monitor
from monitor.events.model_times import ModelTimes
from monitor.feeds.decode import Decoder
from monitor.feeds.decode.assemble import Assembler
from monitor.feeds.decode.scanning import Scanner
from monitor.join import Join
from monitor.join.compiled_rules import CompiledRules
from monitor.join.label_rules import LabelRules
from monitor.join.table import PredictionTable
from monitor.labels.delays import LabelDelays
from monitor.labels.maturity import Maturities
from monitor.watch import Watch
from monitor.windows import Windows
from monitor.windows.scores import Scores

from .made import BLOCK, Made, blocks_of, remember
from .speed import ThisMonitor
from .turns import machine, table

STAGES: dict[str, list[tuple[type[Any], str]]] = {
    "decode: other": [(Decoder, "decode_lines")],
    "decode: scan": [(Scanner, "scan")],
    "decode: lines to records": [(Decoder, "_whole"), (Decoder, "_line_by_line")],
    "decode: records to columns": [(Assembler, "assemble")],
    "join: rules": [(Join, "steps"), (Join, "advance"), (Join, "count"), (Join, "add")],
    "join: find": [(PredictionTable, "find")],
    "join: enter": [(PredictionTable, "append"), (CompiledRules, "remember")],
    "join: label": [(CompiledRules, "meet"), (LabelRules, "_put")],
    "windows": [(Windows, "apply"), (Windows, "advance")],
    "delays": [(LabelDelays, "apply"), (LabelDelays, "advance")],
    "scores": [(Scores, "apply"), (Scores, "advance")],
    "maturity": [(Maturities, "judged")],
    "watch": [(Watch, "steps")],
    "watermark": [(ModelTimes, "seeing"), (ModelTimes, "advance")],
    "engine": [(Monitor, "apply")],
}


_DONE = object()
"""Result of a generator without a further step."""


class Stages:
    """CPU nanoseconds by stage, what is nested counted once.

    Attributes:
        spent: by stage.
    """

    def __init__(self) -> None:
        self.spent: dict[str, int] = defaultdict(int)
        self._nested = [0]

    @contextmanager
    def watching(self) -> Iterator[None]:
        """While it lasts the stages are timed."""
        found = [(stage, owner, name) for stage, all_ in STAGES.items() for owner, name in all_]
        plain = [(owner, name, getattr(owner, name)) for _, owner, name in found]
        try:
            for stage, owner, name in found:
                setattr(owner, name, self._timed(stage, getattr(owner, name)))
            yield
        finally:
            for owner, name, method in plain:
                setattr(owner, name, method)

    def _timed(self, stage: str, method: Any) -> Any:
        if isgeneratorfunction(method):

            @wraps(method)
            def stepped(*args: Any, **kwargs: Any) -> Any:
                steps = method(*args, **kwargs)
                while True:
                    with self._measured(stage):
                        step = next(steps, _DONE)
                    if step is _DONE:
                        return
                    yield step

            return stepped

        @wraps(method)
        def timed(*args: Any, **kwargs: Any) -> Any:
            with self._measured(stage):
                return method(*args, **kwargs)

        return timed

    @contextmanager
    def _measured(self, stage: str) -> Iterator[None]:
        self._nested.append(0)
        began = time.thread_time_ns()
        try:
            yield
        finally:
            whole = time.thread_time_ns() - began
            self.spent[stage] += whole - self._nested.pop()
            self._nested[-1] += whole


def profile(events: int, pending: int) -> dict[str, float]:
    """CPU nanoseconds an event by stage, in the order of the flow; stages that run alone."""
    blocks, one, stages = blocks_of(Made().events(events)), ThisMonitor(), Stages()
    remember(one.monitor, pending)
    with stages.watching():
        for block in blocks:
            one.take(block)
    return {stage: stages.spent[stage] / events for stage in STAGES if stage in stages.spent}


def main(arguments: list[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--events", type=int, default=300_000)
    parser.add_argument("--pending", type=int, default=1_000_000)
    parser.add_argument("--quick", action="store_true", help="small sizes")
    options = parser.parse_args(arguments)
    if options.quick:
        options.events, options.pending = 2 * BLOCK, BLOCK
    print(machine("numpy", "msgspec"))
    found = profile(options.events, options.pending)
    whole = sum(found.values())
    print(f"\nCPU time by stage: {options.events:,} events, {options.pending:,} pending")
    rows = [(stage, spent, f"{spent / whole:.0%}") for stage, spent in found.items()]
    print(table(("stage", "ns an event", "share"), [*rows, ("all", whole, "100%")]))


if __name__ == "__main__":
    main()
