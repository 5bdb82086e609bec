"""Damages one place of a state directory at a time, starts on it, salvages it, starts on the copy.

nice python tests/benchmarks/salvaged_share.py --requests 20000
nice python tests/benchmarks/salvaged_share.py --requests 20000 --drawn 300 --seed 7

Of each kind of file the header, the middle and the end are damaged: one byte is changed, a block is
zeroed, cut out, there twice, or foreign bytes are inserted, and the end is cut off. `--drawn` adds
places, sizes and kinds by chance. A start on the damaged directory counts every request that the
damaged file still holds whole, or is refused and names `state salvage`; a start on the copy counts
every such request. Neither counts one that was not sent. Printed is the share of records that a
start on the copy counts, by file and damage.
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from random import Random
from typing import NamedTuple

sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks.flipped_bytes import files_of, replaced
from simulator.counts import EVENT, Counts
from simulator.crash_content import Tree, read_tree, write_tree
from simulator.process import Process, reproducible

from monitor.clock import ManualClock
from monitor.config import Config
from monitor.errors import MonitorError
from monitor.state import JOURNAL
from monitor.state.salvage import salvage
from monitor.state.segment import bodies_of, read_header
from monitor.state.segment_reading import read_frames

NOW = 1_700_000_000
RECORDS, GROUP = 4, 3
"""Records of a request, and requests that share a write to the journal."""
CHECKPOINTS, SEGMENTS = (0.3, 0.6), 8
"""When checkpoints are written, as shares of the requests; segments of the journal, about."""
RECORD = (EVENT, "label")
"""An outcome with an id is a prediction and its label."""
BLOCKS = (1, 512, 4096)
KINDS = ("flip", "zero", "truncate", "cut", "duplicate", "insert")
PLACES = ("header", "middle", "end")
LEAST = 0.999
"""Share of the records that no single damage of a block may get below."""


class BlockDamage(NamedTuple):
    """A damage of one block.

    Attributes:
        path: its file, in the state directory.
        kind: of `KINDS`.
        offset: of its first byte.
        size: its bytes; of "flip" one is changed.
    """

    path: tuple[str, ...]
    kind: str
    offset: int
    size: int

    def __str__(self) -> str:
        return f"{self.kind} {self.size} bytes at {self.offset} of {'/'.join(self.path)}"

    def of(self, content: bytes) -> bytes:
        """Return the content of the file with it."""
        end = min(self.offset + self.size, len(content))
        before, block, after = content[: self.offset], content[self.offset : end], content[end:]
        if self.kind == "flip":
            return before + bytes([block[0] ^ 0x10]) + block[1:] + after
        if self.kind == "insert":
            return before + Random(self.size).randbytes(self.size) + block + after
        middle = {"zero": bytes(len(block)), "duplicate": block * 2}.get(self.kind, b"")
        return before + middle + (b"" if self.kind == "truncate" else after)


class SalvageCase(NamedTuple):
    """What became of one damage.

    Attributes:
        damage: the damage.
        share: records that a start on the copy counts, of all.
        lost: records that it does not count.
        gone: records in requests that the damaged file does not hold whole; those that were
            written together are whole together.
        refused: True if a start on the damaged directory is refused.
    """

    damage: BlockDamage
    share: float
    lost: int
    gone: int
    refused: bool


class SalvagedState:
    """A state directory after a kill, with a journal of many requests behind two checkpoints.

    Args:
        folder: an empty directory.
        requests: how many were posted.

    Attributes:
        tree: the state directory.
        counts: what a start on it counts.
    """

    def __init__(self, folder: Path, requests: int) -> None:
        self._folder, clock = folder, ManualClock(NOW)
        process = Process(self._config(), clock)
        process.settle()
        due = [round(share * requests) for share in CHECKPOINTS]
        for first in range(0, requests, GROUP):
            waiting = [process.post(_lines(n)) for n in range(first, min(first + GROUP, requests))]
            process.write()
            for done in waiting:
                done.result(0)
            process.turn()
            while due and first >= due[0]:
                due.pop(0)
                process.settle()
                clock.sleep(3600)
                process.settle()
        process.close()
        self.tree = read_tree(folder / "state")
        self.counts = self.started(self.tree)
        self.frames = {path: [*_frames(content)] for path, content in self.files(JOURNAL)}
        assert self.counts.get(RECORD) == requests * RECORDS, self.counts

    def files(self, below: str = "") -> Iterator[tuple[tuple[str, ...], bytes]]:
        """Yield path and content of each file, or of those below a directory."""
        found = (file for file in files_of(self.tree) if file[1])
        return (file for file in found if not below or file[0][0] == below)

    def started(self, tree: Tree) -> Counts:
        """Start on a state directory; return what it counts."""
        write_tree(tree, self._folder / "state")
        process = Process(self._config(), ManualClock(NOW + 9000))
        try:
            process.settle()
            return process.counts()
        finally:
            process.close()

    def salvaged(self, damage: BlockDamage) -> SalvageCase:
        """Damage, start, salvage, start on the copy.

        Raises:
            AssertionError: a request that is there whole is not counted, or one that was not sent,
                or a start is refused without the way to what is left.
        """
        content = damage.of(dict(self.files())[damage.path])
        gone = sum(
            data.count(b"\n") for data in self.frames.get(damage.path, ()) if data not in content
        )
        damaged = replaced(self.tree, damage.path, content)
        refused = self._refused(damage, damaged, gone)
        write_tree(damaged, self._folder / "damaged")
        to = self._folder / "salvaged"
        shutil.rmtree(to, ignore_errors=True)
        said = list(salvage(self._folder / "damaged", to))
        lost = self._lost(damage, read_tree(to), gone)
        assert not lost or any(file.lost for file in said), damage
        return SalvageCase(damage, 1 - lost / self.counts[RECORD], lost, gone, refused)

    def _refused(self, damage: BlockDamage, tree: Tree, gone: int) -> bool:
        """Start on a damaged directory as it is; return whether that is refused."""
        text = ""
        try:
            self._lost(damage, tree, gone)
        except MonitorError as error:
            text = str(error)
        assert not text or damage.path[-1] in text, f"{damage}: {text}"
        assert not text or len(damage.path) == 1 or "state salvage" in text, f"{damage}: {text}"
        return bool(text)

    def _lost(self, damage: BlockDamage, tree: Tree, gone: int) -> int:
        """Start on a directory; return how many records are not counted."""
        found = self.started(tree)
        assert all(n <= self.counts.get(key, 0) for key, n in found.items()), damage
        lost = self.counts[RECORD] - found[RECORD]
        assert lost <= gone, f"{damage}: {lost} records are lost, {gone} are gone"
        return lost

    def damages(self) -> Iterator[BlockDamage]:
        """Yield each kind of damage of each place of each file."""
        for path, content in self.files():
            for place, size in ((p, s) for p in PLACES for s in BLOCKS if s < len(content)):
                last = len(content) - size
                offset = {"header": 0, "middle": last // 2, "end": last}[place]
                for kind in KINDS:
                    if kind != "truncate" or place == "end":
                        yield BlockDamage(path, kind, offset, size)

    def drawn(self, chance: Random) -> BlockDamage:
        """A damage by chance."""
        path, content = chance.choice([*self.files()])
        size = min(chance.choice((1, 7, 64, 512, 4096)), len(content))
        offset = chance.randrange(len(content) - size + 1)
        return BlockDamage(path, chance.choice([k for k in KINDS if k != "truncate"]), offset, size)

    def _config(self) -> Config:
        return Config(
            feeds=[{"type": "http", "listen": "127.0.0.1:0"}],
            state={"directory": str(self._folder / "state"), "checkpoint_every": "1h"},
        )


def salvage_share(
    folder: Path, requests: int, drawn: int, seed: int, seconds: float = math.inf
) -> list[SalvageCase]:
    """Salvage after each damage, and after some that are drawn, in any order.

    Args:
        folder: an empty directory.
        requests: how many the state holds.
        drawn: number of damages by chance, besides the systematic ones.
        seed: decides on salts, on what is drawn, and on the order.
        seconds: real time after which no other one is begun.
    """
    chance, began = Random(seed), time.monotonic()
    nbytes = requests * len(_lines(requests)) // SEGMENTS
    with reproducible(chance, nbytes):
        state = SalvagedState(folder, requests)
        damages = [*state.damages(), *(state.drawn(chance) for _ in range(drawn))]
        chance.shuffle(damages)
        return [state.salvaged(damage) for damage in damages if time.monotonic() - began < seconds]


def _lines(number: int) -> bytes:
    """Outcomes of a request, some of each cell."""
    outcomes = (
        {"type": "outcome", "id": f"{number}.{n}", "ts": NOW + number / 100}
        | {"prediction": (number + n) % 2, "label": int(number % 3 == 0)}
        for n in range(RECORDS)
    )
    return "".join(json.dumps(outcome) + "\n" for outcome in outcomes).encode()


def _frames(content: bytes) -> Iterator[bytes]:
    """Yield the frames of a segment, as they are written."""
    file = BytesIO(content)
    for frame in read_frames(file, Path(), read_header(file, Path()).salt):
        assert all(body.lines for body in bodies_of(frame))
        yield content[frame.offset : frame.end]


def main() -> None:
    """Damage and salvage; exit with 1 where the share of a block's damage is too small."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--requests", type=int, default=20_000)
    parser.add_argument("--drawn", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=math.inf)
    args = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        cases = salvage_share(Path(folder), args.requests, args.drawn, args.seed, 60 * args.minutes)
    groups: dict[tuple[str, str], list[SalvageCase]] = {}
    for case in cases:
        groups.setdefault((case.damage.path[0], case.damage.kind), []).append(case)
    for (file, kind), found in sorted(groups.items()):
        worst = min(found, key=lambda case: case.share)
        print(f"{file}, {kind}: {len(found)}, least {worst.share:.3%}: {worst.damage}")
    least = min(case.share for case in cases)
    print(f"{len(cases)} damages, least {least:.3%}, {time.monotonic() - began:.0f} s")
    sys.exit(least < LEAST)


if __name__ == "__main__":
    main()
