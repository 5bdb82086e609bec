"""A backlog is read in the order of its events: outcomes that have a label are counted."""

import gzip
import json
import os
from itertools import pairwise
from pathlib import Path

import pytest
from feeds.follow.following import Following, append, copied_and_cut, line, lines
from feeds.follow.outcomes import DAY, HOUR, Counted, by_day, joined, lived

from monitor.feeds.decoder_threads import DecoderThreads
from monitor.feeds.follow.follower import GRACE_SECONDS, LOOK_EVERY_SECONDS

BATCH_BYTES = 4_000
"""Bytes that are read at a time: some forty lines."""


@pytest.fixture(autouse=True)
def little_at_a_time(monkeypatch):
    monkeypatch.setattr("monitor.feeds.follow.follower.BATCH_BYTES", BATCH_BYTES)


@pytest.fixture
def few_open(monkeypatch):
    """At most so many files are open."""
    monkeypatch.setattr("monitor.feeds.follow.part_reader.MOST_OPEN", 3)
    return 3


def by_time(times):
    """Whether times come in their order."""
    return all(one <= other for one, other in pairwise(times))


def written(folder, days, ending="ndjson"):
    for number, data in enumerate(days):
        made = gzip.compress(data) if ending.endswith("gz") else data
        (folder / f"day-{number:03}.{ending}").write_bytes(made)


def renamed(path, number):
    path.rename(f"{path}.{number}")


def packed(path, number):
    renamed(path, number)
    plain = Path(f"{path}.{number}")
    status, data = plain.stat(), plain.read_bytes()
    plain.unlink()
    Path(f"{plain}.gz").write_bytes(gzip.compress(data))
    os.utime(f"{plain}.gz", ns=(status.st_atime_ns, status.st_mtime_ns))


def copied(path, number):
    status = path.stat()
    copied_and_cut(path, f"{path.name}.{number}")
    os.utime(f"{path}.{number}", ns=(status.st_atime_ns, status.st_mtime_ns))


@pytest.mark.parametrize("ending", ["ndjson", "ndjson.gz"])
def test_dated_files_of_a_pattern_lose_no_outcome_at_the_first_start(tmp_path, follow, ending):
    rows = lived(30, HOUR, DAY)
    written(tmp_path, by_day(rows), ending)
    source = follow(tmp_path / f"*.{ending}")
    assert Counted().all_of(source).outcomes == (30 * 24, 0, 0)


@pytest.mark.parametrize("rotate", [renamed, packed, copied])
def test_rotations_while_it_was_down_lose_no_outcome(path, source, rotate):
    rows = lived(40, HOUR, HOUR)
    parts = [joined(rows[at : at + 240]) for at in range(0, len(rows), 240)]
    append(path, parts[0])
    counted = Counted().all_of(source)
    again, before = Following(path), json.loads(json.dumps(source.position()))
    source.close()
    for number, part in enumerate(parts[1:], 1):
        append(path, part)
        if number < len(parts) - 1:
            rotate(path, 100 - number)
            path.touch()
    again.resume(before)
    assert counted.all_of(again).outcomes == (40 * 24, 0, 0)
    again.close()


def test_files_with_predictions_and_with_labels_lose_no_outcome(tmp_path, follow):
    rows = lived(300, 6 * HOUR, 47 * HOUR)
    for kind in ("prediction", "label"):
        own = [row for row in rows if f'"type": "{kind}"'.encode() in row[1]]
        (tmp_path / f"{kind}s.ndjson").write_bytes(joined(own))
    counted = Counted().all_of(follow(tmp_path / "*.ndjson"))
    assert counted.outcomes == (300 * 4, 0, 0)


def test_files_with_many_and_with_few_events_come_by_event_time(tmp_path, follow):
    (tmp_path / "many.ndjson").write_bytes(lines(*range(0, 200_000, 100)))
    (tmp_path / "few.ndjson").write_bytes(lines(*range(50, 200_000, 2_000)))
    (tmp_path / "late.ndjson").write_bytes(lines(*range(100_025, 200_000, 500)))
    times = follow(tmp_path / "*.ndjson").times()
    assert len(times) == 2_000 + 100 + 200
    assert max(max(times[:at]) - time for at, time in enumerate(times) if at) <= 8_000


@pytest.mark.parametrize("threads", [None, 2])
def test_rotated_files_are_each_read_to_their_end_before_the_next(path, threads):
    append(path, line(0))
    source = Following(path, threads and DecoderThreads(threads))
    assert source.times() == [0]
    for number in range(1, 6):
        append(path, lines(*range(200 * number, 200 * number + 200)))
        (packed if number % 2 else renamed)(path, number)
    path.touch()
    assert source.times(after=LOOK_EVERY_SECONDS) == [*range(200, 1200)]
    source.close()


def test_of_rotated_files_that_changed_at_the_same_time_the_earlier_events_come_first(path, source):
    append(path, line(0))
    assert source.times() == [0]
    for number in (3, 2, 1):  # as logrotate numbers them
        append(path, lines(*range(400 - 100 * number, 500 - 100 * number)))
        renamed(path, number)
    for number in (3, 2, 1):
        os.utime(f"{path}.{number}", ns=(10**18, 10**18))
    path.touch()
    assert source.times(after=LOOK_EVERY_SECONDS) == [*range(100, 400)]


def test_rotated_files_of_a_pattern_come_before_the_file_at_their_path(tmp_path, follow):
    source = follow(tmp_path / "*.ndjson")
    one, other = tmp_path / "a.ndjson", tmp_path / "b.ndjson"
    append(one, line(0))
    append(other, line(1))
    assert source.times(after=LOOK_EVERY_SECONDS) == [0, 1]
    for number in (1, 2):
        for first, path in enumerate((one, other)):
            append(path, lines(*range(500 * number + first, 500 * number + 200, 2)))
            renamed(path, number)
    append(one, line(2_000))
    append(other, line(2_001))
    times = source.times(after=LOOK_EVERY_SECONDS)
    assert sorted(times) == [*range(500, 700), *range(1_000, 1_200), 2_000, 2_001]
    assert max(max(times[:at]) - time for at, time in enumerate(times) if at) < 200


def test_a_file_without_times_takes_turns_with_the_others(tmp_path, follow):
    (tmp_path / "a.ndjson").write_bytes(b'{"of": "another program"}\n' * 2_000)
    (tmp_path / "b.ndjson").write_bytes(b"")
    (tmp_path / "c.ndjson").write_bytes(b"\n" + lines(*range(200)))
    (tmp_path / "d.ndjson").write_bytes(b"x" * 100_000)
    source, came, rejected, polls = follow(tmp_path / "*.ndjson"), [], 0, 0
    while len(came) < 200:
        batch, polls = source.poll(), polls + 1
        came += (batch.predictions.time // 1000).tolist() if batch else []
        rejected += len(batch.rejected) if batch else 0
    assert polls < 50
    assert rejected < 2_000
    assert came == [*range(200)]


def test_a_file_that_arrives_late_is_read_at_once(tmp_path, follow):
    (tmp_path / "new.ndjson").write_bytes(lines(*range(10_000, 10_100)))
    source = follow(tmp_path / "*.ndjson")
    assert source.times() == [*range(10_000, 10_100)]
    append(tmp_path / "new.ndjson", lines(*range(10_100, 10_200)))
    (tmp_path / "old.ndjson").write_bytes(lines(*range(100)))
    assert source.times(after=LOOK_EVERY_SECONDS) == [*range(100), *range(10_100, 10_200)]


@pytest.mark.parametrize("polls", [1, 7, 20])
def test_a_restart_within_a_backlog_goes_on_in_its_order(tmp_path, follow, polls):
    written(tmp_path, [lines(*range(100 * day, 100 * day + 100)) for day in range(20)])
    source, found = follow(tmp_path / "*.ndjson"), []
    for _ in range(polls):
        found += (source.poll().predictions.time // 1000).tolist()
    again = source.restarted()
    assert found + again.times() == [*range(2_000)]
    again.close()


def is_open(source):
    return sum(part.content is not None for part in source._parts)


def test_few_of_many_files_are_open_and_all_come_by_event_time(tmp_path, follow, few_open):
    written(tmp_path, [lines(*range(100 * day, 100 * day + 100)) for day in range(30)])
    source, found = follow(tmp_path / "*.ndjson"), []
    assert is_open(source) == few_open
    while (batch := source.poll()) is not None:
        found += (batch.predictions.time // 1000).tolist()
        assert is_open(source) <= few_open
        source.clock.sleep(LOOK_EVERY_SECONDS)
    assert found == [*range(3_000)]
    append(tmp_path / "day-000.ndjson", line(3_000))
    append(tmp_path / "day-029.ndjson", line(3_001))
    assert source.times(after=LOOK_EVERY_SECONDS) == [3_000, 3_001]
    assert source.times(after=2 * GRACE_SECONDS) == []
    assert source.reported == []


def test_few_of_many_rotated_files_are_open_and_their_writers_may_go_on(path, source, few_open):
    append(path, line(0))
    assert source.times() == [0]
    for number in range(1, 30):
        append(path, lines(*range(100 * number, 100 * number + 100)))
        renamed(path, number)
    path.touch()
    source.clock.sleep(LOOK_EVERY_SECONDS)
    found = []
    while (batch := source.poll()) is not None:
        found += (batch.predictions.time // 1000).tolist()
        assert is_open(source) <= few_open
        source.clock.sleep(LOOK_EVERY_SECONDS)
    assert found == [*range(100, 3_000)]
    append(Path(f"{path}.1"), line(4_000))
    append(path, line(4_001))
    assert source.times(after=LOOK_EVERY_SECONDS) == [4_000, 4_001]
    assert source.reported == []


def test_a_closed_file_that_waits_is_found_after_it_was_renamed(tmp_path, follow, few_open):
    written(tmp_path, [lines(*range(100 * day, 100 * day + 100)) for day in range(12)])
    source = follow(tmp_path / "*.ndjson")
    found = (source.poll().predictions.time // 1000).tolist()
    assert is_open(source) == few_open
    (tmp_path / "day-008.ndjson").rename(tmp_path / "day-008.ndjson.1")
    (tmp_path / "day-009.ndjson").rename(tmp_path / "moved.ndjson")
    found += source.times(after=LOOK_EVERY_SECONDS)
    assert found == [*range(1_200)]
