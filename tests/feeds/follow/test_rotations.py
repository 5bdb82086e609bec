"""Many rotations, with restarts between: nothing lost by renaming, nothing twice."""

import gzip
import json
import os
import random
import shutil
from collections import Counter
from pathlib import Path

import pytest
from feeds.follow.following import Following, append, line

RETAINED_FILES = 8


class Writer:
    """Appends numbered events, and rotates as logrotate does.

    Args:
        path: of the file.
        chance: what it does when.
        packs: whether rotated files are gzipped, some time after.
    """

    def __init__(self, path, chance, *, packs):
        self.path, self.chance, self.packs = path, chance, packs
        self.written = 0
        self._file = path.open("ab", buffering=0)

    def write(self):
        """Some events, of which the last may be there only in part for now."""
        for _ in range(self.chance.randrange(6)):
            whole = line(self.written)
            self._file.write(whole)
            self.written += 1

    def rename(self):
        """The old file is still written to for a while after it was renamed."""
        self._shift()
        Path(self.path).rename(f"{self.path}.1")
        self.write()
        self._file.close()
        self._file = self.path.open("ab", buffering=0)

    def copy_and_cut(self):
        self._shift()
        shutil.copy2(self.path, f"{self.path}.1")
        os.truncate(self.path, 0)

    def close(self):
        self._file.close()

    def _shift(self):
        for number in range(RETAINED_FILES, 0, -1):
            for ending in ("", ".gz"):
                if Path(old := f"{self.path}.{number}{ending}").exists():
                    Path(old).rename(f"{self.path}.{number + 1}{ending}")
        for ending in ("", ".gz"):
            if Path(last := f"{self.path}.{RETAINED_FILES + 1}{ending}").exists():
                Path(last).unlink()
        if self.packs and Path(second := f"{self.path}.2").exists():
            with Path(second).open("rb") as plain, gzip.open(f"{second}.gz", "wb") as packed:
                shutil.copyfileobj(plain, packed)
            shutil.copystat(second, f"{second}.gz")
            Path(second).unlink()


def counted(folder, rotations, seed, *, rotate, packs):
    """Return how often each event came, and the number of events, over so many rotations."""
    chance = random.Random(seed)
    path = folder / "events.ndjson"
    writer, source = Writer(path, chance, packs=packs), None
    came = Counter()
    source = Following(path)
    for number in range(rotations):
        writer.write()
        for _ in range(chance.randrange(3) or number % 3 == 0):
            came.update(source.times(after=chance.choice((0, 0.1, 0.6, 3))))
            writer.write()
        rotate(writer)
        if not chance.randrange(4):
            source = source.restarted()
    came.update(source.times(after=1))
    came.update(source.times(after=1))
    source.close()
    writer.close()
    return came, writer.written, source


rotations = pytest.mark.parametrize("rotations", [60, pytest.param(400, marks=pytest.mark.slow)])


@rotations
@pytest.mark.parametrize("packs", [False, True], ids=["plain", "gzip"])
def test_rotations_by_rename_lose_nothing(tmp_path, packs, rotations):
    came, written, _ = counted(tmp_path, rotations, 1, rotate=Writer.rename, packs=packs)
    assert written > 5 * rotations
    assert came == Counter(dict.fromkeys(range(written), 1))


@rotations
@pytest.mark.parametrize("packs", [False, True], ids=["plain", "gzip"])
def test_what_is_copied_before_it_is_cut_is_not_lost_either(tmp_path, packs, rotations):
    came, written, _ = counted(tmp_path, rotations, 2, rotate=Writer.copy_and_cut, packs=packs)
    assert written > 5 * rotations
    assert came == Counter(dict.fromkeys(range(written), 1))


def test_a_file_rotated_while_the_monitor_was_down_is_read_after_a_restart(tmp_path):
    path = tmp_path / "events.ndjson"
    append(path, line(0) + line(1))
    source = Following(path)
    assert source.times() == [0, 1]
    position = json.loads(json.dumps(source.position()))
    source.close()
    append(path, line(2))
    for number in (3, 4, 5):
        for old in (3, 2, 1):
            if Path(f"{path}.{old}.gz").exists():
                Path(f"{path}.{old}.gz").rename(f"{path}.{old + 1}.gz")
        with gzip.open(f"{path}.1.gz", "wb") as packed:
            packed.write(path.read_bytes())
        path.unlink()
        append(path, line(number))
    again = Following(path)
    again.resume(position)
    assert sorted(again.times()) == [2, 3, 4, 5]
    assert again.times(after=1) == []
    again.close()


def test_a_rotated_file_that_is_still_being_packed_is_read_once_it_is_whole(tmp_path):
    packed = gzip.compress(b"".join(map(line, range(2000))))
    target = tmp_path / "a.ndjson.1.gz"
    target.write_bytes(packed[: len(packed) // 2])
    source = Following(tmp_path / "*.gz")
    first = source.times()
    assert 0 < len(first) < 2000
    assert source.reported == [
        f"{target}: gzip ends too early; all whole lines before it were read"
    ]
    source = source.restarted()
    assert source.times(after=1) == []
    target.write_bytes(packed)
    assert sorted(first + source.times(after=1)) == list(range(2000))
    assert source.times(after=100) == []
    source.close()
