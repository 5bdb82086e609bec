"""Each appended line counts once: restarts, patterns, standard input."""

import os
import tempfile
from pathlib import Path

import pytest
from feeds.follow.following import Following, append, copied_and_cut, line, lines
from hypothesis import given, settings
from hypothesis import strategies as st

from monitor.errors import FeedError
from monitor.feeds.decode import Decoder, DecodeSettings
from monitor.feeds.follow.follower import GRACE_SECONDS
from monitor.feeds.standard_input import StandardInput


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


def test_an_endless_line_is_rejected_and_costs_no_memory(path, source):
    for _ in range(20):
        append(path, b"x" * 50_000)
        assert source.poll() is None
    assert len(source._parts[0].unfinished) < 100_000
    append(path, b"\n" + line(1))
    batch = source.poll()
    assert [str(r.reason) for r in batch.rejected] == ["too_large"]
    assert len(batch.predictions) == 1


@settings(max_examples=30)
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


def test_a_file_that_was_replaced_meanwhile_is_read_from_its_start_and_reported(path, source):
    append(path, lines(1, 2))
    source.times()
    path.unlink()
    append(path, lines(3, 4, 5))
    again = source.restarted()
    assert again.times() == [3, 4, 5]
    assert again.times(after=GRACE_SECONDS + 1) == []
    assert len(again.reported) == 1
    assert "was cut or removed; if more was written to it after line 2" in again.reported[0]
    again.close()


def test_a_file_that_is_back_later_is_known_again(path, source):
    append(path, line(1))
    source.times()
    stored = path.read_bytes()
    path.unlink()
    again = source.restarted()
    assert not again.attached
    assert again.times(after=2 * GRACE_SECONDS) == []
    assert again.position() == source.position()
    append(path, stored + line(2))
    assert again.times() == [2]
    again.close()


@pytest.mark.parametrize("kind", ["directory", "pipe"])
def test_what_is_no_file_is_a_clear_error(tmp_path, kind):
    path = tmp_path / "odd"
    path.mkdir() if kind == "directory" else os.mkfifo(path)
    with pytest.raises(FeedError, match="cannot be followed"):
        Following(path)


@pytest.mark.parametrize("kind", ["directory", "pipe", "loop"])
def test_a_file_in_whose_place_is_something_else_for_a_while_is_read_on(path, source, kind):
    append(path, line(1))
    assert source.times() == [1]
    aside = path.rename(path.parent / "aside")
    make = {"directory": Path.mkdir, "pipe": os.mkfifo, "loop": lambda p: p.symlink_to(p.name)}
    make[kind](path)
    for _ in range(3):
        assert source.times(after=1) == []
    why = "too many levels of symbolic links" if kind == "loop" else "is no regular file"
    assert source.reported == [f"{path}: cannot be followed: {why}; tried again"]
    assert not source.attached
    path.rmdir() if kind == "directory" else path.unlink()
    aside.rename(path)
    append(path, line(2))
    assert source.times(after=1) == [2]
    assert source.attached


def test_a_file_that_is_created_where_something_else_was_is_read(path, source):
    append(path, lines(1, 2))
    assert source.times() == [1, 2]
    path.rename(path.parent / "events.ndjson.1")
    path.mkdir()
    append(path.parent / "events.ndjson.1", line(3))
    assert source.times(after=1) == [3]
    path.rmdir()
    append(path, line(4))
    assert source.times(after=1) == [4]


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


def test_an_unreadable_file_is_reported_once_and_tried_again(path, source, monkeypatch):
    tries = []

    def refused(*_):
        tries.append(1)
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("monitor.feeds.follow.follower.opened", refused)
    path.write_bytes(line(1))
    for _ in range(3):
        assert source.times(after=1) == []
    assert source.reported == [f"{path}: cannot be followed: permission denied; tried again"]
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
