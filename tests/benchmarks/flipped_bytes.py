"""Damages every byte of every file of a state directory, one at a time, and starts on each.

nice python tests/benchmarks/flipped_bytes.py            # every byte; some minutes
python tests/benchmarks/flipped_bytes.py --every 100     # every hundredth

A start says what is damaged, and counts what it counted before, or is refused.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).parents[1]))

from simulator.crash_content import Tree, read_tree, write_tree
from simulator.process import Counts, Process, reproducible

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.errors import MonitorError

NOW = 1_700_000_000
SEGMENT_BYTES = 900
REQUESTS, CHECKPOINTS = 9, (3, 6)
"""Requests, and how many came before each checkpoint."""
UNCHECKED = ("dead-letter.ndjson",)
"""Files that nothing is counted from."""


class StateOnDisk:
    """A state directory after a kill: two checkpoints, and a journal that goes on behind them.

    Args:
        folder: where all is; its directory `state` is the state.

    Attributes:
        tree: the state directory.
        counts: what a start on it counts.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "events.ndjson"
        self._file.touch()
        clock, config = ManualClock(NOW), self._config()
        process = Process(config, clock)
        process.settle()
        for number in range(REQUESTS):
            for body in (_lines(number), b'{"type":"none"}\n'):
                done = process.post(body)
                process.write()
                done.result(0)
            with self._file.open("ab") as file:
                file.write(_lines(100 + number))
            process.settle()
            if number + 1 in CHECKPOINTS:
                clock.sleep(3600)
                process.settle()
        process.close()
        self.tree = read_tree(folder / "state")
        self.counts, self.said = self.start(self.tree)
        assert sum(self.counts.cells.values()) == 2 * 2 * 2 * REQUESTS
        assert len(self.tree["checkpoints"]) == len(CHECKPOINTS)
        assert len(self.tree["journal"]) > len(CHECKPOINTS)

    def start(self, tree: Tree) -> tuple[Counts, list[str]]:
        """Start on a state directory; return what it counts, and what it says of faults.

        Raises:
            MonitorError: the start is refused.
        """
        write_tree(tree, self._folder / "state")
        process = Process(self._config(), ManualClock(NOW + 9000))
        try:
            process.settle()
            counts, faults = process.counts(), process.faults.counts
            return counts, process.said if any(faults.values()) else []
        finally:
            process.close()

    def _config(self) -> Config:
        return Config(
            feeds=[
                {"type": "file", "path": str(self._file), "follow": True},
                {"type": "http", "listen": "127.0.0.1:0"},
            ],
            state={"directory": str(self._folder / "state"), "checkpoint_every": "1h"},
            defaults={"segments": ["k"]},
            windows=["1h"],
        )


def _lines(number: int) -> bytes:
    """A prediction, its label, and an outcome without an id: one that came twice would show."""
    identity = f"p{number}"
    segment = {"k": "xy"[number % 2]}
    events = [
        {"type": "prediction", "id": identity, "ts": NOW + number, "prediction": number % 2}
        | {"segment": segment},
        {"type": "label", "id": identity, "ts": NOW + 9, "label": number % 3 == 0},
        {"type": "outcome", "ts": NOW, "prediction": 1, "label": number % 2, "segment": segment},
    ]
    return b"".join(json.dumps(event).encode() + b"\n" for event in events)


def files_of(tree: Tree, above: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], bytes]]:
    """Yield the path and content of each file."""
    for name, found in tree.items():
        if isinstance(found, bytes):
            yield (*above, name), found
        else:
            yield from files_of(found, (*above, name))


def replaced(tree: Tree, path: tuple[str, ...], content: bytes) -> Tree:
    """A tree with another content of one file."""
    name, *rest = path
    below = replaced(tree[name], tuple(rest), content) if rest else content
    return {**tree, name: below}


def check_byte(state: StateOnDisk, path: tuple[str, ...], offset: int, change: int) -> str:
    """Damage one byte and start; return what became of it.

    Raises:
        AssertionError: other counts, or not a word about the damage.
    """
    content = bytearray(dict(files_of(state.tree))[path])
    content[offset] ^= change
    where = f"{'/'.join(path)}, byte {offset}, exclusive or {change}"
    try:
        counts, said = state.start(replaced(state.tree, path, bytes(content)))
    except MonitorError as error:
        text = str(error)
    else:
        text = ""
    if text:
        assert path[-1] in text, f"{where}: {text}"
        return "refused"
    assert counts == state.counts, where
    if path[-1] in UNCHECKED:
        return "not noticed, and not counted from"
    assert any(path[0].rstrip("s") in line for line in said), f"{where}: {said}"
    return "recovered"


def check(folder: Path, every: int, seed: int, only: str = "") -> Counter[tuple[str, str]]:
    """Damage bytes of every file; return how many of each file had which end.

    Args:
        folder: an empty directory.
        every: one byte in so many is damaged, drawn anew for each.
        seed: decides which bytes, and how each is changed.
        only: damage this file alone.
    """
    chance = Random(seed)
    ends: Counter[tuple[str, str]] = Counter()
    with reproducible(chance, SEGMENT_BYTES):
        state = StateOnDisk(folder)
        for path, content in files_of(state.tree):
            if only and path[-1] != only:
                continue
            for first in range(0, len(content), every):
                offset = min(first + chance.randrange(every), len(content) - 1)
                change = chance.choice([1 << chance.randrange(8), chance.randrange(1, 256)])
                ends["/".join(path), check_byte(state, path, offset, change)] += 1
    return ends


def main() -> None:
    """Damage bytes, and print what became of them."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="damage this file alone")
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        ends = check(Path(folder), args.every, args.seed, args.only)
    for (path, end), count in sorted(ends.items()):
        print(f"{path}: {count} {end}")
    print(f"{ends.total()} bytes in {time.monotonic() - began:.0f} s, none with other counts")


if __name__ == "__main__":
    main()
