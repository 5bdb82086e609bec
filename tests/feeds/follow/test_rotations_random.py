"""Rotations of every kind, drawn by a seed, with backlogs, equal heads and restarts.

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
from pathlib import Path

import pytest
from feeds.follow.following import Following, line

from monitor.feeds.follow import follower

RETAINED_FILES = 30
"""Rotated files that are there at most."""
ROTATIONS = 60
"""Rotations by one seed."""
ROOM = 2000
"""Bytes that are read at a time: some thirty lines, of hundreds that wait."""


class Folder:
    """A file that grows and is rotated, beside all that it was rotated to.

    Args:
        path: of the file.
        chance: what happens when.
        head: bytes with which every file begins, within its first line.
    """

    def __init__(self, path, chance, head):
        self.path, self.chance, self.head = path, chance, head
        self.written = 0
        self._file = path.open("ab", buffering=0)

    def write(self, lines):
        """Some lines, of which the first of a file begins with the head."""
        for _ in range(lines):
            at_start = not os.fstat(self._file.fileno()).st_size
            self._file.write(self.head * at_start + line(self.written))
            self.written += 1

    def rename(self):
        """The old file is still written to for a while after it was renamed."""
        self._shift()
        self.path.rename(f"{self.path}.1")
        self.write(self.chance.randrange(3))
        self._file.close()
        self._file = self.path.open("ab", buffering=0)

    def copy_and_cut(self):
        """The copy has all, as nothing is written while it is made."""
        self._shift()
        shutil.copy2(self.path, f"{self.path}.1")
        os.truncate(self.path, 0)

    def pack(self):
        """Some of those that were rotated are packed, in any order."""
        for number in range(2, RETAINED_FILES):
            plain, packed = Path(f"{self.path}.{number}"), Path(f"{self.path}.{number}.gz")
            if plain.exists() and self.chance.randrange(2):
                packed.write_bytes(gzip.compress(plain.read_bytes(), 1))
                shutil.copystat(plain, packed)
                plain.unlink()

    def close(self):
        self._file.close()

    def _shift(self):
        for number in range(RETAINED_FILES, 0, -1):
            for ending in ("", ".gz"):
                old = Path(f"{self.path}.{number}{ending}")
                if old.exists():
                    old.rename(f"{self.path}.{number + 1}{ending}")
        for ending in ("", ".gz"):
            Path(f"{self.path}.{RETAINED_FILES + 1}{ending}").unlink(missing_ok=True)


class Reader:
    """Follows a file, and crashes: what came after the last checkpoint comes again.

    Args:
        path: of the file.
        chance: how much time passes.
    """

    def __init__(self, path, chance):
        self.chance = chance
        self.came, self.reported = Counter(), []
        self._source, self._since = Following(path), Counter()
        self.save()

    def read(self, idle):
        """Until so many turns gave nothing, as the line that is read is long, or nothing came."""
        while idle:
            self._source.clock.sleep(self.chance.choice((0, 0.1, 0.6, 3)))
            batch = self._source.poll()
            idle -= batch is None
            if batch is not None:
                assert not batch.rejected
                self._since.update((batch.predictions.time // 1000).tolist())

    def save(self):
        """A checkpoint: what came is counted."""
        self._saved = json.dumps(self._source.position())
        self.came.update(self._since)
        self._since = Counter()

    def restart(self):
        """Go on from the last checkpoint."""
        self.close()
        self._source, self._since = Following(self._source.name), Counter()
        self._source.resume(json.loads(self._saved))

    def close(self):
        self._source.close()
        self.reported += self._source.reported


def counted(folder, rotations, seed, head):
    """Count how often each event came; with the number written, and the messages reported."""
    chance = random.Random(seed)
    files = Folder(folder / "events.ndjson", chance, head)
    reader = Reader(files.path, chance)
    for number in range(rotations):
        files.write(chance.choice((0, 1, 3, 20, 40)))
        chance.choice((files.rename, files.rename, files.copy_and_cut))()
        files.write(chance.randrange(3))
        reader.read(chance.choice((0, 0, 1, 4)))
        for step, one_in in ((files.pack, 4), (reader.save, 4), (reader.restart, 6)):
            if not chance.randrange(one_in):
                step()
        if number % (RETAINED_FILES // 2) == 0:  # before any file is deleted that was not read
            reader.read(100)
            reader.save()
    reader.read(100)
    reader.save()
    reader.close()
    files.close()
    return reader.came, files.written, reader.reported


@pytest.fixture(autouse=True)
def little_at_a_time(monkeypatch):
    monkeypatch.setattr(follower, "BATCH_BYTES", ROOM)


HEADS = {"none": b"", "short": b" " * 300, "long": b" " * 5000}


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("head", HEADS)
def test_no_line_is_lost_or_doubled_by_any_rotation(tmp_path, head, seed):
    came, written, reported = counted(tmp_path, ROTATIONS, seed, HEADS[head])
    assert came == Counter(dict.fromkeys(range(written), 1))
    assert not [line for line in reported if "not counted" in line or "cannot" in line]


def main(rotations, first):
    """Run rotations by seeds from the first on; print the seeds that lost or doubled lines."""
    follower.BATCH_BYTES = ROOM
    for seed in range(first, first + rotations // ROTATIONS):
        for name, head in HEADS.items():
            with tempfile.TemporaryDirectory() as made:
                came, written, _ = counted(Path(made), ROTATIONS, seed, head)
            wrong = {n: came[n] for n in range(written) if came[n] != 1}
            print(f"seed {seed}, head {name}: {written} lines, not once: {wrong}")


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
