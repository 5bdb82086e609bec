import json
import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from monitor.clock import ManualClock
from monitor.errors import FeedError
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.follow import FollowedFiles
from monitor.feeds.follow.follower import GRACE_SECONDS, LOOK_EVERY_SECONDS
from monitor.feeds.standard_input import StandardInput


def line(number):
    event = {"type": "prediction", "id": f"p{number}", "ts": number, "prediction": 1}
    return json.dumps(event).encode() + b"\n"


def lines(*numbers):
    return b"".join(map(line, numbers))


def append(path, data):
    with path.open("ab") as file:
        file.write(data)


class Following(FollowedFiles):
    """With a clock that is moved by hand, and what was said."""

    def __init__(self, path):
        self.clock, self.said = ManualClock(), []
        super().__init__(path, Decoder(DecodeSettings()), self.clock, self.said.append)

    def times(self, after=0.0):
        """Event times in seconds of all that has come."""
        self.clock.sleep(after)
        found = []
        while (batch := self.poll()) is not None:
            assert not batch.rejected
            found += (batch.predictions.time // 1000).tolist()
        return found

    def restarted(self):
        """Another one that goes on where this one is."""
        position = json.loads(json.dumps(self.position()))
        self.close()
        other = Following(self.name)
        other.resume(position)
        return other


@pytest.fixture
def path(tmp_path):
    return tmp_path / "events.ndjson"


@pytest.fixture
def source(path):
    followed = Following(path)
    yield followed
    followed.close()


@pytest.fixture
def follow():
    """Follows paths, and closes them."""
    made = []

    def make(path):
        made.append(Following(path))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_a_file_that_is_not_there_yet_is_waited_for(path, source):
    assert (source.attached, source.poll()) == (False, None)
    path.write_bytes(line(1))
    assert source.times() == [1]
    assert source.attached
    assert not source.ended


def test_what_is_appended_comes_once(path, source):
    append(path, lines(1, 2))
    assert source.times() == [1, 2]
    append(path, line(3))
    assert source.times() == [3]
    assert source.times() == []


def test_a_line_counts_once_its_newline_is_there(path, source):
    whole = line(1)
    append(path, whole[:10])
    assert source.times() == []
    append(path, whole[10:] + line(2)[:5])
    assert source.times() == [1]
    append(path, line(2)[5:])
    assert source.times() == [2]


def test_position_go_on_over_what_was_read_before(path, source):
    append(path, line(1) + b"no json\n")
    first = source.poll()
    append(path, b"again\n")
    second = source.poll()
    assert [r.position for r in (*first.rejected, *second.rejected)] == [f"{path}:2", f"{path}:3"]


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
    assert source.said == []


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


def copied_and_cut(path, name="events.ndjson.1"):
    (path.parent / name).write_bytes(path.read_bytes())
    os.truncate(path, 0)


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
    assert source.said == []


def test_a_file_that_is_cut_without_a_copy_is_read_from_its_start_and_that_is_said(path, source):
    append(path, lines(1, 2))
    assert source.times() == [1, 2]
    path.write_bytes(line(3))
    assert source.times() == [3]
    assert source.times(after=GRACE_SECONDS + 1) == []
    assert source.said == [
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


def test_an_endless_line_is_rejected_and_costs_no_memory(path, source):
    for _ in range(20):
        append(path, b"x" * 50_000)
        assert source.poll() is None
    assert len(source._parts[0].unfinished) < 100_000
    append(path, b"\n" + line(1))
    batch = source.poll()
    assert [str(r.reason) for r in batch.rejected] == ["too_large"]
    assert len(batch.predictions) == 1


@given(cuts=st.lists(st.integers(1, 40), max_size=8), read=st.integers(0, 8))
def test_a_restart_at_any_point_loses_and_repeats_nothing(cuts, read):
    data = lines(*range(8)) + line(8)[:-1]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.ndjson"
        path.touch()
        source, found = Following(path), []
        for number, cut in enumerate([*cuts, len(data)]):
            append(path, data[:cut])
            data = data[cut:]
            if number != read:
                found += source.times()
            source = source.restarted()
        append(path, b"\n")
        assert found + source.times() == list(range(9))
        source.close()


def test_after_a_restart_lines_have_their_numbers(path, source):
    append(path, lines(1, 2))
    assert source.times() == [1, 2]
    append(path, b"none\n")
    again = source.restarted()
    assert [r.position for r in again.poll().rejected] == [f"{path}:3"]
    again.close()


def test_a_file_that_was_replaced_meanwhile_is_read_from_its_start_and_that_is_said(path, source):
    append(path, lines(1, 2))
    source.times()
    path.unlink()
    append(path, lines(3, 4, 5))
    again = source.restarted()
    assert again.times() == [3, 4, 5]
    assert again.times(after=GRACE_SECONDS + 1) == []
    assert len(again.said) == 1
    assert "was cut or removed; if more was written to it after line 2" in again.said[0]
    again.close()


def test_a_file_that_is_back_later_is_known_again(path, source):
    append(path, line(1))
    source.times()
    kept = path.read_bytes()
    path.unlink()
    again = source.restarted()
    assert not again.attached
    assert again.times(after=2 * GRACE_SECONDS) == []
    assert again.position() == source.position()
    append(path, kept + line(2))
    assert again.times() == [2]
    again.close()


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_what_is_no_file_is_a_clear_error(tmp_path, kind):
    path = tmp_path / "odd"
    path.mkdir() if kind == "directory" else os.mkfifo(path)
    with pytest.raises(FeedError, match="cannot be followed"):
        Following(path)


def test_a_pattern_follows_what_is_there_and_what_comes(tmp_path, follow):
    (tmp_path / "a.ndjson").write_bytes(lines(1, 2))
    (tmp_path / "b.ndjson").write_bytes(line(3))
    source = follow(tmp_path / "*.ndjson")
    assert source.attached
    assert source.times() == [1, 2, 3]
    (tmp_path / "c.ndjson").write_bytes(line(4))
    append(tmp_path / "a.ndjson", line(5))
    assert sorted(source.times(after=1)) == [4, 5]
    append(tmp_path / "a.ndjson", line(6))
    assert source.times(after=GRACE_SECONDS + 1) == [6]
    assert source.times(after=GRACE_SECONDS + 1) == []
    append(tmp_path / "b.ndjson", line(7))  # closed by now, as nothing came
    assert source.times(after=1) == [7]


def test_a_pattern_that_names_rotated_files_too_reads_each_content_once(tmp_path, follow):
    path = tmp_path / "events.ndjson"
    (tmp_path / "events.ndjson.1").write_bytes(lines(1, 2))
    path.write_bytes(line(3))
    source = follow(tmp_path / "events*")
    assert source.times() == [1, 2, 3]
    Path(f"{path}.1").rename(f"{path}.2")
    path.rename(f"{path}.1")
    append(path, line(4))
    assert source.times(after=1) == [4]
    copied_and_cut(path, "events.ndjson.0")
    append(path, line(5))
    assert source.times(after=1) == [5]
    assert source.times(after=1) == []


def test_of_many_the_one_least_far_in_event_time_is_read_first(tmp_path, follow, monkeypatch):
    monkeypatch.setattr("monitor.feeds.follow.follower.BATCH_BYTES", 200)
    for name, first in (("a", 0), ("b", 50)):
        (tmp_path / f"{name}.ndjson").write_bytes(lines(*range(first, first + 100)))
    times = follow(tmp_path / "*.ndjson").times()
    assert sorted(times) == sorted([*range(100), *range(50, 150)])
    assert max(max(times[:i]) - t for i, t in enumerate(times) if i and t >= 50) <= 6


def test_a_file_that_may_not_be_read_is_said_once_and_tried_again(path, source, monkeypatch):
    tries = []

    def refused(*_):
        tries.append(1)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("monitor.feeds.follow.follower.opened", refused)
    path.write_bytes(line(1))
    for _ in range(3):
        assert source.times(after=1) == []
    assert source.said == [f"{path}: cannot be followed: permission denied; tried again"]
    assert not source.attached
    monkeypatch.undo()
    assert source.times(after=1) == [1]


def test_standard_input_is_read_as_it_comes_and_has_an_end():
    reading, writing = os.pipe()
    source = StandardInput(Decoder(DecodeSettings()), reading)
    assert source.poll() is None
    os.write(writing, line(1) + line(2)[:4])
    assert source.poll().predictions.time.tolist() == [1000]
    assert (source.poll(), source.ended) == (None, False)
    os.write(writing, line(2)[4:-1])
    os.close(writing)
    assert source.poll().predictions.time.tolist() == [2000]
    assert (source.poll(), source.ended) == (None, True)
    os.close(reading)
