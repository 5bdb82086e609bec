"""Simulates monitors, their disks, clocks and senders by chance, and compares with a recount.

nice python -m tests.benchmarks.simulate --seed 1 --minutes 60

Each seed is a world of its own, see `tests/simulator/world.py`: crashes and faults at any call,
torn and reordered writes, clocks that step, rotations, duplicates, late labels, reloads, damage.
The first seed that loses or doubles something ends the run, and fails again by `--seed`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from itertools import count
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from simulator.world import simulate

DAY_SECONDS = 86_400
SAY_EVERY = 100


class Total:
    """What happened in all worlds so far.

    Args:
        storm: see `simulator.world.World`.
    """

    def __init__(self, storm: int) -> None:
        self.began = time.monotonic()
        self._storm = storm
        self.worlds = 0
        self.seconds = 0.0
        self.happened: Counter[str] = Counter()

    def run(self, seed: int) -> None:
        """Simulate a seed.

        Raises:
            AssertionError: something was lost or counted twice.
        """
        with tempfile.TemporaryDirectory() as folder:
            world = simulate(seed, Path(folder), self._storm)
        self.worlds += 1
        self.seconds += world.seconds
        self.happened += world.happened

    @property
    def minutes(self) -> float:
        """Minutes of real time."""
        return (time.monotonic() - self.began) / 60

    def __str__(self) -> str:
        found = self.happened
        crashes = found["crash"] + found["kill"] + found["stop_machine"] + found["damage"]
        return (
            f"{self.worlds} worlds, {self.seconds / DAY_SECONDS:.1f} simulated days, {crashes} "
            f"crashes, {found['fault']} faults of calls, {found['short']} short writes, "
            f"{found['damage']} damaged bytes, {found['check']} comparisons, {self.minutes:.1f} min"
        )


def main() -> None:
    """Simulate seeds for some minutes, or so many."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1, help="the first")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seeds", type=int, help="so many, however long they take")
    parser.add_argument("--storm", type=int, default=2500, help="requests of a storm, at most")
    args = parser.parse_args()
    total = Total(args.storm)
    for seed in count(args.seed):
        if total.worlds == args.seeds or (args.seeds is None and total.minutes >= args.minutes):
            break
        total.run(seed)
        if total.worlds % SAY_EVERY == 0:
            print(f"seed {seed}: {total}", flush=True)
    print(f"seeds {args.seed} to {seed - 1}: {total}: none lost, none doubled")


if __name__ == "__main__":
    main()
