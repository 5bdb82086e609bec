"""Some worlds of the simulator; thousands by `benchmarks/simulate.py`. It finds what is planted."""

import os

import pytest
from benchmarks.crash_states import check_states
from simulator.world import simulate

from monitor.errors import MonitorError
from monitor.service.posted import PostedFeeds
from monitor.state import checkpoints
from monitor.state.disk import AppendFile, synced, unsynced, write_file

WORLDS = 60
"""Worlds within which a planted fault must be found."""


@pytest.mark.parametrize("seed", range(3, 11))
def test_nothing_is_lost_or_doubled(tmp_path, seed):
    world = simulate(seed, tmp_path)
    assert world.happened["check"] > 1


def test_a_seed_does_the_same_again(tmp_path):
    for name in "ab":
        (tmp_path / name).mkdir()
    one, other = (simulate(5, tmp_path / name) for name in "ab")
    assert one.happened == other.happened
    assert one.disk.calls == other.disk.calls > 0
    assert (one.seconds, one.ledger.events) == (other.seconds, other.ledger.events)


def is_found(tmp_path):
    """Whether one of some worlds fails."""
    for seed in range(1, WORLDS + 1):
        folder = tmp_path / f"{seed}"
        folder.mkdir()
        try:
            simulate(seed, folder)
        except (AssertionError, MonitorError):
            return True
    return False


def append_without_sync(self, data):
    sync, self._sync = self._sync, unsynced
    whole(self, data)
    self._sync = sync


whole = AppendFile.append


def write_renamed_before_sync(path, parts, *, sync=synced):
    size = write_file(path, parts, sync=unsynced)
    for written in (path, path.parent):
        sync_directory_or_file(written, sync)
    return size


def sync_directory_or_file(path, sync):
    descriptor = os.open(path, os.O_RDONLY)
    sync(descriptor)
    os.close(descriptor)


def position_of_what_waits(self):
    requests = [*self._batch.requests, *self._waiting]
    return (requests[-1].position if requests else self._position)._asdict()


def test_a_sync_that_is_left_out_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(AppendFile, "append", append_without_sync)
    assert is_found(tmp_path)


def test_an_offset_that_is_committed_early_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(PostedFeeds, "position", position_of_what_waits)
    assert is_found(tmp_path)


def test_a_rename_before_the_sync_is_found(monkeypatch):
    monkeypatch.setattr(checkpoints, "write_file", write_renamed_before_sync)
    with pytest.raises((AssertionError, MonitorError)):
        check_states(2, most=400)
