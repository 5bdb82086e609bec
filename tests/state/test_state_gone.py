"""A state directory that is removed, moved or replaced while it is in use."""

import os
import shutil
import stat

import pytest
from state.test_journal import BODIES, GROUPS, read

from monitor.state import Checkpoints, Journal, StateError, StateGoneError, StateLock


def replaced(folder):
    shutil.copytree(folder, folder.with_name("copy"))
    shutil.rmtree(folder)
    folder.with_name("copy").rename(folder)


def moved(folder):
    folder.rename(folder.with_name("elsewhere"))


LOSSES = [shutil.rmtree, moved, replaced]


@pytest.mark.parametrize("lose", LOSSES)
@pytest.mark.parametrize("upper", [False, True])
def test_a_journal_that_is_gone_takes_nothing_and_says_so(tmp_path, lose, upper):
    folder = tmp_path / "state" / "journal"
    folder.mkdir(parents=True)
    with Journal(folder) as journal:
        journal.append(GROUPS[0])
        lose(folder.parent if upper else folder)
        for _ in range(2):
            with pytest.raises(StateGoneError, match=r"journal: was removed or replaced while"):
                journal.append(GROUPS[1])
    if lose is not shutil.rmtree:
        assert read(next(path.parent for path in tmp_path.rglob("*.journal"))) == GROUPS[0]


def test_a_new_journal_is_not_begun_elsewhere(tmp_path):
    folder = tmp_path / "journal"
    with Journal(folder) as journal:
        shutil.rmtree(folder)
        with pytest.raises(StateGoneError):
            journal.append(GROUPS[0])
    assert not folder.exists()


def test_a_segment_that_is_gone_takes_nothing(tmp_path):
    with Journal(tmp_path) as journal:
        journal.append(GROUPS[0])
        next(tmp_path.glob("*.journal")).unlink()
        with pytest.raises(StateGoneError, match=r"00000001\.journal: was removed"):
            journal.append(GROUPS[1])


def test_a_journal_that_is_moved_back_goes_on(tmp_path):
    folder = tmp_path / "journal"
    with Journal(folder) as journal:
        journal.append(GROUPS[0])
        moved(folder)
        with pytest.raises(StateGoneError):
            journal.append(GROUPS[1])
        folder.with_name("elsewhere").rename(folder)
        journal.append(GROUPS[1])
        journal.append(GROUPS[2])
    assert read(folder) == BODIES


@pytest.mark.parametrize("lose", LOSSES)
def test_what_goes_while_it_is_written_is_not_acknowledged(tmp_path, lose):
    folder = tmp_path / "journal"
    going = []

    def sync(_):
        if going:
            going.pop()(folder)

    with Journal(folder, sync=sync) as journal:
        journal.append(GROUPS[0])
        going.append(lose)
        with pytest.raises(StateGoneError):
            journal.append(GROUPS[1])
    if lose is moved:
        assert read(tmp_path / "elsewhere") == GROUPS[0]


def test_a_journal_belongs_to_one_process_wherever_it_is_moved(tmp_path):
    folder = tmp_path / "journal"
    with Journal(folder):
        with pytest.raises(StateError, match="is in use by another process"):
            Journal(folder)
        moved(folder)
        with pytest.raises(StateError, match="is in use by another process"):
            Journal(tmp_path / "elsewhere")
    Journal(tmp_path / "elsewhere").close()


def test_a_state_directory_without_its_lock_file_is_still_locked(tmp_path):
    with StateLock(tmp_path / "state") as lock:
        lock.check()
        (tmp_path / "state" / "lock").unlink()
        with pytest.raises(StateGoneError, match=r"lock: was removed"):
            lock.check()
        with pytest.raises(StateError, match="is in use by another process"):
            StateLock(tmp_path / "state")
    StateLock(tmp_path / "state").close()


def test_all_that_is_created_is_for_this_user_alone(tmp_path):
    before = os.umask(0)
    try:
        with (
            StateLock(tmp_path / "a" / "state"),
            Journal(tmp_path / "a" / "state" / "journal") as j,
        ):
            j.append(GROUPS[0])
            Checkpoints(tmp_path / "a" / "state" / "checkpoints").write({"n": 1})
    finally:
        os.umask(before)
    made = list((tmp_path / "a").rglob("*"))
    assert len(made) == 6
    for path in made:
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600)


def test_a_refused_journal_leaves_its_directory_unlocked(tmp_path):
    (tmp_path / "00000001.journal").write_bytes(b"x" * 100)
    for _ in range(2):
        with pytest.raises(StateError, match="is damaged"):
            Journal(tmp_path)
