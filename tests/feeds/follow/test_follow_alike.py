"""Files that begin alike are distinguished by all that was read of them."""

import gzip
import json
from pathlib import Path

import pytest
from feeds.follow.following import Following, append, copied_and_cut, line

from monitor.feeds.follow.content import HEAD_BYTES
from monitor.feeds.follow.follower import GRACE_SECONDS, LOOK_EVERY_SECONDS
from monitor.prometheus.feed_series import FOLLOWED_FAULTS
from monitor.service.follow_readings import follow_readings

BLANK = b" " * (HEAD_BYTES + 100)


def alike(*numbers):
    """Lines of one shape, of which the first bytes are the same in any file."""
    return b"".join(BLANK + line(number) for number in numbers)


def renamed(path, number, content):
    path.rename(f"{path}.{number}")
    path.write_bytes(content)


def packed(path):
    """Replace a file as `gzip` does, by one of another inode."""
    Path(f"{path}.gz").write_bytes(gzip.compress(Path(path).read_bytes()))
    Path(path).unlink()


def test_files_of_a_pattern_that_begin_alike_are_each_read(tmp_path, follow):
    for number in range(4):
        (tmp_path / f"{number}.ndjson").write_bytes(alike(*range(10 * number, 10 * number + 9)))
    source = follow(tmp_path / "*.ndjson")
    assert sorted(source.times()) == [n for n in range(40) if n % 10 != 9]
    append(tmp_path / "2.ndjson", alike(29))
    assert source.times(after=1) == [29]


def test_files_that_begin_alike_and_came_between_two_looks_are_each_read(path, source):
    append(path, alike(0))
    assert source.times() == [0]
    for number in (3, 2, 1):
        renamed(path, number, alike(4 - number))
    assert sorted(source.times(after=LOOK_EVERY_SECONDS)) == [1, 2, 3]


@pytest.mark.parametrize("pack", [False, True], ids=["plain", "gzip"])
def test_files_that_begin_alike_and_were_rotated_in_a_restart_are_each_read(path, source, pack):
    append(path, alike(0, 1))
    assert source.times() == [0, 1]
    append(path, alike(2))
    for number in (3, 2, 1):
        renamed(path, number, alike(10 - number, 20 - number))
        if pack:
            packed(f"{path}.{number}")
    again = source.restarted()
    assert sorted(again.times() + again.times(after=1)) == [2, 7, 8, 9, 17, 18, 19]
    again = again.restarted()
    assert again.times() + again.times(after=1) == []
    again.close()


@pytest.mark.parametrize("restarts", [False, True])
def test_a_file_that_is_packed_once_it_was_read_is_not_read_again(path, follow, restarts):
    path.write_bytes(alike(0, 1))
    source = follow(path)
    for number in range(6):
        assert source.times(after=2 * GRACE_SECONDS) == [2 * number, 2 * number + 1]
        renamed(path, number, alike(2 * number + 2, 2 * number + 3))
        packed(f"{path}.{number}")
        source = source.restarted() if restarts else source
    assert source.times(after=1) == [12, 13]
    assert source.times(after=1) == []
    assert source.reported == []
    source.close()


def test_the_copies_of_files_that_begin_alike_give_what_was_not_read(path, source):
    append(path, alike(0))
    assert source.times() == [0]
    for number in range(1, 5):
        append(path, alike(10 * number, 10 * number + 1))
        copied_and_cut(path, f"events.ndjson.{number}")
        append(path, alike(number))
        assert sorted(source.times(after=1)) == [number, 10 * number, 10 * number + 1]
    again = source.restarted()
    assert again.times(after=1) == []
    again.close()


def test_a_file_that_was_cut_and_outgrew_what_was_read_is_noticed_by_its_end(path, source):
    append(path, alike(1, 2))
    assert source.times() == [1, 2]
    append(path, alike(3))
    copied_and_cut(path)
    append(path, alike(*range(10, 20)))
    assert sorted(source.times() + source.times(after=1)) == [3, *range(10, 20)]


def test_an_inode_that_a_file_has_now_that_begins_alike_is_another(path, source):
    append(path, alike(1, 2))
    assert source.times() == [1, 2]
    source.close()
    position = source.position()
    path.write_bytes(alike(7, 8, 9))  # the same inode, and longer than what was read
    source.resume(position)
    assert source.times() == [7, 8, 9]


def test_a_copy_that_is_being_made_beside_its_file_is_not_read(tmp_path, follow):
    path, copy = tmp_path / "events.ndjson", tmp_path / "events.ndjson.1"
    path.write_bytes(alike(1, 2, 3))
    source = follow(tmp_path / "events*")
    assert source.times() == [1, 2, 3]
    for size in (0, 100, 2 * len(BLANK), path.stat().st_size):
        copy.write_bytes(path.read_bytes()[:size])
        assert source.times(after=1) == []
    append(path, alike(4))
    assert source.times() == [4]
    path.write_bytes(alike(5))
    assert source.times() + source.times(after=1) == [5]


def test_a_file_that_is_being_packed_beside_its_file_is_not_read(path, source):
    append(path, alike(0, 1, 2))
    assert source.times() == [0, 1, 2]
    renamed(path, 1, alike(3))
    with Path(f"{path}.1").open("ab") as late:
        late.write(line(4)[:-1])
    assert sorted(source.times(after=1)) == [3]
    whole = gzip.compress(Path(f"{path}.1").read_bytes() + b"\n")
    for size in (20, len(whole) // 2, len(whole) - 4, len(whole)):
        Path(f"{path}.1.gz").write_bytes(whole[:size])
        assert source.times(after=1) == []
    append(Path(f"{path}.1"), b"\n")
    Path(f"{path}.1").unlink()
    assert source.times(after=1) == [4]
    assert source.times(after=2 * GRACE_SECONDS) + source.times(after=1) == []


def test_a_short_file_that_begins_as_a_lost_one_waits_and_is_read_in_the_end(path, source):
    append(path, alike(1, 2, 3))
    assert source.times() == [1, 2, 3]
    path.unlink()
    path.write_bytes(alike(1))
    again = source.restarted()
    assert again.times(after=GRACE_SECONDS / 2) == []
    assert again.reported == []
    assert again.times(after=GRACE_SECONDS) == [1]
    assert "begins like" in again.reported[0]
    assert "after line 3, it is not counted" in again.reported[1]
    readings = follow_readings([again])[FOLLOWED_FAULTS]()
    assert readings == {(str(path), "gone"): 1, (str(path), "unclear"): 1, (str(path), "torn"): 0}
    again.close()


def older(position):
    """A position as it was before more than the first 256 bytes were remembered."""
    for one in position["files"]:
        del one["crc"], one["tail"], one["steps"]
        one["head"] = one["head"][:344]
    return json.loads(json.dumps(position))


@pytest.mark.parametrize("pack", [False, True], ids=["plain", "gzip"])
def test_a_position_of_before_is_understood(path, source, pack):
    append(path, line(0) * 9)
    source.times()
    renamed(path, 1, line(1) * 9)
    source.times(after=2 * GRACE_SECONDS)
    source.times(after=2 * GRACE_SECONDS)
    position = older(source.position())
    source.close()
    append(path, line(2))
    if pack:
        packed(f"{path}.1")
        packed(path)
        Path(f"{path}.gz").rename(f"{path}.0.gz")
        append(path, line(3))
    again = Following(path)
    again.resume(position)
    assert again.times() + again.times(after=1) == ([2, 3] if pack else [2])
    assert set(again.position()["files"][0]) > {"crc", "tail"}
    again = again.restarted()
    assert again.times() + again.times(after=2 * GRACE_SECONDS) == []
    again.close()


def test_a_file_rotated_before_the_start_is_not_read_once_it_is_packed(path, follow):
    Path(f"{path}.2").write_bytes(alike(1, 2))
    packed(f"{path}.2")
    Path(f"{path}.1").write_bytes(alike(3, 4))
    path.write_bytes(alike(5))
    source = follow(path)
    assert source.times() == [5]
    packed(f"{path}.1")
    Path(f"{path}.2").write_bytes(gzip.decompress(Path(f"{path}.2.gz").read_bytes()))
    assert source.times(after=1) + source.times(after=1) == []
    renamed(path, 0, alike(6))
    assert source.times() == [6]


def test_a_file_that_cannot_be_read_for_a_while_is_not_forgotten(path, source, monkeypatch):
    append(path, alike(1))
    assert source.times() == [1]
    again = source.restarted()
    assert again.times() == []

    def refused(*_):
        raise PermissionError(13, "Permission denied")

    again = again.restarted()
    again.close()
    append(path, alike(2))
    monkeypatch.setattr("monitor.feeds.follow.content.os.open", refused)
    assert again.times(after=2 * GRACE_SECONDS) + again.times(after=2 * GRACE_SECONDS) == []
    assert again.reported == [f"{path}: cannot be followed: permission denied; tried again"]
    monkeypatch.undo()
    assert again.times(after=1) == [2]
    again.close()
