"""Files that are renamed, copied, cut and replaced while they are followed."""

import os
from pathlib import Path

import pytest
from feeds.follow.following import Following, append, copied_and_cut, line, lines

from monitor.feeds.follow.follower import GRACE_SECONDS, LOOK_EVERY_SECONDS


def test_of_a_file_that_has_another_name_now_the_rest_is_read(path, source):
    append(path, line(1))
    assert source.times() == [1]
    append(path, line(2)[:-1])
    path.rename(path.with_suffix(".ndjson.1"))
    assert source.times() == []
    assert source.attached
    path.write_bytes(line(3))
    assert source.times() == [3]


def test_a_writer_may_go_on_with_a_file_after_its_rotation(path, source):
    with path.open("ab", buffering=0) as writer:
        writer.write(line(1))
        assert source.times() == [1]
        path.rename(path.with_suffix(".ndjson.1"))
        append(path, line(10))
        writer.write(line(2) + line(3)[:8])
        assert sorted(source.times(after=1)) == [2, 10]
        writer.write(line(3)[8:])
        assert source.times(after=GRACE_SECONDS / 2) == [3]


def test_the_last_line_of_a_rotated_file_needs_no_newline_in_the_end(path, source):
    append(path, line(1)[:-1])
    assert source.times() == []
    path.rename(path.with_suffix(".ndjson.1"))
    append(path, line(2))
    assert source.times() == [2]
    assert source.times(after=GRACE_SECONDS) == [1]


def test_a_rotated_file_is_let_go_in_the_end(path, source):
    for number in range(20):
        append(path, line(number))
        assert source.times(after=1) == [number]
        path.rename(f"{path}.{number + 1}")
    source.times(after=GRACE_SECONDS + 1)
    assert sum(part.content is not None for part in source._parts) <= 1
    for number in range(20):
        Path(f"{path}.{number + 1}").unlink()
    append(path, line(20))
    source.times(after=GRACE_SECONDS + 1)
    source.times(after=GRACE_SECONDS + 1)
    assert [part.path for part in source._parts] == [str(path)]
    assert source.reported == []


def test_what_was_rotated_before_it_began_is_not_read(path, follow):
    path.with_suffix(".ndjson.1").write_bytes(line(1))
    path.write_bytes(line(2))
    assert follow(path).times() == [2]


def test_a_file_that_came_and_went_between_two_looks_is_read(path, source):
    append(path, line(1))
    assert source.times() == [1]
    for number in (2, 3, 4):
        for old in (3, 2, 1):
            if Path(f"{path}.{old}").exists():
                Path(f"{path}.{old}").rename(f"{path}.{old + 1}")
        path.rename(f"{path}.1")
        path.write_bytes(line(number))
    assert sorted(source.times(after=LOOK_EVERY_SECONDS)) == [2, 3, 4]
    assert source.times(after=LOOK_EVERY_SECONDS) == []


@pytest.mark.parametrize("name", ["other.ndjson.1", "events.ndjson.swp", "events.json"])
def test_files_of_other_names_are_left_alone(path, source, name):
    append(path, line(1))
    assert source.times() == [1]
    (path.parent / name).write_bytes(line(2))
    assert source.times(after=LOOK_EVERY_SECONDS) == []


def test_what_was_not_read_of_a_file_that_was_copied_and_cut_is_in_the_copy(path, source):
    append(path, lines(*range(5)))
    assert source.times() == [0, 1, 2, 3, 4]
    append(path, lines(5, 6) + line(7)[:9])
    copied_and_cut(path)
    append(path, line(7)[9:] + line(8))  # the writer goes on within a line: it is torn
    batches = [source.poll(), source.poll()]
    times = [t // 1000 for batch in batches if batch for t in batch.predictions.time.tolist()]
    assert sorted(times) == [5, 6, 8]
    assert [str(r.reason) for b in batches if b for r in b.rejected] == ["malformed"]


def test_a_file_that_was_cut_and_has_outgrown_what_was_read_is_noticed(path, source):
    append(path, lines(1, 2))
    assert source.times() == [1, 2]
    append(path, line(3))
    copied_and_cut(path)
    append(path, lines(*range(10, 20)))
    assert sorted(source.times() + source.times(after=1)) == [3, *range(10, 20)]


def test_copies_are_never_read_again(path, source):
    for number in range(5):
        append(path, lines(*range(10 * number, 10 * number + 10)))
        assert source.times(after=1) == [*range(10 * number, 10 * number + 10)]
        for old in range(number, 0, -1):
            Path(f"{path}.{old}").rename(f"{path}.{old + 1}")
        copied_and_cut(path)
        assert source.times(after=1) == []
    assert source.times(after=GRACE_SECONDS) == []
    assert source.reported == []


def test_a_file_truncated_without_a_copy_is_read_from_its_start_and_reported(path, source):
    append(path, lines(1, 2))
    assert source.times() == [1, 2]
    path.write_bytes(line(3))
    assert source.times() == [3]
    assert source.times(after=GRACE_SECONDS + 1) == []
    assert source.reported == [
        f"{path}: was cut or removed; if more was written to it after line 2, it is not counted"
    ]


def test_a_file_may_be_written_anew_with_the_same_beginning(path, source):
    append(path, lines(*range(20)))
    assert len(source.times()) == 20
    path.write_bytes(lines(*range(5)))
    assert source.times() == [0, 1, 2, 3, 4]


def test_an_inode_that_another_file_has_now_is_not_taken_for_the_old_one(path, source):
    append(path, lines(1, 2))
    assert source.times() == [1, 2]
    source.close()
    position = source.position()
    os.truncate(path, 0)  # the same inode, and longer than what was read
    append(path, lines(7, 8, 9))
    again = Following(path)
    again.resume(position)
    assert again.times() == [7, 8, 9]
    again.close()
