"""More is unread than is read at a time: what waits for its turn is neither lost nor cut."""

import gzip
import json
from pathlib import Path

import pytest
from feeds.follow.following import append, line, lines

from monitor.feeds.follow.follower import GRACE_SECONDS, LOOK_EVERY_SECONDS


@pytest.fixture(autouse=True)
def little_at_a_time(monkeypatch):
    monkeypatch.setattr("monitor.feeds.follow.follower.BATCH_BYTES", 200)


def test_a_packed_file_that_waits_for_its_turn_is_read(tmp_path, follow):
    (tmp_path / "a.ndjson").write_bytes(lines(*range(100)))
    (tmp_path / "b.ndjson.gz").write_bytes(gzip.compress(lines(*range(50, 150))))
    source = follow(tmp_path / "*.ndjson*")
    assert sorted(source.times()) == sorted([*range(100), *range(50, 150)])


def test_a_file_that_is_packed_while_another_is_unread_is_read(path, source):
    append(path, lines(*range(10)))
    assert source.times() == [*range(10)]
    path.rename(f"{path}.1")
    path.write_bytes(lines(*range(20, 30)))
    path.rename(f"{path}.2")
    Path(f"{path}.3.gz").write_bytes(gzip.compress(lines(*range(10, 20))))
    path.write_bytes(lines(*range(30, 40)))
    source.clock.sleep(LOOK_EVERY_SECONDS)
    assert sorted(source.times()) == [*range(10, 40)]


def test_a_rotated_file_waits_for_its_turn_for_longer_than_a_minute(path, source):
    append(path, lines(0))
    assert source.times() == [0]
    position = json.loads(json.dumps(source.position()))
    path.rename(f"{path}.2")
    Path(f"{path}.1").write_bytes(lines(*range(100, 140)))
    Path(f"{path}.2").write_bytes(lines(*range(40)))
    path.write_bytes(lines(*range(140, 180)))
    source.resume(position)
    came, rejected = [], []
    while batch := source.poll():
        came += (batch.predictions.time // 1000).tolist()
        rejected += batch.rejected
        source.clock.sleep(GRACE_SECONDS / 3)  # counting takes long
    assert rejected == []
    assert sorted(came) == [*range(1, 40), *range(100, 180)]


def test_a_minute_of_grace_begins_with_the_rotation(path, source):
    with path.open("ab", buffering=0) as writer:
        writer.write(line(1) + line(2)[:9])
        assert source.times() == [1]
        source.clock.sleep(2 * GRACE_SECONDS)
        path.rename(f"{path}.1")
        append(path, line(3))
        assert source.times() == [3]
        writer.write(line(2)[9:])
        assert source.times(after=GRACE_SECONDS / 2) == [2]
