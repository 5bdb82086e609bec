"""Starts on the states that a crash can leave on disk, and compares each with a recount.

nice python tests/benchmarks/crash_states.py --states 10000

Requests, a followed file, checkpoints and reloads are scripted by a seed. Before each call that
changes a file, directory or its durability, states are built that the disk may have if the
machine stops there: with all that was written, with nothing unsynced, and some between, in which
writes are torn, reordered and left out. A start on each counts all that was acknowledged, once.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import closing
from hashlib import blake2b
from itertools import count
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from simulator.crash_content import Tree, write_tree
from simulator.disk import DONE, Outcome
from simulator.process import Process
from simulator.world import Steps, World


class CrashStates(World):
    """A script that is interrupted by starts on copies of its disk.

    Args:
        seed: decides the script and the states.
        folder: an empty directory.
        most: number of states after which no more are built.
        each: states that are drawn before each call, besides the two extremes.

    Attributes:
        states: number of distinct states started on.
        calls: number of calls before which states were built.
    """

    def __init__(self, seed: int, folder: Path, most: int, each: int = 3) -> None:
        super().__init__(seed, folder, troubled=False)
        self._copy, self._most, self._each = folder / "copy", most, each
        self._drawing = Random(f"states {seed}")
        self._seen: set[bytes] = set()
        self.states = self.calls = 0

    def _before(self, call: str, path: str) -> Outcome:
        if self.states < self._most:
            self.calls += 1
            left = [self.disk.left(self._drawing) for _ in range(self._each)]
            for tree in (self.disk.content, self.disk.left(), *left):
                self._check_state(tree, f"before call {self.disk.calls}, {call} of {path}")
        return DONE

    def _check_state(self, tree: Tree, where: str) -> None:
        digest = blake2b(repr(tree).encode()).digest()
        if digest in self._seen or self.states >= self._most:
            return
        self._seen.add(digest)
        self.states += 1
        write_tree(tree, self._copy)
        clock = Steps(self.clock.now())
        try:
            with closing(Process(self.config(self._copy / "state"), clock)) as process:
                process.assert_undamaged()
                process.settle()
                self.ledger.check(process.counts())
        except Exception as error:
            error.add_note(f"{where}; state {self.states}")
            raise


def check_states(seed: int, most: int) -> CrashStates:
    """Start on the states of one script, at most so many.

    Args:
        seed: decides the script and the states.
        most: number of states.

    Raises:
        AssertionError: something was lost or counted twice; its notes name seed and call.
    """
    with tempfile.TemporaryDirectory() as folder:
        script = CrashStates(seed, Path(folder), most)
        try:
            script.run()
        except BaseException as error:
            error.add_note(f"tests/benchmarks/crash_states.py --seed {seed}")
            raise
    return script


def main() -> None:
    """Start on so many states of as many scripts as it takes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--states", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    began, states, calls = time.monotonic(), 0, 0
    for seed in count(args.seed):
        script = check_states(seed, args.states - states)
        states, calls = states + script.states, calls + script.calls
        print(f"seed {seed}: {script.states} states before {script.calls} calls", flush=True)
        if states >= args.states:
            break
    print(f"{states} states of {calls} calls, {time.monotonic() - began:.0f} s: none lost, doubled")


if __name__ == "__main__":
    main()
