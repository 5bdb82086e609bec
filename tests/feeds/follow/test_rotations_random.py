"""Rotations of every kind, drawn by a seed, with backlogs, equal heads and restarts.

Inodes are used again and times of change are coarse, both by the seed and not by the file
system, so that a seed is the same run everywhere.

python -m feeds.follow.test_rotations_random 20000 7  (rotations and a seed; from tests/)
"""

import gzip
import json
import os
import random
import shutil
import sys
import tempfile
from collections import Counter
from contextlib import suppress
from itertools import pairwise, product
from pathlib import Path

import pytest
from feeds.follow.following import Following, line

from monitor.feeds.follow import follower
from monitor.feeds.follow.follower import LOOK_EVERY_SECONDS

RETAINED_FILES = 30
"""Rotated files that are there at most."""
ROTATIONS = 60
"""Rotations by one seed."""
TICK_NS = 4_000_000
"""Nanoseconds by which times of change differ at least."""
FIRST_TICK = 1_800_000_000_000_000_000
"""Epoch nanoseconds."""
IDLE_AT_END = 300
"""Turns without events after which all has come: more than four minutes, where one is waited."""
ROOM = 2000
"""Bytes that are read at a time: some thirty lines, of hundreds that wait."""


class Folder:
    """A file that grows and is rotated, beside all that it was rotated to.

    A deleted file goes to another folder, from which a new file may take its inode.

    Args:
        path: of the file.
        chance: what happens when.
        head: bytes with which every file begins, within its first line.
    """

    def __init__(self, path, chance, head):
        self.path, self.chance, self.head = path, chance, head
        self.written = 0
        self._tick, self._deleted = FIRST_TICK, []
        self._elsewhere = path.parent / "deleted"
        self._elsewhere.mkdir()
        self._file = self._opened()

    def write(self, lines):
        """Some lines, of which the first of a file begins with the head."""
        for _ in range(lines):
            at_start = not os.fstat(self._file.fileno()).st_size
            self._file.write(self.head * at_start + line(self.written))
            self.written += 1
        self._changed(self._file.fileno())

    def rename(self):
        """The old file is still written to for a while after it was renamed."""
        self._shift()
        self.path.rename(f"{self.path}.1")
        self.write(self.chance.randrange(3))
        self._file.close()
        self._file = self._opened()

    def copy_and_cut(self):
        """The copy has all, as nothing is written while it is made."""
        self._shift()
        shutil.copy2(self.path, self._made(Path(f"{self.path}.1")))
        os.truncate(self.path, 0)
        self._changed(self.path)

    def pack(self):
        """Some of those that were rotated are packed, in any order."""
        for number in range(2, RETAINED_FILES):
            plain, packed = Path(f"{self.path}.{number}"), Path(f"{self.path}.{number}.gz")
            if plain.exists() and self.chance.randrange(2):
                self._made(packed).write_bytes(gzip.compress(plain.read_bytes(), 1))
                shutil.copystat(plain, packed)
                self._delete(plain)

    def close(self):
        self._file.close()

    def _shift(self):
        for number in range(RETAINED_FILES, 0, -1):
            for ending in ("", ".gz"):
                old = Path(f"{self.path}.{number}{ending}")
                if old.exists():
                    old.rename(f"{self.path}.{number + 1}{ending}")
        for ending in ("", ".gz"):
            self._delete(Path(f"{self.path}.{RETAINED_FILES + 1}{ending}"))

    def _opened(self):
        file = self._made(self.path).open("ab", buffering=0)
        self._changed(file.fileno())
        return file

    def _made(self, path):
        """An empty file, whose inode may be that of a deleted one, unless that is open."""
        taken = open_inodes()
        free = [file for file in self._deleted if file.stat().st_ino not in taken]
        if free and self.chance.randrange(2):
            old = self.chance.choice(free)
            self._deleted.remove(old)
            old.rename(path)
        path.write_bytes(b"")
        return path

    def _delete(self, path):
        if path.exists():
            self._deleted.append(path.rename(self._elsewhere / str(path.stat().st_ino)))

    def _changed(self, file):
        """The clock of a file system is coarse: files may have changed at the same time."""
        self._tick += TICK_NS * self.chance.randrange(2)
        os.utime(file, ns=(self._tick, self._tick))


def open_inodes():
    """Inodes of the files that this process has open."""
    found = set()
    for descriptor in Path("/dev/fd").iterdir():
        with suppress(OSError):  # the one that listed the folder is closed by now
            found.add(os.fstat(int(descriptor.name)).st_ino)
    return found


class Reader:
    """Follows a file, and crashes: what came after the last checkpoint comes again.

    Args:
        path: of the file.
        chance: how much time passes.

    Attributes:
        came: how often each event came.
        reported: the messages reported.
        before_others: events that came right after a later one, without a crash between.
    """

    def __init__(self, path, chance):
        self.chance = chance
        self.came, self.reported, self.before_others = Counter(), [], []
        self._source, self._since, self._last = Following(path), Counter(), -1
        self.save()

    def read(self, idle, after=0):
        """Until so many turns gave nothing, as the line that is read is long, or nothing came."""
        self._source.clock.sleep(after)
        while idle:
            self._source.clock.sleep(self.chance.choice((0, 0.1, 0.6, 3)))
            batch = self._source.poll()
            idle -= batch is None
            if batch is not None:
                assert not batch.rejected
                times = (batch.predictions.time // 1000).tolist()
                self._since.update(times)
                self.before_others += [b for a, b in pairwise([self._last, *times]) if b < a]
                self._last = times[-1]

    def save(self):
        """A checkpoint: what came is counted."""
        self._saved = json.dumps(self._source.position())
        self.came.update(self._since)
        self._since = Counter()

    def restart(self):
        """Go on from the last checkpoint."""
        self.close()
        self._source, self._since, self._last = Following(self._source.name), Counter(), -1
        self._source.resume(json.loads(self._saved))

    def close(self):
        self._source.close()
        self.reported += self._source.reported


def counted(folder, rotations, seed, head, after=0):
    """Read rotations by a seed; return the reader, and the number of events written.

    Args:
        folder: an empty one.
        rotations: how many.
        seed: of the chances.
        head: with which each file begins.
        after: seconds before each reading.
    """
    chance = random.Random(seed)
    files = Folder(folder / "events.ndjson", chance, head)
    reader = Reader(files.path, chance)
    for number in range(rotations):
        files.write(chance.choice((0, 1, 3, 20, 40)))
        chance.choice((files.rename, files.rename, files.copy_and_cut))()
        files.write(chance.randrange(3))
        reader.read(chance.choice((0, 0, 1, 4)), after)
        for step, one_in in ((files.pack, 4), (reader.save, 4), (reader.restart, 6)):
            if not chance.randrange(one_in):
                step()
        if number % (RETAINED_FILES // 2) == 0:  # before any file is deleted that was not read
            reader.read(IDLE_AT_END, after)
            reader.save()
    reader.read(IDLE_AT_END, after)
    reader.save()
    reader.close()
    files.close()
    return reader, files.written


@pytest.fixture(autouse=True)
def little_at_a_time(monkeypatch):
    monkeypatch.setattr(follower, "BATCH_BYTES", ROOM)


HEADS = {"none": b"", "short": b" " * 300, "long": b" " * 5000}


SEEDS = (0, 1, 1008)
"""In the last one the inode of a packed file is used again while a restart looks for its rest."""
DAILY = {("none", 1), *((head, 1008) for head in HEADS)}
"""Heads and seeds that are tried each time."""


@pytest.mark.parametrize(
    ("head", "seed"),
    [
        pytest.param(head, seed, marks=[pytest.mark.slow] * ((head, seed) not in DAILY))
        for head, seed in product(HEADS, SEEDS)
    ],
)
def test_no_line_is_lost_or_doubled_by_any_rotation(tmp_path, head, seed):
    reader, written = counted(tmp_path, ROTATIONS, seed, HEADS[head])
    assert reader.came == Counter(dict.fromkeys(range(written), 1))
    assert not [line for line in reader.reported if "not counted" in line or "cannot" in line]


IN_ORDER = {("none", 1), ("short", 1), ("none", 2), ("short", 6)}
"""Likewise, of their order: in the last two a file is empty, or another, when it is first seen."""


@pytest.mark.parametrize(
    ("head", "seed"),
    [
        pytest.param(head, seed, marks=[pytest.mark.slow] * ((head, seed) not in IN_ORDER))
        for head, seed in product(("none", "short"), (1, 2, 3, 6))
    ],
)
def test_rotated_files_are_read_in_the_order_in_which_they_were_written(tmp_path, head, seed):
    reader, written = counted(tmp_path, ROTATIONS, seed, HEADS[head], after=LOOK_EVERY_SECONDS)
    assert reader.came == Counter(dict.fromkeys(range(written), 1))
    assert reader.before_others == []


def main(rotations, first):
    """Run rotations by seeds from the first on; print the seeds that lost or doubled lines."""
    follower.BATCH_BYTES = ROOM
    for seed in range(first, first + rotations // ROTATIONS):
        for name, head in HEADS.items():
            with tempfile.TemporaryDirectory() as made:
                reader, written = counted(Path(made), ROTATIONS, seed, head)
            wrong = {n: reader.came[n] for n in range(written) if reader.came[n] != 1}
            print(f"seed {seed}, head {name}: {written} lines, not once: {wrong}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
