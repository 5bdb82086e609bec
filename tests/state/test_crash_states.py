"""States that a crash can leave on disk; thousands by `benchmarks/crash_states.py`."""

import errno
from contextlib import suppress
from pathlib import Path
from random import Random

import pytest
from benchmarks.crash_states import check_states
from simulator.crash_content import read_tree
from simulator.disk import DONE, Outcome, SimulatedDisk

from monitor.state import Body, Checkpoints, Journal, StateFullError
from monitor.state.disk import make_directory, write_file
from monitor.state.salvage import salvage
from monitor.state.segment_files import segments_in


@pytest.fixture
def disk(tmp_path):
    (tmp_path / "root").mkdir()
    with SimulatedDisk(tmp_path / "root", Random(1)).active() as found:
        yield found
        found.kill()


@pytest.mark.parametrize("seed", [3, pytest.param(7, marks=pytest.mark.slow)])
def test_a_start_on_any_state_counts_what_was_acknowledged_once(seed):
    """Those of seed 3 show each fault of a sync that `benchmarks/planted.py` plants."""
    script = check_states(seed, most=60)
    assert script.states == 60


def test_a_directory_that_was_made_is_there_with_those_above_it(disk):
    make_directory(disk.root / "a" / "b" / "c")
    assert disk.left() == {"a": {"b": {"c": {}}}}


def test_a_directory_of_a_killed_process_becomes_durable(disk):
    (disk.root / "a").mkdir()
    assert disk.left() == {}
    make_directory(disk.root / "a")
    assert disk.left() == {"a": {}}


def test_the_parent_of_a_file_system_is_left_alone(disk, monkeypatch):
    (disk.root / "a").mkdir()
    monkeypatch.setattr(Path, "is_mount", lambda path: path.name == "a")
    make_directory(disk.root / "a")
    assert disk.left() == {}


def test_a_file_is_the_old_or_the_new_one(disk):
    chance = Random(1)
    write_file(disk.root / "a", [b"old" * 400])
    seen = set()
    with disk.watched(lambda: seen.update(disk.left(chance)["a"] for _ in range(20))):
        write_file(disk.root / "a", [b"new" * 500])
    assert seen == {b"old" * 400, b"new" * 500}
    assert disk.left() == {"a": b"new" * 500}


def test_what_a_failed_sync_lost_is_written_again_by_the_next_start(disk):
    folder = disk.root / "journal"
    journal = Journal(folder)
    journal.append([Body(1, b"first\n")])
    with disk.failing("fsync", "ftruncate"), pytest.raises(StateFullError):
        journal.append([Body(2, b"second\n")])
    disk.kill()
    with Journal(folder) as again:
        bodies = [body.lines for body, _ in again.read()]
        assert bodies == [b"first\n", b"second\n"]
        assert disk.left() == disk.content, "it was read, so that it has to stay"


def test_segments_are_deleted_so_that_no_gap_can_be_left(disk):
    chance = Random(2)
    with Journal(disk.root / "journal", segment_bytes=1) as journal:
        places = [journal.append([Body(n, b"x\n")])[0] for n in range(6)]
        found = set()
        with disk.watched(
            lambda: found.update(tuple(disk.left(chance)["journal"]) for _ in range(20))
        ):
            journal.delete_before(places[-1])
    names = [f"{n:08}.journal" for n in range(1, 7)]
    assert found <= {tuple(names[n:]) for n in range(6)}


@pytest.mark.parametrize(("call", "done"), [("unlink", 1.0), ("unlink", 0.0), ("fsync", 0.0)])
def test_a_deletion_that_fails_is_repeated_and_leaves_no_gap(disk, call, done):
    """The second of such calls fails, done or not; the deletion is asked for again."""
    calls, chance, found = [], Random(3), set()
    with Journal(disk.root / "journal", segment_bytes=1) as journal:
        places = [journal.append([Body(n, b"x\n")])[0] for n in range(6)]

        def before(name, _):
            calls.append(name)
            found.update(tuple(disk.left(chance)["journal"]) for _ in range(20))
            if name == call and calls.count(call) == 2:
                return Outcome(done, OSError(errno.EIO, "Input/output error"))
            return DONE

        disk.before = before
        with suppress(StateFullError):
            journal.delete_before(places[-1])
        journal.delete_before(places[-1])
        assert [path.name for path in segments_in(disk.root / "journal")] == ["00000006.journal"]
    names = [f"{n:08}.journal" for n in range(1, 7)]
    assert found <= {tuple(names[n:]) for n in range(6)}


def test_a_salvaged_directory_is_durable_once_it_is_said_to_be(disk):
    Checkpoints(disk.root / "state" / "checkpoints").write({"positions": {}})
    with Journal(disk.root / "state" / "journal") as journal:
        journal.append([Body(1, b"x\n")])
    write_file(disk.root / "state" / "id-seed", [b"a file beside\n"])
    list(salvage(disk.root / "state", disk.root / "copies" / "one"))
    assert disk.left() == disk.content == read_tree(disk.root)
