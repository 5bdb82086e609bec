"""Damages every byte of every file of a state directory, one at a time, and starts on each.

nice python tests/benchmarks/flipped_bytes.py            # every byte; half an hour
python tests/benchmarks/flipped_bytes.py --every 100     # every hundredth

A start says what is damaged, and counts what it counted before, or is refused. Of a damaged
checkpoint, a start knows that it is damaged, and nothing else: each byte of it is read, and one
in `STARTED` is started on.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from simulator.counts import DAY, EVENT, Counts, Truth
from simulator.crash_content import Tree, read_tree, write_tree
from simulator.events import ALL, BINARY, CLASSES, MANY, SHADOWS, is_shadow
from simulator.process import Process, reproducible
from simulator.world import lines_of

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.errors import MonitorError
from monitor.state import JOURNAL, Checkpoints
from monitor.state.checkpoints import read_checkpoint
from monitor.state.encoding import DamagedError

NOW = 1_700_000_000
SEGMENT_BYTES = 900
REQUESTS, CHECKPOINTS = 9, (3, 6)
"""Requests, and how many came before each checkpoint."""
STARTED = 50
"""Of so many damaged bytes of a checkpoint, one is started on."""
UNCHECKED = ("dead-letter.ndjson",)
"""Files that nothing is counted from."""


class Damage(NamedTuple):
    """One byte that is changed.

    Attributes:
        path: of its file, in the state directory.
        offset: of the byte.
        change: bits that are changed.
    """

    path: tuple[str, ...]
    offset: int
    change: int

    def __str__(self) -> str:
        return f"{'/'.join(self.path)}, byte {self.offset}, exclusive or {self.change}"

    def of(self, content: bytes) -> bytes:
        """Return the content of the file with it."""
        found = bytearray(content)
        found[self.offset] ^= self.change
        return bytes(found)


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
            for body in (lines_of(_events(number)), b'{"type":"none"}\n'):
                done = process.post(body)
                process.write()
                done.result(0)
            with self._file.open("ab") as file:
                file.write(lines_of(_events(100 + number)))
            process.settle()
            if number + 1 in CHECKPOINTS:
                clock.sleep(3600)
                process.settle()
        process.close()
        self.tree = read_tree(folder / "state")
        self.counts, self.said = self.start(self.tree)
        assert self.counts == self._expected()
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

    def covers(self, damage: Damage) -> bool:
        """Whether both checkpoints cover a byte of the journal, so that no start reads it."""
        checkpoints = Checkpoints(self._folder / "state" / "checkpoints")
        checkpoints.newest()
        since = checkpoints.older_positions[JOURNAL]
        segment = int(Path(damage.path[-1]).stem)
        return damage.path[0] == JOURNAL and (segment, damage.offset) < (
            since["segment"],
            since["offset"],
        )

    def _config(self) -> Config:
        return Config(
            feeds=[
                {"type": "file", "path": str(self._file), "follow": True},
                {"type": "http", "listen": "127.0.0.1:0"},
            ],
            state={"directory": str(self._folder / "state"), "checkpoint_every": "1h"},
            **ALL.settings(label_timeout="30d", maturity="1h"),
            windows=["1h"],
        )

    def _expected(self) -> Counts:
        numbers = [n for first in (0, 100) for n in range(first, first + REQUESTS)]
        events = [event for number in numbers for event in _events(number)]
        kinds = Counter((EVENT, "shadow" if is_shadow(one) else one["type"]) for one in events)
        rejected = Counter({(EVENT, "rejected"): REQUESTS})
        return Truth(events, 30 * DAY).counts() | kinds | rejected


def _events(number: int) -> list[dict]:
    """Predictions, labels, an audit, and outcomes without an id: what came twice would show."""
    name, at = f"p{number}", {"model": BINARY, "version": "1", "segment": {"k": "xy"[number % 2]}}
    made = {"type": "prediction", "id": name, "ts": NOW + number, "prediction": number % 2, **at}
    label = {"type": "label", "id": name, "ts": NOW + 9}
    many = {"model": MANY, "ts": NOW + number, "prediction": CLASSES[number % 3]}
    return [
        made,
        made | {"version": SHADOWS[0], "prediction": 1},
        label | {"label": int(number % 3 == 0)},
        label | {"label": 1, "audit": True},
        {"type": "outcome", "ts": NOW, "prediction": 1, "label": number % 2, **at},
        {"type": "prediction", "id": f"m{number}", **many},
        {"type": "label", "id": f"m{number}", "ts": NOW + 9, "label": CLASSES[number % 2]},
        {"type": "outcome", "label": CLASSES[2], **many},
    ]


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


def check_byte(state: StateOnDisk, damage: Damage) -> str:
    """Damage one byte and start; return what became of it.

    Raises:
        AssertionError: other counts, or not a word about the damage.
    """
    path, content = damage.path, dict(files_of(state.tree))[damage.path]
    try:
        counts, said = state.start(replaced(state.tree, path, damage.of(content)))
    except MonitorError as error:
        text = str(error)
    else:
        text = ""
    if text:
        assert path[-1] in text, f"{damage}: {text}"
        return "refused"
    assert counts == state.counts, damage
    if path[-1] in UNCHECKED or (not said and state.covers(damage)):
        return "not noticed, and not counted from"
    assert any(path[0].rstrip("s") in line for line in said), f"{damage}: {said}"
    return "recovered"


def read_byte(state: StateOnDisk, damage: Damage, file: Path) -> str:
    """Damage one byte of a checkpoint and read it, as a start does.

    Args:
        state: the state directory.
        damage: of a checkpoint.
        file: of the name of that checkpoint, elsewhere.

    Raises:
        AssertionError: it is read as if it were whole.
    """
    file.write_bytes(damage.of(dict(files_of(state.tree))[damage.path]))
    try:
        read_checkpoint(file)
    except DamagedError:
        return "known to be damaged"
    raise AssertionError(damage)


def check(
    folder: Path, every: int, seed: int, only: str = ""
) -> Iterator[tuple[str, Counter[str]]]:
    """Damage bytes of every file; yield each file's path, and how many of its bytes had which end.

    Args:
        folder: an empty directory.
        every: one byte in so many is damaged, drawn anew for each.
        seed: decides which bytes, and how each is changed.
        only: damage this file alone.
    """
    chance = Random(seed)
    with reproducible(chance, SEGMENT_BYTES):
        state = StateOnDisk(folder)
        for path, content in files_of(state.tree):
            if only and path[-1] != only:
                continue
            ends: Counter[str] = Counter()
            for first in range(0, len(content), every):
                offset = min(first + chance.randrange(every), len(content) - 1)
                change = chance.choice([1 << chance.randrange(8), chance.randrange(1, 256)])
                damage = Damage(path, offset, change)
                if path[0] == "checkpoints":
                    ends[read_byte(state, damage, folder / path[-1])] += 1
                    if chance.randrange(STARTED):
                        continue
                ends[check_byte(state, damage)] += 1
            yield "/".join(path), ends


def main() -> None:
    """Damage bytes, and print what became of those of a file once all of them are done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="damage this file alone")
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for path, ends in check(Path(folder), args.every, args.seed, args.only):
            done = ", ".join(f"{count} {end}" for end, count in sorted(ends.items()))
            print(f"{time.monotonic() - began:.0f} s: {path}: {done}", flush=True)
    print(f"{time.monotonic() - began:.0f} s, none with other counts")


if __name__ == "__main__":
    main()
